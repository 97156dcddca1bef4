"""Numbers as they are written: digits, English words, Chinese characters."""

import re

DIGITS = re.compile(r"\d{1,3}+(?:,\d{3})+(?!\d)(?:\.\d+)?|\d+(?:\.\d+)?")
_BELOW_TWENTY: tuple[str, ...] = (
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
)
_BELOW_TWENTY += ("ten", "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen")
_BELOW_TWENTY += ("seventeen", "eighteen", "nineteen")
_TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_ORDINALS: tuple[str, ...] = (
    "first",
    "second",
    "third",
    "fourth",
    "fifth",
    "sixth",
    "seventh",
    "eighth",
    "ninth",
)
_ORDINALS += ("tenth", "eleventh", "twelfth", "thirteenth", "fourteenth", "fifteenth", "sixteenth")
_ORDINALS += ("seventeenth", "eighteenth", "nineteenth", "twentieth")
_SMALL = {word: value for value, word in enumerate(_BELOW_TWENTY)} | {
    word: value * 10 for value, word in enumerate(_TENS, start=2)
}
_SCALES = {"hundred": 100, "thousand": 10**3, "million": 10**6, "billion": 10**9}
_SCALES |= {"trillion": 10**12, "dozen": 12}
_WORD = "|".join([*_SMALL, *_SCALES])
#: A run of number words; `one` and `a` alone are not numbers, they need a word behind them.
WORDS = re.compile(rf"(?:(?:an?)[ ])?(?:{_WORD})(?:(?:[ -]|[ ]and[ ])(?:{_WORD})){{0,12}}\b")
ORDINALS = {word: value for value, word in enumerate(_ORDINALS, start=1)}
NUMBER_WORDS = frozenset(_SMALL) | frozenset(_SCALES)

_HAN_DIGITS = {char: value for value, char in enumerate("零一二三四五六七八九")}
_HAN_DIGITS |= {"〇": 0, "两": 2, "壹": 1, "贰": 2, "叁": 3}
_HAN_SCALES = {"十": 10, "百": 100, "千": 1000}
HAN = re.compile("[零〇一二两三四五六七八九十百千万亿]{1,24}")
#: Scales after digits: `4.6亿`, `640M`, `12k`; and `3.3 million`.
SCALE = re.compile(
    r"[ -]?(万亿|千万|百万|十万|千亿|百亿|亿|万|千)(?![克米瓦焦赫卡])"
    r"|(?<=\d)([kKMB])(?![A-Za-z²³0-9/])"
)
SCALE_WORDS = {
    "thousand": 1e3, "million": 1e6, "mn": 1e6, "billion": 1e9, "bn": 1e9, "trillion": 1e12,
    "tn": 1e12,
}  # fmt: skip
#: After a currency sign a small m is a million, too.
MONEY_SCALE = re.compile(r"(?<=\d)([mb])(?![A-Za-z²³0-9/])")
_SIZES = {
    "k": 1e3, "m": 1e6, "b": 1e9, "万": 1e4, "亿": 1e8, "万亿": 1e12, "千万": 1e7, "百万": 1e6,
    "十万": 1e5, "千亿": 1e11, "百亿": 1e10, "千": 1e3,
}  # fmt: skip


def scale_at(text: str, end: int, at: int, word: str) -> tuple[float, int] | None:
    """The scale behind a number that ends here, where this word begins a little later."""
    size = SCALE_WORDS.get(word)
    if size is not None:
        at += len(word)
        behind = text[at : at + 1]
        return None if behind.isalnum() or behind == "_" else (size, at)
    scale = SCALE.match(text, end)
    return None if scale is None else (scale_size(scale), scale.end())


def scale_size(found: re.Match[str]) -> float:
    return _SIZES[found[found.lastindex or 0].lower()]


def english(words: str) -> float | None:
    """`three hundred and sixty` as 360; None for words that make no number."""
    total = current = 0.0
    seen = False
    for word in words.replace("-", " ").split():
        if word in ("and", "a", "an"):
            current = current or (1.0 if word != "and" and not seen else current)
        elif word in _SMALL:
            current += _SMALL[word]
            seen = True
        elif _SCALES[word] in (100, 12):
            current = (current or 1.0) * _SCALES[word]
            seen = True
        else:
            total += (current or 1.0) * _SCALES[word]
            current, seen = 0.0, True
    return total + current if seen else None


def chinese(text: str) -> float | None:
    """`三百六十` as 360, `二〇二一` as 2021; None for characters that make no number."""
    if len(text) > 1 and all(char in _HAN_DIGITS for char in text):
        return float("".join(str(_HAN_DIGITS[char]) for char in text)) if len(text) < 16 else None
    total = section = digit = 0
    last = 1
    for char in text[:24]:
        if char in _HAN_DIGITS:
            digit = _HAN_DIGITS[char]
        elif char in _HAN_SCALES:
            last = _HAN_SCALES[char]
            section += (digit or (0 if char != "十" and not section and not digit else 1)) * last
            digit = 0
        else:
            size = 10**4 if char == "万" else 10**8
            whole = section + digit
            if not whole and not total:
                return None
            total = (total + whole) * size if size > 10**4 and total else total + whole * size
            section, digit, last = 0, 0, size
    if digit and last >= 100 and text[-2:-1] != "零" and len(text) > 1:
        digit *= last // 10  # 三千六 is 3600
    return float(total + section + digit) or (0.0 if text in "零〇" else None)
