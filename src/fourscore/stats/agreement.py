"""Agreement of raters: Cohen's kappa for two, Krippendorff's alpha for any number.

**Cohen's kappa** is how much two raters agree beyond chance. Categories have an order; with
*linear* or *quadratic* weights a near miss counts less than a far one. 1 is full agreement, 0 is
what chance gives, and less than 0 is worse than chance.

The error is Fleiss, Cohen & Everitt's (1969), as in statsmodels' `cohens_kappa`. The interval is
computed on the scale of log(1 − κ), so it never exceeds 1: with 30 to 300 pairs it contained the
true kappa in 93 to 96% of simulated tables, the plain interval in 90 to 96%. Where the raters never
disagreed that error is 0, which does not mean certainty: the lower end is then the kappa for the
upper end of Wilson's interval of the share of disagreements.

**Krippendorff's alpha** is the agreement of any number of raters, who may have left out some units:
1 − (observed disagreement) / (disagreement expected by chance), over all pairs of values given to
the same unit. The *metric* is the distance of two values: nominal (0 or 1), ordinal (squared
difference of their mean ranks among all values given), interval (squared difference) or ratio
(squared difference relative to the sum). A unit with fewer than two values has no pair and is out.

The interval is the jackknife's: each unit is left out once, and the spread of log(1 − alpha) gives
the error, with Student's t. Units with the same values are computed once, which is cheap where
there are few different units; with many, thirty random parts (always the same) are left out instead
of single units. Where nobody disagreed there is no spread: the lower end is then the alpha for the
upper end of Wilson's interval of the share of units with a disagreement.
"""

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from itertools import accumulate
from math import exp, fsum, log, sqrt
from typing import Literal

import msgspec

from fourscore.stats.intervals import IntervalEstimate, unknown_estimate, wilson
from fourscore.stats.quantiles import normal_quantile, student_quantile

Weights = Literal["none", "linear", "quadratic"]
WEIGHTS: tuple[Weights, ...] = ("none", "linear", "quadratic")

Table = Sequence[Sequence[int]]


class Kappa(msgspec.Struct, frozen=True, kw_only=True):
    """Kappa with its standard error; None where there is nothing to agree about."""

    value: float | None
    error: float | None
    n: int
    observed: float
    expected: float

    def figure(self, level: float = 0.95) -> IntervalEstimate:
        if self.value is None or self.error is None:
            return unknown_estimate(self.n)
        return IntervalEstimate(value=self.value, interval=self._interval(level), n=self.n)

    def _interval(self, level: float) -> tuple[float, float]:
        assert self.value is not None
        assert self.error is not None
        apart = 1 - self.value
        if apart <= 0:
            return max(-1.0, 1 - wilson(0, self.n, level)[1] / self.expected), 1.0
        reach = exp(normal_quantile(level) * self.error / apart)
        return max(-1.0, 1 - apart * reach), 1 - apart / reach


def make_table(
    pairs: Iterable[tuple[Hashable, Hashable]], order: Sequence[Hashable]
) -> list[list[int]]:
    """Return a table of how often each pair of categories was given; `order` sorts both axes."""
    place = {category: i for i, category in enumerate(order)}
    table = [[0] * len(order) for _ in order]
    for one, other in pairs:
        table[place[one]][place[other]] += 1
    return table


def kappa(table: Table, weights: Weights = "none") -> Kappa:
    """Return kappa of a square table: rows are one rater's categories, columns the other's."""
    size, n = len(table), sum(map(sum, table))
    if any(len(row) != size for row in table):
        raise ValueError("the table is not square")
    if not n:
        return Kappa(value=None, error=None, n=0, observed=0.0, expected=0.0)
    rows = [sum(row) / n for row in table]
    columns = [sum(column) / n for column in zip(*table, strict=True)]
    cells = [(i, j) for i in range(size) for j in range(size)]
    apart = {(i, j): _apart(i, j, size, weights) for i, j in cells}
    observed = fsum(apart[i, j] * table[i][j] / n for i, j in cells)
    expected = fsum(apart[i, j] * rows[i] * columns[j] for i, j in cells)
    if expected <= 0:  # one category throughout
        return Kappa(value=None, error=None, n=n, observed=observed, expected=expected)
    # From here on in terms of agreement, 1 − apart, as in the paper.
    of_row = [fsum((1 - apart[i, j]) * columns[j] for j in range(size)) for i in range(size)]
    of_column = [fsum((1 - apart[i, j]) * rows[i] for i in range(size)) for j in range(size)]
    squares = fsum(
        table[i][j]
        / n
        * ((1 - apart[i, j]) * expected - (of_row[i] + of_column[j]) * observed) ** 2
        for i, j in cells
    )
    agreed, chance = 1 - observed, 1 - expected
    variance = (squares - (agreed * chance - 2 * chance + agreed) ** 2) / (n * expected**4)
    error = sqrt(max(0.0, variance))
    value = 1 - observed / expected
    return Kappa(value=value, error=error, n=n, observed=observed, expected=expected)


def _apart(i: int, j: int, size: int, weights: Weights) -> float:
    """Return the distance of two categories, 0 to 1."""
    if weights == "none" or size < 2:
        return float(i != j)
    part = abs(i - j) / (size - 1)
    return part if weights == "linear" else part * part


Metric = Literal["nominal", "ordinal", "interval", "ratio"]
METRICS: tuple[Metric, ...] = ("nominal", "ordinal", "interval", "ratio")
#: With more different values than this the `ratio` metric is unknown: it compares all pairs.
MOST_VALUES = 400
#: Up to MOST_UNITS different units, each is left out once; with more, each of PARTS parts is.
MOST_UNITS, PARTS = 60, 30

Unit = tuple[tuple[float, int], ...]  # values and how often each was given


def alpha(
    units: Iterable[Sequence[float | None]], metric: Metric = "nominal", *, level: float = 0.95
) -> IntervalEstimate:
    """Return Krippendorff's alpha; a unit has one value per rater, None where a rater gave none.

    n is the number of units with at least two values. Alpha is unknown where all values are equal.
    """
    kinds = _kinds(units)
    n = sum(kinds.values())
    found = _ratio(kinds, metric)
    if found is None:
        return unknown_estimate(n)
    if n < 3:
        interval = None
    elif found == 0:
        apart = _ratio_parts(kinds, "nominal")[1]
        interval = max(-1.0, 1 - wilson(0, n, level)[1] / apart), 1.0
    else:
        interval = _jackknife(kinds, metric, found, level)
    return IntervalEstimate(value=1 - found, interval=interval, n=n)


def _kinds(units: Iterable[Sequence[float | None]]) -> Counter[Unit]:
    kinds: Counter[Unit] = Counter()
    for unit in units:
        values = Counter(float(value) for value in unit if value is not None)
        if values.total() > 1:
            kinds[tuple(sorted(values.items()))] += 1
    return kinds


def _ratio(kinds: Mapping[Unit, int], metric: Metric) -> float | None:
    """Return observed over expected disagreement, which is 1 − alpha."""
    observed, expected = _ratio_parts(kinds, metric)
    return observed / expected if expected > 0 else None


def _ratio_parts(kinds: Mapping[Unit, int], metric: Metric) -> tuple[float, float]:
    totals: Counter[float] = Counter()
    for unit, count in kinds.items():
        for value, times in unit:
            totals[value] += times * count
    n = totals.total()
    if n < 2 or (metric == "ratio" and len(totals) > MOST_VALUES):
        return 0.0, 0.0
    where = _ranks(totals) if metric == "ordinal" else {value: value for value in totals}
    observed = fsum(
        count * _sum_distances([(where[value], times) for value, times in unit], metric)
        / (sum(times for _, times in unit) - 1)
        for unit, count in kinds.items()
    )  # fmt: skip
    expected = _sum_distances(
        [(where[value], times) for value, times in totals.items()], metric
    ) / (n - 1)
    return observed / n, expected / n


def _sum_distances(values: Sequence[tuple[float, int]], metric: Metric) -> float:
    """Return the sum of the distances of all ordered pairs of these values."""
    if len(values) == 1:
        return 0.0
    n = sum(times for _, times in values)
    if metric == "nominal":
        return float(n * n - sum(times * times for _, times in values))
    if metric == "ratio":
        return 2 * fsum(
            a_times * b_times * ((a - b) / (a + b)) ** 2
            for i, (a, a_times) in enumerate(values)
            for b, b_times in values[:i]
            if a + b
        )
    centre = fsum(value * times for value, times in values) / n
    return 2 * n * fsum(times * (value - centre) ** 2 for value, times in values)


def _ranks(totals: Mapping[float, int]) -> dict[float, float]:
    """Return the mean rank of each value; the ordinal metric is their squared difference."""
    ordered = sorted(totals)
    upto = accumulate(totals[value] for value in ordered)
    return {value: end - totals[value] / 2 for value, end in zip(ordered, upto, strict=True)}


def _jackknife(
    kinds: Counter[Unit], metric: Metric, found: float, level: float
) -> tuple[float, float] | None:
    parts = _parts(kinds) if len(kinds) > MOST_UNITS else _singles(kinds)
    times = sum(count for _, count in parts)
    logs: list[tuple[float, int]] = []
    for part, count in parts:
        without = _ratio(kinds - part, metric)
        if not without:  # without the only unit with a disagreement there is no spread
            return None
        logs.append((log(without), count))
    mean = fsum(value * count for value, count in logs) / times
    spread = fsum(count * (value - mean) ** 2 for value, count in logs)
    reach = exp(student_quantile(level, times - 1) * sqrt((times - 1) / times * spread))
    return max(-1.0, 1 - found * reach), 1 - found / reach


def _singles(kinds: Counter[Unit]) -> list[tuple[Counter[Unit], int]]:
    """Return every different unit, and how many units equal it."""
    return [(Counter({unit: 1}), count) for unit, count in kinds.items()]


def _parts(kinds: Counter[Unit]) -> list[tuple[Counter[Unit], int]]:
    """Split all units into parts of nearly one size, whatever order they came in."""
    from random import Random  # imports hashlib and more: only on first use

    units = sorted(kinds.elements())
    Random(0).shuffle(units)  # noqa: S311
    return [(Counter(units[start::PARTS]), 1) for start in range(PARTS)]
