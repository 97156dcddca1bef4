"""Concepts that people ask about, and the words that speak of them, in English and Chinese."""

import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import msgspec

from rubrica.judges.dimensions.coverage.scanning import Keys, key_of

_HERE = Path(__file__).parent


class Concept(msgspec.Struct, frozen=True, gc=False):
    """`ask` are words of an aspect that mean it; `tell` and `hint` show that it is spoken of."""

    name: str
    ask: frozenset[str]
    tell: frozenset[str]
    hint: frozenset[str]
    #: All of these, and those of `ask` that are single words.
    keys: Keys
    names: frozenset[str]
    shape: str = ""
    strict: bool = False
    broad: bool = False


@cache
def concepts() -> Mapping[str, Concept]:
    found = {}
    for name, fields in table("concepts.toml").items():
        ask, tell, hint = (_keys(fields.get(part, "")) for part in ("ask", "tell", "hint"))
        found[name] = Concept(
            name,
            ask,
            tell - ask,
            hint - tell - ask,
            Keys(ask | tell | hint),
            frozenset(key for key in ask if " " not in key),
            fields.get("shape", ""),
            fields.get("strict", False),
            fields.get("broad", False),
        )
    return found


@cache
def asked() -> Mapping[str, tuple[Concept, ...]]:
    """The concepts that a word of an aspect means."""
    found: dict[str, tuple[Concept, ...]] = {}
    for concept in concepts().values():
        for word in concept.ask:
            found[word] = (*found.get(word, ()), concept)
    return found


def table(name: str) -> dict[str, Any]:
    """A table beside this module."""
    return tomllib.loads(_text(name))


@cache
def senses() -> Mapping[str, str]:
    """Patterns in which a word has another sense than the one that aspects mean, by its key."""
    found: dict[str, str] = {}
    for line in _text("senses.txt").splitlines():
        words, _, pattern = line.partition(": ")
        if pattern and not line.startswith("#"):
            for word in words.split(","):
                found[key_of(word)] = pattern.strip()
    return found


@cache
def words_in(name: str) -> frozenset[str]:
    """The words of a list beside this module, as keys."""
    lines = (line for line in _text(name).splitlines() if not line.startswith("#"))
    return frozenset(key_of(word) for line in lines for word in line.split(",") if word.strip())


def _text(name: str) -> str:
    return (_HERE / name).read_text(encoding="utf-8")


def _keys(words: str) -> frozenset[str]:
    return frozenset(key_of(word) for word in words.split(",") if word.strip())
