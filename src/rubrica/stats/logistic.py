"""Logistic regression with a ridge penalty, and signs that coefficients must not cross.

Newton's method: each round solves the quadratic approximation of the loss by coordinate descent,
which keeps to the signs, as glmnet does. A few lines, no library; the tests hold it against
scikit-learn.
"""

from collections.abc import Sequence
from math import exp, log1p, sqrt
from operator import mul
from typing import NamedTuple

Row = Sequence[float]
#: Newton's rounds, passes of coordinate descent in each, and the change below which both end.
_ROUNDS, _PASSES, _SMALL = 50, 200, 1e-9


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
    """The probability of these log-odds."""
    return 1 / (1 + exp(-max(-40.0, min(40.0, log_odds))))


def surprise(log_odds: float, label: bool) -> float:
    """The log loss of one label, in nats."""
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
    columns = [[(value - means[j]) / spreads[j] for value in raw[j]] for j in used]
    goals = [prior[j] * spreads[j] if prior else 0.0 for j in used]
    ways = [directions[j] if directions else 0 for j in used]
    point = _minimize(columns, labels, shares, _Penalty(ridge, goals, ways))
    coefficients = list(prior) if prior else [0.0] * width
    for j, value in zip(used, point[1:], strict=True):
        coefficients[j] = value / spreads[j]
    return Logistic(point[0] - _dot(coefficients, means), tuple(coefficients))


class _Penalty(NamedTuple):
    ridge: float
    goals: list[float]
    ways: list[int]


def _minimize(
    columns: list[list[float]], labels: Sequence[bool], shares: list[float], penalty: _Penalty
) -> list[float]:
    """The intercept, then the coefficients of the columns."""
    columns = [[1.0] * len(labels), *columns]
    pulls = [0.0, *([penalty.ridge] * len(penalty.goals))]
    goals, ways = [0.0, *penalty.goals], [0, *penalty.ways]
    point = [0.0, *(_clip(goal, way) for goal, way in zip(penalty.goals, penalty.ways, strict=True))]

    def loss_at(point: list[float]) -> tuple[float, list[float]]:
        odds = [_dot(point, row) for row in zip(*columns, strict=True)]
        loss = sum(s * surprise(z, y) for s, z, y in zip(shares, odds, labels, strict=True))
        moved = sum(p * (b - g) ** 2 for p, b, g in zip(pulls, point, goals, strict=True))
        return loss + moved / 2, odds

    loss, odds = loss_at(point)
    for _ in range(_ROUNDS):
        chances = [sigmoid(z) for z in odds]
        gaps = [s * (p - y) for s, p, y in zip(shares, chances, labels, strict=True)]
        curves = [s * p * (1 - p) for s, p in zip(shares, chances, strict=True)]
        slopes = [
            _dot(gaps, column) + pull * (b - goal)
            for column, pull, b, goal in zip(columns, pulls, point, goals, strict=True)
        ]
        bent = [list(map(mul, curves, column)) for column in columns]
        matrix = [[_dot(one, other) for other in columns] for one in bent]
        for j, pull in enumerate(pulls):
            matrix[j][j] += pull + 1e-9
        step = _descend(matrix, slopes, point, ways)
        # A full step may overshoot where the loss is far from quadratic: halve it until it helps.
        for _ in range(30):
            moved = [b + d for b, d in zip(point, step, strict=True)]
            new, odds = loss_at(moved)
            if new <= loss + 1e-15:
                break
            step = [d / 2 for d in step]
        else:
            return point
        gain, loss, point = loss - new, new, moved
        if gain < 1e-12 and max(map(abs, step)) < 1e-6:
            break
    return point


def _descend(
    matrix: list[list[float]], slopes: list[float], point: list[float], ways: list[int]
) -> list[float]:
    """The step to the minimum of the quadratic that keeps every sign."""
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
    return sum(map(mul, one, other))
