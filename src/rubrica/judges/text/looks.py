"""What one sentence says of a claim, and the ways in which it can say no."""

import re
from collections.abc import Set
from typing import Literal

import msgspec

from rubrica.judges.text.amount import agrees
from rubrica.judges.text.beliefs import fact_told, only_believed, told_otherwise
from rubrica.judges.text.conflicts import (
    denied,
    missing_names,
    other_member,
    other_names,
    other_notation,
    other_role,
    rest_of_cover,
)
from rubrica.judges.text.covering import Cover, cover
from rubrica.judges.text.order import found_in, somebody_else, turned_round
from rubrica.judges.text.persons import only_related
from rubrica.judges.text.reading import Clause, Reading, members
from rubrica.judges.text.scope import hearsay, opened, reversed_for
from rubrica.judges.text.slots import other_place
from rubrica.judges.text.undone import undone
from rubrica.judges.text.wanted import Wanted
from rubrica.judges.text.ways import says

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
    """Whether the clause that says it only says it may be so, names several to choose from, tells
    what others believe, what never came about, or what somebody else did.
    """
    if want.names and len(reading.whole.names) >= 2:
        mine = want.claim.whole.terms
        others = [name for name in reading.whole.names if name not in mine]
        if len(others) >= 2 and _OR.search(reading.text) and not _OR.search(want.claim.text):
            return True
    if undone(want, reading) or only_related(want, reading):
        return True
    fact = fact_told(want, reading)
    if fact is not None:
        return only_believed(want, reading, fact) or hedge_added(want, fact)
    if want.claim.hedged:
        return False
    if not reading.hedged:
        return hearsay(reading, alone=True)
    best = max(reading.clauses, key=lambda clause: cover(want, clause).key)
    return best.hedged


def against(
    want: Wanted, reading: Reading, whole: Cover, around: Set[str], strong: bool = False
) -> Look | None:
    """How a sentence that speaks of the same denies it, if it does."""
    said = says(want.sides, reading) if want.sides is not None else None
    if said is False:
        score = 0.0 if reading.hedged and not want.claim.hedged else 0.85
        return Look("contradicted", score, "the other way round", firm=True) if score else ABSENT
    fact = fact_told(want, reading)
    if fact is not None:
        if only_believed(want, reading, fact):
            other = told_otherwise(want, fact)
            return Look("contradicted", 0.7, "only believed") if other else ABSENT
        around = around | reading.whole.terms.keys()
        reading, whole = fact, cover(want, fact.whole, around)
    near = whole.total >= 0.3 or whole.given >= 0.6
    if near and other_notation(want, reading):
        return Look("contradicted", 0.7, "another of its kind")
    turns = found_in(reading, want.turns) if near or whole.key >= STATED else []
    if near and somebody_else(turns):
        return Look("contradicted", 0.75, "somebody else", firm=True)
    if whole.key >= STATED and only_related(want, reading):
        return Look("contradicted", 0.7, "somebody else")
    if whole.key >= STATED and undone(want, reading):
        return Look("contradicted", 0.2 + 0.8 * whole.key, "never came about", firm=True)
    if (some := opened(want, reading)) and _rest(want, whole, some) >= CONFLICT:
        return Look("contradicted", 0.7, "of all", firm=True)
    if want.role and other_role(want, cover(want, reading.whole), reading):
        return Look("contradicted", 0.6, "another part")
    if whole.key >= want.need and _overclaims(want, reading):
        return Look("contradicted", 0.2 + 0.8 * whole.key, "more than the claim")
    if whole.key >= STATED and said is None:
        here, flipped = _flipped(want, reading, whole, around, strong)
        flipped = flipped != reversed_for(want, reading)
        if flipped != turned_round(turns):
            return Look("contradicted", 0.2 + 0.8 * here.key, "the opposite", firm=True)
    if said or (whole.key < 0.3 and whole.given < 0.6):
        return None
    look = _replaced(want, reading, whole, around)
    if look is None and other_place(want, reading, whole):
        return Look("contradicted", 0.6, "something else in its place")
    return look


def _flipped(
    want: Wanted, reading: Reading, whole: Cover, around: Set[str], strong: bool
) -> tuple[Cover, bool]:
    """Whether the opposite is said where most of the claim stands, and what stands there."""
    if not any(mine and mine * other <= 0 for mine, other in whole.signs):
        return whole, False
    here = whole
    if len(reading.clauses) > 1:
        # A denial elsewhere in the sentence is of something else.
        covers = [cover(want, clause, around) for clause in reading.clauses]
        most = max(covers, key=lambda each: each.key)
        here = most if most.key >= whole.key - 0.1 else whole
    flipped = here.key >= _DENIED and (denied(want, here, strong) or _undone(want, here, whole))
    if flipped and want.negative:
        flipped = not _denies_too(reading, here) and not hearsay(reading)
    return here, flipped


def _denies_too(reading: Reading, here: Cover) -> bool:
    """Whether the sentence denies something as the claim does, in words that were not found."""
    if any(mine <= -2 and other > 0 for mine, other in here.signs):
        return False
    return any(piece.sign < 0 for piece in reading.pieces)


def _undone(want: Wanted, here: Cover, whole: Cover) -> bool:
    """Whether a word that the clause does not have is denied in another: `but did not win`."""
    if any(mine <= -2 and other <= -2 for mine, other in whole.signs):
        return False
    return any(
        mine > 0 and not unit.name and (other <= -3 or (other <= -2 and not near[1]))
        for unit, (mine, other), near in zip(want.units, whole.signs, here.signs, strict=True)
    )


def _replaced(want: Wanted, reading: Reading, whole: Cover, around: Set[str]) -> Look | None:
    """Whether a clause has another name, or another of its kind, in the place of the claim's."""
    named = _names_others(want, reading, whole)
    if not named and (not want.members or _beside_figure(want, reading)):
        return None
    clauses = reading.clauses if len(reading.clauses) > 1 else ()
    for clause in (*clauses, reading.whole):
        renamed = named and other_names(want, clause)
        others = other_member(want, clause)
        if not renamed and not others:
            continue
        here = whole if clause is reading.whole else cover(want, clause, around)
        if here.key < 0.3 and here.given < 0.6:
            continue
        look = _clause_against(want, clause, here, renamed, others)
        if look is not None:
            return look
    return None


def _beside_figure(want: Wanted, reading: Reading) -> bool:
    """Whether a figure of the claim stands with its own of a set: `16 gold, 8 silver`."""
    return bool(want.quantities) and any(
        not other_member(want, clause)
        and any(agrees(one, other) for one in want.quantities for other in clause.quantities)
        for clause in reading.clauses
        if want.members.keys() <= members(clause).keys()
    )


def _clause_against(
    want: Wanted, clause: Clause, here: Cover, renamed: bool, others: Set[str]
) -> Look | None:
    missing = missing_names(want, here, clause, perhaps=True) if renamed else ()
    if 0 < len(missing) < max(2, len(want.names)):
        rest = rest_of_cover(want, here, (number for group in missing for number in group))
        if rest >= 0.6 or (here.given >= 0.6 and rest >= 0.45):
            return Look("contradicted", max(rest, 0.6) * 0.9, "another name")
    if others and _rest(want, here, others) >= 0.4:
        return Look("contradicted", 0.7, "another of its kind")
    return None


def _rest(want: Wanted, here: Cover, without: Set[str]) -> float:
    """What there is of a claim but for some of its words."""
    units = [n for n, unit in enumerate(want.units) if not unit.meaning.terms.isdisjoint(without)]
    return rest_of_cover(want, here, units)


def _names_others(want: Wanted, reading: Reading, whole: Cover) -> bool:
    """Whether a sentence names others where it lacks a name of the claim."""
    # Of two parts given in one sentence each has its own name.
    lacks = want.role or bool(missing_names(want, whole, reading.whole, perhaps=True))
    return lacks and other_names(want, reading.whole)


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
