"""What attempts cost and took: sums that no order of arrival and no absurd number can upset."""

import sys

from fourscore.core import Usage

_GRAIN = 80
_MOST = int(sys.float_info.max) << _GRAIN
#: The largest whole number every JSON reader here can take back.
_WHOLE = 2**63 - 1


class Amount:
    """A sum of floats, exact to 2^-80 and stopped at the largest float.

    A recorded trace may claim 1e308 dollars, twice.
    """

    __slots__ = ("largest", "n", "total")

    def __init__(self) -> None:
        self.n = self.total = 0
        self.largest = 0.0

    def add(self, value: float) -> None:
        over, under = value.as_integer_ratio()
        self.n += 1
        self.total += (over << _GRAIN) // under
        if value > self.largest:
            self.largest = float(value)

    def sum(self) -> float:
        return min(self.total, _MOST) / (1 << _GRAIN)

    def mean(self) -> float | None:
        return min(self.total // self.n, _MOST) / (1 << _GRAIN) if self.n else None


class Spending:
    """Model calls, added up."""

    __slots__ = ("calls", "dollars", "input_tokens", "output_tokens")

    def __init__(self) -> None:
        self.calls = self.input_tokens = self.output_tokens = 0
        self.dollars = Amount()

    def add(self, usage: Usage) -> None:
        self.calls += usage.calls
        self.input_tokens += usage.input_tokens
        self.output_tokens += usage.output_tokens
        if usage.dollars:
            self.dollars.add(usage.dollars)

    def document(self) -> dict[str, float]:
        return {
            "calls": min(self.calls, _WHOLE),
            "input_tokens": min(self.input_tokens, _WHOLE),
            "output_tokens": min(self.output_tokens, _WHOLE),
            "dollars": self.dollars.sum(),
        }
