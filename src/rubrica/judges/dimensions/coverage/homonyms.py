"""Whether an answer is about another thing of the same name: the planet for the element."""

import re
from collections.abc import Mapping
from functools import cache

from rubrica.judges.dimensions.coverage.concepts import table

#: Characters of the answer in which it says what its subject is.
_OPENING = 400
#: Kinds that one thing can well be both of.
_BOTH = (
    {"software", "company"},
    {"company", "vehicle"},
    {"plant", "food"},
    {"vehicle", "machine"},
    {"software", "work"},
    {"animal", "food"},
    {"element", "food"},
    {"disease", "animal"},
    {"software", "machine"},
    {"company", "work"},
)
_WORD = re.compile("[a-z0-9_]+")
_IS = re.compile(r"\b(\w{2,30}) (?:is|was|are|were) ((?:an?|the|one of) [^.,;]{1,60})")
_IS_HAN = re.compile(r"([a-z\u4e00-\u9fff]{2,12}?)(?:是|，是|作为|属于)([^。；]{1,30})")


@cache
def _kinds() -> Mapping[str, re.Pattern[str]]:
    return {
        name: re.compile("|".join(_forms(words))) for name, words in table("kinds.toml").items()
    }


@cache
def _signs() -> Mapping[str, set[str]]:
    """English words and Chinese characters of which a text has one if it names one of the kinds."""
    found: dict[str, set[str]] = {}
    for name, words in table("kinds.toml").items():
        for word in _several(words):
            first = word.split()[0] if word.isascii() else word[0]
            for sign in (first, f"{first}s", f"{first}es"):
                found.setdefault(sign, set()).add(name)
    return found


def _several(words: str) -> list[str]:
    return [word.strip() for word in words.split(",")]


def _forms(words: str) -> tuple[str, str]:
    several = _several(words)
    english = "|".join(word for word in several if word.isascii())
    chinese = "|".join(word for word in several if not word.isascii())
    return rf"\b(?:{english})(?:s|es)?\b", chinese


def asked_kind(question: str) -> str:
    """The one kind of thing that a question names, or nothing."""
    lower, signs = question.lower(), _signs()
    said = _WORD.findall(lower)
    if not lower.isascii():
        said += lower
    near = {name for sign in signs.keys() & said for name in signs[sign]}
    named = [name for name in near if _kinds()[name].search(lower)]
    return named[0] if len(named) == 1 else ""


def is_other(asked: str, question: str, answer: str) -> bool:
    """Whether the answer opens by calling a thing of the question another kind of thing."""
    if not asked:
        return False
    lower = answer.lower()
    if _kinds()[asked].search(lower):
        return False
    for name in _said_to_be(question.lower(), lower[:_OPENING]):
        for kind, pattern in _kinds().items():
            if pattern.search(name) and {kind, asked} not in _BOTH:
                return True
    return False


def _said_to_be(question: str, opening: str) -> list[str]:
    """What the opening says that words of the question are."""
    english = (
        said[2]
        for said in _IS.finditer(opening)
        if re.search(rf"\b{re.escape(said[1])}(?:s|es)?\b", question)
    )
    chinese = (
        said[2]
        for said in _IS_HAN.finditer(opening)
        if said[1][-2:] in question or said[1][:2] in question
    )
    return [*english, *chinese]
