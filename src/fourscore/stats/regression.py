"""Regression: least squares with non-negative weights, and logistic regression.

Non-negative least squares has a small ridge penalty and is fitted by coordinate descent. For few
columns and some hundred rows it does what SciPy's `nnls` does (the tests compare with known
solutions), without SciPy's import time; see quantiles.py.

Logistic regression has a ridge penalty, and coefficients can be limited to one sign. It uses
Newton's method: each round solves the quadratic approximation of the loss by coordinate descent,
which keeps the signs, as glmnet does. The tests compare it with scikit-learn.
"""

from collections.abc import Sequence
from math import exp, fsum, log1p, sqrt
from operator import mul
from typing import NamedTuple

import msgspec


class LinearFit(NamedTuple):
    """A fit `floor + Σ weight · column`; no weight is below 0."""

    floor: float
    weights: tuple[float, ...]

    def at(self, row: Sequence[float]) -> float:
        return self.floor + fsum(w * x for w, x in zip(self.weights, row, strict=True))


def fit_non_negative(
    rows: Sequence[Sequence[float]],
    targets: Sequence[float],
    *,
    ridge: float = 1.0,
    floor: bool = True,
    sweeps: int = 1000,
) -> LinearFit:
    """Fit non-negative weights of the columns; `ridge` acts like that many rows without effect.

    Without a `floor` the fit has no constant term.
    """
    n = len(rows)
    if n != len(targets):
        raise ValueError(f"{n} rows but {len(targets)} targets: expected equal numbers")
    width = len(rows[0]) if n else 0
    middle = [fsum(row[j] for row in rows) / n if floor else 0.0 for j in range(width)]
    mean = fsum(targets) / n if n and floor else 0.0
    # The fit needs only the products of the columns with each other and with the targets.
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
    return LinearFit(base, tuple(weights))


Row = Sequence[float]
#: Newton's rounds, passes of coordinate descent in each, and the change below which both end.
_ROUNDS, _PASSES, _SMALL = 50, 200, 1e-7


class Logistic(NamedTuple):
    """A fitted regression: log-odds = intercept + sum of coefficient * value."""

    intercept: float
    coefficients: tuple[float, ...]

    def log_odds(self, row: Row) -> float:
        return self.intercept + _dot(self.coefficients, row)

    def probability(self, row: Row) -> float:
        """The probability of a positive label."""
        return sigmoid(self.log_odds(row))


def sigmoid(log_odds: float) -> float:
    """Return the probability of these log-odds."""
    return 1 / (1 + exp(-max(-40.0, min(40.0, log_odds))))


def log_loss(log_odds: float, *, label: bool) -> float:
    """Return the log loss of one label, in nats."""
    wrong = -log_odds if label else log_odds
    return max(wrong, 0.0) + log1p(exp(-abs(wrong)))


def fit_logistic(
    rows: Sequence[Row],
    labels: Sequence[bool],
    *,
    ridge: float = 0.01,
    weights: Sequence[float] | None = None,
    directions: Sequence[int] | None = None,
    prior: Sequence[float] | None = None,
) -> Logistic:
    """Fit a logistic regression on standardised columns.

    `ridge` is the penalty beside the *mean* loss; it pulls the coefficients toward `prior`, or to
    0. `directions` has 1 where a coefficient must not be negative, -1 where it must not be
    positive, 0 where it is free. A column without spread keeps its prior.
    """
    width, total = len(rows[0]), sum(weights) if weights else float(len(rows))
    shares = [one / total for one in weights] if weights else [1 / total] * len(rows)
    raw = list(zip(*rows, strict=True))
    means = [_dot(shares, column) for column in raw]
    spreads = [
        sqrt(_dot(shares, [(value - mean) ** 2 for value in column]))
        for column, mean in zip(raw, means, strict=True)
    ]
    used = [j for j in range(width) if spreads[j] > 1e-9]
    problem = _Problem(
        columns=[[1.0] * len(rows), *([(x - means[j]) / spreads[j] for x in raw[j]] for j in used)],
        labels=labels,
        shares=shares,
        pulls=[0.0, *(ridge for _ in used)],  # the intercept has no penalty
        goals=[0.0, *(prior[j] * spreads[j] if prior else 0.0 for j in used)],
        ways=[0, *(directions[j] if directions else 0 for j in used)],
    )
    intercept, *found = _minimize(problem)
    coefficients = list(prior) if prior else [0.0] * width
    for j, value in zip(used, found, strict=True):
        coefficients[j] = value / spreads[j]
    return Logistic(intercept - _dot(coefficients, means), tuple(coefficients))


class _Problem(msgspec.Struct, frozen=True, kw_only=True):
    """The columns (the first is all 1), each with its penalty, prior value and sign limit."""

    columns: list[list[float]]
    labels: Sequence[bool]
    shares: list[float]
    pulls: list[float]
    goals: list[float]
    ways: list[int]

    def loss(self, point: list[float]) -> tuple[float, list[float]]:
        """Return the loss with its penalty, and the log-odds of each row."""
        odds = [_dot(point, row) for row in zip(*self.columns, strict=True)]
        each = zip(self.shares, odds, self.labels, strict=True)
        moves = zip(self.pulls, point, self.goals, strict=True)
        loss = sum(share * log_loss(z, label=label) for share, z, label in each)
        return loss + sum(pull * (at - goal) ** 2 for pull, at, goal in moves) / 2, odds

    def derivatives(
        self, point: list[float], odds: list[float]
    ) -> tuple[list[float], list[list[float]]]:
        """Return the first and the second derivatives of the loss."""
        chances = [sigmoid(z) for z in odds]
        gaps = [s * (p - y) for s, p, y in zip(self.shares, chances, self.labels, strict=True)]
        curves = [s * p * (1 - p) for s, p in zip(self.shares, chances, strict=True)]
        moves = zip(self.columns, self.pulls, point, self.goals, strict=True)
        slopes = [_dot(gaps, column) + pull * (at - goal) for column, pull, at, goal in moves]
        bent = [list(map(mul, curves, column)) for column in self.columns]
        matrix = [[_dot(one, other) for other in self.columns] for one in bent]
        for j, pull in enumerate(self.pulls):
            matrix[j][j] += pull + 1e-9
        return slopes, matrix


def _minimize(problem: _Problem) -> list[float]:
    """Return the coefficients with the least loss that keep every sign limit."""
    point = [_clip(goal, way) for goal, way in zip(problem.goals, problem.ways, strict=True)]
    loss, odds = problem.loss(point)
    for _ in range(_ROUNDS):
        step = _descend(*problem.derivatives(point, odds), point, problem.ways)
        # A full step may overshoot where the loss is far from quadratic: halve it until it helps.
        while max(map(abs, step)) > _SMALL:
            moved = [at + change for at, change in zip(point, step, strict=True)]
            new, odds = problem.loss(moved)
            if new <= loss:
                break
            step = [change / 2 for change in step]
        else:
            break
        loss, point = new, moved
    return point


def _descend(
    slopes: list[float], matrix: list[list[float]], point: list[float], ways: list[int]
) -> list[float]:
    """Return the step to the minimum of the quadratic approximation that keeps every sign limit."""
    step = [0.0] * len(point)
    for _ in range(_PASSES):
        biggest = 0.0
        for j, row in enumerate(matrix):
            aim = step[j] - (slopes[j] + _dot(row, step)) / row[j]
            aim = _clip(point[j] + aim, ways[j]) - point[j]
            biggest = max(biggest, abs(aim - step[j]))
            step[j] = aim
        if biggest < _SMALL:
            break
    return step


def _clip(value: float, way: int) -> float:
    return max(0.0, value) if way > 0 else min(0.0, value) if way < 0 else value


def _dot(one: Sequence[float], other: Sequence[float]) -> float:
    total: float = sum(map(mul, one, other))
    return total
