"""The question of a case, the parts that it lists, and what the case expects of an answer."""

import re
from collections.abc import Callable
from typing import TypeVar

import msgspec

from fourscore.core import Case, CaseError
from fourscore.core.trace import as_text
from fourscore.formats.case_fields import Expected
from fourscore.formats.validation import explain_error
from fourscore.judges.reader.text import Text, is_chinese

S = TypeVar("S")
T = TypeVar("T")
#: Results that `cache_by_identity` keeps: about as many cases are judged at the same time.
_MAX_CACHED = 16
#: Most characters of a question that are read.
MAX_QUESTION = 20_000
_KEYS = ("question", "query", "prompt", "text", "input", "content", "messages")
_ITEM = re.compile(r"^[ \t]*+(?:[-*+•]|\d{1,2}[.)、]|[a-z][.)])[ \t]++(\S[^\n]*+)$", re.MULTILINE)
_AND = re.compile(r",? (?:and|as well as) |以及|和|与|及")
_COMMA = re.compile(r", |、|，")
_DETERMINER = re.compile(r"\b(?:the|its|their|his|her|a|an|about|on)\b ?")
_OF = re.compile(r" (?:of|for|in|from|at|during|between)\b[^\n]*+$")
#: Most words, or Chinese characters, of a listed part.
_MAX_WORDS, _MAX_CHINESE = 5, 12


def find_question(value: object) -> str:
    """Return the question in a case's input: its text, or the last message of the user."""
    if isinstance(value, str):
        return value[:MAX_QUESTION]
    if isinstance(value, dict):
        key = next((key for key in _KEYS if value.get(key)), None)
        return as_text(value)[:MAX_QUESTION] if key is None else find_question(value[key])
    if isinstance(value, list):
        for turn in reversed(value):
            if isinstance(turn, dict) and turn.get("role", "user") == "user":
                return find_question(turn.get("content", turn.get("text", "")))
    return as_text(value)[:MAX_QUESTION]


def list_parts(question: str) -> list[str]:
    """Return the parts that a question lists: list items, several questions, or `A, B and C`.

    Empty if it lists none: without a model nobody can say what parts a plain question has.
    """
    items = [found[1].strip() for found in _ITEM.finditer(question)]
    if len(items) > 1:
        return items
    sentences = Text(question).sentences
    asked = [one.text for one in sentences if one.is_question]
    if len(asked) > 1:
        return asked
    for sentence in sentences:
        if parts := _split_enumeration(sentence.text):
            return parts
    return []


def _split_enumeration(sentence: str) -> list[str]:
    """Split "Explain the causes, effects and remedies of it" into causes, effects, remedies."""
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
        fits = all(0 < len(part) <= _MAX_CHINESE for part in parts)
    else:
        fits = all(0 < len(part.split()) <= _MAX_WORDS for part in parts)
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
    """Read `case.expected`; if it is text, a number or a list, that is the reference answer.

    Without it the reference answer is `metadata.answer`, where trainers keep it.
    """
    value = case.expected
    if value is None:
        return Expected(answer=case.metadata.get("answer"))
    if not isinstance(value, dict):
        return Expected(answer=value)
    try:
        return msgspec.convert(value, Expected)
    except msgspec.ValidationError as error:
        message, field = explain_error(error, value, Expected)
        raise CaseError(case.id, f"expected.{field}" if field else "expected", message) from None
