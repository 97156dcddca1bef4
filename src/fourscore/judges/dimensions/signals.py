"""What a rule judge says: a value, its level, why, how sure it is, and where to look."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Literal

from fourscore.core import Evidence, Signal
from fourscore.core.levels import find_level

Confidence = Literal["high", "medium", "low"]
#: Pieces of evidence that are kept, and characters of each.
MAX_EVIDENCE, MAX_QUOTE = 20, 500
_level = lru_cache(maxsize=1024)(find_level)


def make_signal(
    name: str, value: float, reason: str, sure: Confidence, evidence: Sequence[Evidence] = ()
) -> Signal:
    """A measured signal."""
    value = min(1.0, max(0.0, value))
    return Signal(
        name=name,
        value=value,
        level=_level(value),
        reason=f"{reason} (confidence: {sure})",
        evidence=tuple(evidence[:MAX_EVIDENCE]),
    )


def not_applicable(name: str, reason: str) -> Signal:
    """A signal without a value: there is nothing here to measure."""
    return Signal(name=name, reason=reason)


def quote(text: str, start: int, end: int, field: str = "output") -> Evidence:
    """A piece of the text, cut where it is long."""
    if end - start > MAX_QUOTE:
        end = start + MAX_QUOTE
    return Evidence(text=text[start:end], field=field, start=start, end=end)
