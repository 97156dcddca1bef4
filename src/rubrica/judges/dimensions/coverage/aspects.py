"""What a complete answer covers: the aspects that a case lists, or the parts of its question."""

import re
from collections.abc import Iterator, Sequence
from functools import cache, lru_cache
from typing import Any

import msgspec

from rubrica.core import Case, CaseError
from rubrica.judges.dimensions.coverage.concepts import Concept, concepts, senses
from rubrica.judges.dimensions.coverage.question import parts
from rubrica.judges.dimensions.coverage.scanning import HAN, keys_in
from rubrica.judges.dimensions.coverage.slots import (
    Slot,
    concept_slot,
    grams_of,
    slots_of,
    stop_keys,
    weighed,
)
from rubrica.judges.dimensions.expected import expected_of

#: Aspects of a case that are looked at, and characters of each.
MOST, LONGEST = 60, 400
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


def concepts_of(aspects: Sequence[Aspect]) -> list[Concept]:
    """What the words of some aspects mean."""
    return [concept for aspect in aspects for slot in aspect.slots for concept in slot.concepts]


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
    return grams_of(lower).union(keys_in(lower))


def _read(text: str, weight: float, given: frozenset[str], derived: bool = False) -> Aspect:
    return _kept(text, weight, given & terms_of(text), derived)


@lru_cache(maxsize=2048)
def _kept(text: str, weight: float, given: frozenset[str], derived: bool) -> Aspect:
    asked = text[:LONGEST].lower().replace("’", "'")
    lower = _WHEN_TO.sub("", asked) if asked.startswith("when ") else asked
    whole = slots_of(lower, given)
    if derived and _WHAT_IS.match(lower):
        whole.append(concept_slot("definition", 1.0))
    if lower.endswith("是什么") and any(
        slot.concepts and concepts()["definition"] not in slot.concepts for slot in whole
    ):
        whole = [slot for slot in whole if "是什么" not in slot.words]
    if "how" in lower and _PROCEDURE.search(lower) and not any(slot.concepts for slot in whole):
        whole.append(concept_slot("procedure", 0.8))
    if not whole:
        words = frozenset(keys_in(lower)) - stop_keys()
        single = HAN.findall(lower) if len(lower) == 1 else ()
        whole = [Slot(1.0, words.union(single), grams_of(lower))]
    # Plain English says so with its first words.
    finds_yes_no = _YES_NO.match if asked.isascii() else _YES_NO.search
    yes_no = derived and finds_yes_no(asked) is not None
    return Aspect(text, weight, weighed(whole, derived), derived=derived, yes_no=yes_no)


@cache
def _han_senses() -> tuple[str, ...]:
    return tuple(sense for sense in senses() if not sense.isascii())


@lru_cache(maxsize=2048)
def sense_patterns(aspect: Aspect) -> frozenset[str]:
    """Patterns of other senses of the words of an aspect."""
    words = {word for slot in aspect.slots for word in slot.words}
    known = senses()
    found = [known[sense] for sense in known.keys() & words]
    for word in words:
        if " " in word:
            found += [known[sense] for sense in known.keys() & word.split()]
        if not word.isascii():
            found += [known[sense] for sense in _han_senses() if sense in word]
    return frozenset(found)


@lru_cache(maxsize=256)
def compiled(sense: str) -> re.Pattern[str]:
    """The pattern of one of them, or of several."""
    return re.compile(sense)


def senses_asked(question: str, aspects: Sequence[Aspect]) -> frozenset[str]:
    """Those that the question has itself: it asks for the capital of France, not for money."""
    found = []
    for aspect in aspects:
        if patterns := sense_patterns(aspect):
            asked = f"{question}\n{aspect.text}".lower()
            found += [sense for sense in patterns if compiled(sense).search(asked)]
    return frozenset(found)
