"""Quantities in Chinese numerals: 三百六十, 两成, 百分之五, 第三, 半小时."""

import re

from rubrica.judges.text import numerals
from rubrica.judges.text.amount import Quantity
from rubrica.judges.text.clocks import AFTER_NOON
from rubrica.judges.text.dates import date_of_han
from rubrica.judges.text.digits import COUNTERS, dated_quantity
from rubrica.judges.text.lists import words_of
from rubrica.judges.text.measuring import bare, measured, sized
from rubrica.judges.text.units import unit_at

_HAN_ORDINAL = re.compile(r"第(\d{1,4}|[一二三四五六七八九十百]{1,5})")
_HAN_PERCENT = re.compile(
    rf"百分之({numerals.HAN.pattern}|\d+(?:\.\d+)?)(?:点({numerals.HAN.pattern}))?"
)
_HAN_TENTHS = re.compile(r"(\d|[一二两三四五六七八九])成(半)?(?![功立为员长果本都])")
_HAN_PART = re.compile(
    r"([一二两三四五六七八九十百]{1,3}|\d{1,3})分之([一二两三四五六七八九十]{1,3}|\d{1,3})"
)
_HAN_EVERY = re.compile(
    r"([一二两三四五六七八九十百]{1,3}|\d{1,3})[个名位人户家]{1,2}[^,，.。;；\d]{0,6}[里中][^,，.。;；]{0,3}?"
    r"有([一二两三四五六七八九十]{1,3}|\d{1,3})[个名位人户家]"
)
_HAN_HALF = re.compile(r"一半")
#: By the sign behind the numerals; the other signs make dates and times of them.
_HAN_SHARES = {"成": _HAN_TENTHS, "分": _HAN_PART, "半": _HAN_HALF}
_HAN_SIGNS = frozenset("年月点").union(_HAN_SHARES)
_HAN_CLOCK = re.compile(
    r"([一二两三四五六七八九]|十[一二]?)点(半|钟|整)?(?![零〇一二三四五六七八九十\d万亿])(?:(?<=[半钟整])|(?=[前后之以到至起开关，。]))"
)


def from_han(text: str, at: int) -> Quantity | None:
    run = numerals.HAN.match(text, at)
    if run is None:
        return _half_han(text, at) if text[at] == "半" else _ordinal_han(text, at)
    end = run.end()
    sign = text[end : end + 1]
    if sign in _HAN_SIGNS:
        special = _special_han(text, at, sign)
        if special is not None:
            return special
    pairs = words_of("numeral_pairs.txt")
    if at and text[at - 1 : at + 1] in pairs:
        return None
    if run[0] == "一" and bare(text, at, sign):
        return None  # 一直, 一份: no count
    value = numerals.chinese(run[0])
    if value is None:
        return None
    quantity = measured(text, at, end, value, 0.5)
    if quantity.kind != "number" or end - at > 2:
        return quantity
    if text[at : at + 2] in pairs or text[quantity.end : quantity.end + 1] not in COUNTERS:
        return None
    return None if run[0] == "一" else quantity


def _special_han(text: str, at: int, sign: str) -> Quantity | None:
    """A date, a share or a time of day: what Chinese numerals with this sign behind them may be."""
    if sign in ("年", "月"):
        dated = date_of_han(text, at, sign)
        return None if dated is None else dated_quantity(dated[0], at, dated[1], text)
    if sign == "点":
        clock = _HAN_CLOCK.match(text, at)
        return None if clock is None else _clock(clock)
    if sign == "分":
        percent = _HAN_PERCENT.match(text, at)
        if percent is not None:
            return _han_percent(percent)
    pattern = _HAN_SHARES[sign]
    part = pattern.match(text, at)
    return None if part is None else _han_share(pattern, part)


def _ordinal_han(text: str, at: int) -> Quantity | None:
    ordinal = _HAN_ORDINAL.match(text, at)
    if ordinal is None:
        return None
    value = float(ordinal[1]) if ordinal[1].isdecimal() else numerals.chinese(ordinal[1])
    return None if value is None else Quantity("ordinal", value, value, "", at, ordinal.end())


def _clock(clock: re.Match[str]) -> Quantity:
    """上午十一点前, 晚上八点半."""
    hour = int(numerals.chinese(clock[1]) or 0)
    if hour < 12 and clock.string[max(0, clock.start() - 2) : clock.start()] in AFTER_NOON:
        hour += 12
    value = float(hour * 60 + (30 if clock[2] == "半" else 0))
    return Quantity("time", value, value, "clock", clock.start(), clock.end())


def every(text: str, at: int) -> Quantity | None:
    """每四个人里有一个: what stands behind 每 with its share."""
    part = _HAN_EVERY.match(text, at)
    return None if part is None else _han_share(_HAN_EVERY, part)


def _half_han(text: str, at: int) -> Quantity | None:
    if text.startswith("半数", at):
        return Quantity("percent", 50.0, 50.0, "%", at, at + 2, True, 0.5)
    end = at + (2 if text[at + 1 : at + 2] == "个" else 1)
    unit = unit_at(text, end)
    if unit is None or unit[0] != "time" or text[at : at + 2] in words_of("numeral_pairs.txt"):
        return None
    return sized(text, at, unit[2], 0.5, 0.05, unit[0], unit[1])


def _han_percent(percent: re.Match[str]) -> Quantity | None:
    whole = percent[1]
    value = float(whole) if whole[0].isdecimal() else numerals.chinese(whole)
    if value is None:
        return None
    slack = 0.5
    for char in percent[2] or "":
        digit = numerals.chinese(char) or 0.0
        slack /= 10
        value += digit * 2 * slack
    return Quantity("percent", value, value, "%", percent.start(), percent.end(), slack=slack)


def _han_share(pattern: re.Pattern[str], part: re.Match[str]) -> Quantity | None:
    if pattern is _HAN_HALF:
        share = 50.0
    elif pattern is _HAN_TENTHS:
        tenths = float(part[1]) if part[1].isdecimal() else (numerals.chinese(part[1]) or 0.0)
        share = 10 * tenths + (5.0 if part[2] else 0.0)
    else:
        low, high = (
            float(one) if one.isdecimal() else (numerals.chinese(one) or 0.0)
            for one in part.groups()
        )
        if not low:
            return None
        share = 100 * high / low
    return Quantity("percent", share, share, "%", part.start(), part.end(), True, 0.5)
