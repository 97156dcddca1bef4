"""Texts made ready to be compared: their words and numbers, each read when it is asked for."""

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

from rubrica.judges.citing.sources import Source
from rubrica.judges.text.quantities import Quantity, quantities
from rubrica.judges.text.words import language, terms, weight_of

_CLAUSE = re.compile(
    r"[,，;；:：]\s*|\s[–—-]\s|——|\s(?=(?:and|but|while|whereas|although|because|so that|which"
    r"|as well as|plus|along with|in addition to|but also)\s)"
    r"|(?<=[㐀-鿿])(?=(?:而且|并且|以及|但是|同时))",
)
_LISTED = re.compile(r"\A\s*(?:\d{1,3}[.)、．]|[-*•])\s+")
_COMMA = re.compile(r"(?<=\d),(?=\d{3})")
#: Numbers in words up to this say hardly more than `a` or `both`.
_SMALL = 3

weight = lru_cache(maxsize=65536)(weight_of)


class Words(NamedTuple):
    """The terms of a text and what they weigh together."""

    terms: frozenset[str]
    weight: float
    language: str


class Passage(NamedTuple):
    """A text; what it says is read off it once, whoever asks."""

    text: str

    @property
    def terms(self) -> frozenset[str]:
        return words_in(self.text).terms

    @property
    def language(self) -> str:
        return words_in(self.text).language

    @property
    def quantities(self) -> tuple[Quantity, ...]:
        return numbers_in(self.text)

    @property
    def latin(self) -> frozenset[str]:
        """Words in Latin letters, which a Chinese text shares with an English one."""
        return frozenset(term for term in self.terms if term.isascii())


@lru_cache(maxsize=8192)
def words_in(text: str) -> Words:
    """The words of a text."""
    found = terms(text)
    return Words(found, sum(map(weight, found)), language(text))


@lru_cache(maxsize=4096)
def numbers_in(text: str) -> tuple[Quantity, ...]:
    """The numbers of a text that say something."""
    return tuple(one for one in quantities(text) if _says(one, text))


def passage(text: str) -> Passage:
    """A statement; the number of a list before it is none of its own."""
    listed = _LISTED.match(text)
    return Passage(" " * listed.end() + text[listed.end() :] if listed else text)


def share(mine: Passage, theirs: Passage) -> float:
    """The share of the words of the first that the second has."""
    return share_of(mine, words_in(theirs.text).terms)


def share_of(mine: Passage, known: frozenset[str]) -> float:
    """The share of its words that are among these."""
    ours = words_in(mine.text)
    shared = ours.terms & known
    return weighed(shared) / ours.weight if shared else 0.0


def weighed(found: Iterable[str]) -> float:
    """What these terms weigh together."""
    return sum(map(weight, found))


def _says(quantity: Quantity, text: str) -> bool:
    """`the two rivers`, `in the first place`: small counts in words are no figures, nor is code."""
    if "`" in text and text.count("`", 0, quantity.start) % 2:
        return False
    if quantity.kind == "ordinal" and text[quantity.end : quantity.end + 8].strip() == "century":
        return False
    if quantity.kind == "ordinal" and text[quantity.start] == "第":
        return True
    small = quantity.value == quantity.high and quantity.value <= _SMALL and not quantity.unit
    return not (small and not text[quantity.start : quantity.end].strip()[:1].isdigit())


@lru_cache(maxsize=1024)
def source_passage(source: Source) -> Passage:
    """A source with its title; its year and the years in its address may be cited too."""
    dated = re.findall(r"(?:19|20)\d\d(?!\d)", f"{source.year} {source.url}")[:4]
    return Passage(f"{source.text}\n{source.title}\n{' ; '.join(dated)}")


@lru_cache(maxsize=4096)
def clauses_of(text: str) -> tuple[str, ...]:
    """The clauses of a sentence; a comma inside a number parts nothing."""
    pieces = _CLAUSE.split(_COMMA.sub("", text))
    return tuple(piece.strip() for piece in pieces if piece.strip())
