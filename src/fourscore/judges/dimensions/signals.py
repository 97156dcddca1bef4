"""Make the signals of the dimension judges: value, level, reason, confidence and evidence."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Literal

from fourscore.core import Evidence, Signal
from fourscore.core.levels import find_level

Confidence = Literal["high", "medium", "low"]
#: Most pieces of evidence that are kept, and most characters of each.
MAX_EVIDENCE, MAX_QUOTE = 20, 500
_level = lru_cache(maxsize=1024)(find_level)


def make_signal(
    name: str, value: float, reason: str, confidence: Confidence, evidence: Sequence[Evidence] = ()
) -> Signal:
    """Return a signal with a value, clamped to [0, 1], and the level that belongs to it."""
    value = min(1.0, max(0.0, value))
    return Signal(
        name=name,
        value=value,
        level=_level(value),
        reason=f"{reason} (confidence: {confidence})",
        evidence=tuple(evidence[:MAX_EVIDENCE]),
    )


def not_applicable(name: str, reason: str) -> Signal:
    """Return a signal without a value: there is nothing to measure."""
    return Signal(name=name, reason=reason)


def quote(text: str, start: int, end: int, field: str = "output") -> Evidence:
    """Return a piece of the text as evidence, cut to `MAX_QUOTE` characters."""
    if end - start > MAX_QUOTE:
        end = start + MAX_QUOTE
    return Evidence(text=text[start:end], field=field, start=start, end=end)
