"""Turn a judge's exception into signals with a fault."""

from typing import Any

from msgspec.structs import replace

from fourscore.core.errors import FourscoreError
from fourscore.core.signal import Signal
from fourscore.core.trace import FAULTS, Fault, Usage


def make_fault_signals(names: tuple[str, ...], error: Exception) -> tuple[Signal, ...]:
    """Return one signal with the fault per name; the first has the usage of the failed call."""
    fault, usage = _make_fault(error), _read_attribute(error, "usage")
    signals = [Signal(name=name, fault=fault) for name in names]
    if type(usage) is Usage:
        signals[0] = replace(signals[0], usage=usage)
    return tuple(signals)


def _read_attribute(error: Exception, name: str) -> Any:
    """Return an attribute of a `FourscoreError`; None if a subclass of the judge breaks it."""
    try:
        return getattr(error, name, None) if isinstance(error, FourscoreError) else None
    except Exception:
        return None


def _make_fault(error: Exception) -> Fault:
    try:
        words = str(error)
    except (Exception, SystemExit):
        words = "(its message cannot be shown)"
    if isinstance(error, TimeoutError):
        return Fault("timeout", words or "the deadline passed")
    kind = _read_attribute(error, "fault_kind")
    if kind in FAULTS:
        return Fault(kind, words)
    return Fault("error", f"{type(error).__name__}: {words}")
