"""What was made of a value, kept for whoever asks the same of the same object again.

Several judges ask of one case, and several attempts at it are judged, one after another or side by
side. The object itself is known again, so nothing has to be compared.
"""

from collections.abc import Callable
from typing import TypeVar

S = TypeVar("S")
T = TypeVar("T")
#: Values that are kept: as many cases may be judged side by side.
_MOST = 16


def known(function: Callable[[S], T]) -> Callable[[S], T]:
    """The same function, for values that never change."""
    held: dict[int, tuple[S, T]] = {}

    def ask(value: S) -> T:
        last = held.get(id(value))
        if last is not None and last[0] is value:
            return last[1]
        found = function(value)
        if len(held) >= _MOST:
            held.clear()
        held[id(value)] = (value, found)
        return found

    ask.__doc__ = function.__doc__
    return ask
