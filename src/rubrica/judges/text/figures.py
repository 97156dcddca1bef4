"""What one sentence says of a claim that has quantities."""

import re
from collections.abc import Sequence, Set

from msgspec.structs import replace

from rubrica.judges.text.amount import Quantity, agrees, opposed, twisted
from rubrica.judges.text.beliefs import fact_told
from rubrica.judges.text.conflicts import denied, missing_names, other_names, rest_of_cover
from rubrica.judges.text.covering import Cover, cover
from rubrica.judges.text.ledger import Ledger, ledger
from rubrica.judges.text.looks import ABSENT, CONFLICT, STATED, Look, against, hedge_added
from rubrica.judges.text.reading import Reading
from rubrica.judges.text.wanted import Wanted

#: Shares of a claim's key that do beside a figure that tells much, or little.
_WITH_FIGURE, _WITH_PLAIN_FIGURE = 0.2, 0.34
#: And beside the same figure as the other bound, which may be said of something else.
_WITH_BOUND = 0.7
#: A bound and the other one behind a denial say the same, as `do not keep it above 5 °C`; before
#: a denial that one is of others, as `under 18 it is not allowed`.
_SAME, _OTHERS = -2, -3
#: Ideas of words that make a bound.
_BOUND_IDEAS = frozenset(("@high", "@maximum", "@increase"))
_COMPARED = re.compile(r"\bthan\b|比")
_YEAR_BEFORE = re.compile(
    r"\b(?:year before|previous year|year earlier|prior year|last year)\b"
    r"|上年|上一年|去年|前一年|同比",
    re.IGNORECASE,
)


def figures(want: Wanted, reading: Reading, around: Set[str]) -> Look:
    """What a sentence says of a claim with quantities."""
    theirs = ledger(reading.quantities)
    others = _uncounted(want, reading, reading.quantities)
    agreed = 0
    for mine in want.quantities:
        mark = _mark(want, mine, theirs, reading)
        if mark is False and (others is reading.quantities or ledger(others).mark(mine) is False):
            return _differs(want, reading, around)
        if mark:
            agreed += 1
    count = len(want.quantities)
    if agreed * 2 < count or (agreed < count and others is not reading.quantities):
        return ABSENT  # what else the claim counts is not told here
    whole = cover(want, reading.whole, around)
    if agreed < count and whole.key < 0.75:
        return ABSENT
    return _agrees(want, reading, whole, around, agreed / count)


def _mark(want: Wanted, mine: Quantity, theirs: Ledger, reading: Reading) -> bool | None:
    """Whether any quantity of a sentence agrees; False where some could but none does."""
    mark = theirs.mark(mine)
    if mark:
        return True
    if reading.text.startswith("|") and any(a.kind == "number" for a in theirs.bare(mine)):
        return True  # the unit stands in the head of the column
    if want.year_before and mine.date is not None and _YEAR_BEFORE.search(reading.text):
        return True
    return mark


def _is_rare(amount: Quantity) -> bool:
    """Whether a quantity is unlikely to stand in a text by chance."""
    if amount.date is not None:
        return amount.date.month is not None
    if amount.kind in ("measure", "money", "percent", "name"):
        return True
    return len(f"{amount.value:g}".replace(".", "").rstrip("0")) >= 3


def _agrees(want: Wanted, reading: Reading, whole: Cover, around: Set[str], share: float) -> Look:
    key = whole.key
    if not key and want.keys and _COMPARED.search(want.claim.text):
        return ABSENT  # two years side by side compare nothing
    if want.need > STATED and not _borne_out(want, reading, whole):
        return ABSENT
    if whole.key >= STATED or want.sides or missing_names(want, whole, reading.whole):
        look = against(want, reading, whole, around, strong=True)
        if look is not None:
            bounds = _other_bound(want, reading) if look.note == "the opposite" else 0
            if bounds != _SAME:
                return ABSENT if bounds == _OTHERS else look
    if hedge_added(want, reading):
        return ABSENT
    if len(want.quantities) == 1 and len(reading.clauses) > 1 and _belongs_elsewhere(want, reading):
        return Look("contradicted", 0.7, "another figure")
    return Look("supported", (0.55 + 0.45 * key) * share)


def _other_bound(want: Wanted, reading: Reading) -> int:
    """What a bound of the claim makes with the other one beside a denial, 0 where there is none."""
    for mine in want.quantities:
        for other in reading.quantities:
            both = mine.bound * other.bound
            if both in (_SAME, _OTHERS) and agrees(mine, other):
                return both
    return 0


def _denied_too(want: Wanted, here: Cover) -> bool:
    """Whether the opposite is said of the other bound: over 18 they are let in, under 18 banned."""
    signs = [
        sign if unit.meaning.terms.isdisjoint(_BOUND_IDEAS) else (0, 0)
        for unit, sign in zip(want.units, here.signs, strict=True)
    ]
    return denied(want, replace(here, signs=tuple(signs)))


def _belongs_elsewhere(want: Wanted, reading: Reading) -> bool:
    """Whether the clause with the claim's words has another figure: `four gold, seven silver`."""
    most = least = 0.0
    for clause in (fact_told(want, reading) or reading).clauses:
        mark = ledger(clause.quantities).mark(want.quantities[0])
        if mark is True:
            most = max(most, cover(want, clause).key)
        elif mark is False:
            least = max(least, cover(want, clause).key)
    return least >= 0.8 and most < 0.3


def _borne_out(want: Wanted, reading: Reading, whole: Cover) -> bool:
    """Whether words enough stand beside the figure in a text that answers no question."""
    if missing_names(want, whole, reading.whole) and max(whole.key, whole.given) < 0.3:
        return False
    rare = any(map(_is_rare, want.quantities))
    if want.telling or (rare and whole.given >= 0.3):
        return True
    need = _WITH_FIGURE if rare else _WITH_PLAIN_FIGURE
    return whole.key >= need or _same_count(want, reading)


#: What a number counts.
NOUN = re.compile(r"[ ]([a-z]{3,})|([\u4e00-\u9fff]{2,3})")


def _same_count(want: Wanted, reading: Reading) -> bool:
    """Whether a number counts the same things: 62 schools."""
    for mine in want.quantities:
        noun = NOUN.match(want.claim.text, mine.end) if mine.kind == "number" else None
        if noun is None:
            continue
        for other in reading.whole.quantities:
            if agrees(mine, other):
                also = NOUN.match(reading.text, other.end)
                if also is not None and noun[0] == also[0]:
                    return True
    return False


def lists_figures(want: Wanted) -> bool:
    """Whether a claim has several figures and is no reckoning, in which all hang together."""
    return len(want.quantities) > 1 and "=" not in want.claim.text


def _uncounted(want: Wanted, reading: Reading, amounts: Sequence[Quantity]) -> Sequence[Quantity]:
    """The quantities of a sentence less those that count another thing of the claim: of `12
    turbines and 300 workers` the 12 turbines say nothing of the workers.
    """
    if not lists_figures(want):
        return amounts
    counts = _counts(want.claim.text, want.quantities)
    alone = {
        noun: mine for noun, mine in counts if noun and [n for n, _ in counts].count(noun) == 1
    }
    if not alone:
        return amounts
    return [
        other
        for noun, other in _counts(reading.text, amounts)
        if noun not in alone or not agrees(alone[noun], other)
    ]


def _counts(text: str, amounts: Sequence[Quantity]) -> list[tuple[str, Quantity]]:
    """Quantities with the noun that each counts, if any."""
    nouns = [NOUN.match(text, one.end) if one.kind == "number" else None for one in amounts]
    return [(noun[0] if noun else "", one) for noun, one in zip(nouns, amounts, strict=True)]


def _differs(want: Wanted, reading: Reading, around: Set[str]) -> Look:
    best = 0.0
    known = want.common.intersection(around) | want.common.intersection(reading.whole.terms)
    table = reading.text.startswith("|")
    for clause in reading.clauses:
        theirs = ledger(_uncounted(want, reading, clause.quantities))
        others = [mine for mine in want.amounts if theirs.mark(mine) is False]
        if not others:
            continue
        here = cover(want, reading.whole if table else clause, known)
        score = here.key if _has_key(want) else here.given * 0.75
        if other_names(want, clause):
            named = [n for n, unit in enumerate(want.units) if unit.perhaps or unit.name]
            score = max(score, rest_of_cover(want, here, named))
        others = [
            one
            for one in others
            if not (one.bound and _said_of_others(want, one, theirs, here, score))
        ]
        if others:
            best = max(best, score)
        raised = max(score + 0.3, 0.5)
        near = max(score, here.total) >= 0.2
        if raised > best and _has_twisted(want, others, theirs.amounts, near):
            best = raised
    return Look("contradicted", min(1.0, best), "another figure") if best >= CONFLICT else ABSENT


def _said_of_others(
    want: Wanted, mine: Quantity, theirs: Ledger, here: Cover, score: float
) -> bool:
    """Whether the other bound is one of something that the claim does not speak of."""
    if not any(opposed(mine, other) for other in theirs.amounts):
        return False
    return score < _WITH_BOUND or _denied_too(want, here)


def _has_twisted(
    want: Wanted, mine: Sequence[Quantity], theirs: Sequence[Quantity], near: bool
) -> bool:
    """Whether a figure is a claim's with its digits moved, in a clause that speaks of the same."""
    for one in mine if near or want.need < STATED else ():
        if near or _many(one):
            for other in theirs:
                if twisted(one, other):
                    return True
    return False


def _many(amount: Quantity) -> bool:
    """Whether a figure has more than one digit: of a single one no digit can be moved."""
    return amount.written not in range(1, 10)


def _has_key(want: Wanted) -> bool:
    return False in want.given
