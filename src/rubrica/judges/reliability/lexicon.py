"""The word lists of `lexicon.txt`: as sets, and whether a text has a word of one."""

import re
from functools import cache, lru_cache
from typing import NamedTuple

from rubrica.judges.reliability.listing import groups

_TOKEN = re.compile(r"[a-z0-9]+(?:[.+#'-][a-z0-9]+)*")


class Forms(NamedTuple):
    """A list by how its words are compared."""

    whole: frozenset[str]
    begun: tuple[str, ...]  # a star at the end
    inside: tuple[str, ...]  # Chinese
    several: re.Pattern[str] | None  # more than one word


@cache
def words(name: str) -> frozenset[str]:
    """The words of one list."""
    return next(
        frozenset(found) for group, found in list(groups("lexicon.txt")) if group.kind == name
    )


@cache
def _forms(name: str) -> Forms:
    latin = [word for word in words(name) if word.isascii()]
    several = "|".join(
        re.escape(word.rstrip("*").replace("_", " ")) for word in latin if "_" in word
    )
    return Forms(
        whole=frozenset(word for word in latin if "_" not in word and not word.endswith("*")),
        begun=tuple(word[:-1] for word in latin if "_" not in word and word.endswith("*")),
        inside=tuple(word for word in words(name) if not word.isascii()),
        several=re.compile(rf"\b(?:{several})\b") if several else None,
    )


@lru_cache(maxsize=8)
def _tokens(folded: str) -> frozenset[str]:
    return frozenset(_TOKEN.findall(folded))


def mentions(name: str, folded: str) -> bool:
    """Whether a text, given without capitals, has a word of one list."""
    whole, begun, inside, several = _forms(name)
    tokens = _tokens(folded)
    if not whole.isdisjoint(tokens):
        return True
    if not folded.isascii() and any(map(folded.__contains__, inside)):
        return True
    if begun and any(token.startswith(begun) for token in tokens):
        return True
    return several is not None and several.search(folded) is not None
