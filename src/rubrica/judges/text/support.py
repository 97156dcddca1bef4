"""Does a text state a claim, deny it, or say nothing of it?

Every sentence is held against the claim: how much of what the question does not already say does it
have, do its quantities agree, does it name the same names, and does it affirm what the claim
affirms. Words are compared by their stems and by the ideas of `lexicon/concepts.txt`; there is no
model, so a paraphrase without a common word or idea is not seen.
"""

import re
from collections.abc import Sequence, Set
from functools import lru_cache, partial
from typing import Literal

import msgspec

from rubrica.judges.text.conflicts import about_another, in_passing, missing_names
from rubrica.judges.text.covering import Cover, cover, worth
from rubrica.judges.text.figures import figures
from rubrica.judges.text.gist import FIGURE, gist
from rubrica.judges.text.looks import (
    ABSENT,
    STATED,
    Look,
    Outcome,
    against,
    hedge_added,
    unbound,
)
from rubrica.judges.text.quantities import Quantity, quantities
from rubrica.judges.text.reading import Reading, read, units
from rubrica.judges.text.sentences import Sentence
from rubrica.judges.text.wanted import Wanted, wanted

Sure = Literal["high", "medium", "low"]
#: Less of a claim's key than this, and a sentence does not speak of it.
_TOUCHED = 0.3
_CLAUSE = re.compile(r"[,;](?!\d)|[，；]")


class Verdict(msgspec.Struct, frozen=True):
    """What a text says of a claim, and where: `index` is the sentence, -1 for none."""

    kind: Outcome
    index: int = -1
    start: int = 0
    end: int = 0
    score: float = 0.0
    sure: Sure = "low"
    note: str = ""
    #: Whether a denial stands even where another sentence affirms.
    firm: bool = False


_gist = lru_cache(maxsize=1024)(gist)


@lru_cache(maxsize=1024)
def _amounts(text: str) -> tuple[Quantity, ...]:
    return tuple(quantities(text)) if FIGURE in _gist(text) else ()


@lru_cache(maxsize=512)
def _read(text: str) -> Reading:
    return read(text, _amounts(text))


def verdict(claim: str, passages: Sequence[Sentence], context: str = "") -> Verdict:
    """The best that the passages say of the claim. `context` is the question, taken as given.

    A claim of several clauses may be stated in as many sentences, and is denied where one is.
    """
    found = _of_one(claim, passages, context)
    if found.kind == "contradicted":
        return found
    several = [_of_one(part, passages, context) for part in parts(claim)]
    for one in several:
        if one.kind == "contradicted" and one.firm:
            return one
    if found.kind == "absent" and several and all(one.kind == "supported" for one in several):
        return min(several, key=lambda one: one.score)
    return found


@lru_cache(maxsize=2048)
def parts(claim: str) -> tuple[str, ...]:
    """The clauses of a claim that say something by themselves; none where there is only one."""
    found = [part.strip() for part in _CLAUSE.split(claim)]
    if len(found) < 2 or not all(len(units(part)) + len(quantities(part)) >= 2 for part in found):
        return ()
    return tuple(found)


def _of_one(claim: str, passages: Sequence[Sentence], context: str) -> Verdict:
    want = wanted(claim, context)
    best = worst = ABSENT
    at = contrary = -1
    before: Set[str] = frozenset()
    for index, passage in enumerate(passages):
        text = passage.text
        glance = _gist(text)
        if worth(want, glance, before, partial(_amounts, text)):
            reading = _read(text)
            if reading.states:
                look = _look(want, reading, before)
                if look.kind == "supported" and look.score > best.score:
                    best, at = look, index
                elif look.kind == "contradicted" and look.score > worst.score:
                    worst, contrary = look, index
        before = glance if text[-1] not in "?？" else frozenset()
    if contrary >= 0 and (
        at < 0
        or (worst.firm and worst.score >= max(0.6, best.score - 0.3))
        or worst.score > best.score + 0.15
    ):
        return _verdict(worst, contrary, passages)
    return _verdict(best, at, passages) if at >= 0 else Verdict("absent")


def _verdict(look: Look, index: int, passages: Sequence[Sentence]) -> Verdict:
    sure: Sure = "high" if look.score >= 0.8 else "medium" if look.score >= 0.6 else "low"
    found = passages[index]
    return Verdict(look.kind, index, found.start, found.end, look.score, sure, look.note, look.firm)


def _look(want: Wanted, reading: Reading, around: Set[str]) -> Look:
    """What a sentence says of the claim, with the sentence before it for what `it` is."""
    whole = cover(want, reading.whole, around)
    if about_another(want, reading):
        return ABSENT
    if want.quantities:
        return figures(want, reading, whole, around)
    if whole.key < _TOUCHED and whole.given < 0.6:
        return ABSENT
    return _words(want, reading, whole, around)


def _words(want: Wanted, reading: Reading, whole: Cover, around: Set[str]) -> Look:
    look = against(want, reading, whole, around)
    if look is not None:
        return look
    if whole.key < STATED or missing_names(want, whole, reading.whole) or unbound(want, whole):
        return ABSENT
    if hedge_added(want, reading) or in_passing(whole):
        return ABSENT
    return Look("supported", 0.2 + 0.8 * (0.7 * whole.key + 0.3 * whole.total))
