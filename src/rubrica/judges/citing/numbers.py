"""Whether the numbers of a statement stand in a source, with the freedom that writers take."""

import re
from collections.abc import Sequence

import msgspec

from rubrica.judges.citing.passages import Passage
from rubrica.judges.text.amount import opposed
from rubrica.judges.text.quantities import Quantity, agrees

_YEAR = 31_557_600.0
#: Ordinals up to this are said in many ways: 第一, 首位, 最大.
_FIRST = 3
#: How far a number that calls itself rough may be off at most.
_ROUGH = 0.1
#: What stands before a year in which something was so, and what tells when something came out.
_IN = re.compile(r"\b(?:in|during|throughout)\s+\Z", re.IGNORECASE)
_SINCE = frozenset("以来起后前之至到")
_PUBLISHED = re.compile(
    r"\b(?:according|announc|data|edition|estimates|figures|found|issue|publi|releas|report|review"
    r"|sa(?:id|ys)|stud(?:y|ies)|survey|update|version|wrote)|estimated that"
    r"|据|报告|发布|公布|公报|年鉴|普查|统计|调查|研究|版|指出|表示|估计",
    re.IGNORECASE,
)


class Numbers(msgspec.Struct, frozen=True, gc=False):
    """The numbers of a statement: those the source has, has otherwise, and does not have."""

    found: tuple[Quantity, ...]
    other: tuple[Quantity, ...]
    lacking: tuple[Quantity, ...]


_NONE = Numbers((), (), ())


def compare(claim: Passage, source: Passage) -> Numbers:
    """Each number of the claim against all of the source."""
    mine = claim.quantities
    if not mine:
        return _NONE
    theirs = source.quantities
    found, other, lacking = [], [], []
    for place, quantity in enumerate(mine):
        answer = _answer(quantity, theirs)
        if answer or _follows(quantity, theirs) or _written(place, claim, source):
            found.append(quantity)
        elif answer is False:
            other.append(quantity)
        else:
            lacking.append(quantity)
    if len(found) > 1 and (wrong := _misdated(claim.text, found, source)):
        found = [one for one in found if one not in wrong]
        other += wrong
    lacking = [one for one in lacking if one.kind != "ordinal" or one.value > _FIRST]
    if lacking and found and not any(one.date for one in theirs):
        # `In the 2023 census, 41%`: a source that gives no dates at all need not give this one.
        lacking = [one for one in lacking if one.date is None]
    return Numbers(tuple(found), tuple(other), tuple(lacking))


def _answer(mine: Quantity, others: Sequence[Quantity]) -> bool | None:
    """True where one of them is the same, False where one differs, None where none speaks of it."""
    found: bool | None = None
    for theirs in others:
        answer = same(mine, theirs)
        if answer:
            return True
        found = answer if found is None else found
    return found


def same(mine: Quantity, theirs: Quantity) -> bool | None:
    """True where they agree, False where both measure the same and differ, None otherwise."""
    answer = agrees(mine, theirs)
    if answer is not False:
        if answer is None and {mine.unit, theirs.unit} == {"angle", "temperature"}:
            return mine.value == theirs.value  # degrees of no kind
        return _years_ago(mine, theirs) or _years_ago(theirs, mine) or answer
    if mine.date is not None or mine.unit != theirs.unit or mine.value != mine.high:
        return False
    if opposed(mine, theirs):
        return False
    size = max(abs(mine.value), abs(theirs.value))
    return abs(mine.value - theirs.value) <= size * (
        _rough(mine) if mine.approximate else _rounded(mine)
    )


def _misdated(claim: str, found: Sequence[Quantity], source: Passage) -> list[Quantity]:
    """The years of a claim that only the title or the address of the source has, where its text
    gives the figures for other years: they tell when it came out, not when it was so.
    """
    dates = [one for one in found if _when(claim, one)]
    if not dates or len(dates) == len(found) or _PUBLISHED.search(claim):
        return []
    body = source.body
    if any(_answer(one, sentence.quantities) for one in dates for sentence in body):
        return []
    figures = [one for one in found if one.date is None]
    homes = [home for home in body if any(_answer(one, home.quantities) for one in figures)]
    return dates if homes and all(map(_dated, homes)) else []


def _dated(sentence: Passage) -> bool:
    """Whether it tells the year of what it says, and no other date: the days of news have none."""
    dates = [one for one in sentence.quantities if one.date]
    return bool(dates) and all(_when(sentence.text, one) for one in dates)


def _when(text: str, one: Quantity) -> bool:
    """Whether it is a year in which something was so: `in 2022`, 2022年."""
    if one.date is None or one.date.year is None or one.date.month or one.until:
        return False
    if text[one.end - 1] == "年":
        return text[one.end : one.end + 1] not in _SINCE
    return _IN.search(text, 0, one.start) is not None


def turned(mine: Quantity, source: Passage) -> bool:
    """Whether the source has the number as a bound on the other side."""
    return any(opposed(mine, one) and mine.value == one.value for one in source.quantities)


def _years_ago(span: Quantity, date: Quantity) -> bool | None:
    """四千年前 and 4000年前: the second may have been read as a year."""
    if span.unit != "time" or date.date is None or not date.value:
        return None
    return True if abs(span.value / _YEAR - date.value) <= 0.02 * date.value else None


def _rounded(quantity: Quantity) -> float:
    """How far a number with zeros at its end, or a whole one, may be off: 709,000 for 709,037."""
    value = abs(quantity.value)
    if quantity.kind == "percent" and value >= 20 and value == int(value):
        return 0.015
    return 0.005 if value >= 1000 and value % 100 == 0 else 0.0


def _rough(quantity: Quantity) -> float:
    """How far a number that calls itself rough may be off: half of its last digit that is not 0.

    37% is about 40%, and 274 million is about 300 million, but an estimated 247 million is not.
    """
    written = abs(quantity.written or quantity.value)
    if not written:
        return 0.0
    if written % 1:
        return min(_ROUGH, quantity.slack / abs(quantity.value))
    digit = 1
    while written % (10 * digit) == 0:
        digit *= 10
    return max(_rounded(quantity), min(_ROUGH, digit / 2 / written))


def _follows(quantity: Quantity, theirs: Sequence[Quantity]) -> bool:
    """Years that pass between two dates of the source."""
    if quantity.unit != "time" or quantity.value < _YEAR:
        return False
    dates = [date for one in theirs for date in (one.date, one.until)]
    years = sorted({date.year for date in dates if date is not None and date.year})[:20]
    wanted = quantity.value / _YEAR
    return any(
        abs((late - early) - wanted) <= 1.0
        for place, early in enumerate(years)
        for late in years[place + 1 :]
    )


def _written(place: int, claim: Passage, source: Passage) -> bool:
    """The same digits where one side leaves the unit away: `24 and 36 months`, `aged 24 months`."""
    mine = claim.quantities[place]
    if mine.date or len(digits := claim.digits(place)) < 2:
        return False
    plain, number = digits.replace(",", ""), mine.kind == "number"
    for at, theirs in enumerate(source.quantities):
        if (theirs.kind == "number") == number or theirs.date:
            continue
        if source.digits(at).replace(",", "") == plain:
            return True
    return False
