"""Find the values of the numbers in a text: `1,200`, `1.2 thousand`, `twelve hundred`, `1200`."""

from collections.abc import Sequence
from functools import lru_cache

_ONES = {
    word: float(value)
    for value, word in enumerate(
        """zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen
        fifteen sixteen seventeen eighteen nineteen""".split()
    )
}
_TENS = {
    word: 10.0 * value
    for value, word in enumerate("twenty thirty forty fifty sixty seventy eighty ninety".split(), 2)
}
_SCALES = {"hundred": 1e2, "thousand": 1e3, "million": 1e6, "billion": 1e9, "trillion": 1e12}
_SCALES |= {"百": 1e2, "千": 1e3, "万": 1e4, "百万": 1e6, "千万": 1e7, "亿": 1e8, "万亿": 1e12}
_DIGITS = dict(zip("零一二三四五六七八九两", [*range(10), 2], strict=True))
_PLACES = {"十": 10, "百": 100, "千": 1000}
_NAMED = {**_ONES, **_TENS}
#: The first characters of a number that is not written in English words.
SIGNS = frozenset("0123456789") | _DIGITS.keys() | _PLACES.keys()
NUMBER_WORDS = _NAMED.keys() | _SCALES.keys()


def find_numbers(words: Sequence[str]) -> list[float]:
    """Return the values of the numbers among the words, in order."""
    values: list[float] = []
    last = -2  # the index of the word that ended the last number
    for place, word in [
        (place, word)
        for place, word in enumerate(words)
        if word[0] in SIGNS or word in NUMBER_WORDS
    ]:
        follows = values and last == place - 1
        if follows and word in _SCALES:
            values[-1] *= _SCALES[word]
        elif follows and word in _ONES and 20 <= values[-1] < 100 and values[-1] % 10 == 0:
            values[-1] += _ONES[word]  # twenty-one
        elif (value := _parse_word(word)) is not None:
            values.append(value)
        else:
            continue
        last = place
    return values


@lru_cache(maxsize=4096)
def parse_number_word(word: str) -> float | None:
    """Return the value of a word that is a number, or None; `one` is usually a pronoun."""
    return None if word == "one" else _parse_word(word)


@lru_cache(maxsize=4096)  # in one case, claims, sources and outputs have the same numbers
def _parse_word(word: str) -> float | None:
    first = word[0]
    if first.isdigit():
        return _parse_digits(word)
    if first in _DIGITS or first in _PLACES:
        return _parse_chinese(word)
    return _NAMED.get(word)


def _parse_digits(word: str) -> float | None:
    plain = word.rstrip("%")
    head, comma, tail = plain.rpartition(",")
    # A comma before three digits separates thousands, any other is a decimal comma.
    plain = plain.replace(",", "") if not comma or len(tail) == 3 else f"{head}.{tail}"
    try:
        return float(plain)
    except ValueError:  # a version, a date: 1.2.3
        return None


def _parse_chinese(word: str) -> float | None:
    """Return 320 for `三百二十`, 2023 for `二零二三`; None if it is no number."""
    total = digit = 0.0  # floats: an int could have a thousand digits
    positional = True
    for sign in word:
        if sign in _DIGITS:
            digit = digit * 10 + _DIGITS[sign] if positional else _DIGITS[sign]
        elif sign in _PLACES:
            total += (digit or 1) * _PLACES[sign]
            digit, positional = 0, False
        elif sign in _SCALES and word.endswith(sign):
            return (total + digit) * _SCALES[sign]
        else:
            return None
    return total + digit
