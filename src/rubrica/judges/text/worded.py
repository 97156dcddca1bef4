"""Quantities in English words: twelve, half of, a year and a half, third."""

import re

from msgspec.structs import replace

from rubrica.judges.text import numerals
from rubrica.judges.text.amount import Quantity
from rubrica.judges.text.dates import MONTHS, Date, date_of_words
from rubrica.judges.text.digits import dated_quantity
from rubrica.judges.text.measuring import measured, rough, sized
from rubrica.judges.text.units import unit_at

_WORD = re.compile("[A-Za-z]+")
#: What dates begin with: the latter only before `quarter`.
_DATES = frozenset((*MONTHS, "q"))
_QUARTERED = frozenset(("first", "second", "third", "fourth"))
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
#: What fractions begin with, and what numbers do.
_SHARES = frozenset((*_PARTS, *_COUNTS))
_NUMBERS = numerals.NUMBER_WORDS | {"a", "an"}
_HALF_UNIT = re.compile(r"half[ ](?:an?[ ])?(?=[a-z])", re.IGNORECASE)
_YEAR_HALF = re.compile(
    r"an?[ ](year|month|week|day|hour|decade|century)[ ]and[ ]a[ ]half\b", re.IGNORECASE
)
OFTEN = {"once": 1.0, "twice": 2.0}
_EACH = re.compile(
    r"[ ](?:(?:an?|per|each|every)[ ](?:hour|day|week|month|quarter|year)"
    r"|daily|weekly|monthly|yearly|annually)\b(?![ ]ago)",
    re.IGNORECASE,
)
_LONE = re.compile(r"an?[ ](minute|hour|day|week|month|year|decade|century)\b", re.IGNORECASE)
_SPAN_BEFORE = re.compile(
    r"\b(?:for|about|roughly|around|nearly|almost|within|lasts?|lasted|takes?|took|than|over|under)"
    r"[ ]\Z",
    re.IGNORECASE,
)


def from_words(text: str, at: int) -> Quantity | None:
    found = _WORD.match(text, at)
    word = "" if found is None else found[0].lower()
    if word in _DATES or (
        word in _QUARTERED and text[at + len(word) + 1 : at + len(word) + 2] in "qQ"
    ):
        dated = date_of_words(text, at)
        if dated is not None:
            return dated_quantity(dated[0], at, dated[1], text)
    if word in OFTEN:
        end = at + len(word)
        often = OFTEN[word]
        timed = _EACH.match(text, end) is not None
        return Quantity("number", often, often, "times", at, end) if timed else None
    if word in numerals.ORDINALS and word not in _PARTS:
        return _ordinal(text, at)
    span = _span(text, at) if word in ("a", "an") else None
    if span is not None:
        return span
    share = _fraction(text, at) or _bare_fraction(text, at) if word in _SHARES else None
    if share is not None:
        return share
    half = _HALF_UNIT.match(text, at) if word == "half" else None
    if half is not None:
        return _half(text, at, half.end())
    return _number(text, at) if word in _NUMBERS else _ordinal(text, at)


def _number(text: str, at: int) -> Quantity | None:
    """Twelve; two hundred and six; a dozen."""
    words = numerals.WORDS.match(text[at : at + 80].lower())
    value = None if words is None else numerals.english(words[0])
    if words is None or value is None:
        return None
    quantity = measured(text, at, at + words.end(), value, 0.5)
    lone = words[0] in ("one", "hundred", "thousand", "million", "billion")
    return None if lone and quantity.kind == "number" else quantity


def _span(text: str, at: int) -> Quantity | None:
    """A year and a half, and `a year` where that is how long something lasts."""
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
    return None


def _ordinal(text: str, at: int) -> Quantity | None:
    ordinal = _ORDINAL_WORD.match(text, at)
    if ordinal is None:
        return None
    value = float(numerals.ORDINALS[ordinal[1].lower()])
    if text.startswith((" century", "-century"), ordinal.end()):
        date = Date(year=(int(value) - 1) * 100, span=100)
        return dated_quantity(date, at, ordinal.end() + 8, text)
    return Quantity("ordinal", value, value, "", at, ordinal.end())


def _fraction(text: str, at: int) -> Quantity | None:
    found = _FRACTION.match(text, at)
    if found is None:
        return None
    part = _PARTS[found["part"].lower().rstrip("s")]
    share = 100.0 * _COUNTS[(found["one"] or "a").lower()] / part
    whole = _OF_UNIT.match(text, found.end())
    if whole is not None:  # a quarter of an hour, a third of a million
        return measured(text, at, whole.end() - 1, share / 100.0, 0.05)
    return Quantity("percent", share, share, "%", at, found.end(), True, 0.5)


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
