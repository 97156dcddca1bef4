"""The words of a claim that a text has to state, each with the terms that would state it."""

import re
from collections.abc import Iterable, Set
from functools import lru_cache

import msgspec

from rubrica.judges.text.lexicon import lexicon, related
from rubrica.judges.text.lists import words_of
from rubrica.judges.text.pieces import Piece
from rubrica.judges.text.reading import read, strength
from rubrica.judges.text.word import Ideas
from rubrica.judges.text.words import weight_of

#: Characters that place a thing or count it and say nothing of it.
_PLACES = frozenset("后前时中上下里内外有个名只例位家座部本次条项种件")
_PARTS = re.compile(r"[-+./']")
#: Ideas that make a word one of many senses.
_MANY = 4
#: A term that earns no more than this does not state a word for certain.
_SURE = 0.6
_NONE: frozenset[str] = frozenset()
#: The kind or unit of a quantity that implies an idea.
_IMPLIED = {
    "@weight": "mass",
    "@heavy": "mass",
    "@length": "length",
    "@height": "length",
    "@depth": "length",
    "@long": "length",
    "@cost": "money",
    "@income": "money",
    "@area": "area",
    "@speed": "speed",
    "@fast": "speed",
    "@last": "time",
    "@time_needed": "time",
    "@temperature": "temperature",
    "@share": "percent",
}
#: A term that would state a word of a claim, its credit, and the sign expected.
Option = tuple[str, float, int]


class Meaning(msgspec.Struct, frozen=True, gc=False):
    """What would state a word of a claim; all of its terms, and those that do so for certain."""

    options: tuple[Option, ...]
    terms: frozenset[str]
    sure: frozenset[str]
    #: The word with each idea of two sides, or whatever is denied.
    polar: tuple[tuple[str, str], ...]
    #: The kinds of quantity that tell it: `at 1,025 kg` tells the weight.
    told: frozenset[str]


class Unit(msgspec.Struct, frozen=True, gc=False):
    """A word of a claim that a text has to state."""

    meaning: Meaning
    weight: float
    name: bool
    #: A first word with a capital, which may be a name or not.
    perhaps: bool
    word: str
    clause: int
    at: int

    @property
    def options(self) -> tuple[Option, ...]:
        return self.meaning.options

    @property
    def term(self) -> str:
        return self.meaning.options[0][0]


@lru_cache(maxsize=512)
def units(text: str) -> tuple[Unit, ...]:
    """The words of a claim that a text has to state."""
    reading = read(text)
    covered = [(amount.start, amount.end) for amount in reading.quantities]
    first, last = (covered[0][0], covered[-1][1]) if covered else (0, 0)
    found: list[Unit] = []
    hedges = words_of("hedges.txt")
    for at, whole in enumerate(reading.pieces):
        piece = whole
        if whole.start < last and whole.start + len(whole.word) > first:
            left = _outside(whole, covered)
            if left is None:
                continue
            piece = left
        if piece.word in _PLACES:
            continue
        if piece.word.lower() in hedges and not _permits(piece):
            continue
        if piece.han:
            found += _han_units(piece, at)
        else:
            found.append(_english_unit(piece, at))
    both = reading.both_sides()
    return tuple([_without(unit, both) for unit in found] if both else found)


def _permits(piece: Piece) -> bool:
    """Whether this is the `may` of a rule, which is no hedge."""
    return piece.word == "may" and bool(piece.ideas)


def _without(unit: Unit, ideas: Set[str]) -> Unit:
    kept = tuple(option for option in unit.options if option[0] not in ideas)
    return msgspec.structs.replace(unit, meaning=_meaning(kept)) if kept else unit


def _outside(piece: Piece, covered: list[tuple[int, int]]) -> Piece | None:
    """What of a piece is not part of a quantity: `three million`, `July`, 四 of 有四."""
    for start, end in covered:
        if start <= piece.start < end:
            left = piece.word[end - piece.start :] if piece.han else ""
        elif piece.start < start < piece.start + len(piece.word):
            left = piece.word[: start - piece.start]
        else:
            continue
        if not left:
            return None
        return msgspec.structs.replace(piece, word=left, term=left) if piece.han else piece
    return piece


def _meaning(options: Iterable[Option]) -> Meaning:
    kept = tuple(options)
    terms = sure = frozenset([option[0] for option in kept])
    if kept[-1][1] <= _SURE:  # the best come first
        sure = frozenset([option[0] for option in kept if option[1] > _SURE])
    polar = tuple([(kept[0][0], term) for term, _, sign in kept if not -2 < sign < 2])
    told = _NONE
    if not _IMPLIED.keys().isdisjoint(terms):
        told = frozenset([_IMPLIED[idea] for idea in _IMPLIED.keys() & terms])
    return Meaning(kept, terms, sure, polar, told)


def _options(term: str, ideas: Ideas, sign: int) -> list[Option]:
    polar = lexicon().polar
    found = [(term, 1.0, sign)]
    # A word of many senses means none of them enough to deny another.
    clear = len(ideas) < _MANY
    for idea, side in ideas:
        if clear or idea not in polar:
            found.append((idea, 0.9, side * strength(sign, idea in polar)))
    return found


def _near(word: str, ideas: Ideas) -> Iterable[str]:
    """Words that may stand for a word, but for those that a list knows as its opposite."""
    found = related(word)
    if not ideas or not found:
        return found
    opposite = {(idea, -side) for idea, side in dict(ideas).items()}
    known = lexicon().words
    return [term for term in found if opposite.isdisjoint(known.get(term, ()))]


@lru_cache(maxsize=8192)
def _english(term: str, ideas: Ideas, sign: int, name: bool) -> tuple[Meaning, float]:
    options = _options(term, ideas, sign)
    if not name:
        weak = 1 if sign > 0 else -1
        options += [(other, 0.7, weak) for other in _near(term, ideas)]
    if not term.isalnum():
        options += [(part, 0.6, sign) for part in _PARTS.split(term) if len(part) > 2]
    return _meaning(options), weight_of(term) * (1.3 if name else 1.0)


def _english_unit(piece: Piece, at: int) -> Unit:
    meaning, weight = _english(piece.term, piece.ideas, piece.sign, piece.name)
    first = at == 0 and piece.word[0].isupper() and not piece.name and not piece.ideas
    perhaps = first or (len(piece.word) == 1 and piece.word.isupper())
    return Unit(meaning, weight, piece.name, perhaps, piece.word, piece.clause, at)


def _han_units(piece: Piece, at: int) -> list[Unit]:
    found = _chinese(piece.term, piece.ideas, piece.sign, piece.name)
    return [Unit(m, w, piece.name, False, piece.term, piece.clause, at) for m, w in found]


@lru_cache(maxsize=8192)
def _chinese(word: str, ideas: Ideas, sign: int, name: bool) -> list[tuple[Meaning, float]]:
    """A known word is one unit; characters between known words are a unit for each pair."""
    if ideas or len(word) <= 2:
        weight = 0.45 if len(word) == 1 else 1.0 + 0.2 * (len(word) - 2)
        if word in words_of("weak.txt"):
            weight = 0.4
        options = _options(word, ideas, sign)
        if len(word) > 2:
            options += [(word[i : i + 2], 0.55, sign) for i in range(len(word) - 1)]
        elif len(word) == 2:
            options += [(char, 0.3, sign) for char in word]
        return [(_meaning(options), weight)]
    share = 0.8 if name else 0.6
    pairs = (word[place : place + 2] for place in range(len(word) - 1))
    return [
        (_meaning([(pair, 1.0, sign), (pair[0], 0.3, sign), (pair[1], 0.3, sign)]), share)
        for pair in pairs
    ]
