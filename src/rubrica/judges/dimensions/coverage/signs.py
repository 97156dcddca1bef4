"""By which words and shapes each of some aspects is known, and how far a sentence speaks of it.

That depends on the aspects only, so it is made once for all cases that have the same.
"""

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple

from rubrica.judges.dimensions.coverage.aspects import Aspect, compiled, sense_patterns
from rubrica.judges.dimensions.coverage.concepts import Concept
from rubrica.judges.dimensions.coverage.scanning import HAN, Keys, Scanner, keys_in
from rubrica.judges.dimensions.coverage.slots import Slot
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


_SEVERAL = -1
_NONE: frozenset[int] = frozenset()
_NO_WORDS: frozenset[str] = frozenset()


class _Meant(NamedTuple):
    """A concept that a slot of an aspect means; its own words say more than that."""

    aspect: int
    slot: int
    concept: Concept
    words: frozenset[str]

    def sign(self, key: str) -> Sign | None:
        """What a key says of the concept."""
        aspect, slot, concept, _ = self
        if key in concept.ask:
            return Sign(aspect, slot, _WEAK_ASK if concept.strict else _ASK, True)
        # A single Chinese character is often part of another word.
        clear = 0.5 if len(key) == 1 else 1.0
        if key in concept.tell:
            return Sign(aspect, slot, (_BROAD_TELL if concept.broad else _TELL) * clear)
        return Sign(aspect, slot, _HINT * clear) if key in concept.hint else None


class Signs:
    """The signs of some aspects."""

    def __init__(self, aspects: tuple[Aspect, ...], asked: frozenset[str]) -> None:
        """`asked` are other senses of words that the question means all the same."""
        self.aspects = aspects
        self._speech: dict[str | tuple[str, str], Speech] = {}
        self._named: dict[str | tuple[str, float], frozenset[int]] = {}
        #: What each key says that was met.
        self._signs: dict[str, tuple[Sign, ...]] = {}
        self._learn_all()
        self._senses = [sense_patterns(aspect) - asked for aspect in aspects]
        self._patterns = sorted(_NO_WORDS.union(*self._senses))

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
            named = self._named[key] = _named(speech, least) if speech.literal else _NONE
        return named

    def _learn_all(self) -> None:
        aspects = self.aspects
        self._names = [
            {word for slot in a.slots for word in slot.words if not word.isdigit()} for a in aspects
        ]
        #: Which aspect a name is of, where it is of one only.
        self._owners: dict[str, int] = {}
        for at, names in enumerate(self._names):
            for name in names:
                self._owners[name] = _SEVERAL if name in self._owners else at
        #: Signs by the words and characters of the aspects, and what those words mean.
        self._words: dict[str, list[Sign]] = {}
        self._meant: list[_Meant] = []
        self._grams: dict[tuple[int, int], frozenset[str]] = {}
        for at, aspect in enumerate(aspects):
            for place, slot in enumerate(aspect.slots):
                self._learn(at, place, slot)
        self._wanted = [_wanted(at, aspect) for at, aspect in enumerate(aspects)]
        own = Keys(_NO_WORDS.union(self._words, *self._grams.values()))
        self._scanner = Scanner([own, *[one.concept.keys for one in self._meant]])

    def _learn(self, aspect: int, place: int, slot: Slot) -> None:
        """Learns one word of an aspect."""
        chance = _WEAK_ASK if any(concept.strict for concept in slot.concepts) else _LITERAL
        for word in slot.words:
            name = self._owners.get(word, aspect) == aspect
            self._words.setdefault(word, []).append(Sign(aspect, place, chance, True, name))
        if slot.grams and not slot.concepts:
            for char in {char for word in slot.words if len(word) <= 4 for char in word}:
                self._words.setdefault(char, []).append(Sign(aspect, place, _CHARACTER))
        if slot.grams:
            self._grams[aspect, place] = slot.grams
        for concept in slot.concepts:
            self._meant.append(_Meant(aspect, place, concept, slot.words))

    def _said(self, key: str) -> tuple[Sign, ...]:
        """What a key says: one sign for each slot, the strongest."""
        signs = self._signs.get(key)
        if signs is None:
            owner = self._owners.get(key)
            found = self._words.get(key, [])[:]
            for one in self._meant:
                # The name of another aspect speaks of that one only.
                if (owner is not None and owner != one.aspect) or key in one.words:
                    continue
                if sign := one.sign(key):
                    found.append(sign)
            if len(found) > 1:
                found = [*{sign[:2]: sign for sign in sorted(found)}.values()]
            signs = self._signs[key] = tuple(found)
        return signs

    def _seen(self, said: Spoken) -> tuple[set[str], str, frozenset[int]]:
        """The keys of a text, it without words in another sense, and the aspects of such words."""
        lower = said.lower
        keys = self._scanner.find(lower, said.keys)
        if keys and self._patterns and self._is_literal(keys):
            found = [sense for sense in self._patterns if compiled(sense).search(lower)]
            if found:
                plain = compiled("|".join(found)).sub(" ", lower)
                blocked = [at for at, senses in enumerate(self._senses) if senses & set(found)]
                return self._scanner.find(plain, keys_in(plain)), plain, frozenset(blocked)
        return keys, lower, _NONE

    def _is_literal(self, keys: Iterable[str]) -> bool:
        """Whether one of some keys is a word for an aspect."""
        return any(sign.literal for key in keys for sign in self._said(key))

    def _hits(self, keys: set[str]) -> list[Sign]:
        """What some keys say."""
        if not keys:
            return []
        # In order, so that sums are the same to the last digit in every process.
        found = [sign for key in sorted(keys) for sign in self._said(key)]
        for (aspect, slot), grams in self._grams.items():
            share = len(grams & keys) / len(grams)
            if share >= 0.5:
                found.append(Sign(aspect, slot, 0.9 * share, True, True))
        return found

    def _repeats(self, lower: str, words: Sequence[str], named: Iterable[int]) -> float:
        """New words that a text needs which says the name of an aspect again and again."""
        counts = [
            words.count(name) if name.isascii() or not HAN.match(name) else lower.count(name)
            for at in named
            for name in self._names[at]
        ]
        most = max(counts, default=0)
        return _AGAIN * most if most > 1 else 0.0


def _named(speech: Speech, least: float) -> frozenset[int]:
    """The aspects that a text is the name of."""
    values = [(at, speech.value(at)) for at in speech.literal]
    if least == _NAMED:  # `environmental impact` is no name of `traffic effects`
        least = max(least, max([value for _, value in values]) - _BESIDE)
    return frozenset([at for at, value in values if value >= least])


def _wanted(at: int, aspect: Aspect) -> Wanted:
    slots = aspect.slots
    whole = sum([slot.weight for slot in slots])
    shares = tuple([slot.weight / whole for slot in slots])
    heads, asking = [], []
    for place, slot in enumerate(slots if len(slots) > 1 else ()):
        if not slot.words:
            if slot.concepts and not any(one.name == "definition" for one in slot.concepts):
                asking.append(place)
        elif shares[place] >= 0.4:
            heads.append(place)
    shapes = {
        (concept.shape, Sign(at, place, _SHAPE.get(concept.shape, 0.45)))
        for place, slot in enumerate(slots)
        for concept in slot.concepts
        if concept.shape
    }
    return Wanted(shares, tuple(sorted(shapes)), tuple(heads), tuple(asking), aspect.yes_no)


@lru_cache(maxsize=512)
def signs_of(aspects: tuple[Aspect, ...], asked: frozenset[str]) -> Signs:
    return Signs(aspects, asked)
