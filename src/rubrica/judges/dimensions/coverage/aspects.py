"""An aspect that a complete answer covers, and the words by which one can see that it does."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from typing import Any

import msgspec

from rubrica.core import Case, CaseError
from rubrica.judges.dimensions.coverage.concepts import Concept, asked, concepts, senses, words_in
from rubrica.judges.dimensions.coverage.question import parts
from rubrica.judges.dimensions.coverage.scanning import HAN, key_of, keys_in, word_key
from rubrica.judges.dimensions.expected import expected_of
from rubrica.judges.text.words import words_of

#: Aspects of a case that are looked at, and characters of each.
MOST, LONGEST = 60, 400
#: Words of an aspect that count.
_WORDS = 12
#: How much a word counts beside a specific one: a general word, one that the question has already.
_GENERAL, _GIVEN = 0.35, 0.3
#: How much the other words of a question count beside the one that says what is asked.
_ASKED = 0.5
#: Phrases that ask and name nothing.
_ASKING = frozenset(
    map(key_of, ("how do i", "how can i", "how to", "what to do", "what should i do"))
)
#: `When should I avoid it` asks for no date.
_WHEN_TO = re.compile(
    r"^when (?=(?:should|would|can|do|is it (?:better|best|worth)|shouldn't) )|^when (?=to (?!go"
    r"|visit|plant|see))"
)
_PROCEDURE = re.compile(r"^how (?:do|does|can|could|should|would|to)\b|\bhow to\b", re.IGNORECASE)
_YES_NO = re.compile(
    r"^(?:and )?(?:is|are|was|were|do|does|did|can|could|should|will|would|has|have|must|whether)\b"
    "|(?:吗|是否)$|[是能会要]不[是能会要]|可不可以|有没有|能否|可否"
)
_WHAT_IS = re.compile(
    r"^(?:and )?what(?:'s| is| are| does(?=.* mean$)) (?!the\b|its\b|their\b|your\b|my\b"
    r"|it\b)(?:an? )?(.+?)(?: mean)?$",
    re.IGNORECASE,
)
_HAN_STOP = re.compile(
    "的|了|是|在|与|和|及|或|吗|呢|我们?|你们?|您|它们?|他们?|她|请|会|能|可以|应该|需要|还|(?<!首)都|要"
    "|到|用|于|对|把|被|给|有没有|有|个|这|那|之后|之前|以后|上(?!海)|下|里|中(?!国|文|医|学|心)|主要|目前|具体|相关|存在"
    "|哪些人?|哪个|什么|叫|各|其"
)


class Slot(msgspec.Struct, frozen=True, gc=False):
    """One word of an aspect: what is literally it, and which concepts it means."""

    weight: float
    words: frozenset[str]
    grams: frozenset[str] = frozenset()
    concepts: tuple[Concept, ...] = ()

    def weighing(self, weight: float) -> "Slot":
        return Slot(weight, self.words, self.grams, self.concepts)


class Aspect(msgspec.Struct, frozen=True, gc=False):
    """What is wanted, how much it counts, and its words. `mark` is its number in the question."""

    text: str
    weight: float
    slots: tuple[Slot, ...]
    mark: str = ""
    derived: bool = False
    yes_no: bool = False

    def __hash__(self) -> int:
        return hash((self.text, self.derived))


def read_aspects(question: str, listed: Sequence[tuple[str, float]]) -> tuple[Aspect, ...]:
    """The aspects that a case lists, else the parts of its question."""
    if listed:
        given = terms_of(question)
        return tuple(_read(text, weight, given) for text, weight in listed)
    cut = parts(question)
    once, twice = frozenset[str](), frozenset[str]()
    for part in cut:
        terms = terms_of(part.text)
        once, twice = once | terms, twice | (once & terms)
    found = []
    for at, part in enumerate(cut):
        aspect = _read(part.text, 1.0, twice if at else frozenset(), derived=True)
        found.append(msgspec.structs.replace(aspect, mark=part.mark) if part.mark else aspect)
    return tuple(found)


def listed_aspects(case: Case) -> Iterator[tuple[str, float]]:
    """Text and weight of the aspects that a case expects."""
    for at, item in enumerate(expected_of(case).aspects[:MOST]):
        where = f"expected.aspects[{at}]"
        fields: dict[str, Any] = {"text": item} if isinstance(item, str) else item
        text, weight = fields.get("text", fields.get("name")), fields.get("weight", 1.0)
        if not isinstance(text, str) or not text.strip():
            raise CaseError(case.id, where, "expected text, or an object with text")
        if isinstance(weight, bool) or not isinstance(weight, int | float) or weight < 0:
            raise CaseError(
                case.id, where, f"weight: expected a number of at least 0, got {weight!r}"
            )
        yield text.strip()[:LONGEST], float(weight)


@lru_cache(maxsize=2048)
def terms_of(text: str) -> frozenset[str]:
    """Words of a text as keys, and pairs of Chinese characters."""
    lower = text.lower()
    grams = (run[at : at + 2] for run in HAN.findall(lower) for at in range(len(run) - 1))
    return frozenset(keys_in(lower)).union(grams)


def _read(text: str, weight: float, given: frozenset[str], derived: bool = False) -> Aspect:
    return _kept(text, weight, given & terms_of(text), derived)


@lru_cache(maxsize=2048)
def _kept(text: str, weight: float, given: frozenset[str], derived: bool) -> Aspect:
    asked = text[:LONGEST].lower().replace("’", "'")
    lower = _WHEN_TO.sub("", asked)
    whole = _distinct((*_english(lower, given), *_chinese(lower, given)))
    if derived and _WHAT_IS.match(lower):
        whole.append(_concept_slot("definition", 1.0))
    if lower.endswith("是什么") and any(
        slot.concepts and concepts()["definition"] not in slot.concepts for slot in whole
    ):
        whole = [slot for slot in whole if "是什么" not in slot.words]
    if "how" in lower and _PROCEDURE.search(lower) and not any(slot.concepts for slot in whole):
        whole.append(_concept_slot("procedure", 0.8))
    if not whole:
        words = frozenset(keys_in(lower)) - stop_keys()
        single = HAN.findall(lower) if len(lower) == 1 else ()
        whole = [Slot(1.0, words.union(single), _grams(lower))]
    whole = list(_led(whole, _ASKED if derived else 0.7))
    yes_no = derived and _YES_NO.search(asked) is not None
    return Aspect(text, weight, tuple(_balanced(whole)), derived=derived, yes_no=yes_no)


def _raised(slot: Slot) -> Slot:
    return slot.weighing(1.0) if slot.concepts and slot.weight == _GENERAL else slot


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


def _led(slots: Sequence[Slot], share: float) -> Iterator[Slot]:
    """The word that says what is asked counts most: `who` in `who wrote Dune`, `filing fee`."""
    leads = any(slot.concepts and slot.weight >= 0.8 for slot in slots)
    if not leads and any(slot.concepts and slot.weight == _GENERAL for slot in slots):
        # `提取条件`: where nothing else is known, the general word is what can be seen.
        slots = [_raised(slot) for slot in slots]
        leads, share = True, 0.4
    asking = share == _ASKED and any(slot.concepts and not slot.words for slot in slots)
    for slot in slots:
        other = leads and (not slot.concepts or (asking and bool(slot.words)))
        yield slot.weighing(slot.weight * share) if other else slot


def _distinct(slots: Iterable[Slot]) -> list[Slot]:
    """Each word once, and no more of them than a person would read."""
    names = {(slot.words, tuple(concept.name for concept in slot.concepts)): slot for slot in slots}
    return list(names.values())[:_WORDS]


def _concept_slot(name: str, weight: float) -> Slot:
    return Slot(weight, frozenset(), frozenset(), (concepts()[name],))


def _balanced(slots: Sequence[Slot]) -> Iterator[Slot]:
    """Where every word is a general one, they are what is wanted."""
    least = max(slot.weight for slot in slots)
    for slot in slots:
        yield slot if least >= 0.8 else slot.weighing(slot.weight / least)


def _english(lower: str, given: frozenset[str]) -> Iterator[Slot]:
    words = keys_in(lower)
    meant, general, stop, longest = asked(), words_in("general.txt"), stop_keys(), _longest()
    at = 0
    while at < len(words):
        for size in range(min(longest.get(words[at], 0), len(words) - at), 0, -1):
            phrase = " ".join(words[at : at + size])
            if phrase in meant:
                weight = _weight(phrase in general, phrase in given)
                words_seen = frozenset(() if phrase in stop or phrase in _ASKING else (phrase,))
                yield Slot(weight, words_seen, frozenset(), meant[phrase])
                at += size
                break
        else:
            word = words[at]
            at += 1
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
                    known = _grams(piece) <= given
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
            grams = _grams(chunk)
            weight = _weight(chunk in general, grams <= given)
            ending = _ENDINGS.get(chunk[-1]) if len(chunk) <= 4 else None
            meant = (concepts()[ending],) if ending else ()
            yield Slot(weight, frozenset((chunk,)), grams, meant)


def _grams(text: str) -> frozenset[str]:
    runs = HAN.findall(text)
    return frozenset(run[at : at + 2] for run in runs for at in range(len(run) - 1))


@cache
def _han_senses() -> tuple[str, ...]:
    return tuple(sense for sense in senses() if not sense.isascii())


@lru_cache(maxsize=2048)
def sense_patterns(aspect: Aspect) -> frozenset[str]:
    """Patterns of other senses of the words of an aspect."""
    words = {word for slot in aspect.slots for word in slot.words}
    parts = words.union(*(word.split() for word in words))
    known = senses()
    found = {known[sense] for sense in known.keys() & parts}
    for word in [word for word in words if not word.isascii()]:
        found.update([known[sense] for sense in _han_senses() if sense in word])
    return frozenset(found)


def senses_asked(question: str, aspects: Sequence[Aspect]) -> frozenset[str]:
    """Those that the question has itself: it asks for the capital of France, not for money."""
    found = []
    for aspect in aspects:
        if patterns := sense_patterns(aspect):
            asked = f"{question}\n{aspect.text}".lower()
            found += [sense for sense in patterns if re.search(sense, asked)]
    return frozenset(found)
