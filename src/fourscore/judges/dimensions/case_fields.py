"""The question of a case, the parts that it lists, and what the case expects of an answer."""

import re
from collections.abc import Callable
from typing import Any, TypeVar

import msgspec

from fourscore.core import Case, CaseError
from fourscore.core.trace import as_text
from fourscore.formats.case_fields import Expected
from fourscore.formats.validation import explained
from fourscore.judges.reader.text import Text, is_chinese

S = TypeVar("S")
T = TypeVar("T")
#: Results that `cache_by_identity` keeps: as many cases may be judged side by side.
_MAX_CACHED = 16
#: Characters of a question that are read.
LONGEST = 20_000
_KEYS = ("question", "query", "prompt", "text", "input", "content", "messages")
_ITEM = re.compile(r"^[ \t]*+(?:[-*+•]|\d{1,2}[.)、]|[a-z][.)])[ \t]++(\S[^\n]*+)$", re.MULTILINE)
_AND = re.compile(r",? (?:and|as well as) |以及|和|与|及")
_COMMA = re.compile(r", |、|，")
_DETERMINER = re.compile(r"\b(?:the|its|their|his|her|a|an|about|on)\b ?")
_OF = re.compile(r" (?:of|for|in|from|at|during|between)\b[^\n]*+$")
#: Words, or Chinese characters, of a listed part.
_LONGEST_PART, _LONGEST_CHINESE = 5, 12


def find_question(value: Any) -> str:
    """The question of a case: text, or what the user of a conversation wrote last."""
    if isinstance(value, str):
        return value[:LONGEST]
    if isinstance(value, dict):
        key = next((key for key in _KEYS if value.get(key)), None)
        return as_text(value)[:LONGEST] if key is None else find_question(value[key])
    if isinstance(value, list):
        for turn in reversed(value):
            if isinstance(turn, dict) and turn.get("role", "user") == "user":
                return find_question(turn.get("content", turn.get("text", "")))
    return as_text(value)[:LONGEST]


def list_parts(question: str) -> list[str]:
    """The parts that a question plainly lists: its items, its several questions, or `A, B and C`.

    Nothing where it lists none: what a plain question asks for, nobody can tell without a model.
    """
    items = [found[1].strip() for found in _ITEM.finditer(question)]
    if len(items) > 1:
        return items
    sentences = Text(question).sentences
    asked = [one.text for one in sentences if one.is_question]
    if len(asked) > 1:
        return asked
    for sentence in sentences:
        if parts := _enumerated(sentence.text):
            return parts
    return []


def _enumerated(sentence: str) -> list[str]:
    """`causes`, `effects` and `remedies` of "Explain the causes, effects and remedies of it"."""
    text = sentence.strip(" .?!。？！")
    joints = list(_AND.finditer(text))
    if not joints:
        return []
    head, tail = text[: joints[-1].start()], text[joints[-1].end() :]
    first, *middle = _COMMA.split(head)
    if not middle:
        return []
    chinese = is_chinese(text)
    if not chinese:
        first, tail = _DETERMINER.split(first)[-1], _OF.sub("", tail)
    parts = [part.strip() for part in (first, *middle, tail)]
    if chinese:
        parts[0] = re.split("的|：|:|说明|介绍|分析|讨论|解释|比较|描述", parts[0])[-1]
        fits = all(0 < len(part) <= _LONGEST_CHINESE for part in parts)
    else:
        fits = all(0 < len(part.split()) <= _LONGEST_PART for part in parts)
    return parts if fits else []


def cache_by_identity(function: Callable[[S], T]) -> Callable[[S], T]:
    """Decorate a function of one immutable object: the last results are kept by its identity.

    Several judges ask the same of one case, and several attempts at it are judged, one after
    another or side by side. The object itself is recognised, so nothing has to be hashed.
    """
    cached: dict[int, tuple[S, T]] = {}

    def call(value: S) -> T:
        last = cached.get(id(value))
        if last is not None and last[0] is value:
            return last[1]
        result = function(value)
        if len(cached) >= _MAX_CACHED:
            cached.clear()
        cached[id(value)] = (value, result)
        return result

    call.__doc__ = function.__doc__
    return call


@cache_by_identity
def read_expected(case: Case) -> Expected:
    """`case.expected` as an object; text, numbers and lists are the reference answer.

    Without it the answer is `metadata.answer`, where trainers keep it.
    """
    value = case.expected
    if value is None:
        return Expected(answer=case.metadata.get("answer"))
    if not isinstance(value, dict):
        return Expected(answer=value)
    try:
        return msgspec.convert(value, Expected)
    except msgspec.ValidationError as error:
        message, field = explained(error, value, Expected)
        raise CaseError(case.id, f"expected.{field}" if field else "expected", message) from None
