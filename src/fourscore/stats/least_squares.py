"""Weights that are not negative: least squares with a little ridge, by coordinate descent.

A handful of columns and some hundred rows: forty lines do what SciPy's `nnls` does (the tests hold
them against known solutions), without its weight; see quantiles.py.
"""

from collections.abc import Sequence
from math import fsum
from typing import NamedTuple


class Fit(NamedTuple):
    """`floor + Σ weight · column`; no weight is below 0."""

    floor: float
    weights: tuple[float, ...]

    def at(self, row: Sequence[float]) -> float:
        return self.floor + fsum(w * x for w, x in zip(self.weights, row, strict=True))


def non_negative(
    rows: Sequence[Sequence[float]],
    targets: Sequence[float],
    *,
    ridge: float = 1.0,
    floor: bool = True,
    sweeps: int = 1000,
) -> Fit:
    """The weights of the columns. `ridge` counts as so many rows that say: nothing matters.

    Without a `floor` the line goes through 0.
    """
    n = len(rows)
    if n != len(targets):
        raise ValueError(f"{n} rows against {len(targets)} targets")
    width = len(rows[0]) if n else 0
    middle = [fsum(row[j] for row in rows) / n if floor else 0.0 for j in range(width)]
    mean = fsum(targets) / n if n and floor else 0.0
    # All that is needed of the rows: how the columns go together, and with the targets.
    both = [
        [fsum((row[j] - middle[j]) * (row[k] - middle[k]) for row in rows) for k in range(width)]
        for j in range(width)
    ]
    wanted = [
        fsum((row[j] - middle[j]) * (y - mean) for row, y in zip(rows, targets, strict=True))
        for j in range(width)
    ]
    weights = [0.0] * width
    shrink = ridge / 4  # a column of half zeros and half ones has a variance of 1/4
    for _ in range(sweeps):
        moved = 0.0
        for j in range(width):
            rest = wanted[j] - fsum(both[j][k] * weights[k] for k in range(width) if k != j)
            scale = both[j][j] + shrink
            new = max(0.0, rest / scale) if scale > 1e-12 else 0.0
            moved = max(moved, abs(new - weights[j]))
            weights[j] = new
        if moved < 1e-12:
            break
    base = mean - fsum(w * m for w, m in zip(weights, middle, strict=True))
    return Fit(base, tuple(weights))
