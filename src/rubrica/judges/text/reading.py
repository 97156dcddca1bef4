"""A sentence read for comparison: what it speaks of, what it denies, whom it names, how much."""

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise
from operator import add
from typing import Any

import msgspec

from rubrica.judges.text.lexicon import exclusive, lexicon
from rubrica.judges.text.pieces import Piece, pieces
from rubrica.judges.text.quantities import Quantity, amounts
from rubrica.judges.text.tokens import LEAST_HEAP, heaped
from rubrica.judges.text.word import Ideas
from rubrica.judges.text.words import LONGEST_KEPT, fold

_PARTS = re.compile(r"[-+./']")
#: A sentence that tells what was asked states nothing.
_RETOLD = re.compile(
    r"\b(?:want|like|wish|need|going)\b.{0,20}\bto know\b|\byou(?:'re| are)? ask|\byour question\b"
    r"|想了解|想知道|要回答|您问|你问|询问的是|提出的这个问题|您的问题|你的问题",
    re.IGNORECASE,
)
#: What would have followed had it been so.
_UNREAL = re.compile(r"\W*(?:If\b.*\bhad\b|Had\b).*\bwould(?:n't| not)? have\b[^;]*\Z")
_RETOLD_HINTS = ("know", "ask", "question", "想", "问", "要回答")
#: Terms with their sign: negative where denied, larger where that is the point, 0 where both are
#: said.
Terms = dict[str, int]


class Clause(msgspec.Struct, gc=False):
    """A part of a sentence between commas or the like."""

    terms: Terms
    names: frozenset[str]
    quantities: Sequence[Quantity]
    hedged: bool
    certain: bool
    pieces: Sequence[Piece]
    _qualified: frozenset[str] | None = None

    @property
    def qualified(self) -> frozenset[str]:
        """Common nouns that are part of a name: the river of `Columbia River`. Of other names,
        both words: `pierr curi`. Few claims ask for it.
        """
        if self._qualified is None:
            self._qualified = _qualified(self.pieces) if self.names else _NONE
        return self._qualified


class Reading:
    """A sentence, its words and figures; all of it as one clause, and its clauses, when asked."""

    __slots__ = (
        "_found",
        "certain",
        "clauses",
        "hedged",
        "pieces",
        "quantities",
        "text",
        "whole",
    )
    whole: Clause
    clauses: tuple[Clause, ...]

    def __init__(self, written: str) -> None:
        self.text = text = fold(written)
        self._found = found = pieces(text)
        self.pieces = found.pieces
        self.quantities = amounts(written)
        self.hedged, self.certain = bool(found.hedged), bool(found.certain)

    def __getattr__(self, name: str) -> Any:  # asked only for what has not been made yet
        found: Any
        if name == "whole":
            found = _clause(self.pieces, self.quantities, self.hedged, self.certain)
            self.whole = found
        elif name == "clauses":
            found = self.clauses = self._parted() if self._found.ends else (self.whole,)
        else:
            raise AttributeError(name)
        return found

    def both_sides(self) -> frozenset[str]:
        """What it both says and denies, first and last; so it says neither."""
        for piece in self.pieces:
            if piece.sign < 0 or (piece.ideas and -1 in [side for _, side in piece.ideas]):
                return frozenset([term for term, sign in self.whole.terms.items() if not sign])
        return _NONE

    def _parted(self) -> tuple[Clause, ...]:
        found = self._found
        hedged, certain = found.hedged, found.certain
        groups: dict[int, tuple[list[Piece], list[Quantity]]] = defaultdict(lambda: ([], []))
        for piece in found.pieces:
            groups[piece.clause][0].append(piece)
        for amount in self.quantities:
            groups[bisect_right(found.ends, amount.start)][1].append(amount)
        if len(groups) == 1 and groups.keys() >= hedged | certain:
            return (self.whole,)  # nothing stands behind its full stop
        return tuple(
            [
                _clause(*groups[number], number in hedged, number in certain)
                for number in sorted(groups)
            ]
        )


@lru_cache(maxsize=1024)
def states(text: str) -> bool:
    """Whether a sentence states something: no question, no account of one, no heap of words."""
    if text[-1:] in ("?", "？"):
        return False
    if any(map(text.__contains__, _RETOLD_HINTS)) and _RETOLD.search(fold(text)):
        return False
    if " would" in text and _UNREAL.match(text):
        return False
    return len(text) < LEAST_HEAP or not heaped(fold(text))


def read(text: str) -> Reading:
    """Reads a sentence, once for all who ask of it."""
    return _read(text) if len(text) <= LONGEST_KEPT else Reading(text)


@lru_cache(maxsize=512)
def _read(text: str) -> Reading:
    return Reading(text)


def _clause(
    group: Sequence[Piece], amounts: Sequence[Quantity], hedged: bool, certain: bool
) -> Clause:
    plain: list[str] = []
    signed: list[tuple[str, int]] = []
    names: list[str] = []
    for piece in group:
        term, ideas = piece.term, piece.ideas
        whole = len(term) == 1 if piece.han else term.isalnum()
        if piece.sign != 1:
            signed += _denied(piece, () if whole else _parts(term))
        else:
            plain.append(term)
            if not whole:
                plain += _parts(term)
            if ideas:
                signed += _sides(ideas)
        if piece.name and not ideas:
            names.append(term)
    terms: Terms = dict.fromkeys(plain, 1)
    for word, sign in signed:
        known = terms.get(word)
        if known is None or (known * sign > 0 and abs(sign) > abs(known)):
            terms[word] = sign
        elif known * sign < 0:
            terms[word] = 0
    return Clause(terms, frozenset(names), amounts, hedged, certain, group)


_NONE: frozenset[str] = frozenset()


def _denied(piece: Piece, parts: tuple[str, ...]) -> list[tuple[str, int]]:
    """A word that is not plainly said, its parts and its ideas, each with its sign."""
    sign, polar = piece.sign, lexicon().polar
    found = [(word, sign) for word in (piece.term, *parts)]
    plainly, both = strength(sign, False), strength(sign, True)
    found += [(idea, side * (both if idea in polar else plainly)) for idea, side in piece.ideas]
    return found


@lru_cache(maxsize=8192)
def _sides(ideas: Ideas) -> tuple[tuple[str, int], ...]:
    """Ideas with their sign where nothing is denied."""
    polar = lexicon().polar
    return tuple([(idea, 2 * side if idea in polar else side) for idea, side in ideas])


def _parts(term: str) -> tuple[str, ...]:
    """What a word is made of, as far as that may be said by itself."""
    return _within(term) if len(term) <= LONGEST_KEPT else _within.__wrapped__(term)


@lru_cache(maxsize=8192)
def _within(term: str) -> tuple[str, ...]:
    """The pairs of a Chinese word and its characters, or the parts of an English one."""
    if term[:1] > "⺀":
        return (*map(add, term, term[1:]), *term)
    return tuple(_PARTS.split(term))


def _qualified(group: Sequence[Piece]) -> frozenset[str]:
    found: list[str] = []
    for before, piece in pairwise(group):
        if (
            piece.name
            and before.name
            and not before.ideas
            and piece.start - before.start - len(before.word) <= 1
        ):
            found.append(piece.term if piece.ideas else f"{before.term} {piece.term}")
    return frozenset(found)


def members(clause: Clause) -> dict[int, set[str]]:
    """The words of a clause that are one of a set, by the number of the set."""
    sets = exclusive()
    found: dict[int, set[str]] = {}
    if sets.keys().isdisjoint(clause.terms):
        return found
    for term in clause.terms.keys() & sets.keys():
        for number in sets[term]:
            found.setdefault(number, set()).add(term)
    return found


def members_of(claim: Reading) -> dict[int, set[str]]:
    """The same of all words of a claim."""
    sets = exclusive()
    found: dict[int, set[str]] = {}
    for piece in claim.pieces:
        term, ideas = piece.term, piece.ideas
        if ideas or piece.han or term in sets or not term.isalnum():
            for number, word in _sets_of(term, ideas):
                found.setdefault(number, set()).add(word)
    return found


@lru_cache(maxsize=8192)
def _sets_of(term: str, ideas: Ideas) -> tuple[tuple[int, str], ...]:
    sets = exclusive()
    words = (term, *_within(term), *[idea for idea, _ in ideas])
    return tuple([(number, word) for word in words for number in sets.get(word, ())])


def strength(sign: int, polar: bool) -> int:
    """The sign of an idea: 2 for one with an opposite, 3 where its denial is the point."""
    size = 1 if not polar or sign == -1 else 2 if sign == 1 else 3
    return size if sign > 0 else -size
