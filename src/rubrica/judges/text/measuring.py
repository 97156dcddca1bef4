"""A number with the scale, unit and currency around it, and the words that make it rough."""

import re
from functools import cache

from msgspec.structs import replace

from rubrica.judges.text import numerals
from rubrica.judges.text.amount import Quantity
from rubrica.judges.text.units import leads, per_before, unit_at

_MONEY = re.compile(
    r"[ -]?(?:(?:u\.?s\.?[ ]|american[ ])?(dollars?|usd)|(euros?|eur)\b|(pounds?[ ]sterling|gbp)"
    r"|(yuan|rmb|renminbi|cny)|(yen|jpy)|(rupees?|inr)|((?:australian|canadian)[ ]dollars?)"
    r"|(美元|美金)|(欧元)|(英镑)|(日元)|(元|人民币|块钱)|(港元|港币)|(francs?|chf))",
    re.IGNORECASE,
)
#: By the group of the pattern above.
_MONEY_UNITS = ("USD", "EUR", "GBP", "CNY", "JPY", "INR", "AUD")
_MONEY_UNITS_HAN = ("USD", "EUR", "GBP", "JPY", "CNY", "HKD", "CHF")
_PRICED = re.compile(
    r"\b(?:cost|price|pay|paid|fee|fare|ticket|salary|wage|worth|fine|bill|spen[dt]|charge"
    r"|budget|money|loss|profit|revenue|debt|loan|fund|tax|damages|overspen|income|grant|invest"
    r"|award|compensat|settle|donat|rent|deposit|prize|bonus|cash|saving)",
    re.IGNORECASE,
)
_CODE_BEFORE = re.compile(
    r"\b(USD|EUR|GBP|CNY|RMB|JPY|CHF|INR|AUD|CAD|HKD|SEK|NOK|DKK|KRW|US\$)[ ]?\Z"
)
_CODES = {"RMB": "CNY", "US$": "USD"}
_PERCENT = re.compile(
    r"[ ]?(?:(percentage[ ]points?|个百分点)|%|percent\b|per[ ]cent\b|pct\b)", re.IGNORECASE
)
_OUT_OF = re.compile(
    r"(?:in|out[ ]of)[ ](?:every[ ]|each[ ])?"
    r"(\d{1,3}(?:,\d{3})?|two|three|four|five|six|ten|a[ ]hundred)\b",
    re.IGNORECASE,
)
_PER_HUNDRED = re.compile(r"每(?:一百|百|100)[^，。；,.;]{0,14}[，,]?[^，。；,.;\d]{0,4}\Z")
#: 块 is money behind these, else a count of pieces.
_PRICED_HAN = re.compile("[价钱费付罚买卖贵薪花收]|门票|便宜")
#: 两块八: what stands behind is tenths.
_COINS = re.compile(r"块([1-9一二三四五六七八九])(?![\d一二三四五六七八九十百千万亿个])")
_AND_HALF = re.compile(r"[ ](?:and[ ]a[ ]half|½)", re.IGNORECASE)
_MINUS = re.compile(r"(?:(?:^|[^A-Za-z0-9])-|minus |零下|负)\Z")
#: Words before a figure that make it a rough one, and which side of it is meant.
_ABOVE: tuple[str, ...] = ("over", "more than", "above", "in excess of", "超过", "逾", "多于", ">")
_BELOW: tuple[str, ...] = (
    "nearly",
    "almost",
    "under",
    "less than",
    "fewer than",
    "below",
    "close to",
    "近",
    "将近",
)
_BELOW += ("接近", "不到", "不足", "<")
_ABOUT: tuple[str, ...] = (
    "about",
    "around",
    "roughly",
    "approximately",
    "approx",
    "approx.",
    "some",
    "circa",
    "ca.",
)
_ABOUT += ("just", "about a", "estimated", "up to", "more or less", "only", "at least", "at most")
_ABOUT += ("~", "≈", "约", "大概", "左右", "多达", "大致", "not more than", *_ABOVE, *_BELOW)
_NOT_ABOVE = ("不超过", "未超过", "no more than", "not more than")
#: What the patterns of scales, shares and money may begin with, behind a space or a dash.
_SCALES = frozenset("tTmMbBkK万千百十亿")
_PERCENTS = frozenset("pP%个")
_MONIES = frozenset("uUaAdDeEpPgGyYrRcCjJiIfFıİ美欧英日元人块港")
#: The words that scales, shares and money begin with, and what may stand before a unit.
_WORDS = (
    "thousand", "million", "billion", "trillion", "mn", "bn", "tn", "k", "m", "b", "percent",
    "percentage", "per", "pct", "in", "out", "u", "us", "usd", "american", "dollar", "dollars",
    "euro", "euros", "eur", "pound", "pounds", "gbp", "yuan", "yuans", "rmb", "renminbi", "cny",
    "yen", "yens", "jpy", "rupee", "rupees", "inr", "australian", "canadian", "franc", "francs",
    "chf", "square", "sq", "cubic", "metric", "deg", "degree", "degrees",
)  # fmt: skip
_LETTERS = re.compile("[A-Za-z]+")
#: What ends a word, so that nothing of the kind can follow.
_ENDS = frozenset(("", " ", "\n", ".", ",", ";", ":", "!", "?", ")", "]", '"', "["))
_LAST = frozenset(word[-1] for word in _ABOUT)
_AFTER = (" or so", "左右", "上下", "多", "余", "几")


@cache
def _followers() -> frozenset[str]:
    """The words and Chinese characters that may make a number more than a number."""
    return leads().union(_WORDS, _SCALES, _PERCENTS, _MONIES, "多余")


def _bare(text: str, end: int) -> bool:
    """Whether nothing behind a number makes it more than that: no scale, no unit, no money."""
    if text[end : end + 1] in (" ", "-"):
        end += 1
    sign = text[end : end + 1]
    if sign in _ENDS:
        return True
    if sign > "⺀":
        return sign not in _followers()
    word = _LETTERS.match(text, end)
    return word is not None and word[0].lower() not in _followers()


def measured(text: str, start: int, end: int, value: float, slack: float) -> Quantity:
    """A number with the scale and unit behind it."""
    if text.startswith((" and ", " ½"), end):
        half = _AND_HALF.match(text, end)
        if half is not None:
            value, end = value + 0.5, half.end()
    elif text.startswith("块", end):
        tail = _COINS.match(text, end)
        if tail is not None:
            coins = float(tail[1]) if tail[1].isdecimal() else (numerals.chinese(tail[1]) or 0.0)
            value, last = value + coins / 10, tail.end()
            return Quantity("money", value, value, "CNY", start, last, slack=0.05, written=value)
        if _PRICED_HAN.search(text[max(0, start - 12) : start]):
            last = end + 1
            return Quantity("money", value, value, "CNY", start, last, slack=slack, written=value)
    written = value
    before = text[max(0, start - 24) : start]
    if _bare(text, end) and "每" not in before and not _coded(before):
        about, side = rough(text, start, end)
        return Quantity(
            "number", value, value, "", start, end, about, slack, side=side, written=written
        )
    behind = text[end : end + 1]
    # What follows: most patterns can be told from one sign not to be there.
    sign = text[end + 1 : end + 2] if behind in (" ", "-") else behind
    scale = numerals.SCALE.match(text, end) if sign in _SCALES else None
    if scale is not None:
        size = numerals.scale_size(scale)
        value, slack, end = value * size, slack * size, scale.end()
    more = text[end : end + 1] in ("多", "余")
    if more:
        end += 1
        again = numerals.SCALE.match(text, end)
        if again is not None and text[end] > "⺀":
            size = numerals.scale_size(again)
            value, slack, end = value * size, slack * size, again.end()
    quantity = _with_unit(text, start, end, value, slack, scaled=scale is not None)
    if quantity.kind == "number" or quantity.unit == "length":
        code = _coded(before)
        if code is not None:
            small = numerals.MONEY_SCALE.match(text, end)
            if small is not None or quantity.unit == "length":
                size = value * (numerals.scale_size(small) if small is not None else 1.0)
                quantity = replace(
                    quantity, value=size, high=size, end=small.end() if small else end
                )
            quantity = replace(quantity, kind="money", unit=_CODES.get(code[1], code[1]))
    about, side = rough(text, start, quantity.end)
    about, side = about or more, 1 if more else side
    return replace(quantity, start=start, approximate=about, side=side, written=written)


def _coded(before: str) -> re.Match[str] | None:
    """The code of a currency before a number."""
    near = before[-5:].rstrip()
    return _CODE_BEFORE.search(before[-5:]) if near[-1:].isupper() or near[-1:] == "$" else None


def _with_unit(
    text: str, start: int, end: int, value: float, slack: float, scaled: bool
) -> Quantity:
    behind = text[end : end + 1]
    sign = text[end + 1 : end + 2] if behind in (" ", "-") else behind
    percent = _PERCENT.match(text, end) if sign in _PERCENTS else None
    if percent is not None:
        unit = "pp" if percent[1] else "%"
        return Quantity("percent", value, value, unit, start, percent.end(), slack=slack)
    money = _MONEY.match(text, end) if sign in _MONIES else None
    if money is not None:
        unit = (*_MONEY_UNITS, *_MONEY_UNITS_HAN)[(money.lastindex or 1) - 1]
        return Quantity("money", value, value, unit, start, money.end(), slack=slack)
    at = end + 1 if behind in (" ", "-") else end
    if sign == "个" and text[at + 1 : at + 2] == "半":
        value, at = value + 0.5, at + 2
    elif sign in ("m", "M") and text[at : at + 7].lower() == "metric ":
        at += 7
    unit_found = unit_at(text, at)
    if unit_found is None:
        out = _OUT_OF.match(text, end + 1) if text[end : end + 1] == " " else None
        if out is not None:
            return _out_of(out, start, value, slack)
        if "每" in (before := text[max(0, start - 24) : start]) and _PER_HUNDRED.search(before):
            return Quantity("percent", value, value, "%", start, end, slack=slack)
        return Quantity("number", value, value, "", start, end, slack=slack)
    dimension, size, end = unit_found
    if (
        dimension == "mass"
        and text[at : at + 5].lower() == "pound"
        and (scaled or _PRICED.search(text, max(0, start - 80), end + 80))
    ):
        return Quantity("money", value, value, "GBP", start, end, slack=slack)
    if dimension == "time" and text[end : end + 1] == "半":
        value, end = value + 0.5, end + 1
    return sized(text, start, end, value, slack, dimension, size)


def sized(
    text: str, start: int, end: int, value: float, slack: float, dimension: str, size: float
) -> Quantity:
    if dimension == "temperature":
        if _MINUS.search(text[max(0, start - 7) : start]):
            value = -value
        if size == 2.0:
            value, slack = (value - 32) / 1.8, slack / 1.8
        elif size == 3.0:
            value -= 273.15
        return Quantity("measure", value, value, dimension, start, end, slack=slack)
    if dimension == "length" and "时速" in text[max(0, start - 6) : start]:
        dimension, size = "speed", size / 3600
    per = per_before(text, start) if "/" not in dimension and dimension != "speed" else None
    if per is not None:
        dimension, size = f"{dimension}/{per[0]}", size / per[1]
        if dimension == "length/time":
            dimension = "speed"
    return Quantity(
        "measure", value * size, value * size, dimension, start, end, slack=slack * size
    )


def _out_of(out: re.Match[str], start: int, value: float, slack: float) -> Quantity:
    words = out[1].replace(",", "").replace("a hundred", "100")
    whole = float(words) if words.isdecimal() else (numerals.english(words.lower()) or 1.0)
    share = 100 * value / whole if whole else 0.0
    return Quantity("percent", share, share, "%", start, out.end(), slack=slack)


def rough(text: str, start: int, end: int) -> tuple[bool, int]:
    """Whether a figure is meant roughly; 1 where more than it is meant, -1 where less."""
    before = text[max(0, start - 16) : start].rstrip(" *_").lower()
    if before and before[-1] > "⺀":
        before = before.rstrip("住着有为是达到在花需")
    if before[-1:] not in _LAST or not before.endswith(_ABOUT):
        return text.startswith(_AFTER, end), 0
    if before.endswith(_ABOVE):
        return True, 0 if before.endswith(_NOT_ABOVE) else 1
    return True, -1 if before.endswith(_BELOW) else 0
