"""Parts of a run's summary: sums of cost and time, canaries, and the worst failures.

Sums do not depend on the order of rows, and huge numbers do not overflow them. Only the first
failures by id and the worst failures are kept.
"""

import sys
from collections import Counter
from heapq import nsmallest
from math import exp, floor, log
from typing import Any

from fourscore.core import Score, Signal, Usage

#: The percentiles of a distribution; the width of its buckets, and the largest number that is 0.
PERCENTILES = (50, 90, 95, 99)
_WIDTH, _TINY = 0.002, 1e-12
_GRAIN = 80
_MOST = int(sys.float_info.max) << _GRAIN
#: The largest whole number that every JSON reader here accepts.
_WHOLE = 2**63 - 1


class ExactSum:
    """A sum of floats, exact to 2^-80 and capped at the largest float.

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


class Distribution:
    """The mean and the percentiles of numbers of at least 0, the same in any order of rows.

    Numbers are counted in buckets of 0.2% (DDSketch), so a percentile is right to 0.1% and memory
    does not grow with the run. A percentile is the smallest number that so many do not exceed.
    """

    __slots__ = ("_buckets", "_sum", "_zeros")

    def __init__(self) -> None:
        self._sum, self._zeros = ExactSum(), 0
        self._buckets: Counter[int] = Counter()

    def add(self, value: float) -> None:
        self._sum.add(value)
        if value > _TINY:
            self._buckets[floor(log(value) / _WIDTH)] += 1
        else:
            self._zeros += 1

    def document(self) -> dict[str, Any]:
        """Return n, mean, percentiles and maximum; all but n are None where nothing was added."""
        found = {f"p{percent}": self._percentile(percent) for percent in PERCENTILES}
        largest = self._sum.largest if self._sum.n else None
        return {"n": self._sum.n, "mean": self._sum.mean(), **found, "max": largest}

    def _percentile(self, percent: int) -> float | None:
        if not self._sum.n:
            return None
        left = -(-self._sum.n * percent // 100) - self._zeros
        if left <= 0:
            return 0.0
        for bucket in sorted(self._buckets):
            left -= self._buckets[bucket]
            if left <= 0:
                return min(exp((bucket + 0.5) * _WIDTH), self._sum.largest)
        return self._sum.largest


class UsageSum:
    """The sum of the usage of model calls."""

    __slots__ = ("calls", "dollars", "input_tokens", "output_tokens")

    def __init__(self) -> None:
        self.calls = self.input_tokens = self.output_tokens = 0
        self.dollars = ExactSum()

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


class CanaryCounts:
    """Canary counts per judge: how many it judged and how many it (wrongly) passed."""

    def __init__(self) -> None:
        self._counts: dict[str, list[int]] = {}

    def add(self, signal: Signal) -> None:
        if signal.canary is not None:
            counts = self._counts.setdefault(signal.name, [0, 0])
            counts[0] += 1
            counts[1] += signal.canary.passed

    def document(self) -> dict[str, Any]:
        """Return the counts, empty without canaries; one passed canary marks the judge."""
        if not self._counts:
            return {}
        counts = sorted(self._counts.items())
        return {
            "canaries": {name: {"asked": n, "passed": passed} for name, (n, passed) in counts},
            "judge_compromised": any(passed for _, (_, passed) in counts),
        }


#: Characters kept of a reason.
LONGEST = 300


class FirstItems:
    """The `limit` smallest of the pairs that were added."""

    __slots__ = ("_items", "_last", "limit")

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self._items: list[tuple[str, int]] = []
        self._last: tuple[str, int] | None = None  # once full: larger items are dropped

    def add(self, item: tuple[str, int]) -> None:
        if self._last is None or item < self._last:
            self._items.append(item)
            if len(self._items) > 2 * self.limit:
                self._trim()

    def items(self) -> list[tuple[str, int]]:
        self._trim()
        return list(self._items)

    def _trim(self) -> None:
        self._items = nsmallest(self.limit, self._items)
        if self._items and len(self._items) == self.limit:
            self._last = self._items[-1]


class WorstFailures:
    """The failures with the lowest values, by id where equal, with their reasons."""

    __slots__ = ("_items", "_last", "limit")

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self._items: dict[tuple[float, str, int], tuple[str, str]] = {}
        self._last: tuple[float, str, int] | None = None

    def add(self, case_id: str, repeat: int, score: Score) -> None:
        key = (score.value or 0.0, case_id, repeat)
        if self._last is None or key < self._last:
            self._items[key] = (str(score.status), explain_score(score))
            if len(self._items) > 2 * self.limit:
                self._trim()

    def document(self) -> list[dict[str, Any]]:
        self._trim()
        return [
            {"id": case_id, "repeat": repeat, "value": value, "status": status, "reason": reason}
            for (value, case_id, repeat), (status, reason) in self._items.items()
        ]

    def _trim(self) -> None:
        self._items = dict(nsmallest(self.limit, self._items.items()))
        if len(self._items) == self.limit:
            self._last = max(self._items)


def explain_score(score: Score) -> str:
    """Return the reason of a score, else the name, value and reason of its lowest signal."""
    if score.reason:
        return score.reason[:LONGEST]
    measured = [(signal.value, signal) for signal in score.signals if signal.value is not None]
    if not measured:
        return ""
    value, lowest = min(measured, key=lambda pair: pair[0])
    reason = f": {lowest.reason}" if lowest.reason else ""
    return f"{lowest.name} {value:.2f}{reason}"[:LONGEST]
