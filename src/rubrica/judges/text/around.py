"""What the words around a figure say of it: its sign, and whether it is a bound, a rate, a loss."""

import re

from msgspec.structs import replace

from rubrica.judges.text import bounds, periods
from rubrica.judges.text.amount import Quantity
from rubrica.judges.text.lists import words_of
from rubrica.judges.text.numerals import NUMBER_WORDS

#: Signs behind which a dash is a minus; behind a letter, a figure or another dash it is none.
_BEFORE_MINUS = frozenset(" ([{=+*/<>|,;:~≈\"'\t\n")
#: What a dash behind any Chinese character makes negative; others only behind these verbs.
_SIGNED = frozenset(("percent", "temperature"))
_HAN_VERBS = frozenset("为是达到约至于")
_MINUS_WORD = re.compile(
    r"(?<![\d)][ ])(?<!\b[a-z][ ])\bminus[ ]\Z|(?<![\d胜背肩担承抱自辜])负\Z", re.IGNORECASE
)
_UNSIGNED = frozenset(("date", "time", "ordinal", "name"))
#: How far words are looked for before a figure and behind it.
_BEFORE, _BEHIND = 40, 30
_FALLS_HAN = frozenset("降跌减亏低缩损负")
_WORD = re.compile("[a-z]+")
#: Without one of these in a sentence its figures are no more than they are.
_TELLING = frozenset(
    word.encode() for word in words_of("falling.txt") | bounds.WORDS | periods.WORDS
)
_TELLING_HAN = re.compile(f"[{''.join(sorted(bounds.HAN | periods.HAN | _FALLS_HAN))}]")


def signed(text: str, found: Quantity) -> Quantity:
    """The figure with the minus before it, if there is one."""
    at = found.start
    if found.kind in _UNSIGNED or found.unit == "score":
        return found
    if text[at - 1] == "-":
        begin = at - 1
        if begin and not _is_minus(text, begin, found):
            return found
    else:
        before = text[max(0, at - 24) : at]
        word = _MINUS_WORD.search(before)
        if word is None or not NUMBER_WORDS.isdisjoint(before[: word.start()].split()[-1:]):
            return found  # ten minus five
        begin = at - len(before) + word.start()
    if found.unit == "temperature":
        return replace(found, start=begin)  # it has its sign
    value, high = -found.high, -found.value
    return replace(found, value=value, high=high, start=begin, written=-found.written)


def _is_minus(text: str, at: int, found: Quantity) -> bool:
    before = text[at - 1]
    if before == " ":
        return not text[at - 2 : at - 1].isdecimal()  # 12 -5
    if before > "⺀":
        return before in _HAN_VERBS or not _SIGNED.isdisjoint((found.kind, found.unit))
    return before in _BEFORE_MINUS


def tells(text: str, words: list[bytes]) -> bool:
    """Whether a sentence of these words may say more of its figures."""
    if not _TELLING.isdisjoint(words) or "<" in text or ">" in text:
        return True
    return not text.isascii() and _TELLING_HAN.search(text) is not None


def told(text: str, found: Quantity) -> Quantity:
    """The figure as a bound, with its period, as a loss."""
    if found.kind in ("ordinal", "name") or found.until is not None:
        return found
    start, end = found.start, found.end
    before = text[start - _BEFORE if start > _BEFORE else 0 : start].lower()
    behind = text[end : end + _BEHIND].lower()
    timed = found.kind in ("date", "time")
    side = 0 if found.value != found.high else bounds.bound(before, behind, timed)
    if timed:
        return replace(found, bound=side) if side else found
    unit, warm = found.unit, found.unit == "temperature"
    per = 0.0 if warm or "/" in unit or unit == "time" else periods.period(before, behind)
    falls = found.kind != "number" and not warm and _falls(before, behind)
    if not (side or per or falls):
        return found
    if per and not unit and periods.counts_times(behind):
        unit = "times"
    return replace(found, bound=side, per=per, falls=falls, unit=unit)


def _falls(before: str, behind: str) -> bool:
    near = (*_WORD.findall(before)[-3:], *_WORD.findall(behind)[:3])
    if not words_of("falling.txt").isdisjoint(near):
        return True
    return not _FALLS_HAN.isdisjoint(before[-8:] + behind[:4])
