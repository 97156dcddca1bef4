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
    #: Whether day and month may be the other way round: 03/04/2021.
    either: bool = False


MONTHS = {
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
_HAN_YEAR = r"(\d{4}|[零〇一二三四五六七八九]{4})[ ]?年"
_HAN_SMALL = r"(\d{1,2}|[一二三四五六七八九十]{1,3})"


_Patterns = tuple[tuple[re.Pattern[str], str], ...]


def _patterns(*pairs: tuple[str, str]) -> _Patterns:
    return tuple((re.compile(pattern, re.IGNORECASE), parts) for pattern, parts in pairs)


#: Patterns, longest first, with what their groups are.
_HAN_YEARS = _patterns(
    (rf"{_HAN_YEAR}[ ]?{_HAN_SMALL}[ ]?月(?:份)?[ ]?{_HAN_SMALL}[ ]?[日号]", "ymd"),
    (rf"{_HAN_YEAR}[ ]?{_HAN_SMALL}[ ]?月(?!\d)", "ym"),
    (rf"{_HAN_YEAR}(?!代)", "y"),
)
_HAN_MONTHS = _patterns(
    (rf"{_HAN_SMALL}[ ]?月(?:份)?[ ]?{_HAN_SMALL}[ ]?[日号]", "md"),
    (r"(\d{1,2}|十[一二]?|[一二三四五六七八九])[ ]?月份?(?!\d)", "m"),
)
_HAN_QUARTER = _patterns((rf"{_YEAR}[ ]?(?:年)?[ ]?第?([一二三四1234])季度", "yq"))
_YEAR_FIRST = _patterns((r"(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})(?!\d)", "ymd"))
_DOTTED = _patterns((r"(\d{1,2})\.(\d{1,2})\.(\d{4})(?!\d)", "dmy"))
_DECADE = _patterns((r"((?:1\d|20)?\d0)(?:(?-i:s)\b|'(?-i:s)\b|年代)", "t"))
_DAY_FIRST = _patterns(
    (rf"{_DAY}[ ](?:of[ ])?{MONTH}(?:,?[ ](?:of[ ])?{_YEAR})", "dny"),
    (rf"{_DAY}[ ](?:of[ ])?{MONTH}", "dn"),
)
#: By the sign behind the digits: those of a year, and those of a day or a month.
_AFTER_YEAR = {
    "年": _HAN_QUARTER + _HAN_YEARS + _DECADE,
    "-": _YEAR_FIRST + _patterns((r"(\d{4})-(0[1-9]|1[0-2])(?![\d-])", "ym")),
    "/": _YEAR_FIRST,
    " ": _HAN_QUARTER
    + _patterns((rf"{_YEAR}[ ]Q([1-4])", "yq"), (rf"{_YEAR}[ ]{MONTH}[ ]{_DAY}(?!\d)", "ynd")),
    "s": _DECADE,
    "'": _DECADE,
}
_AFTER_DAY = {
    "月": _HAN_MONTHS,
    "/": _patterns((r"(\d{1,2})/(\d{1,2})/(\d{4})(?!\d)", "?")),
    "-": _patterns((r"(\d{1,2})-(\d{1,2})-(\d{4})(?![\d-])", "?")),
    "年": _DECADE,
    "'": _DECADE,
    "s": _DAY_FIRST + _DECADE,
    **dict.fromkeys(" nrt", _DAY_FIRST),
}
#: What stands behind 年 where a month, a quarter or 代 may follow; digits do, too.
_GOES_ON = frozenset(" 第代一二三四五六七八九十")
_AFTER_HAN = {"年": _HAN_YEARS, "月": _HAN_MONTHS}
_NAMED = _patterns(
    (rf"{MONTH}[ ]{_DAY},?[ ]{_YEAR}", "ndy"),
    (rf"{MONTH},?[ ](?:of[ ])?{_YEAR}", "ny"),
    (rf"{MONTH}[ ]{_DAY}(?!\d)", "nd"),
    (rf"Q([1-4])(?:[ ]of)?[ ]{_YEAR}", "qy"),
    (rf"(first|second|third|fourth)[ ]quarter(?:[ ]of)?[ ]{_YEAR}", "qy"),
)
_FULL_MONTH = re.compile(
    "(january|february|march|april|june|july|august|september|october|november|december)\\b",
    re.IGNORECASE,
)
_QUARTERS = {"一": 1, "二": 2, "三": 3, "四": 4, "first": 1, "second": 2, "third": 3, "fourth": 4}


def date_of_digits(text: str, place: int, number: str, sign: str) -> tuple[Date, int] | None:
    """The date that begins with this number, and where it ends. A bare year is none."""
    size = len(number)
    if sign == "年" and size == 4 and number.isdecimal() and text[place + 4 : place + 5] == "年":
        behind = text[place + 5 : place + 6]
        if behind not in _GOES_ON and not behind.isdecimal():
            return Date(int(number)), place + 5
    if size == 4:
        patterns = _AFTER_YEAR.get(sign)
    elif size < 3:
        patterns = _AFTER_DAY.get(sign)
    else:
        patterns = _YEAR_FIRST if number[4:5] == "." else None
    return None if patterns is None else _first(patterns, text, place)


def date_of_dots(text: str, place: int) -> tuple[Date, int] | None:
    """15.01.2024: the day first wherever it is written so."""
    return _first(_DOTTED, text, place)


def date_of_han(text: str, place: int, sign: str) -> tuple[Date, int] | None:
    """The same for Chinese numerals with this sign behind them."""
    return _first(_AFTER_HAN[sign], text, place)


def date_of_words(text: str, place: int) -> tuple[Date, int] | None:
    """The same for the name of a month or a quarter."""
    if text[place : place + 3] in ("may", "mar"):
        return None  # a verb
    dated = _first(_NAMED, text, place)
    if dated is not None:
        return dated
    month = _FULL_MONTH.match(text, place)
    if month is None:
        return None
    return Date(month=MONTHS[month[1].lower()]), month.end()


def _first(patterns: _Patterns, text: str, place: int) -> tuple[Date, int] | None:
    for pattern, parts in patterns:
        found = pattern.match(text, place)
        if found is not None:
            date = _date(found, parts)
            if date is not None:
                return date, found.end()
    return None


def _date(found: re.Match[str], parts: str) -> Date | None:
    if parts == "?":
        first, second, year = map(int, found.groups())
        if not 1 <= min(first, second) <= 12 or max(first, second) > 31:
            return None
        if first > 12:
            return Date(year, second, first)
        return Date(year, first, second, either=second <= 12 and first != second)
    if parts == "t":
        year = int(found[1])
        return Date(year if year > 99 else 1900 + year, span=10)
    values: dict[str, int] = {}
    for part, group in zip(parts, found.groups(), strict=True):
        if part == "n":
            values["m"] = MONTHS[group.lower()]
        elif part == "q":
            values["q"] = _QUARTERS.get(group.lower()) or int(group)
        else:
            value = int(group) if group.isdecimal() else chinese(group)
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
    if a.either or b.either:
        return _either_date(a, b)
    shared = a.year is not None and b.year is not None
    if shared and a.year != b.year:
        return False
    for one, other in ((a.month, b.month), (a.day, b.day), (_quarter(a), _quarter(b))):
        if one is not None and other is not None:
            if one != other:
                return False
            shared = True
    return True if shared else None


def _either_date(a: Date, b: Date) -> bool | None:
    """The same where one can be read in two ways: it agrees if either does."""
    if not a.either:
        a, b = b, a
    a = a._replace(either=False)
    return same_date(a, b) or same_date(a._replace(month=a.day, day=a.month), b)


def _quarter(date: Date) -> int | None:
    if date.quarter is not None:
        return date.quarter
    return None if date.month is None else (date.month + 2) // 3


def coarser(a: Date, b: Date) -> bool:
    """Whether `a` leaves out the month that `b` gives: it says less, but nothing else."""
    return b.month is not None and a.month is None and a.quarter is None
