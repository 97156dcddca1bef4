"""The words of an aspect, each with what it means and how much it counts beside the others."""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from operator import add

import msgspec

from rubrica.judges.dimensions.coverage.concepts import Concept, asked, concepts, words_in
from rubrica.judges.dimensions.coverage.scanning import HAN, key_of, keys_in, word_key
from rubrica.judges.text.words import words_of

#: Words of an aspect that count.
_WORDS = 12
#: How much a word counts beside a specific one: a general word, one that the question has already.
_GENERAL, _GIVEN = 0.35, 0.3
#: How much the other words of a question count beside the one that says what is asked, and those
#: of an aspect that a case lists.
_ASKED, _LISTED = 0.5, 0.7
#: Phrases that ask and name nothing.
_ASKING = frozenset(
    map(key_of, ("how do i", "how can i", "how to", "what to do", "what should i do"))
)
_NO_PAIRS = frozenset[str]()
_HAN_STOP = re.compile(
    "的|了|是|在|与|和|及|或|吗|呢|我们?|你们?|您|它们?|他们?|她|请|会|能|可以|应该|需要|还|(?<!首)都|要"
    "|到|用|于|对|把|被|给|有没有|有|个|这|那|之后|之前|以后|上(?!海)|下|里|中(?!国|文|医|学|心)|主要|目前|具体|相关|存在"
    "|哪些人?|哪个|什么|叫|各|其"
)
#: What a word means by its last character.
_ENDINGS = {
    "费": "price",
    "价": "price",
    "款": "price",
    "量": "quantity",
    "数": "quantity",
    "率": "share",
    "期": "duration",
    "法": "procedure",
    "史": "history",
    "地": "place",
    "者": "person",
    "因": "cause",
    "病": "health",
    "税": "tax",
    "险": "insurance",
    "证": "documents",
    "药": "treatment",
}


class Slot(msgspec.Struct, frozen=True, gc=False):
    """One word of an aspect: what is literally it, and which concepts it means."""

    weight: float
    words: frozenset[str]
    grams: frozenset[str] = frozenset()
    concepts: tuple[Concept, ...] = ()

    def weighing(self, weight: float) -> "Slot":
        return Slot(weight, self.words, self.grams, self.concepts)


def slots_of(lower: str, given: frozenset[str]) -> list[Slot]:
    """Each word once, and no more of them than a person would read."""
    slots = [*_english(lower, given), *(() if lower.isascii() else _chinese(lower, given))]
    names = {(slot.words, tuple([one.name for one in slot.concepts])): slot for slot in slots}
    return list(names.values())[:_WORDS]


def weighed(slots: Sequence[Slot], derived: bool) -> tuple[Slot, ...]:
    """The words of an aspect as they count together; `derived` are those of a question."""
    return tuple(_balanced(_led(slots, _ASKED if derived else _LISTED)))


def _raised(slot: Slot) -> Slot:
    return slot.weighing(1.0) if slot.concepts and slot.weight == _GENERAL else slot


def _led(slots: Sequence[Slot], share: float) -> Sequence[Slot]:
    """The word that says what is asked counts most: `who` in `who wrote Dune`, `filing fee`."""
    meant = [slot for slot in slots if slot.concepts]
    if not any(slot.weight >= 0.8 for slot in meant):
        if not any(slot.weight == _GENERAL for slot in meant):
            return slots
        # `提取条件`: where nothing else is known, the general word is what can be seen.
        slots, share = [_raised(slot) for slot in slots], 0.4
    asking = share == _ASKED and not all(slot.words for slot in meant)
    return [
        slot.weighing(slot.weight * share) if not slot.concepts or (asking and slot.words) else slot
        for slot in slots
    ]


def concept_slot(name: str, weight: float) -> Slot:
    """What is asked without a word for it."""
    return Slot(weight, frozenset(), frozenset(), (concepts()[name],))


def _balanced(slots: Sequence[Slot]) -> Sequence[Slot]:
    """Where every word is a general one, they are what is wanted."""
    least = max([slot.weight for slot in slots])
    return slots if least >= 0.8 else [slot.weighing(slot.weight / least) for slot in slots]


def _english(lower: str, given: frozenset[str]) -> Iterator[Slot]:
    words = keys_in(lower)
    meant, general, stop, longest = asked(), words_in("general.txt"), stop_keys(), _longest()
    skip = 0
    for at, word in enumerate(words):
        if at < skip:
            continue
        for size in range(min(longest[word], len(words) - at), 0, -1) if word in longest else ():
            phrase = " ".join(words[at : at + size])
            if phrase in meant:
                weight = _weight(phrase in general, phrase in given)
                words_seen = frozenset(() if phrase in stop or phrase in _ASKING else (phrase,))
                yield Slot(weight, words_seen, frozenset(), meant[phrase])
                skip = at + size
                break
        else:
            if word not in stop and len(word) > 1 and not word.isdigit():
                yield Slot(_weight(word in general, word in given), frozenset((word,)))


@cache
def _longest() -> Mapping[str, int]:
    """How many words the phrases have that mean a concept, at most, by the first of them."""
    found: dict[str, int] = {}
    for phrase in asked():
        first = phrase.partition(" ")[0]
        found[first] = max(found.get(first, 0), min(phrase.count(" ") + 1, 5))
    return found


@cache
def stop_keys() -> frozenset[str]:
    """Words of grammar, as keys."""
    return frozenset(map(word_key, words_of("stop.txt")))


def _weight(general: bool, given: bool) -> float:
    return _GIVEN if given else _GENERAL if general else 1.0


def _chinese(lower: str, given: frozenset[str]) -> Iterator[Slot]:
    meant, general = asked(), words_in("general.txt")
    for run in HAN.findall(lower):
        rest = ""
        at = 0
        while at < len(run):
            for size in range(min(8, len(run) - at), 0, -1):
                piece = run[at : at + size]
                if piece in meant and (size > 1 or len(run) == 1):
                    yield from _chunks(rest, given)
                    rest = ""
                    known = grams_of(piece) <= given
                    weight = _weight(piece in general, known)
                    yield Slot(weight, frozenset((piece,)), frozenset(), meant[piece])
                    at += size
                    break
            else:
                rest += run[at]
                at += 1
        yield from _chunks(rest, given)


def _chunks(rest: str, given: frozenset[str]) -> Iterator[Slot]:
    general = words_in("general.txt")
    for chunk in _HAN_STOP.split(rest):
        if len(chunk) > 1:
            grams = grams_of(chunk)
            weight = _weight(chunk in general, grams <= given)
            ending = _ENDINGS.get(chunk[-1]) if len(chunk) <= 4 else None
            meant = (concepts()[ending],) if ending else ()
            yield Slot(weight, frozenset((chunk,)), grams, meant)


def grams_of(text: str) -> frozenset[str]:
    """Pairs of Chinese characters."""
    if text.isascii():
        return _NO_PAIRS
    return frozenset([pair for run in HAN.findall(text) for pair in map(add, run, run[1:])])
