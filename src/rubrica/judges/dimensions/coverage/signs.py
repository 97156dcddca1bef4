"""By which words and shapes each of some aspects is known, and how far a sentence speaks of it.

That depends on the aspects only, so it is made once for all cases that have the same.
"""

import re
from collections.abc import Iterator, Mapping, Sequence, Set
from functools import lru_cache
from typing import NamedTuple

import msgspec

from rubrica.judges.dimensions.coverage.aspects import Aspect, Slot, sense_patterns, terms_of
from rubrica.judges.dimensions.coverage.concepts import Concept
from rubrica.judges.dimensions.coverage.scanning import HAN, Scanner, keys_in
from rubrica.judges.dimensions.coverage.shapes import SHAPES
from rubrica.judges.dimensions.coverage.spoken import Spoken, spoken

#: From which score a label is the name of an aspect.
_NAMED = 0.55
#: How much less than the best a label may name a second aspect.
_BESIDE = 0.15
#: Sentences and names that are kept.
_KEPT = 8192
#: How sure one sign makes us that a word of an aspect is spoken of.
_LITERAL, _ASK, _WEAK_ASK, _TELL, _BROAD_TELL, _HINT = 0.95, 0.85, 0.25, 0.5, 0.35, 0.2
_CHARACTER = 0.15
#: What is left where one of two words is not spoken of, `deadline` in `deadline for contributing`.
_HALF = 0.87
#: What is left where nothing speaks of the very thing that is asked.
_UNASKED = 0.75
#: New words beside each time that a text says the same name.
_AGAIN = 1.5
#: What a plain yes or no makes of a question that asks for one.
_YES = 0.6
_SHAPE = {
    "money": 0.6,
    "negation": 0.3,
    "list": 0.35,
    "number": 0.3,
    "definition": 0.55,
    "name": 0.4,
    "year": 0.4,
    "duration": 0.4,
}


_NONE: frozenset[int] = frozenset()


class Sign(NamedTuple):
    """What a key or shape says: for which slot of which aspect, and how much."""

    aspect: int
    slot: int
    chance: float
    literal: bool = False
    name: bool = False


class Seen(msgspec.Struct, frozen=True, gc=False):
    """The keys and shapes of a piece of text, and aspects of which a word has another sense."""

    keys: set[str]
    shapes: set[str]
    blocked: frozenset[int] = frozenset()


class Score(msgspec.Struct, frozen=True, gc=False):
    """From 0, not spoken of, to 1; `literal` where the aspect is named, if by another name."""

    value: float
    literal: bool
    named: bool


class Speech(msgspec.Struct, frozen=True, gc=False):
    """What a sentence says of each aspect, how many it names, and one name how often."""

    scores: list[Score]
    blocked: frozenset[int]
    named: int
    again: float
    #: The values of the scores.
    values: tuple[float, ...]


class Signs:
    """The signs of some aspects."""

    def __init__(self, aspects: tuple[Aspect, ...]) -> None:
        self.aspects = aspects
        self._speech: dict[str | tuple[str, str], Speech] = {}
        self._named: dict[str | tuple[str, float], frozenset[int]] = {}
        self._learn_all()
        self._learn_senses()
        self.own = frozenset(self._own_words())

    def speech(self, said: Spoken, head: str = "") -> Speech:
        """What a sentence says, a row of a table together with its head."""
        key = (said.text, head) if head else said.text
        speech = self._speech.get(key)
        if speech is None:
            if len(self._speech) >= _KEPT:
                self._speech.clear()
            seen = self.seen(said)
            if head:
                seen.keys.update(self.seen(spoken(head)).keys)
            speech = self._speech[key] = self._speech_of(said, seen)
        return speech

    def _speech_of(self, said: Spoken, seen: Seen) -> Speech:
        scores = self.scores(seen)
        if scores is self._silence.scores and not seen.blocked:
            return self._silence
        named = sum([score.named for score in scores])
        again = self.repeats(said.lower, said.keys, scores) if named else 0.0
        return Speech(scores, seen.blocked, named, again, tuple([one.value for one in scores]))

    def named(self, label: str, least: float = _NAMED) -> frozenset[int]:
        """The aspects that a label or a sentence names."""
        key = label if least == _NAMED else (label, least)
        named = self._named.get(key)
        if named is None:
            if len(self._named) >= _KEPT:
                self._named.clear()
            scores = self.speech(spoken(label)).scores
            literal = {at: one.value for at, one in enumerate(scores) if one.literal}
            if least == _NAMED:  # `environmental impact` is no name of `traffic effects`
                least_named = max(literal.values(), default=0.0) - _BESIDE
                literal = {at: value for at, value in literal.items() if value >= least_named}
            several = (at for at, value in literal.items() if value >= least)
            named = self._named[key] = frozenset(several)
        return named

    def _learn_all(self) -> None:
        aspects = self.aspects
        self._signs: dict[str, list[Sign]] = {}
        self._shapes: dict[str, list[Sign]] = {}
        self._grams: dict[tuple[int, int], frozenset[str]] = {}
        self._names = [{word for slot in a.slots for word in slot.words} for a in aspects]
        self._asking: list[tuple[int, int]] = []
        self._heads: list[tuple[int, int]] = []
        self._shares: list[list[float]] = []
        for at, aspect in enumerate(aspects):
            whole = sum(slot.weight for slot in aspect.slots)
            self._shares.append([slot.weight / whole for slot in aspect.slots])
            for place, slot in enumerate(aspect.slots):
                self._learn(at, place, slot)
                if self._shares[at][place] >= 0.4 and slot.words and len(aspect.slots) > 1:
                    self._heads.append((at, place))
                defining = any(concept.name == "definition" for concept in slot.concepts)
                if slot.concepts and not slot.words and len(aspect.slots) > 1 and not defining:
                    self._asking.append((at, place))
        if any(aspect.yes_no for aspect in aspects):
            self._shapes.setdefault("answer", [])
        pieces = {gram for grams in self._grams.values() for gram in grams}
        self._scanner = Scanner({*self._signs, *pieces})
        self._telling = pieces.union(self._signs)
        silent = [Score(0.0, False, False)] * len(aspects)
        self._silence = Speech(silent, _NONE, 0, 0.0, (0.0,) * len(aspects))

    def _learn_senses(self) -> None:
        self._sense_of = [
            (at, re.compile("|".join(patterns)))
            for at, aspect in enumerate(self.aspects)
            if (patterns := sense_patterns([aspect]))
        ]
        self._sense_keys = {
            key for key, signs in self._signs.items() if any(sign.literal for sign in signs)
        }
        patterns = sense_patterns(self.aspects)
        self._senses = re.compile("|".join(patterns)) if patterns else None

    def _learn(self, aspect: int, place: int, slot: Slot) -> None:
        for word in slot.words:
            strict = any(concept.strict for concept in slot.concepts)
            chance = _WEAK_ASK if strict else _LITERAL
            shared = any(word in names for at, names in enumerate(self._names) if at != aspect)
            self._add(self._signs, word, Sign(aspect, place, chance, True, not shared))
        if slot.grams and not slot.concepts:
            for sign in {sign for word in slot.words if len(word) <= 4 for sign in word}:
                self._add(self._signs, sign, Sign(aspect, place, _CHARACTER))
        if slot.grams:
            self._grams[aspect, place] = slot.grams
        for concept in slot.concepts:
            self._learn_concept(aspect, place, slot, concept)

    def _learn_concept(self, aspect: int, place: int, slot: Slot, concept: Concept) -> None:
        # The name of another aspect speaks of that one only.
        taken = slot.words.union(*(n for at, n in enumerate(self._names) if at != aspect))
        for word in concept.ask - taken:
            self._add(
                self._signs, word, Sign(aspect, place, _WEAK_ASK if concept.strict else _ASK, True)
            )
        for word in concept.tell - taken:
            chance = _BROAD_TELL if concept.broad else _TELL
            self._add(self._signs, word, Sign(aspect, place, chance * _clear(word)))
        for word in concept.hint - taken:
            self._add(self._signs, word, Sign(aspect, place, _HINT * _clear(word)))
        if concept.shape:
            sign = Sign(aspect, place, _SHAPE.get(concept.shape, 0.45))
            self._add(self._shapes, concept.shape, sign)

    def _add(self, signs: dict[str, list[Sign]], word: str, sign: Sign) -> None:
        """One sign for each word and slot, the strongest."""
        known = signs.setdefault(word, [])
        for at, other in enumerate(known):
            if (other.aspect, other.slot) == (sign.aspect, sign.slot):
                known[at] = max(other, sign)
                return
        known.append(sign)

    def _own_words(self) -> set[str]:
        """The names of the aspects, also by other words: repeating them is saying nothing."""
        own = {term for aspect in self.aspects for term in terms_of(aspect.text)}
        asked = (word for concept in concepts_of(self.aspects) for word in concept.ask)
        return own.union(word for word in asked if " " not in word)

    def seen(self, said: Spoken) -> Seen:
        """What a piece of text has; words in another sense than is asked for are not there."""
        text, lower = said.text, said.lower
        keys = self._scanner.find(lower, said.keys)
        blocked = _NONE
        if self._senses is not None and not self._sense_keys.isdisjoint(keys):
            plain = self._senses.sub(" ", lower)
            if plain != lower:
                blocked = frozenset(at for at, sense in self._sense_of if sense.search(lower))
                lower = plain
                keys = self._scanner.find(lower, keys_in(lower))
        return Seen(keys, {shape for shape in self._shapes if SHAPES[shape](text, lower)}, blocked)

    def repeats(self, lower: str, words: Sequence[str], scores: Sequence[Score]) -> float:
        """New words that a text needs which says the name of an aspect again and again."""
        most = 0
        for at, score in enumerate(scores):
            if score.named:
                counts = (
                    lower.count(name) if HAN.match(name) else words.count(name)
                    for name in self._names[at]
                )
                most = max(most, *counts) if self._names[at] else most
        return _AGAIN * most if most > 1 else 0.0

    def scores(self, seen: Seen) -> list[Score]:
        """How far each aspect is spoken of."""
        if not seen.shapes and self._telling.isdisjoint(seen.keys):
            return self._silence.scores
        count = len(self.aspects)
        missed: dict[tuple[int, int], float] = {}
        literal, named = [False] * count, [False] * count
        signs = self._signs
        for found in (
            # In order, so that sums are the same to the last digit in every process.
            *(signs[key] for key in sorted(seen.keys) if key in signs),
            *(self._shapes[shape] for shape in sorted(seen.shapes)),
        ):
            for aspect, slot, chance, own, name in found:
                missed[aspect, slot] = missed.get((aspect, slot), 1.0) * (1 - chance)
                literal[aspect] |= own
                named[aspect] |= name
        for place, grams in self._grams.items():
            share = len(grams & seen.keys) / len(grams)
            if share >= 0.5:
                missed[place] = missed.get(place, 1.0) * (1 - 0.9 * share)
                literal[place[0]] = named[place[0]] = True
        return list(map(Score, self._values(missed, seen.shapes), literal, named))

    def _values(self, missed: Mapping[tuple[int, int], float], shapes: Set[str]) -> list[float]:
        values = [0.0] * len(self.aspects)
        for (aspect, slot), miss in missed.items():
            values[aspect] += self._shares[aspect][slot] * (1 - miss)
        for place in self._heads:
            if place not in missed:
                values[place[0]] *= _HALF
        for place in self._asking:
            if place not in missed:  # `who built it` is not told by how it was built
                values[place[0]] *= _UNASKED
        if "answer" in shapes:
            for at, wanted in enumerate(self.aspects):
                values[at] = max(values[at], _YES) if wanted.yes_no else values[at]
        return values


def _clear(word: str) -> float:
    """A single Chinese character is often part of another word."""
    return 0.5 if len(word) == 1 else 1.0


def concepts_of(aspects: Sequence[Aspect]) -> Iterator[Concept]:
    return (concept for aspect in aspects for slot in aspect.slots for concept in slot.concepts)


@lru_cache(maxsize=512)
def signs_of(aspects: tuple[Aspect, ...]) -> Signs:
    return Signs(aspects)
