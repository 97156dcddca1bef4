"""What one sentence says of a claim that has quantities."""

import re
from collections.abc import Sequence, Set

from rubrica.judges.text.conflicts import missing_names, other_names, rest_of_cover
from rubrica.judges.text.covering import Cover, cover
from rubrica.judges.text.dates import coarser
from rubrica.judges.text.looks import ABSENT, CONFLICT, STATED, Look, against, hedge_added
from rubrica.judges.text.quantities import Quantity, agrees, twisted
from rubrica.judges.text.reading import Reading
from rubrica.judges.text.wanted import Wanted

#: Shares of a claim's key that do beside a figure that tells much, or little.
_WITH_FIGURE, _WITH_PLAIN_FIGURE = 0.2, 0.34
_COMPARED = re.compile(r"\bthan\b|比")
_YEAR_BEFORE = re.compile(
    r"\b(?:year before|previous year|year earlier|prior year|last year)\b"
    r"|上年|上一年|去年|前一年|同比",
    re.IGNORECASE,
)


def figures(want: Wanted, reading: Reading, around: Set[str]) -> Look:
    """What a sentence says of a claim with quantities."""
    marks = [_mark(want, mine, reading.quantities, reading) for mine in want.quantities]
    if False in marks:
        return _differs(want, reading, around)
    agreed = marks.count(True)
    if agreed * 2 < len(marks):
        return ABSENT
    whole = cover(want, reading.whole, around)
    if agreed < len(marks) and whole.key < 0.75:
        return ABSENT
    return _agrees(want, reading, whole, around, agreed / len(marks))


def _mark(
    want: Wanted, mine: Quantity, theirs: Sequence[Quantity], reading: Reading | None = None
) -> bool | None:
    """Whether any of the quantities agrees; False where some could but none does."""
    result: bool | None = None
    table = reading is not None and reading.text.startswith("|")
    for other in theirs:
        same = agrees(mine, other)
        if same is None and other.kind == "number" and other.value == mine.written and table:
            return True  # the unit stands in the head of the column
        if same and not (mine.date and other.date and coarser(other.date, mine.date)):
            return True
        if same is False:
            result = False
    if want.year_before and mine.date is not None and reading is not None:
        return True if _YEAR_BEFORE.search(reading.text) else result
    return result


def _distinct(amount: Quantity) -> bool:
    """Whether a quantity is unlikely to stand in a text by chance."""
    if amount.date is not None:
        return amount.date.month is not None
    if amount.kind in ("measure", "money", "percent"):
        return True
    return len(f"{amount.value:g}".replace(".", "").rstrip("0")) >= 3


def _agrees(want: Wanted, reading: Reading, whole: Cover, around: Set[str], share: float) -> Look:
    key = whole.key
    if not key and want.keys and _COMPARED.search(want.claim.text):
        return ABSENT  # two years side by side compare nothing
    if want.need > STATED and not _borne_out(want, reading, whole):
        return ABSENT
    if whole.key >= STATED or missing_names(want, whole, reading.whole):
        look = against(want, reading, whole, around, strong=True)
        if look is not None:
            return look
    if hedge_added(want, reading):
        return ABSENT
    if len(want.quantities) == 1 and len(reading.clauses) > 1 and _belongs_elsewhere(want, reading):
        return Look("contradicted", 0.7, "another figure")
    return Look("supported", (0.55 + 0.45 * key) * share)


def _belongs_elsewhere(want: Wanted, reading: Reading) -> bool:
    """Whether the clause with the claim's words has another figure: `four gold, seven silver`."""
    most = least = 0.0
    for clause in reading.clauses:
        mark = _mark(want, want.quantities[0], clause.quantities)
        if mark is True:
            most = max(most, cover(want, clause).key)
        elif mark is False:
            least = max(least, cover(want, clause).key)
    return least >= 0.8 and most < 0.3


def _borne_out(want: Wanted, reading: Reading, whole: Cover) -> bool:
    """Whether words enough stand beside the figure in a text that answers no question."""
    if missing_names(want, whole, reading.whole) and max(whole.key, whole.given) < 0.3:
        return False
    distinct = any(map(_distinct, want.quantities))
    if want.telling or (distinct and whole.given >= 0.3):
        return True
    need = _WITH_FIGURE if distinct else _WITH_PLAIN_FIGURE
    return whole.key >= need or _same_count(want, reading)


_NOUN = re.compile(r"[ ]([a-z]{3,})|([\u4e00-\u9fff]{2,3})")


def _same_count(want: Wanted, reading: Reading) -> bool:
    """Whether a number counts the same things: 62 schools."""
    for mine in want.quantities:
        noun = _NOUN.match(want.claim.text, mine.end) if mine.kind == "number" else None
        if noun is None:
            continue
        for other in reading.whole.quantities:
            if agrees(mine, other):
                also = _NOUN.match(reading.text, other.end)
                if also is not None and noun[0] == also[0]:
                    return True
    return False


def _differs(want: Wanted, reading: Reading, around: Set[str]) -> Look:
    best = 0.0
    common = want.common
    known = common.intersection(around).union(common.intersection(reading.whole.terms))
    table = reading.text.startswith("|")
    for clause in reading.clauses:
        for mine in want.quantities:
            if _mark(want, mine, clause.quantities) is not False:
                continue
            here = cover(want, reading.whole if table else clause, known)
            score = here.key if _has_key(want) else here.given * 0.75
            if other_names(want, clause):
                named = [n for n, unit in enumerate(want.units) if unit.perhaps or unit.name]
                score = max(score, rest_of_cover(want, here, named))
            near = max(score, here.total) >= 0.2 or (want.need < STATED and _many(mine))
            if near and any(twisted(mine, other) for other in clause.quantities):
                score = max(score + 0.3, 0.5)
            best = max(best, score)
    return Look("contradicted", min(1.0, best), "another figure") if best >= CONFLICT else ABSENT


def _many(amount: Quantity) -> bool:
    """Whether a figure has more than one digit: of a single one no digit can be moved."""
    return amount.written not in range(1, 10)


def _has_key(want: Wanted) -> bool:
    return False in want.given
