"""Texts made ready to be compared: their words and numbers, each read when it is asked for."""

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Any

from rubrica.judges.citing.sources import Source
from rubrica.judges.text.quantities import Quantity, amounts
from rubrica.judges.text.sentences import sentences
from rubrica.judges.text.thousands import grouped
from rubrica.judges.text.words import language, terms, weight_of

#: What parts clauses; its first sign stands by itself, which makes the search fast.
_CLAUSE = re.compile(
    r"[,，;；:：\s—](?:(?<=[,，;；:：])\s*|(?<=\s)[–—-]\s|(?<=—)—"
    r"|(?<=\s)(?=(?:and|but|while|whereas|although|because|so that|which"
    r"|as well as|plus|along with|in addition to|but also)\s))"
)
#: Words that begin a Chinese clause without a sign before them.
_BEGINS = re.compile("(?<=[㐀-鿿])(?=而且|并且|以及|但是|同时)")
_JOINED = ("而且", "并且", "以及", "但是", "同时")
_LISTED = re.compile(r"\A\s*(?:\d{1,3}[.)、．]|[-*•])\s+")
_COMMA = re.compile(r",(?<=\d,)(?=\d{3})")
_DIGITS = re.compile(r"\d[\d,]*(?:\.\d+)?")
_DATED = re.compile(r"(?:19|20)\d\d(?!\d)")
#: Numbers in words up to this say hardly more than `a` or `both`.
_SMALL = 3
#: Terms whose weights are kept.
_KEPT = 65536
#: What one weighs: whole numbers add up to the same in any order.
_WHOLE = 1000


class Passage:
    """A text and its words; what else it says is read off it once, when it is asked for."""

    __slots__ = ("language", "quantities", "terms", "text", "weight")
    weight: int  # what all of its terms weigh
    language: str
    quantities: tuple[Quantity, ...]  # the numbers that say something

    def __init__(self, text: str) -> None:
        self.text = text
        self.terms = terms(text)

    def __getattr__(self, name: str) -> Any:  # asked only for what has not been read yet
        found: Any
        if name == "weight":
            found = self.weight = sum(map(weight, self.terms))
        elif name == "quantities":
            found = self.quantities = self._counted()
        elif name == "language":
            found = self.language = language(self.text)
        else:
            raise AttributeError(name)
        return found

    def _counted(self) -> tuple[Quantity, ...]:
        text = self.text
        return tuple([one for one in amounts(text) if _says(one, text)])

    def digits(self, place: int) -> str:
        """How one of the numbers is written; empty where it is in words."""
        return _digits(self.text, self.quantities[place])

    @property
    def body(self) -> list["Passage"]:
        """The sentences of a source without its title and what else is known of it."""
        return []

    @property
    def latin(self) -> frozenset[str]:
        """Words in Latin letters, which a Chinese text shares with an English one."""
        return frozenset(term for term in self.terms if term.isascii())


@lru_cache(maxsize=1024)
def passage_of(text: str) -> Passage:
    """The text as it stands."""
    return Passage(text)


@lru_cache(maxsize=512)
def passage(text: str) -> Passage:
    """A statement; the number of a list before it is none of its own."""
    listed = _LISTED.match(text)
    return passage_of(" " * listed.end() + text[listed.end() :] if listed else text)


class _Weights(dict[str, int]):
    """How much each term says, worked out when it is first asked for."""

    def __missing__(self, term: str) -> int:
        if len(self) >= _KEPT:
            self.clear()
        found = self[term] = round(weight_of(term) * _WHOLE)
        return found


#: How much a term says: a look into a store is the fastest way to say it many times over.
weight = _Weights().__getitem__


def weighed(found: Iterable[str]) -> int:
    """What these terms weigh together."""
    return sum(map(weight, found))


def share(mine: Passage, theirs: Passage) -> float:
    """The share of the words of the first that the second has."""
    shared = mine.terms & theirs.terms
    return sum(map(weight, shared)) / mine.weight if shared else 0.0


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


def _digits(text: str, quantity: Quantity) -> str:
    found = _DIGITS.search(grouped(text), quantity.start, quantity.end)
    return found[0] if found else ""


class _Page(Passage):
    """A longer text: it is read sentence by sentence, and many of those are known."""

    __slots__ = ("_first", "_homes", "_parts")
    _homes: list[str]  # the sentence in which each of the numbers has its place

    def __init__(self, *blocks: str) -> None:
        self.text = "\n".join(blocks)
        self._first = blocks[0]
        self._parts = [text for block in blocks if block for text, _, _ in sentences(block)]
        self.terms = frozenset().union(*map(terms, self._parts))

    def _counted(self) -> tuple[Quantity, ...]:
        found = [(part, one) for part in self._parts for one in passage_of(part).quantities]
        self._homes = [part for part, _ in found]
        return tuple([one for _, one in found])

    def digits(self, place: int) -> str:
        return _digits(self._homes[place], self.quantities[place])

    @property
    def body(self) -> list[Passage]:
        return [passage_of(text) for text, _, _ in sentences(self._first)]


@lru_cache(maxsize=128)
def source_passage(source: Source) -> Passage:
    """A source with its title; its year and the years in its address may be cited too."""
    dated = _DATED.findall(f"{source.year} {source.url}")[:4]
    return _page(source.text, source.title, " ; ".join(dated))


_page = lru_cache(maxsize=64)(_Page)  # one page may be brought back several times


@lru_cache(maxsize=512)
def clauses_of(text: str) -> tuple[str, ...]:
    """The clauses of a sentence; a comma inside a number parts nothing."""
    pieces = _CLAUSE.split(_COMMA.sub("", text) if "," in text else text)
    if not text.isascii() and any(map(text.__contains__, _JOINED)):
        pieces = [part for piece in pieces for part in _BEGINS.split(piece)]
    return tuple([part for piece in pieces if (part := piece.strip())])
