"""A number with the scale, unit and currency around it, and the words that make it rough."""

import re

from rubrica.judges.text import numerals
from rubrica.judges.text.amount import Kind, Quantity
from rubrica.judges.text.money import MONEY, coded, coins, money_at, priced
from rubrica.judges.text.units import LEADS, per_before, unit_at

_PERCENT = re.compile(
    r"[ ]?(?:(percentage[ ]points?|个百分点)|%|percent\b|per[ ]cent\b|pct\b)", re.IGNORECASE
)
_OUT_OF = re.compile(
    r"(?:in|out[ ]of)[ ](?:every[ ]|each[ ])?"
    r"(\d{1,3}(?:,\d{3})?|two|three|four|five|six|ten|a[ ]hundred)\b",
    re.IGNORECASE,
)
_PER_HUNDRED = re.compile(r"每(?:一百|百|100)[^，。；,.;]{0,14}[，,]?[^，。；,.;\d]{0,4}\Z")
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
#: What scales and shares begin with, and what else may make a number more than that.
_SCALES = frozenset((*numerals.SCALE_WORDS, *"kmb万千百十亿"))
_PERCENTS = frozenset(("percent", "percentage", "per", "pct", "%"))
_OTHERS = (
    "in", "out", "u", "us", "usd", "american", "dollar", "dollars", "euro", "euros", "eur",
    "pound", "pounds", "gbp", "yuan", "yuans", "rmb", "renminbi", "cny", "yen", "yens", "jpy",
    "rupee", "rupees", "inr", "australian", "canadian", "franc", "francs", "chf", "square", "sq",
    "cubic", "metric", "deg", "degree", "degrees", *"元美欧英日人块港个多余°℃℉µμ$€£¥",
)  # fmt: skip
_FOLLOWERS = LEADS.union(_SCALES, _PERCENTS, _OTHERS)
#: What stands behind a number: a space or a dash, and the word or sign after it.
BEHIND = r"([ -]?)([A-Za-z]{1,24}|.|)"
_BEHIND = re.compile(BEHIND)
#: The words that make a figure rough, by the sign they end in.
_ENDINGS = {
    end: tuple(word for word in _ABOUT if word[-1] == end) for end in {word[-1] for word in _ABOUT}
}
_AFTER = (" or so", "左右", "上下", "多", "余", "几")


def bare(text: str, start: int, sign: str) -> bool:
    """Whether a number with this Chinese character behind it is no more than that."""
    before = text[start - 24 if start > 24 else 0 : start]
    return sign > "⺀" and sign not in _FOLLOWERS and "每" not in before and not coded(before)


def behind_at(text: str, end: int) -> tuple[str, str]:
    found = _BEHIND.match(text, end)
    return (found[1], found[2]) if found is not None else ("", "")


def measured(
    text: str,
    start: int,
    end: int,
    value: float,
    slack: float,
    behind: tuple[str, str] | None = None,
) -> Quantity:
    """A number with the scale and unit behind it."""
    gap, word = behind or behind_at(text, end)
    if word in ("and", "½") and (half := _AND_HALF.match(text, end)) is not None:
        value, end = value + 0.5, half.end()
        gap, word = behind_at(text, end)
    elif word == "块" and not gap:
        paid = coins(text, start, end, value, slack)
        if paid is not None:
            return paid
    before = text[start - 24 if start > 24 else 0 : start]
    currency = coded(before)
    lower = word.lower()
    if not currency and lower not in _FOLLOWERS and "每" not in before:
        about, side = _rough(before, text, end)
        return Quantity(
            "number", value, value, "", start, end, about, slack, None, None, side, value
        )
    written, scaled, more = value, False, False
    if (
        lower in _SCALES
        and (scale := numerals.scale_at(text, end, end + len(gap), lower)) is not None
    ):
        size, end = scale
        value, slack, scaled = value * size, slack * size, True
        gap, word = behind_at(text, end)
    if not gap and word in ("多", "余"):
        end, more = end + 1, True
        again = numerals.SCALE.match(text, end)
        if again is not None and text[end] > "⺀":
            size = numerals.scale_size(again)
            value, slack, end = value * size, slack * size, again.end()
        gap, word = behind_at(text, end)
    kind, size, unit, last, slack = _with_unit(text, start, end, value, slack, scaled, gap, word)
    if currency and (kind == "number" or unit == "length"):
        small = numerals.MONEY_SCALE.match(text, end)
        if small is not None:
            size, last = value * numerals.scale_size(small), small.end()
        elif unit == "length":
            size, last = value, end
        kind, unit = "money", currency
    about, side = _rough(before, text, last)
    if more:
        about, side = True, 1
    return Quantity(kind, size, size, unit, start, last, about, slack, None, None, side, written)


#: What a number is of: its kind, value, unit, end and slack.
_Measure = tuple[Kind, float, str, int, float]


def _with_unit(
    text: str,
    start: int,
    end: int,
    value: float,
    slack: float,
    scaled: bool,
    gap: str,
    word: str,
) -> _Measure:
    at, lower = end + len(gap), word.lower()
    if lower in _PERCENTS or (word == "个" and text.startswith("个百", at)):
        percent = _PERCENT.match(text, end)
        if percent is not None:
            return "percent", value, "pp" if percent[1] else "%", percent.end(), slack
    money = money_at(text, at) if lower[:1] in MONEY else None
    if money is not None:
        return "money", value, money[0], money[1], slack
    if word == "个" and text[at + 1 : at + 2] == "半":
        value, at, word = value + 0.5, at + 2, ""
    elif lower == "metric" and text[at + 6 : at + 7] == " ":
        at, word = at + 7, ""
    unit_found = unit_at(text, at, word)
    if unit_found is None:
        if (
            word.lower() in ("in", "out")
            and gap == " "
            and (out := _OUT_OF.match(text, at)) is not None
        ):
            return _out_of(out, value, slack)
        if "每" in (before := text[max(0, start - 24) : start]) and _PER_HUNDRED.search(before):
            return "percent", value, "%", end, slack
        return "number", value, "", end, slack
    dimension, size, end = unit_found
    if (
        dimension == "mass"
        and text[at : at + 5].lower() == "pound"
        and (scaled or priced(text, start, end))
    ):
        return "money", value, "GBP", end, slack
    if dimension == "time" and text[end : end + 1] == "半":
        value, end = value + 0.5, end + 1
    return _sized(text, start, end, value, slack, dimension, size)


def sized(
    text: str, start: int, end: int, value: float, slack: float, dimension: str, size: float
) -> Quantity:
    _, value, unit, end, slack = _sized(text, start, end, value, slack, dimension, size)
    return Quantity("measure", value, value, unit, start, end, False, slack)


def _sized(
    text: str, start: int, end: int, value: float, slack: float, dimension: str, size: float
) -> _Measure:
    if dimension == "angle" and text[start - 2 : start] == "零下":
        dimension, size = "temperature", 1.0
    if dimension == "temperature":
        if _MINUS.search(text[max(0, start - 7) : start]):
            value = -value
        if size == 2.0:
            value, slack = (value - 32) / 1.8, slack / 1.8
        elif size == 3.0:
            value -= 273.15
        return "measure", value, dimension, end, slack
    if dimension == "length" and text.find("时速", max(0, start - 6), start) >= 0:
        dimension, size = "speed", size / 3600
    per = per_before(text, start) if "/" not in dimension and dimension != "speed" else None
    if per is not None:
        dimension, size = f"{dimension}/{per[0]}", size / per[1]
        if dimension == "length/time":
            dimension = "speed"
    return "measure", value * size, dimension, end, slack * size


def _out_of(out: re.Match[str], value: float, slack: float) -> _Measure:
    words = out[1].replace(",", "").replace("a hundred", "100")
    whole = float(words) if words.isdecimal() else (numerals.english(words.lower()) or 1.0)
    return "percent", 100 * value / whole if whole else 0.0, "%", out.end(), slack


def rough(text: str, start: int, end: int) -> tuple[bool, int]:
    """Whether a figure is meant roughly; 1 where more than it is meant, -1 where less."""
    return _rough(text[start - 16 if start > 16 else 0 : start], text, end)


def _rough(before: str, text: str, end: int) -> tuple[bool, int]:
    before = before[-16:].rstrip(" *_").lower()
    if before[-1:] > "⺀":
        before = before.rstrip("住着有为是达到在花需")
    likely = _ENDINGS.get(before[-1:])
    if likely is None or not before.endswith(likely):
        return text.startswith(_AFTER, end), 0
    if before.endswith(_ABOVE):
        return True, 0 if before.endswith(_NOT_ABOVE) else 1
    return True, -1 if before.endswith(_BELOW) else 0
