"""Repeated attempts: pass@k, pass^k, and running sums for cases with more attempts to come.

pass@k is the chance that at least one of k attempts at a case succeeds, pass^k that all do. Of n
attempts with s successes the unbiased estimates are 1 − C(n−s, k)/C(n, k) (Chen et al. 2021) and
C(s, k)/C(n, k) (Yao et al. 2024, τ-bench), averaged over the cases. The average for k leaves out
cases with fewer than k measured attempts.
"""

from array import array
from collections.abc import Iterable, Mapping
from math import comb, fsum, sqrt

from fourscore.stats.intervals import clustered_interval
from fourscore.stats.means import Mean, MeanEstimate

#: The most attempts per case whose sums fit the packed columns and whose binomials stay fast.
MAX_REPEATS = 10_000


def choose_ks(repeats: int) -> list[int]:
    """Return the values of k to print: 1 to 10, then powers of two, and `repeats`."""
    powers = (1 << i for i in range(4, repeats.bit_length()))
    return sorted({*range(1, min(repeats, 10) + 1), *powers, repeats})


def pass_at(successes: int, n: int, k: int) -> float:
    """Return the chance that at least one of k attempts, drawn from these n, succeeds."""
    _check(successes, n, k)
    return 1.0 - comb(n - successes, k) / comb(n, k)


def pass_all(successes: int, n: int, k: int) -> float:
    """Return the chance that all of k attempts, drawn from these n, succeed (pass^k)."""
    _check(successes, n, k)
    return comb(successes, k) / comb(n, k)


def pass_at_k(tally: Mapping[tuple[int, int], int], k: int, level: float = 0.95) -> MeanEstimate:
    """Return pass@k over a tally, {(successes, attempts): number of cases}."""
    return _over_cases([(pass_at(s, n, k), c) for (s, n), c in tally.items() if n >= k], level)


def pass_hat_k(tally: Mapping[tuple[int, int], int], k: int, level: float = 0.95) -> MeanEstimate:
    """Return pass^k over a tally, {(successes, attempts): number of cases}."""
    return _over_cases([(pass_all(s, n, k), c) for (s, n), c in tally.items() if n >= k], level)


def count_tally(counts: Iterable[tuple[int, int]]) -> dict[tuple[int, int], int]:
    """Count the (successes, attempts) pairs of the cases."""
    tally: dict[tuple[int, int], int] = {}
    for pair in counts:
        tally[pair] = tally.get(pair, 0) + 1
    return tally


def _check(successes: int, n: int, k: int) -> None:
    if not 0 <= successes <= n:
        raise ValueError(f"{successes} successes of {n}")
    if not 1 <= k <= n:
        raise ValueError(f"k = {k} of {n} attempts")


def _over_cases(values: list[tuple[float, int]], level: float) -> MeanEstimate:
    """Return the mean of (value, number of cases) pairs; with fsum the order does not matter."""
    cases = sum(count for _, count in values)
    if not cases:
        return MeanEstimate(n=0, cases=0, mean=None, error=None, interval=None)
    mean, error = values[0][0], 0.0
    if any(value != mean for value, _ in values):  # else a rounded mean would show some spread
        mean = fsum(value * count for value, count in values) / cases
        spread = fsum(count * (value - mean) ** 2 for value, count in values)
        error = sqrt(spread / (cases - 1) / cases)
    interval = clustered_interval(mean, error, cases, cases, level)
    known = error if cases > 1 else None
    return MeanEstimate(n=cases, cases=cases, mean=mean, error=known, interval=interval)


class Column:
    """One measure: the number of attempts and their sum for each open case.

    When a case is closed, both are added to `mean` if there is one.
    """

    __slots__ = ("counts", "mean", "sums")

    def __init__(self, slots: int, mean: Mean | None) -> None:
        self.counts = array("H", bytes(2 * slots))
        self.sums = array("q", bytes(8 * slots))
        self.mean = mean


class OpenCases:
    """Cases with attempts still to come: ten bytes per measure and one dict entry each.

    The last attempt frees the slot of its case, so rows that arrive case by case need almost no
    memory; the worst order, all first attempts before all second ones, keeps every case in memory.
    The key of a case is the 64-bit keyed hash of its id: the chance of a collision among a million
    cases is one in thirty million.
    """

    __slots__ = ("_columns", "_free", "_seen", "_slots", "repeats")

    def __init__(self, repeats: int) -> None:
        if not 1 <= repeats <= MAX_REPEATS:
            raise ValueError(f"repeats: {repeats} is outside [1, {MAX_REPEATS}]")
        self.repeats = repeats
        self._slots: dict[int, int] = {}
        self._free: list[int] = []
        self._seen = array("H")
        self._columns: list[Column] = []

    def __len__(self) -> int:
        return len(self._slots)

    def column(self, mean: Mean | None = None) -> Column:
        """Add a column for one more measure."""
        column = Column(len(self._seen), mean)
        self._columns.append(column)
        return column

    def open(self, case_id: str) -> int:
        """Return the slot of a case, a new one where it has none."""
        key = hash(case_id)
        slot = self._slots.get(key)
        if slot is None:
            slot = self._free.pop() if self._free else self._grow()
            self._slots[key] = slot
        return slot

    def close(self, case_id: str, slot: int) -> None:
        """Count one attempt as done; after the last one the slot is freed."""
        seen = self._seen[slot] + 1
        if seen < self.repeats:
            self._seen[slot] = seen
            return
        self._seen[slot] = 0
        for column in self._columns:
            n = column.counts[slot]
            if n:
                if column.mean is not None:
                    column.mean.close(n, column.sums[slot])
                column.counts[slot] = column.sums[slot] = 0
        del self._slots[hash(case_id)]
        self._free.append(slot)

    def so_far(self, column: Column, mean: Mean) -> Mean:
        """Return the mean as if no more attempts were to come."""
        mean = mean.copy()
        for slot in self._slots.values():
            if column.counts[slot]:
                mean.close(column.counts[slot], column.sums[slot])
        return mean

    def _grow(self) -> int:
        self._seen.append(0)
        for column in self._columns:
            column.counts.append(0)
            column.sums.append(0)
        return len(self._seen) - 1
