"""Quantities that begin with digits or a currency sign."""

import re

from msgspec.structs import replace

from rubrica.judges.text import numerals
from rubrica.judges.text.amount import Quantity
from rubrica.judges.text.clocks import clock, han_clock
from rubrica.judges.text.dates import MONTHS, Date, date_of_digits, date_of_dots
from rubrica.judges.text.lists import words_of
from rubrica.judges.text.measuring import BEHIND, behind_at, measured, rough
from rubrica.judges.text.notation import (
    address,
    continental,
    fraction,
    power,
    telephone,
    version,
    version_after,
)

#: ¥ stands for yen, too.
CURRENCY = {"$": "USD", "€": "EUR", "£": "GBP", "¥": "¥"}
_ORDINAL = re.compile(r"(\d{1,4})(?:st|nd|rd|th)\b", re.IGNORECASE)
_CENTURY = re.compile(r"(\d{1,2})(?:(?:st|nd|rd|th)[ -]century|世纪)", re.IGNORECASE)
#: Counting words after which a Chinese number is a count; without one, a lone character is none.
COUNTERS = frozenset(
    "名人个只例位家座部本篇次条项种件台架艘辆层块张枚颗头匹户处所间支枝双对套组批场届期步章节页句字行列股笔份卷集首幅轮倍票分腔车针剂粒瓶"
)
#: 3-1, 3:1, 3比1: the larger first, or it may be a range or a date.
_SCORE = re.compile(
    r"(\d{1,2})(?:[-比]|:(?=\d\b))(\d{1,2})(?![-:\d%年月日号]|[.,]\d)"
    r"(?![ ]?[A-Z°℃]|[ ]?(?!(?:in|at|on|to|by|and|but|after|against|over|with|before|win)\b)[a-z])"
)
_LISTED = re.compile(r"[.)、]\s")
_CURRENCY_CODE = re.compile(r"(?:USD|EUR|GBP|RMB|CNY|(?:US|HK|A|C)[$])\Z")
_NAME_BEFORE = re.compile(r"([A-Z][A-Za-z]+)[ ]\Z")
#: In Europe 40 firms.
_IN_PLACE = re.compile(r"In (?:the )?[A-Z][A-Za-z]+(?: [A-Z][A-Za-z]+)? ")
_THREE_PARTS = re.compile(r"\d{1,5}\.\d{1,5}\.\d")
_NUMBER = re.compile(f"({numerals.DIGITS.pattern}){BEHIND}")
#: What stands behind the digits of a date, of a time of day, of a score, of an ordinal, of a
#: fraction or of a power, after a space or not; a dash is one, too.
_POWERS = frozenset("ex×*·^⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
_TELLING = frozenset(
    (
        *MONTHS,
        "of",
        "am",
        "pm",
        "a",
        "p",
        "st",
        "nd",
        "rd",
        "th",
        *_POWERS,
        *"qs'/:年月第一二三四123456789点时比世",
    )
)


def from_digits(text: str, at: int) -> Quantity | None:
    """The quantity that begins with the digit here."""
    found = _NUMBER.match(text, at)
    if found is None:
        return None
    number, gap, word = found.groups()
    if len(number) > 40:
        return None
    end = at + len(number)
    if gap == "-" or word.lower() in _TELLING or number[4:5] == ".":
        # Chinese is also written with spaces around figures.
        sign = word[:1] if word[:1] in ("年", "月") else gap or word[:1]
        dated = date_of_digits(text, at, number, sign)
        if dated is not None:
            return dated_quantity(dated[0], at, dated[1], text)
        special = _special(text, at, gap, word.lower())
        if special is not None:
            return special
    elif not gap and word in (".", ",") and text[end + 1 : end + 2].isdecimal():
        other = _pointed(text, at)
        if other is not None:
            return other
    before = text[at - 1 : at]
    if word in ("]", "】") and not gap and before in ("[", "【", "^"):
        return None  # the mark of a source
    if before != " " and before.isascii() and at and _of_name(text, at):
        return version_after(text, at) if "." in number else None
    if "," in number:
        number = number.replace(",", "")
    value = float(number)
    if at < 4 and not text[:at].strip() and _LISTED.match(text, end):
        return Quantity("ordinal", value, value, "", at, end)
    place = place_of(number) if "." in number else 0.5
    quantity = measured(text, at, end, value, place, (gap, word))
    if quantity.kind != "number" or quantity.end != end:
        return quantity
    if end - at == 4 and _is_year(text, end, value) and not _counted(gap, word):
        return _dated(Date(int(value)), at, end, quantity.approximate)
    if "." in number and at and (named := version_after(text, at)) is not None:
        return named
    if before == " " and end - at <= 4 and _numbered(text, at):
        return quantity if _counted(gap, word) and _IN_PLACE.fullmatch(text, 0, at) else None
    if end - at == 2 and before == "'" and text[at - 2 : at - 1] in ("", " ", "("):
        short = Date(year=(2000 if number < "30" else 1900) + int(number))
        return _dated(short, at, end, quantity.approximate)
    return quantity


def _special(text: str, at: int, gap: str, word: str) -> Quantity | None:
    """A score, a time of day, a century, an ordinal, a telephone number, a fraction or a power."""
    if gap == "-":
        called = telephone(text, at)
        if called is not None:
            return called
    if gap == "-" or word in (":", "比"):
        score = _SCORE.match(text, at)
        if score is not None and int(score[1]) > int(score[2]):
            value = float(score[1]) * 1000 + float(score[2])
            return Quantity("number", value, value, "score", at, score.end())
    if word in (":", "a", "p", "am", "pm"):
        return clock(text, at)
    if word in _POWERS:
        return power(text, at)
    if word == "/" or (gap == " " and word.isdecimal()):
        return _fraction(text, at)
    if gap:
        return None
    if word in ("点", "时"):
        return han_clock(text, at)
    if word in ("st", "nd", "rd", "th", "世"):
        century = _CENTURY.match(text, at)
        if century is not None:
            date = Date(year=(int(century[1]) - 1) * 100, span=100)
            return dated_quantity(date, at, century.end(), text)
        ordinal = _ORDINAL.match(text, at)
        if ordinal is not None:
            value = float(ordinal[1])
            return Quantity("ordinal", value, value, "", at, ordinal.end())
    return None


def _fraction(text: str, at: int) -> Quantity | None:
    """A fraction; those of `3/4 tests` are two figures."""
    found = fraction(text, at)
    if found is None or " " in text[at : found.end] or found.unit:
        return found
    return None if _counted(*behind_at(text, found.end)) else found


def _pointed(text: str, at: int) -> Quantity | None:
    """What has more points or commas than a number: 15.01.2024, 10.0.0.1, 1.299,00."""
    dated = date_of_dots(text, at)
    if dated is not None:
        return dated_quantity(dated[0], at, dated[1], text)
    other = continental(text, at) or address(text, at)
    if other is None and _THREE_PARTS.match(text, at):
        return version(text, at)
    return other


def dated_quantity(date: Date, start: int, end: int, text: str) -> Quantity:
    return _dated(date, start, end, rough(text, start, end)[0])


def _dated(date: Date, start: int, end: int, about: bool) -> Quantity:
    value = float(date.year or 0)
    return Quantity("date", value, value, "date", start, end, about, 0.0, date)


def _of_name(text: str, at: int) -> bool:
    """Whether the digits belong to a name: X-200, A7, PM2.5."""
    letter = text[at - 1 : at] if text[at - 1] != "-" else text[max(0, at - 2) : at - 1]
    if not letter.isalpha() or not letter.isascii():
        return False
    return _CURRENCY_CODE.search(text[max(0, at - 4) : at]) is None


def _numbered(text: str, at: int) -> bool:
    """Whether the number is the last part of a name: Apollo 11, Windows 10."""
    window = text[max(0, at - 30) : at]
    if window[:-1].rpartition(" ")[2].islower():
        return False
    name = _NAME_BEFORE.search(window)
    return name is not None and name[1].lower() not in words_of("stop.txt")


def _is_year(text: str, end: int, value: float) -> bool:
    """Whether four digits read as a year; those before a comma and digits are none."""
    return 1000 <= value < 2100 and not (
        text[end : end + 1] == "," and text[end + 1 : end + 2].isdecimal()
    )


def _counted(gap: str, word: str) -> bool:
    """Whether a noun in the plural follows: `1500 passengers` is no year."""
    if not gap:
        return word in COUNTERS
    return (
        gap == " "
        and word[-1:] == "s"
        and len(word) > 2
        and word.islower()
        and not word.endswith(("ss", "us", "is"))
        and word not in words_of("uncounted.txt")
    )


def place_of(number: str) -> float:
    """Half of the last digit that is written."""
    point = number.find(".")
    return 0.5 if point < 0 else 0.5 * 10.0 ** (point + 1 - len(number))


def money_before(text: str, at: int) -> Quantity | None:
    begin = at + 1 + (text[at + 1 : at + 2] == " ")
    digits = numerals.DIGITS.match(text, begin)
    if digits is None or len(digits[0]) > 40:
        return None
    if text[digits.end() : digits.end() + 1] in (".", ","):
        price = continental(text, begin)
        if price is not None:
            return replace(price, kind="money", unit=CURRENCY[text[at]], start=at)
    number = digits[0].replace(",", "")
    quantity = measured(text, at, digits.end(), float(number), place_of(number))
    plain = quantity.kind in ("number", "money")
    size = quantity.value if plain else float(number)
    end = quantity.end if plain else digits.end()
    small = numerals.MONEY_SCALE.match(text, digits.end())
    if small is not None:
        factor = numerals.scale_size(small)
        size, end = float(number) * factor, small.end()
        quantity = replace(quantity, slack=place_of(number) * factor)
    unit = quantity.unit if text[at] == "¥" and quantity.kind == "money" else CURRENCY[text[at]]
    return replace(quantity, kind="money", value=size, high=size, unit=unit, end=end)
