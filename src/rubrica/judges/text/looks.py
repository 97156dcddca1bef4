"""What one sentence says of a claim, and the ways in which it can say no."""

import re
from collections.abc import Sequence, Set
from typing import Literal, NamedTuple

from rubrica.judges.text.agents import other_agent, torn
from rubrica.judges.text.conflicts import (
    denied,
    missing_names,
    moved,
    other_member,
    other_names,
    rest_of_cover,
)
from rubrica.judges.text.covering import Cover, cover
from rubrica.judges.text.order import turned_round
from rubrica.judges.text.reading import Clause, Reading
from rubrica.judges.text.slots import other_cause, other_place
from rubrica.judges.text.wanted import Wanted

Outcome = Literal["supported", "contradicted", "absent"]


class Look(NamedTuple):
    """What one sentence says of a claim."""

    kind: Outcome
    score: float
    note: str = ""
    #: Whether a denial stands even where another sentence affirms.
    firm: bool = False


ABSENT = Look("absent", 0.0)
#: Shares of a claim's key that have to be there: to state it, and to speak of the same thing.
STATED, CONFLICT = 0.56, 0.45


def unbound(want: Wanted, whole: Cover) -> bool:
    """Whether only a name was found and nothing of what the claim says of it."""
    key = [unit for unit, given in zip(want.units, want.given, strict=True) if not given]
    if not key or not all(unit.name for unit in key) or all(unit.name for unit in want.units):
        return False
    return not any(
        credit >= 0.5 and not unit.name
        for unit, credit in zip(want.units, whole.credits, strict=True)
    )


_OR = re.compile(r"\bor\b|或", re.IGNORECASE)


def hedge_added(want: Wanted, reading: Reading) -> bool:
    """Whether the clause that says it only says it may be so, or names several to choose from."""
    if _OR.search(reading.text) and not _OR.search(want.claim.text):
        mine = want.claim.whole.terms
        others = [name for name in reading.whole.names if name not in mine]
        if want.names and len(others) >= 2:
            return True
    if want.claim.whole.hedged or not reading.whole.hedged:
        return False
    best = max(reading.clauses, key=lambda clause: cover(want, clause).key)
    return best.hedged


def against(
    want: Wanted, reading: Reading, whole: Cover, around: Set[str], strong: bool = False
) -> Look | None:
    """How a sentence that speaks of the same denies it, if it does."""
    near = whole.key >= 0.3 or whole.given >= 0.6
    if near and other_agent(want, reading):
        return Look("contradicted", 0.75, "somebody else", firm=True)
    if near and torn(want, reading):
        return Look("contradicted", 0.7, "said of another", firm=True)
    windows = [(clause, cover(want, clause, around)) for clause in reading.clauses]
    if len(windows) > 1:
        windows.append((reading.whole, whole))
    # What the sentence says of the claim stands where most of the claim does: a denial elsewhere
    # in it is of something else.
    most = max((here.key for _, here in windows[:-1]), default=0.0)
    where = next((w for w in windows if w[1].key >= max(most, whole.key - 0.1)), windows[-1])
    look = _denial(want, reading, *where, strong)
    if look is not None:
        return look
    for clause, here in windows:
        if here.key < 0.3 and here.given < 0.6:
            continue
        look = _clause_against(want, reading, clause, here)
        if look is not None:
            return look
    if whole.given + whole.key >= 0.5 and other_cause(want, reading):
        return Look("contradicted", 0.75, "another cause", firm=True)
    if near and other_place(want, reading, whole):
        return Look("contradicted", 0.6, "something else in its place")
    return None


def _denial(
    want: Wanted, reading: Reading, clause: Clause, here: Cover, strong: bool
) -> Look | None:
    flipped = here.key >= STATED and denied(want, here, strong)
    idea = want.directed or want.comparing
    if idea and idea in clause.terms and here.key >= CONFLICT:
        flipped = flipped != turned_round(want, reading.pieces, reading.text, idea)
    if flipped:
        return Look("contradicted", 0.2 + 0.8 * here.key, "the opposite", firm=True)
    if max(here.key, here.given) >= 0.5 and moved(want, clause):
        return Look("contradicted", 0.7, "a change or none")
    if here.key >= STATED and _overclaims(want, reading, clause):
        return Look("contradicted", 0.2 + 0.8 * here.key, "more than the claim")
    return None


def _clause_against(want: Wanted, reading: Reading, clause: Clause, here: Cover) -> Look | None:
    missing = missing_names(want, here, clause, perhaps=True)
    if missing and len(missing) < max(2, len(want.names)) and other_names(want, clause):
        rest = rest_of_cover(want, here, (number for group in missing for number in group))
        close = rest >= 0.6 or (here.given >= 0.6 and rest >= 0.45)
        if close and not _named_elsewhere(want, reading, clause, missing, rest):
            return Look("contradicted", max(rest, 0.6) * 0.9, "another name")
    others = other_member(want, clause)
    if others:
        mine = [
            n for n, u in enumerate(want.units) if any(option[0] in others for option in u.options)
        ]
        if rest_of_cover(want, here, mine) >= 0.5:
            return Look("contradicted", 0.7, "another of its kind")
    return None


def _named_elsewhere(
    want: Wanted, reading: Reading, here: Clause, missing: Sequence[tuple[int, ...]], rest: float
) -> bool:
    """Whether another clause of the sentence names the name and says as much of it."""
    names = {number for group in missing for number in group}
    terms = {want.units[number].options[0][0] for number in names}
    found = {piece.clause for piece in reading.pieces if piece.term in terms}
    if found and _RELATIVE.search(reading.text):
        return True
    for number in found:
        plain = [p for p in reading.pieces if p.clause == number and not p.name]
        if len(plain) <= 2:
            return True  # one of a list, or added after a comma
    for clause in reading.clauses:
        if clause is here or clause is reading.whole:
            continue
        there = cover(want, clause)
        if any(there.credits[n] > 0.61 for n in names):
            return rest_of_cover(want, there, names) >= rest - 0.1
    return False


_RELATIVE = re.compile(r",\s*(?:who|which|where|whose|both of|with whom)\b")
_SOFT = re.compile(
    r"\b(?:can|could|some|sometimes|potential|risk)\b|有的|有些|部分|会|或", re.IGNORECASE
)


def _overclaims(want: Wanted, reading: Reading, clause: Clause) -> bool:
    """Whether the claim hedges and the text does not."""
    if not want.claim.whole.hedged or reading.whole.hedged:
        return False
    return clause.certain or reading.whole.certain or _SOFT.search(reading.text) is None
