"""The question that a case puts, as text, and the parts that it plainly lists."""

import re
from typing import Any

from fourscore.core.trace import as_text
from fourscore.judges.reader.text import Text, is_chinese

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


def question_of(value: Any) -> str:
    """The question of a case: text, or what the user of a conversation wrote last."""
    if isinstance(value, str):
        return value[:LONGEST]
    if isinstance(value, dict):
        key = next((key for key in _KEYS if value.get(key)), None)
        return as_text(value)[:LONGEST] if key is None else question_of(value[key])
    if isinstance(value, list):
        for turn in reversed(value):
            if isinstance(turn, dict) and turn.get("role", "user") == "user":
                return question_of(turn.get("content", turn.get("text", "")))
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
