"""What one sentence says of a claim, and the ways in which it can say no."""

import re
from collections.abc import Set
from typing import Literal

import msgspec

from rubrica.judges.text.conflicts import (
    denied,
    missing_names,
    other_member,
    other_names,
    other_role,
    rest_of_cover,
)
from rubrica.judges.text.covering import Cover, cover
from rubrica.judges.text.order import somebody_else, turned_round
from rubrica.judges.text.reading import Clause, Reading
from rubrica.judges.text.slots import other_place
from rubrica.judges.text.wanted import Wanted

Outcome = Literal["supported", "contradicted", "absent"]


class Look(msgspec.Struct, frozen=True, gc=False):
    """What one sentence says of a claim."""

    kind: Outcome
    score: float
    note: str = ""
    #: Whether a denial stands even where another sentence affirms.
    firm: bool = False


ABSENT = Look("absent", 0.0)
#: Shares of a claim's key that have to be there: to state it, and to speak of the same thing.
STATED, CONFLICT = 0.55, 0.45
#: And to deny it: with less, what is denied is mostly something else.
_DENIED = 0.57


_OR = re.compile(r"\bor\b|或", re.IGNORECASE)


def hedge_added(want: Wanted, reading: Reading) -> bool:
    """Whether the clause that says it only says it may be so, or names several to choose from."""
    if _OR.search(reading.text) and not _OR.search(want.claim.text):
        mine = want.claim.whole.terms
        others = [name for name in reading.whole.names if name not in mine]
        if want.names and len(others) >= 2:
            return True
    if want.claim.hedged or not reading.hedged:
        return False
    best = max(reading.clauses, key=lambda clause: cover(want, clause).key)
    return best.hedged


def against(
    want: Wanted, reading: Reading, whole: Cover, around: Set[str], strong: bool = False
) -> Look | None:
    """How a sentence that speaks of the same denies it, if it does."""
    near = whole.total >= 0.3 or whole.given >= 0.6
    if near and want.turns and somebody_else(want.turns, reading):
        return Look("contradicted", 0.75, "somebody else", firm=True)
    if want.role and other_role(want, cover(want, reading.whole), reading):
        return Look("contradicted", 0.6, "another part")
    windows = _Windows(want, reading, whole, around)
    look = _denial(want, reading, whole, windows, strong)
    if look is not None:
        return look
    if want.names or want.members or want.perhaps:
        for clause, here in windows.found():
            if here.key >= 0.3 or here.given >= 0.6:
                look = _clause_against(want, reading, clause, here)
                if look is not None:
                    return look
    if (whole.key >= 0.3 or whole.given >= 0.6) and other_place(want, reading, whole):
        return Look("contradicted", 0.6, "something else in its place")
    return None


class _Windows:
    """The clauses of a sentence and all of it, with what each has of the claim, once asked for."""

    __slots__ = ("_found", "_of")

    def __init__(self, want: Wanted, reading: Reading, whole: Cover, around: Set[str]) -> None:
        self._of = (want, reading, whole, around)
        self._found: list[tuple[Clause, Cover]] = []

    def found(self) -> list[tuple[Clause, Cover]]:
        if not self._found:
            want, reading, whole, around = self._of
            if len(reading.clauses) > 1:
                self._found = [(each, cover(want, each, around)) for each in reading.clauses]
            self._found.append((reading.whole, whole))
        return self._found


def _denial(
    want: Wanted, reading: Reading, whole: Cover, windows: _Windows, strong: bool
) -> Look | None:
    """Whether the opposite is said where most of the claim stands."""
    if whole.key >= want.need and _overclaims(want, reading):
        return Look("contradicted", 0.2 + 0.8 * whole.key, "more than the claim")
    if whole.key < STATED:
        return None
    turned = bool(want.turns) and turned_round(want.turns, reading)
    here = whole
    # A denial elsewhere in the sentence is of something else.
    if any(mine * other <= 0 and mine for mine, other in whole.signs):
        found = windows.found()
        most = max((here.key for _, here in found[:-1]), default=0.0)
        _, here = next((w for w in found if w[1].key >= max(most, whole.key - 0.1)), found[-1])
    flipped = here.key >= _DENIED and (denied(want, here, strong) or _undone(want, here, whole))
    if flipped and want.negative and _denies_too(reading, here):
        flipped = False
    if flipped != turned:
        return Look("contradicted", 0.2 + 0.8 * here.key, "the opposite", firm=True)
    return None


def _denies_too(reading: Reading, here: Cover) -> bool:
    """Whether the sentence denies something as the claim does, in words that were not found."""
    if any(mine <= -2 and other > 0 for mine, other in here.signs):
        return False
    return any(piece.sign < 0 for piece in reading.pieces)


def _undone(want: Wanted, here: Cover, whole: Cover) -> bool:
    """Whether a word that the clause does not have is denied in another: `but did not win`."""
    return any(
        mine > 0 and not unit.name and (other <= -3 or (other <= -2 and not near[1]))
        for unit, (mine, other), near in zip(want.units, whole.signs, here.signs, strict=True)
    )


def _clause_against(want: Wanted, reading: Reading, clause: Clause, here: Cover) -> Look | None:
    missing = missing_names(want, here, clause, perhaps=True)
    if missing and len(missing) < max(2, len(want.names)) and other_names(want, clause):
        rest = rest_of_cover(want, here, (number for group in missing for number in group))
        close = rest >= 0.6 or (here.given >= 0.6 and rest >= 0.45)
        # Of two parts given in one sentence each has its own name.
        gone = want.role or missing_names(want, cover(want, reading.whole), reading.whole, True)
        if close and gone:
            return Look("contradicted", max(rest, 0.6) * 0.9, "another name")
    others = other_member(want, clause)
    if others:
        mine = [n for n, u in enumerate(want.units) if not u.meaning.terms.isdisjoint(others)]
        if rest_of_cover(want, here, mine) >= 0.4:
            return Look("contradicted", 0.7, "another of its kind")
    return None


_SOFT = re.compile(
    r"\b(?:can|could|must|unless|entitled|allowed|permitted|welcome|some|sometimes|potential|risk)\b"
    r"|有的|有些|部分|会|或",
    re.IGNORECASE,
)


def _overclaims(want: Wanted, reading: Reading) -> bool:
    """Whether the claim hedges and the text does not."""
    if not want.claim.hedged or reading.hedged:
        return False
    return reading.certain or _SOFT.search(reading.text) is None
