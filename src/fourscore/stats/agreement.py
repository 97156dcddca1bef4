"""Cohen's kappa: how much two raters agree beyond what their habits alone would give.

Categories have an order; with *linear* or *quadratic* weights a near miss counts less than a far
one. 1 is agreement throughout, 0 what chance gives, and less than 0 is worse than chance.

The error is Fleiss, Cohen & Everitt's (1969), as statsmodels' `cohens_kappa` has it. The interval
is taken on the scale of log(1 − κ) and so never passes 1: with 30 to 300 pairs it held the truth in
93 to 96% of simulated tables, the plain one in 90 to 96%. Where the raters never disagreed that
error is 0, which is no reason to be sure: the lower end is then what Wilson's upper end for the
share of disagreements would make of kappa.
"""

from collections.abc import Hashable, Iterable, Sequence
from math import exp, fsum, sqrt
from typing import Literal

import msgspec

from fourscore.stats.estimate import Figure, unknown
from fourscore.stats.quantiles import normal
from fourscore.stats.rates import wilson

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

    def figure(self, level: float = 0.95) -> Figure:
        if self.value is None or self.error is None:
            return unknown(self.n)
        return Figure(value=self.value, interval=self._interval(level), n=self.n)

    def _interval(self, level: float) -> tuple[float, float]:
        assert self.value is not None
        assert self.error is not None
        apart = 1 - self.value
        if apart <= 0:
            return max(-1.0, 1 - wilson(0, self.n, level)[1] / self.expected), 1.0
        reach = exp(normal(level) * self.error / apart)
        return max(-1.0, 1 - apart * reach), 1 - apart / reach


def table_of(
    pairs: Iterable[tuple[Hashable, Hashable]], order: Sequence[Hashable]
) -> list[list[int]]:
    """How often each pair of categories was given, in this order of categories."""
    place = {category: i for i, category in enumerate(order)}
    table = [[0] * len(order) for _ in order]
    for one, other in pairs:
        table[place[one]][place[other]] += 1
    return table


def kappa(table: Table, weights: Weights = "none") -> Kappa:
    """Of a square table of counts: rows are one rater's categories, columns the other's."""
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
    # The same in terms of agreement, 1 − apart, as the paper has it.
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
    """How far two categories are from each other, 0 to 1."""
    if weights == "none" or size < 2:
        return float(i != j)
    part = abs(i - j) / (size - 1)
    return part if weights == "linear" else part * part
