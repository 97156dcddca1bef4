"""Quantities in words: twelve, half of, a year and a half, third; 三百六十, 两成, 百分之五."""

import re

from msgspec.structs import replace

from rubrica.judges.text import numerals
from rubrica.judges.text.amount import Quantity
from rubrica.judges.text.dates import Date, date_at
from rubrica.judges.text.digits import AFTER_NOON, COUNTERS, dated_quantity
from rubrica.judges.text.lists import words_of
from rubrica.judges.text.measuring import measured, rough, sized
from rubrica.judges.text.units import unit_at

_ORDINAL_WORD = re.compile(
    r"(" + "|".join(numerals.ORDINALS) + r")\b(?![ ]quarter[ ](?:of|\d))", re.IGNORECASE
)
_FRACTION = re.compile(
    r"(?:(?P<one>an?|one|two|three|four)[ -])?"
    r"(?P<part>half|halves|thirds?|quarters?|fifths?|tenths?)"
    r"(?:[ ]of\b|(?<=[ -]third)(?=[.,;]|[ ](?:compared|less|more|lower|higher|since)\b|\Z))",
    re.IGNORECASE,
)
#: The same without `of`: two thirds, or behind a word before which it is a share.
_BARE_FRACTION = re.compile(
    r"(?P<one>two|three|four)[ -](?P<part>thirds|fifths|tenths)\b"
    r"|(?P<less>an?|one|three)[ -](?P<piece>half|third|quarters?|fifth|tenth)(?=[.,;)]|[ ][a-z]|\Z)"
    r"(?![ ](?:centur|of|years?|hour|time|place|party|day|week|month))",
    re.IGNORECASE,
)
_SHARE_BEFORE = re.compile(r"\b(?:by|about|nearly|almost|roughly|over|than|only|up)[ ]\Z")
_OF_UNIT = re.compile(r"[ ]an?[ ](?=hour|day|century|mile|million|billion)", re.IGNORECASE)
_PARTS = {"half": 2, "halve": 2, "third": 3, "quarter": 4, "fifth": 5, "tenth": 10}
_COUNTS = {"a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4}
_HALF_UNIT = re.compile(r"half[ ](?:an?[ ])?(?=[a-z])", re.IGNORECASE)
_YEAR_HALF = re.compile(
    r"an?[ ](year|month|week|day|hour|decade|century)[ ]and[ ]a[ ]half\b", re.IGNORECASE
)
_LONE = re.compile(r"an?[ ](minute|hour|day|week|month|year|decade|century)\b", re.IGNORECASE)
_SPAN_BEFORE = re.compile(
    r"\b(?:for|about|roughly|around|nearly|almost|within|lasts?|lasted|takes?|took|than|over|under)"
    r"[ ]\Z",
    re.IGNORECASE,
)
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
_HAN_HALF = re.compile(r"(?:一半|半数)")
_HAN_CLOCK = re.compile(
    r"([一二两三四五六七八九]|十[一二]?)点(半|钟|整)?(?![零〇一二三四五六七八九十\d万亿])(?:(?<=[半钟整])|(?=[前后之以到至起开关，。]))"
)


def from_words(text: str, at: int) -> Quantity | None:
    dated = date_at(text, at)
    if dated is not None:
        return dated_quantity(dated[0], at, dated[1], text)
    lower = text[at : at + 80].lower()
    year_half = _YEAR_HALF.match(text, at)
    if year_half is not None:
        unit = unit_at(text, year_half.start(1))
        if unit is not None:
            return sized(text, at, year_half.end(), 1.5, 0.05, unit[0], unit[1])
    single = _LONE.match(text, at)
    if single is not None:
        unit = unit_at(text, single.start(1))
        if unit is not None and _SPAN_BEFORE.search(text[max(0, at - 14) : at]):
            about = rough(text, at, single.end())[0]
            span = sized(text, at, single.end(), 1.0, 0.05, unit[0], unit[1])
            return replace(span, approximate=about, written=1.0)
    fraction = _FRACTION.match(text, at)
    if fraction is not None:
        part = _PARTS[fraction["part"].lower().rstrip("s")]
        share = 100.0 * _COUNTS[(fraction["one"] or "a").lower()] / part
        whole = _OF_UNIT.match(text, fraction.end())
        if whole is not None:  # a quarter of an hour, a third of a million
            return measured(text, at, whole.end() - 1, share / 100.0, 0.05)
        return Quantity("percent", share, share, "%", at, fraction.end(), True, 0.5)
    bare = _bare_fraction(text, at)
    if bare is not None:
        return bare
    half = _HALF_UNIT.match(text, at)
    if half is not None:
        return _half(text, at, half.end())
    words = numerals.WORDS.match(lower)
    if words is not None:
        value = numerals.english(words[0])
        if value is None:
            return None
        quantity = measured(text, at, at + words.end(), value, 0.5)
        lone = words[0] in ("one", "hundred", "thousand", "million", "billion")
        return None if lone and quantity.kind == "number" else quantity
    ordinal = _ORDINAL_WORD.match(text, at)
    if ordinal is not None:
        value = float(numerals.ORDINALS[ordinal[1].lower()])
        if text.startswith((" century", "-century"), ordinal.end()):
            date = Date(year=(int(value) - 1) * 100, span=100)
            return dated_quantity(date, at, ordinal.end() + 8, text)
        return Quantity("ordinal", value, value, "", at, ordinal.end())
    return None


def _bare_fraction(text: str, at: int) -> Quantity | None:
    found = _BARE_FRACTION.match(text, at)
    if found is None or (found["less"] and not _SHARE_BEFORE.search(text[max(0, at - 8) : at])):
        return None
    part = _PARTS[(found["part"] or found["piece"]).lower().rstrip("s")]
    share = 100.0 * _COUNTS[(found["one"] or found["less"]).lower()] / part
    return Quantity("percent", share, share, "%", at, found.end(), True, 0.5)


def _half(text: str, at: int, end: int) -> Quantity | None:
    quantity = measured(text, at, end - 1, 0.5, 0.05)
    if quantity.kind == "number" and quantity.value == 0.5:
        return None
    return quantity


def from_han(text: str, at: int) -> Quantity | None:
    percent = _HAN_PERCENT.match(text, at)
    if percent is not None:
        return _han_percent(percent)
    dated = date_at(text, at)
    if dated is not None:
        return dated_quantity(dated[0], at, dated[1], text)
    ordinal = _HAN_ORDINAL.match(text, at)
    if ordinal is not None:
        value = float(ordinal[1]) if ordinal[1].isdecimal() else numerals.chinese(ordinal[1])
        return None if value is None else Quantity("ordinal", value, value, "", at, ordinal.end())
    for pattern in (_HAN_TENTHS, _HAN_PART, _HAN_HALF):
        part = pattern.match(text, at)
        if part is not None:
            return _han_share(pattern, part)
    if text[at] == "半":
        return _half_han(text, at)
    clock = _HAN_CLOCK.match(text, at)
    if clock is not None:
        return _clock(clock)
    run = numerals.HAN.match(text, at)
    if run is None:
        return None
    value = numerals.chinese(run[0])
    if value is None:
        return None
    if at and text[at - 1 : at + 1] in words_of("numeral_pairs.txt"):
        return None
    quantity = measured(text, at, run.end(), value, 0.5)
    if quantity.kind != "number" or len(run[0]) > 2:
        return quantity
    if text[at : at + 2] in words_of("numeral_pairs.txt") or not COUNTERS.match(text, quantity.end):
        return None
    return None if run[0] == "一" else quantity


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
