"""How a fitness signal is put: a value with the level it amounts to, and a reason to act on."""

from collections.abc import Mapping

from fourscore.core import Signal
from fourscore.core.levels import find_level

#: Kinds of failures that a reason names.
NAMED = 4


def measured(name: str, value: float, reason: str) -> Signal:
    value = min(1.0, max(0.0, value))
    return Signal(name=name, value=value, level=find_level(value), reason=reason)


def inapplicable(name: str, reason: str) -> Signal:
    return Signal(name=name, reason=reason)


def counted(kinds: Mapping[str, int]) -> str:
    """The most frequent kinds, with their numbers: `Bash exit 1 (3 times), Read: …`."""
    ranked = sorted(kinds.items(), key=lambda kind: (-kind[1], kind[0]))
    said = [f"{kind} ({n} times)" if n > 1 else kind for kind, n in ranked[:NAMED]]
    if len(ranked) > NAMED:
        said.append(f"and {len(ranked) - NAMED} more kinds")
    return ", ".join(said)


def several(n: int, one: str, more: str = "") -> str:
    """`1 call`, `2 calls`."""
    return f"{n} {one if n == 1 else more or one + 's'}"
