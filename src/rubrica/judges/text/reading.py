"""A sentence read for comparison: what it speaks of, what it denies, whom it names, how much."""

import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import NamedTuple

from rubrica.judges.text.lexicon import exclusive, lexicon
from rubrica.judges.text.lists import words_of
from rubrica.judges.text.pieces import Piece, pieces
from rubrica.judges.text.quantities import Quantity, quantities
from rubrica.judges.text.words import fold, weight_of

#: Characters that place a thing or count it and say nothing of it.
_PLACES = frozenset("后前时中上下里内外有个名只例位家座部本次条项种件")
_PARTS = re.compile(r"[-+./']")
#: A sentence that tells what was asked states nothing.
_RETOLD = re.compile(
    r"\b(?:want|like|wish|need|going)\b.{0,20}\bto know\b|\byou(?:'re| are)? ask|\byour question\b"
    r"|想了解|想知道|您问|你问|询问的是|提出的这个问题|您的问题|你的问题",
    re.IGNORECASE,
)
_HINTS = ("know", "ask", "question", "想", "问")
#: Terms with their sign: negative where denied, larger where that is the point, 0 where both are
#: said.
Terms = dict[str, int]


class Clause(NamedTuple):
    """A part of a sentence between commas or the like."""

    terms: Terms
    names: frozenset[str]
    quantities: Sequence[Quantity]
    hedged: bool
    certain: bool
    #: Common nouns that are part of a name: the river of `Columbia River`.
    qualified: frozenset[str]


class Reading:
    """A sentence: all of it, and its clauses, which are made when they are asked for."""

    def __init__(self, text: str, amounts: Sequence[Quantity] | None = None) -> None:
        self.text = text
        found = pieces(text)
        self.pieces = found.pieces
        self._found = found
        self.quantities = quantities(text) if amounts is None else amounts
        hedged, certain = bool(found.hedged), bool(found.certain)
        self.whole = _clause(found.pieces, self.quantities, hedged, certain)

    @cached_property
    def states(self) -> bool:
        """Whether it states something: no question, no account of one, no heap of words."""
        if self._found.heap or self.text.rstrip().endswith("?"):
            return False
        return not any(hint in self.text for hint in _HINTS) or not _RETOLD.search(self.text)

    @cached_property
    def clauses(self) -> tuple[Clause, ...]:
        found = self._found
        if not found.ends:
            return (self.whole,)
        groups: list[list[Piece]] = [[] for _ in range(len(found.ends) + 1)]
        for piece in found.pieces:
            groups[piece.clause].append(piece)
        placed: list[list[Quantity]] = [[] for _ in groups]
        for amount in self.quantities:
            placed[bisect_right(found.ends, amount.start)].append(amount)
        return tuple(
            _clause(group, own, number in found.hedged, number in found.certain)
            for number, (group, own) in enumerate(zip(groups, placed, strict=True))
            if group or own
        )


class Unit(NamedTuple):
    """A word of a claim: terms that would state it, each with its credit and the sign expected."""

    options: tuple[tuple[str, float, int], ...]
    weight: float
    name: bool
    #: A first word with a capital, which may be a name or not.
    perhaps: bool
    word: str
    clause: int
    at: int


def read(text: str, amounts: Sequence[Quantity] | None = None) -> Reading:
    """Reads a sentence; its quantities may be known already."""
    return Reading(fold(text), amounts)


def _clause(
    group: Sequence[Piece], amounts: Sequence[Quantity], hedged: bool, certain: bool
) -> Clause:
    polar = lexicon().polar
    plain: list[str] = []
    signed: list[tuple[str, int]] = []
    for _, term, ideas, sign, _, _, _, han in group:
        words = [term]
        if han:
            if len(term) > 1:
                words += [term[at : at + 2] for at in range(len(term) - 1)]
                words += term
        elif not term.isalnum():
            words += _PARTS.split(term)
        if sign == 1:
            plain += words
        else:
            signed += [(word, sign) for word in words]
        for idea, side in ideas:
            signed.append((idea, side * _strength(sign, idea in polar)))
    terms: Terms = dict.fromkeys(plain, 1)
    for word, sign in signed:
        known = terms.get(word)
        if known is None or (known * sign > 0 and abs(sign) > abs(known)):
            terms[word] = sign
        elif known * sign < 0:
            terms[word] = 0
    names = frozenset([piece.term for piece in group if piece.name and not piece.ideas])
    return Clause(terms, names, amounts, hedged, certain, _qualified(group) if names else _NONE)


_NONE: frozenset[str] = frozenset()


def _qualified(group: Sequence[Piece]) -> frozenset[str]:
    found: list[str] = []
    for before, piece in pairwise(group):
        gap = piece.start - before.start - len(before.word)
        if gap <= 1 and piece.name and piece.ideas and before.name and not before.ideas:
            found.append(piece.term)
    return frozenset(found)


def members(clause: Clause) -> dict[int, set[str]]:
    """The words of a clause that are one of a set, by the number of the set."""
    sets = exclusive()
    found: dict[int, set[str]] = {}
    for term in clause.terms.keys() & sets.keys():
        for number in sets[term]:
            found.setdefault(number, set()).add(term)
    return found


def _strength(sign: int, polar: bool) -> int:
    """The sign of an idea: 2 for one with an opposite, 3 where its denial is the point."""
    size = 1 if not polar or sign == -1 else 2 if sign == 1 else 3
    return size if sign > 0 else -size


@lru_cache(maxsize=2048)
def units(text: str) -> tuple[Unit, ...]:
    """The words of a claim that a text has to state."""
    reading = read(text)
    covered = [(amount.start, amount.end) for amount in reading.quantities]
    found: list[Unit] = []
    hedges = words_of("hedges.txt")
    for at, whole in enumerate(reading.pieces):
        piece = _outside(whole, covered)
        if piece is None or piece.word.lower() in hedges:
            continue
        found.extend(_han_units(piece, at) if piece.han else (_english_unit(piece, at),))
    return tuple(found)


def _outside(piece: Piece, covered: list[tuple[int, int]]) -> Piece | None:
    """What of a piece is not part of a quantity: `three million`, `July`, 四 of 有四."""
    for start, end in covered:
        if start <= piece.start < end:
            left = piece.word[end - piece.start :] if piece.han else ""
        elif piece.start < start < piece.start + len(piece.word):
            left = piece.word[: start - piece.start]
        else:
            continue
        if not left or left in _PLACES:
            return None
        return piece._replace(word=left, term=left) if piece.han else piece
    return None if piece.word in _PLACES else piece


def _options(piece: Piece) -> list[tuple[str, float, int]]:
    polar = lexicon().polar
    found = [(piece.term, 1.0, piece.sign)]
    for idea, side in piece.ideas:
        found.append((idea, 0.9, side * _strength(piece.sign, idea in polar)))
    return found


def _english_unit(piece: Piece, at: int) -> Unit:
    options = _options(piece)
    if not piece.term.isalnum():
        parts = _PARTS.split(piece.term)
        options += [(part, 0.6, piece.sign) for part in parts if len(part) > 2]
    weight = weight_of(piece.term) * (1.3 if piece.name else 1.0)
    first = at == 0 and piece.word[0].isupper() and not piece.name and not piece.ideas
    perhaps = first or (len(piece.word) == 1 and piece.word.isupper())
    return Unit(tuple(options), weight, piece.name, perhaps, piece.word, piece.clause, at)


def _han_units(piece: Piece, at: int) -> Iterable[Unit]:
    """A known word is one unit; characters between known words are a unit for each pair."""
    word = piece.term
    if piece.ideas or len(word) <= 2:
        weight = 0.45 if len(word) == 1 else 1.0 + 0.2 * (len(word) - 2)
        if word in words_of("weak.txt"):
            weight = 0.4
        options = _options(piece)
        if len(word) > 2:
            options += [(word[i : i + 2], 0.55, piece.sign) for i in range(len(word) - 1)]
        elif len(word) == 2:
            options += [(char, 0.3, piece.sign) for char in word]
        yield Unit(tuple(options), weight, piece.name, False, word, piece.clause, at)
        return
    share = 1.2 / 2 if not piece.name else 0.8
    for place in range(len(word) - 1):
        pair = word[place : place + 2]
        options = [(pair, 1.0, piece.sign), (pair[0], 0.3, piece.sign), (pair[1], 0.3, piece.sign)]
        yield Unit(tuple(options), share, piece.name, False, word, piece.clause, at)
