"""Quantities in a text: what they measure, how much, how precisely, and where they stand.

Values are kept in base units, so that 1.5 km and 1500 m are one, and 12 km and 12 miles are not.
"""

import re
from functools import lru_cache

from msgspec.structs import replace

from rubrica.judges.text import numerals
from rubrica.judges.text.amount import Quantity as Quantity
from rubrica.judges.text.amount import agrees as agrees
from rubrica.judges.text.around import signed, tells, told
from rubrica.judges.text.chinese import every, from_han
from rubrica.judges.text.digits import CURRENCY, from_digits, money_before
from rubrica.judges.text.thousands import grouped
from rubrica.judges.text.units import per_before
from rubrica.judges.text.worded import OFTEN, from_words
from rubrica.judges.text.words import LONGEST_KEPT, fold

#: Where a quantity may begin, but for number words: at digits, a currency sign, a Chinese numeral.
#: A number is passed as a whole; one set in front makes the search several times faster.
_SIGN = re.compile(r"[$€£¥\d零〇一二两三四五六七八九十半百第](?:(?<=\d)\d*(?:[.,]\d+)*)?")
_PLAIN_SIGN = re.compile(r"[$0-9](?:(?<=\d)\d*(?:[.,]\d+)*)?")
_SPANS = frozenset(("minute", "hour", "day", "week", "month", "year", "decade", "century"))
NUMBER_WORDS = (
    numerals.NUMBER_WORDS
    | frozenset(numerals.ORDINALS)
    | frozenset(
        ("jan", "feb", "mar", "apr", "jun", "jul", "aug", "sep", "sept", "oct", "nov", "dec")
    )
    | frozenset(("january", "february", "march", "april", "may", "june", "july", "august"))
    | frozenset(("september", "october", "november", "december", "half", "q", "quarter"))
    | frozenset(OFTEN)
    | _SPANS
)
#: The same as bytes; what makes words of the bytes of a text: small letters, the rest spaces.
_NUMBER_BYTES = frozenset(word.encode() for word in NUMBER_WORDS)
_LETTERS = bytes(
    ord(chr(code).lower()) if chr(code).isalpha() else 32 for code in range(128)
).ljust(256)
#: Words that begin a quantity, `a` before some of them only; a span of time begins none alone.
_STARTS = _NUMBER_BYTES.difference(map(str.encode, _SPANS)) | {b"a", b"an"}
_AFTER_A = (
    *(b"hundred", b"thousand", b"million", b"billion", b"dozen", b"half", b"third", b"quarter"),
    *map(str.encode, _SPANS - {"minute"}),
)
_A = ord("a")
_MINUS = frozenset(("us ", "US "))
_QUARTER = re.compile(r"\bq[1-4]\b", re.IGNORECASE)
_TO = re.compile(r"(?:[ ]?(?:-|~|至|到|to|and|through|or)[ ]?)", re.IGNORECASE)
#: The longest mark of a source: `[123]`.
_MARK = 5
#: No two ends of a range are farther apart.
_FAR = 9
_NEXT = frozenset(("", " ", " and ", ", "))
_BEFORE_RANGE = re.compile(r"(?:between|from|从)[ ]\Z|从\Z", re.IGNORECASE)


def quantities(text: str) -> list[Quantity]:
    """The quantities of a text in order; their places are those of the text as given."""
    return list(amounts(text))


def amounts(text: str) -> tuple[Quantity, ...]:
    """The same, read once for all who ask of one sentence, with the marks of its sources or not."""
    if len(text) > LONGEST_KEPT:
        return tuple(_found(fold(grouped(text))))
    return _amounts(_unmarked(text) if text[-1:] == "]" else text)


def _unmarked(text: str) -> str:
    """Without the marks of sources at its end."""
    while text[-1:] == "]":
        at = text.rfind("[", -_MARK)
        if at < 0 or not text[at + 1 : -1].isdecimal():
            break
        text = text[:at].rstrip()
    return text


@lru_cache(maxsize=1024)
def _amounts(text: str) -> tuple[Quantity, ...]:
    return tuple(_found(fold(grouped(text))))


def _found(folded: str) -> list[Quantity]:
    found: list[Quantity] = []
    place = 0
    letters = folded.encode("ascii", "replace").translate(_LETTERS)
    words = letters.split(b" ")
    for at in _places(folded, letters, words):
        quantity = _read(folded, at) if at >= place else None
        if quantity is None:
            continue
        if at and (folded[at - 1] in "-负" or folded[at - 3 : at] in _MINUS):
            quantity = signed(folded, quantity)
        if found:
            quantity = _joined(folded, found, quantity)
        found.append(quantity)
        place = quantity.end
    if not found or not tells(folded, words):
        return found
    if len(found) == 1 and found[0].unit == "times" and found[0].value == 1:
        return []  # `once a year` by itself is said in words, too: annually, every twelve months
    return [told(folded, each) for each in found]


def _places(text: str, letters: bytes, words: list[bytes]) -> list[int]:
    """Where a quantity may begin."""
    signs = _PLAIN_SIGN if text.isascii() else _SIGN
    found = [sign.start() for sign in signs.finditer(text)]
    if _NUMBER_BYTES.isdisjoint(words):
        return found
    if b"q" in words:  # the figure of Q1 is no other
        found = [at for at in found if not at or _QUARTER.match(text, at - 1) is None]
    at = 0
    for word in words:
        if word in _STARTS and _begins(text, letters, at, at + len(word)):
            found.append(at)
        at += len(word) + 1
    return sorted(found)


def _begins(text: str, letters: bytes, at: int, end: int) -> bool:
    """Whether the word here may begin a quantity: `a` does where one follows."""
    if at and _is_joined(text[at - 1]):
        return False
    if letters[at] == _A and end - at < 3:
        return text[end : end + 1] == " " and letters.startswith(_AFTER_A, end + 1)
    return not _is_joined(text[end : end + 1]) or _QUARTER.match(text, at) is not None


def _is_joined(sign: str) -> bool:
    """Whether a sign beside a word makes it part of another."""
    return sign.isalnum() or sign == "_"


def _joined(text: str, found: list[Quantity], quantity: Quantity) -> Quantity:
    """The quantity with the one before it where both are the ends of a range."""
    last = found[-1]
    gap = text[last.end : quantity.start]
    if len(gap) > _FAR:
        return quantity
    if gap == "/" and last.kind == "number" and quantity.kind == "measure":
        # 135/85 mmHg are two values with one unit.
        size = abs(quantity.value) / (_raw(text, quantity) or 1.0)
        value = last.value * size
        found[-1] = replace(quantity, value=value, high=value, start=last.start, end=last.end)
        return quantity
    if last.unit == quantity.unit == "time" and gap in _NEXT and 0 < quantity.value < last.value:
        # 2 hours 35 minutes are one span.
        value = last.value + quantity.value
        found.pop()
        return replace(quantity, value=value, high=value, start=last.start, written=0.0)
    if not _TO.fullmatch(gap) or last.high != last.value or last.until:
        return quantity
    if gap.strip().lower() in ("and", "or") and not _BEFORE_RANGE.search(
        text[max(0, last.start - 8) : last.start]
    ):
        return quantity
    if quantity.kind == "date" and quantity.date is not None:
        return _dates_joined(found, last, quantity)
    bare = last.kind == "number" and last.unit == ""
    if bare and quantity.kind in ("measure", "percent", "money", "number"):
        scale = abs(quantity.value) / _raw(text, quantity) if _raw(text, quantity) else 1.0
        low = last.value * scale if quantity.kind != "number" or scale >= 1000 else last.value
    elif last.kind == quantity.kind and last.unit == quantity.unit:
        low = last.value
    else:
        return quantity
    if low >= quantity.value or quantity.high != quantity.value:
        return quantity
    per = per_before(text, last.start) if quantity.kind == "measure" else None
    if per is not None and "/" not in quantity.unit:
        low, high = low / per[1], quantity.value / per[1]
        quantity = replace(quantity, value=high, high=high, unit=f"{quantity.unit}/{per[0]}")
    found.pop()
    return replace(quantity, value=low, start=last.start, approximate=last.approximate)


def _raw(text: str, quantity: Quantity) -> float:
    """The figure as it is written, without scale or unit."""
    digits = numerals.DIGITS.search(text, quantity.start, quantity.end)
    return float(digits[0].replace(",", "")) if digits else quantity.value


def _dates_joined(found: list[Quantity], last: Quantity, quantity: Quantity) -> Quantity:
    end = quantity.date
    assert end is not None
    begin = last.date
    if last.kind == "number" and 1 <= last.value <= 31 and end.day is not None:
        begin = end._replace(day=int(last.value))
    elif begin is None:
        return quantity
    elif begin.year is None and end.year is not None:
        begin = begin._replace(year=end.year)
    found.pop()
    return replace(quantity, start=last.start, date=begin, until=end)


def _read(text: str, at: int) -> Quantity | None:
    """The quantity that begins here."""
    char = text[at]
    if char in CURRENCY:
        return money_before(text, at)
    if text[at - 1 : at] == "每":
        return every(text, at)  # 每一百人 is no count
    if char.isdigit():
        return from_digits(text, at)
    if char > "⺀":
        return from_han(text, at)
    return from_words(text, at)
