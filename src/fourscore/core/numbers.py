"""Check that numbers are finite and in range, and write numbers as text."""

import sys
from decimal import Decimal
from math import isfinite
from typing import Any

MAX = sys.float_info.max


def check_whole(field: str, value: Any, low: int | None = None) -> None:
    """Raise `ValueError` unless the value is None or a whole number of at least `low`."""
    if value is None:
        return
    if type(value) is not int:
        raise ValueError(f"{field}: expected a whole number, got {type(value).__name__}")
    check_finite(field, value, low)


def check_finite(
    field: str, value: Any, low: float | None = None, high: float | None = None
) -> None:
    """Raise `ValueError` unless the value is None or a finite number in [low, high]."""
    if value is None:
        return
    if type(value) not in (float, int):
        raise ValueError(f"{field}: expected a number, got {type(value).__name__}")
    if not -MAX <= value <= MAX:  # NaN fails both
        raise ValueError(f"{field}: {value} is not a finite number")
    if (low is not None and value < low) or (high is not None and value > high):
        raise ValueError(f"{field}: {value} is outside [{low}, {'∞' if high is None else high}]")


def to_finite_float(value: Any) -> float | None:
    """Return a number of any type (numpy and torch scalars, fractions) as a finite float.

    None where it is not a number (text, bool, a vector) or not finite.
    """
    if isinstance(value, bool):
        return None
    try:
        number = float(value) if not isinstance(value, str | bytes) else None
    except (TypeError, ValueError, OverflowError, RuntimeError):
        return None
    return number if number is not None and isfinite(number) else None


def decimal_text(value: float) -> str:
    """Return the shortest decimal text of a number: 7, not 7.0 or 7E+0."""
    if isinstance(value, int):
        return str(value)
    text = format(Decimal(repr(value)), "f")
    if "." in text:
        text = text.rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


def clamp(number: float) -> float:
    """Return the number, or the nearest end of [0, 1]."""
    return min(1.0, max(0.0, float(number)))
