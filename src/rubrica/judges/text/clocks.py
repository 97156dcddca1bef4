"""Times of day in digits: 14:30, 2:30 pm, 下午5点."""

import re

from rubrica.judges.text.amount import Quantity

_CLOCK = re.compile(r"([01]?\d|2[0-3]):([0-5]\d)(?::[0-5]\d)?(?:[ ]?([ap])\.?m\b)?", re.IGNORECASE)
_CLOCK_PM = re.compile(r"(\d{1,2})[ ]?([ap])\.?m\b", re.IGNORECASE)
AFTER_NOON = ("下午", "晚上", "傍晚", "夜里", "晚间")
_HAN_CLOCK = re.compile(r"(\d{1,2})[点时](?:(半)|(\d{1,2})分?)?(?!间|期|代)")


def clock(text: str, at: int) -> Quantity | None:
    """The time of day that begins here."""
    found = _CLOCK.match(text, at) or _CLOCK_PM.match(text, at)
    if found is None:
        return None
    groups = found.groups()
    hour, minute = int(groups[0]), int(groups[1]) if len(groups) > 2 else 0
    half = (groups[-1] or "").lower()
    hour = hour % 12 + (12 if half == "p" else 0) if half else hour
    value = float(hour * 60 + minute)
    return Quantity("time", value, value, "clock", at, found.end())


def han_clock(text: str, at: int) -> Quantity | None:
    """下午5点, 17时30分: the hours after noon by the word before."""
    found = _HAN_CLOCK.match(text, at)
    if found is None or int(found[1]) > 24:
        return None
    hour = int(found[1])
    if hour < 12 and text[max(0, at - 2) : at] in AFTER_NOON:
        hour += 12
    value = float(hour * 60 + (30 if found[2] else int(found[3] or 0)))
    return Quantity("time", value, value, "clock", at, found.end())
