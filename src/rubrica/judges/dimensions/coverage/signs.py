"""By which words and shapes each of some aspects is known, and how far a sentence speaks of it.

That depends on the aspects only, so it is made once for all cases that have the same.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache

from rubrica.judges.dimensions.coverage.aspects import Aspect, Slot, sense_patterns, terms_of
from rubrica.judges.dimensions.coverage.concepts import Concept
from rubrica.judges.dimensions.coverage.scanning import HAN, Scanner, keys_in
from rubrica.judges.dimensions.coverage.speech import Sign, Speech, Wanted
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
#: New words beside each time that a text says the same name.
_AGAIN = 1.5
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
            speech = self._speech[key] = self._speech_of(said, head)
        return speech

    def _speech_of(self, said: Spoken, head: str) -> Speech:
        keys, lower, blocked = self._seen(said)
        if head:
            keys |= self._seen(spoken(head))[0]
        speech = Speech(said.text, lower, self._wanted, self._hits(keys), blocked)
        if speech.named:
            speech.again = self._repeats(said.lower, said.keys, speech.named)
        return speech

    def named(self, label: str, least: float = _NAMED) -> frozenset[int]:
        """The aspects that a label or a sentence names."""
        key = label if least == _NAMED else (label, least)
        named = self._named.get(key)
        if named is None:
            if len(self._named) >= _KEPT:
                self._named.clear()
            speech = self.speech(spoken(label))
            literal = {at: speech.value(at) for at in speech.literal}
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
        for at, aspect in enumerate(aspects):
            for place, slot in enumerate(aspect.slots):
                self._learn(at, place, slot)
        self._wanted = [self._want(at, aspect) for at, aspect in enumerate(aspects)]
        pieces = {gram for grams in self._grams.values() for gram in grams}
        self._scanner = Scanner({*self._signs, *pieces})

    def _want(self, at: int, aspect: Aspect) -> Wanted:
        slots = aspect.slots
        whole = sum(slot.weight for slot in slots)
        shares = tuple([slot.weight / whole for slot in slots])
        heads, asking = [], []
        for place, slot in enumerate(slots if len(slots) > 1 else ()):
            if slot.words and shares[place] >= 0.4:
                heads.append(place)
            defining = any(concept.name == "definition" for concept in slot.concepts)
            if slot.concepts and not slot.words and not defining:
                asking.append(place)
        shapes = [
            (shape, sign)
            for shape, signs in sorted(self._shapes.items())
            for sign in signs
            if sign.aspect == at
        ]
        return Wanted(shares, tuple(shapes), tuple(heads), tuple(asking), aspect.yes_no)

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

    def _seen(self, said: Spoken) -> tuple[set[str], str, frozenset[int]]:
        """The keys of a text, it without words in another sense, and the aspects of such words."""
        lower = said.lower
        keys = self._scanner.find(lower, said.keys)
        if self._senses is not None and not self._sense_keys.isdisjoint(keys):
            plain = self._senses.sub(" ", lower)
            if plain != lower:
                blocked = frozenset(at for at, sense in self._sense_of if sense.search(lower))
                return self._scanner.find(plain, keys_in(plain)), plain, blocked
        return keys, lower, _NONE

    def _hits(self, keys: set[str]) -> list[Sign]:
        """What some keys say."""
        if not keys:
            return []
        signs = self._signs
        # In order, so that sums are the same to the last digit in every process.
        found = [sign for key in sorted(keys) if key in signs for sign in signs[key]]
        for (aspect, slot), grams in self._grams.items():
            share = len(grams & keys) / len(grams)
            if share >= 0.5:
                found.append(Sign(aspect, slot, 0.9 * share, True, True))
        return found

    def _repeats(self, lower: str, words: Sequence[str], named: Iterable[int]) -> float:
        """New words that a text needs which says the name of an aspect again and again."""
        counts = [
            lower.count(name) if HAN.match(name) else words.count(name)
            for at in named
            for name in self._names[at]
        ]
        most = max(counts, default=0)
        return _AGAIN * most if most > 1 else 0.0


def _clear(word: str) -> float:
    """A single Chinese character is often part of another word."""
    return 0.5 if len(word) == 1 else 1.0


def concepts_of(aspects: Sequence[Aspect]) -> Iterator[Concept]:
    return (concept for aspect in aspects for slot in aspect.slots for concept in slot.concepts)


@lru_cache(maxsize=512)
def signs_of(aspects: tuple[Aspect, ...]) -> Signs:
    return Signs(aspects)
