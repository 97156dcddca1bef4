"""Quantities that begin with digits or a currency sign."""

import re

from msgspec.structs import replace

from rubrica.judges.text import numerals
from rubrica.judges.text.amount import Quantity
from rubrica.judges.text.dates import MONTHS, Date, date_of_digits
from rubrica.judges.text.lists import words_of
from rubrica.judges.text.measuring import BEHIND, measured, rough

CURRENCY = {"$": "USD", "€": "EUR", "£": "GBP", "¥": "CNY"}
_CLOCK = re.compile(r"([01]?\d|2[0-3]):([0-5]\d)(?::[0-5]\d)?(?:[ ]?([ap])\.?m\b)?", re.IGNORECASE)
_CLOCK_PM = re.compile(r"(\d{1,2})[ ]?([ap])\.?m\b", re.IGNORECASE)
_ORDINAL = re.compile(r"(\d{1,4})(?:st|nd|rd|th)\b", re.IGNORECASE)
_CENTURY = re.compile(r"(\d{1,2})(?:(?:st|nd|rd|th)[ -]century|世纪)", re.IGNORECASE)
#: Counting words after which a Chinese number is a count; without one, a lone character is none.
COUNTERS = frozenset(
    "名人个只例位家座部本篇次条项种件台架艘辆层块张枚颗头匹户处所间支枝双对套组批场届期步章节页句字行列股笔份卷集首幅轮倍票分腔车"
)
#: 3-1, 3:1, 3比1: the larger first, or it may be a range or a date.
_SCORE = re.compile(
    r"(\d{1,2})(?:[-比]|:(?=\d\b))(\d{1,2})(?![-:\d%年月日号]|[.,]\d)"
    r"(?![ ]?[A-Z°℃]|[ ]?(?!(?:in|at|on|to|by|and|but|after|against|over|with|before|win)\b)[a-z])"
)
_LISTED = re.compile(r"[.)、]\s")
_CURRENCY_CODE = re.compile(r"(?:USD|EUR|GBP|RMB|CNY|(?:US|HK|A|C)[$])\Z")
_NAME_BEFORE = re.compile(r"([A-Z][A-Za-z]+)[ ]\Z")
_NUMBER = re.compile(f"({numerals.DIGITS.pattern}){BEHIND}")
#: What stands behind the digits of a date, of a time of day, of a score or of an ordinal, after a
#: space or not; a dash is one, too.
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
        *"qs'/:年月第一二三四1234点时比世",
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
        dated = date_of_digits(text, at, number, gap or word[:1])
        if dated is not None:
            return dated_quantity(dated[0], at, dated[1], text)
        special = _special(text, at, gap, word.lower())
        if special is not None:
            return special
    before = text[at - 1 : at]
    if word in ("]", "】") and not gap and before in ("[", "【", "^"):
        return None  # the mark of a source
    if before != " " and at and _of_name(text, at):
        return None
    if "," in number:
        number = number.replace(",", "")
    value = float(number)
    if at < 4 and not text[:at].strip() and _LISTED.match(text, end):
        return Quantity("ordinal", value, value, "", at, end)
    quantity = measured(text, at, end, value, place_of(number), (gap, word))
    if quantity.kind != "number" or quantity.end != end:
        return quantity
    if end - at == 4 and _is_year(text, end, value) and not _counted(gap, word):
        return _dated(Date(int(value)), at, end, quantity.approximate)
    if before == " " and end - at <= 4 and _numbered(text, at):
        return None
    if end - at == 2 and before == "'" and text[at - 2 : at - 1] in ("", " ", "("):
        short = Date(year=(2000 if number < "30" else 1900) + int(number))
        return _dated(short, at, end, quantity.approximate)
    return quantity


def _special(text: str, at: int, gap: str, word: str) -> Quantity | None:
    """A score, a time of day, a century or an ordinal."""
    if gap == "-" or word in (":", "比"):
        score = _SCORE.match(text, at)
        if score is not None and int(score[1]) > int(score[2]):
            value = float(score[1]) * 1000 + float(score[2])
            return Quantity("number", value, value, "score", at, score.end())
    if word in (":", "a", "p", "am", "pm"):
        clock = _CLOCK.match(text, at) or _CLOCK_PM.match(text, at)
        return None if clock is None else _clock(clock)
    if gap:
        return None
    if word in ("点", "时"):
        return _han_clock(text, at)
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


AFTER_NOON = ("下午", "晚上", "傍晚", "夜里", "晚间")
_HAN_CLOCK = re.compile(r"(\d{1,2})[点时](?:(半)|(\d{1,2})分?)?(?!间|期|代)")


def _han_clock(text: str, at: int) -> Quantity | None:
    """下午5点, 17时30分: the hours after noon by the word before."""
    found = _HAN_CLOCK.match(text, at)
    if found is None or int(found[1]) > 24:
        return None
    hour = int(found[1])
    if hour < 12 and text[max(0, at - 2) : at] in AFTER_NOON:
        hour += 12
    value = float(hour * 60 + (30 if found[2] else int(found[3] or 0)))
    return Quantity("time", value, value, "clock", at, found.end())


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
    digits = numerals.DIGITS.match(text, at + 1 + (text[at + 1 : at + 2] == " "))
    if digits is None or len(digits[0]) > 40:
        return None
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
    unit = CURRENCY[text[at]]
    return replace(quantity, kind="money", value=size, high=size, unit=unit, end=end)


def _clock(clock: re.Match[str]) -> Quantity:
    groups = clock.groups()
    hour, minute = int(groups[0]), int(groups[1]) if len(groups) > 2 else 0
    half = (groups[-1] or "").lower()
    hour = hour % 12 + (12 if half == "p" else 0) if half else hour
    value = float(hour * 60 + minute)
    return Quantity("time", value, value, "clock", clock.start(), clock.end())
