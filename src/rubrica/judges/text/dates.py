"""Dates in the many ways people write them, as precise as they are written."""

import re
from typing import NamedTuple

from rubrica.judges.text.numerals import chinese


class Date(NamedTuple):
    """A day, a month, a year, or a day without a year; `span` is how many years it covers."""

    year: int | None = None
    month: int | None = None
    day: int | None = None
    quarter: int | None = None
    span: int = 1


_MONTHS = {
    name: number
    for number, names in enumerate(
        (
            "january jan",
            "february feb",
            "march mar",
            "april apr",
            "may",
            "june jun",
            "july jul",
            "august aug",
            "september sep sept",
            "october oct",
            "november nov",
            "december dec",
        ),
        start=1,
    )
    for name in names.split()
}
MONTH = r"(jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\b\.?"  # noqa: E501
_YEAR = r"((?:1\d|20)\d\d)(?!\d)"
_DAY = r"(\d{1,2})(?:st|nd|rd|th)?"
_HAN_YEAR = r"(\d{4}|[零〇一二三四五六七八九]{4})年"
_HAN_SMALL = r"(\d{1,2}|[一二三四五六七八九十]{1,3})"

#: Patterns that begin with a digit, longest first, with what their groups are.
_HAN = tuple(
    (re.compile(pattern), parts)
    for pattern, parts in (
        (rf"{_YEAR}[ ]?(?:年)?[ ]?第?([一二三四1234])季度", "yq"),
        (rf"{_HAN_YEAR}[ ]?{_HAN_SMALL}月(?:份)?[ ]?{_HAN_SMALL}[日号]", "ymd"),
        (rf"{_HAN_YEAR}[ ]?{_HAN_SMALL}月(?!\d)", "ym"),
        (rf"{_HAN_YEAR}(?!代)", "y"),
        (rf"{_HAN_SMALL}月(?:份)?[ ]?{_HAN_SMALL}[日号]", "md"),
        (r"(\d{1,2}|十[一二]?|[一二三四五六七八九])月份?(?!\d)", "m"),
    )
)
_NUMERIC = tuple(
    (re.compile(pattern, re.IGNORECASE), parts)
    for pattern, parts in (
        (r"(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})(?!\d)", "ymd"),
        (rf"{_DAY}[ ](?:of[ ])?{MONTH}(?:,?[ ](?:of[ ])?{_YEAR})", "dny"),
        (rf"{_DAY}[ ](?:of[ ])?{MONTH}", "dn"),
        (r"(\d{1,2})/(\d{1,2})/(\d{4})(?!\d)", "?"),
        (rf"{_YEAR}[ ]Q([1-4])", "yq"),
        (r"(\d{4})-(0[1-9]|1[0-2])(?![\d-])", "ym"),
        (rf"{_YEAR}[ ]{MONTH}[ ]{_DAY}(?!\d)", "ynd"),
    )
)
#: What a Chinese date has, and how near.
_HAN_SIGNS, _HAN_NEAR = frozenset("年月季"), 10
_DECADE = re.compile(r"((?:1\d|20)?\d)0(?:s\b|'s\b|年代)")
_NAMED = tuple(
    (re.compile(pattern, re.IGNORECASE), parts)
    for pattern, parts in (
        (rf"{MONTH}[ ]{_DAY},?[ ]{_YEAR}", "ndy"),
        (rf"{MONTH},?[ ](?:of[ ])?{_YEAR}", "ny"),
        (rf"{MONTH}[ ]{_DAY}(?!\d)", "nd"),
        (rf"Q([1-4])(?:[ ]of)?[ ]{_YEAR}", "qy"),
        (rf"(first|second|third|fourth)[ ]quarter(?:[ ]of)?[ ]{_YEAR}", "qy"),
    )
)
_FULL_MONTH = re.compile(
    "(january|february|march|april|june|july|august|september|october|november|december)\\b",
    re.IGNORECASE,
)
_BARE_YEAR = re.compile(r"(1\d\d\d|20\d\d)(?![\d,]\d|\d|\.\d|%)")
_QUARTERS = {"一": 1, "二": 2, "三": 3, "四": 4, "first": 1, "second": 2, "third": 3, "fourth": 4}


def date_at(text: str, place: int) -> tuple[Date, int] | None:
    """The date that begins here, and where it ends. A bare year is `year_at`'s."""
    numeric, han = text[place].isdigit(), text[place] > "⺀"
    if not numeric and not han and text[place : place + 3] in ("may", "mar"):
        return None  # a verb
    if (han or numeric) and not _HAN_SIGNS.isdisjoint(text[place : place + _HAN_NEAR]):
        dated = _first(_HAN, text, place)
        if dated is not None:
            return dated
    if han:
        return None
    dated = _first(_NUMERIC if numeric else _NAMED, text, place)
    if dated is not None:
        return dated
    if numeric:
        decade = _DECADE.match(text, place)
        if decade is not None:
            year = int(decade[1]) * 10
            return Date(year=year if year > 99 else 1900 + year, span=10), decade.end()
        return None
    month = _FULL_MONTH.match(text, place)
    if month is None:
        return None
    return Date(month=_MONTHS[month[1].lower()]), month.end()


def _first(
    patterns: tuple[tuple[re.Pattern[str], str], ...], text: str, place: int
) -> tuple[Date, int] | None:
    for pattern, parts in patterns:
        found = pattern.match(text, place)
        if found is not None:
            date = _date(found, parts)
            if date is not None:
                return date, found.end()
    return None


def year_at(text: str, place: int) -> tuple[Date, int] | None:
    """Four digits that read as a year."""
    found = _BARE_YEAR.match(text, place)
    return None if found is None else (Date(year=int(found[1])), found.end())


def _date(found: re.Match[str], parts: str) -> Date | None:
    if parts == "?":
        first, second = int(found[1]), int(found[2])
        year = int(found[3])
        if first > 12:
            return Date(year, second, first)
        # Day and month cannot be told apart: only what is sure is kept.
        return Date(year, first, second) if second > 12 or first == second else Date(year)
    values: dict[str, int] = {}
    for part, group in zip(parts, found.groups(), strict=True):
        if part == "n":
            values["m"] = _MONTHS[group.lower()]
        elif part == "q":
            values["q"] = _QUARTERS.get(group.lower()) or int(group)
        else:
            value = float(group) if group.isdecimal() else chinese(group)
            if value is None:
                return None
            values[part] = int(value)
    month, day = values.get("m"), values.get("d")
    if (month is not None and not 1 <= month <= 12) or (day is not None and not 1 <= day <= 31):
        return None
    return Date(values.get("y"), month, day, values.get("q"))


def same_date(a: Date, b: Date) -> bool | None:
    """Whether two dates agree as far as both are written; None where they share no part."""
    if a.span > 1 or b.span > 1:
        if a.year is None or b.year is None:
            return None
        low, high = (a, b) if a.span >= b.span else (b, a)
        return low.year <= high.year < low.year + low.span  # type: ignore[operator]
    shared = False
    for one, other in (
        (a.year, b.year),
        (a.month, b.month),
        (a.day, b.day),
        (_quarter(a), _quarter(b)),
    ):
        if one is not None and other is not None:
            if one != other:
                return False
            shared = True
    return True if shared else None


def _quarter(date: Date) -> int | None:
    if date.quarter is not None:
        return date.quarter
    return None if date.month is None else (date.month + 2) // 3


def coarser(a: Date, b: Date) -> bool:
    """Whether `a` leaves out the month that `b` gives: it says less, but nothing else."""
    return b.month is not None and a.month is None and a.quarter is None
