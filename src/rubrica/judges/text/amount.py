"""A quantity: what it measures, how much, how precisely; and when two of them agree."""

from functools import lru_cache
from typing import Literal, NamedTuple

import msgspec
from msgspec.structs import replace

from rubrica.judges.text.dates import Date, same_date
from rubrica.judges.text.periods import PERIODS

Kind = Literal["number", "percent", "money", "date", "time", "measure", "ordinal", "name"]


#: A gap that no rounding explains, as a share of the larger.
FAR = 0.12
_COUNT_OR_YEAR = frozenset(("date", "number"))
#: A version is one number: each part of it counts so many of the next.
PART = 100_000
#: ¥ alone may be either.
_YEN_OR_YUAN = frozenset(("¥", "CNY", "JPY"))


class Quantity(msgspec.Struct, frozen=True, gc=False):
    """A value in base units, or a range of them. `slack` is half its last written digit."""

    kind: Kind
    value: float
    high: float
    unit: str
    start: int
    end: int
    approximate: bool = False
    slack: float = 0.0
    date: Date | None = None
    until: Date | None = None
    #: 1 for `over 600`, -1 for `nearly 600`.
    side: int = 0
    #: The figure before scale and unit: 86 for both 86 million and 86 thousand.
    written: float = 0.0
    #: 1 for `at least 600`, -1 for `at most 600`; twice that behind a denial in the
    #: same clause, three times before one.
    bound: int = 0
    #: The seconds of the month in `$5 a month`.
    per: float = 0.0
    #: Whether a loss or a fall is told, so that 5 may be -5.
    falls: bool = False


def agrees(a: Quantity, b: Quantity) -> bool | None:
    """True the same up to rounding, False the same kind but another value, None neither."""
    if a.kind != b.kind:
        return _across_kinds(a, b)
    if a.bound and opposed(a, b):
        return None if agrees(a, replace(b, bound=0)) is None else False
    if a.per and b.per and a.per != b.per:
        return agrees(a, _for_period(b, a.per))
    if a.date is not None:
        return _dates_agree(a, b)
    if a.unit != b.unit:
        if a.kind == "money":
            if a.unit in _YEN_OR_YUAN and b.unit in _YEN_OR_YUAN and "¥" in (a.unit, b.unit):
                return agrees(a, replace(b, unit=a.unit))
            return False if _near(a.value, b.value, a, b) else None
        if a.unit.removesuffix("/time") == b.unit.removesuffix("/time"):
            return _rates_agree(a, b) if a.unit.endswith("/time") else _rates_agree(b, a)
        # `three times` without the `a day` of the other
        return True if a.kind == "number" and a.value == b.value else None
    one, other = a.value, b.value
    if one == a.high and other == b.high:
        if one == other:
            return True
        small, large = (one, other) if one < other else (other, one)
        if small < 0 < large:
            return (a.falls or b.falls) and _near(-small, large, a, b)
        if large - small > FAR * max(large, -small):
            return False
        return _near(one, other, a, b)
    low, high = _near(one, other, a, b), _near(a.high, b.high, a, b)
    if low and high:
        return True
    if one != a.high and other != b.high:
        return False
    # A range and one value: its end (`up to 40`), or about its middle.
    return high or low or one <= other <= a.high or other <= one <= b.high


def opposed(a: Quantity, b: Quantity) -> bool:
    """Whether one is at least what the other is at most."""
    return a.bound != 0 and a.bound == -b.bound


def _across_kinds(a: Quantity, b: Quantity) -> bool | None:
    """True for a year that could not be told from a count, 0.5 for 50%, 3.10 for version 3.10."""
    if a.value == b.value:
        return True if {a.kind, b.kind} == _COUNT_OR_YEAR else None
    number, other = (a, b) if a.kind == "number" else (b, a)
    if number.kind != "number" or number.unit:
        return None
    if other.kind == "percent" and 0 < abs(number.value) < 1:
        return True if abs(100 * number.value - other.value) <= other.slack else None
    if other.unit == "version" and other.slack == number.slack:
        whole, part = divmod(other.value // PART, PART)
        return True if abs(whole + 2 * part * other.slack - number.value) < number.slack else None
    return None


def _for_period(rate: Quantity, per: float) -> Quantity:
    """The same for another period: $144 a year for $12 a month. Months are not all as long."""
    size = per / rate.per
    value, high = rate.value * size, rate.high * size
    return replace(rate, value=value, high=high, per=per, slack=max(rate.slack, 0.02 * abs(high)))


def _rates_agree(rate: Quantity, plain: Quantity) -> bool:
    """Whether `620 GWh a year` is the 620 GWh of a sentence that has the year elsewhere."""
    return any(_near(rate.value * period, plain.value, plain, plain) for period in PERIODS)


def twisted(mine: Quantity, other: Quantity) -> bool:
    """Whether the figure is the same with another unit or scale, or its digits in another order."""
    return (
        mine.kind == other.kind
        and _alike(mine, other)
        and agrees(mine, other) is False
        and not opposed(mine, other)
    )


def _alike(mine: Quantity, other: Quantity) -> bool:
    if mine.date is not None and other.date is not None:
        a, b = mine.date, other.date
        if a.month is None or b.month is None:
            return a.month is b.month and _same_digits(a.year, b.year)
        return a.year == b.year or a[1:3] == b[1:3]
    written, read = abs(mine.written), abs(other.written)
    if written < 2:
        return False
    if written == read:
        return True
    one, two = _digits(written), _digits(read)
    if len(one.ordered) > 1 and one.ordered == two.ordered:
        return True
    # 12 days for 120
    return mine.kind == "measure" and len(one.bare) > 1 and one.bare == two.bare


def _same_digits(one: int | None, other: int | None) -> bool:
    # Of the same digits in any order the rest by nine is the same: most years end here.
    if one and other and (one - other) % 9:
        return False
    return sorted(str(one)) == sorted(str(other))


class _Digits(NamedTuple):
    """The digits of a number in order of size, and without zeros at its ends."""

    ordered: tuple[str, ...]
    bare: str


@lru_cache(maxsize=1024)
def _digits(number: float) -> _Digits:
    written = f"{number:.12g}"
    return _Digits(tuple(sorted(written)), written.strip("0."))


def _near(one: float, other: float, a: Quantity, b: Quantity) -> bool:
    if a.kind == "name":
        return one == other
    gap = abs(one - other)
    size = max(abs(one), abs(other))
    if gap <= size * 1e-9:
        return True
    if a.kind == "ordinal" or a.kind == "time":
        return False
    slack = min(max(a.slack, b.slack), 0.05 * size)
    if a.unit == "time" and size >= 86400:
        slack = max(slack, 0.02 * size)  # a month is not always as long
    if a.approximate or b.approximate:
        slack = max(
            slack, 0.025 * size, min(_round_slack(one), 0.06 * size) if a.approximate else 0.0
        )
        slack = max(slack, min(_round_slack(other), 0.06 * size) if b.approximate else 0.0)
        if (a.side > 0 and other >= one) or (b.side > 0 and one >= other):
            slack = max(slack, 0.1 * size)
        if (a.side < 0 and other <= one) or (b.side < 0 and one <= other):
            slack = max(slack, 0.1 * size)
    return gap <= slack * 1.0000001


def _round_slack(value: float) -> float:
    """Half of the last digit that is not 0: 330 stands for 325 to 335."""
    value = abs(value)
    if not value:
        return 0.0
    step = 10.0
    while step < value * 10 and value % step == 0:
        step *= 10
    return step / 20


def _dates_agree(a: Quantity, b: Quantity) -> bool | None:
    assert a.date is not None
    assert b.date is not None
    if a.until is not None and b.until is not None:
        first, last = same_date(a.date, b.date), same_date(a.until, b.until)
        return None if first is None and last is None else first is not False and last is not False
    if a.until is None and b.until is None:
        return same_date(a.date, b.date)
    span, one = (a, b) if a.until is not None else (b, a)
    assert span.date is not None
    assert span.until is not None
    assert one.date is not None
    first, last = same_date(span.date, one.date), same_date(span.until, one.date)
    if first is None and last is None:
        return None
    return bool(first or last)
