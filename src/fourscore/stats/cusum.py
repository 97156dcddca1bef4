"""CUSUM: a cumulative sum that detects a drop of a pass rate soon, its limit, and its run length.

The sum goes up with each failure and down with each pass, never below 0. It stays low while the
rate is good and climbs when the rate drops, however long the rate was good before. Steps are whole
numbers, so the sum has finitely many values, and how often it reaches its limit is computed. With
log-likelihood ratios as steps it is Page's test, the fastest for a given false alarm rate.
"""

from collections.abc import Mapping
from fractions import Fraction
from functools import lru_cache
from math import ceil, exp, floor, log, log1p

import msgspec

#: Up to this value the limit is computed exactly; beyond, a slightly higher bound is used.
PLACES = 300
#: The probability of each step.
Law = Mapping[int, float]


class CusumSteps(msgspec.Struct, frozen=True):
    """The step up at a failure, the step down at a pass, and the limit that raises an alarm."""

    up: int
    down: int
    limit: int


@lru_cache(maxsize=256)
def choose_steps(good: float, bad: float, alpha: float, horizon: int) -> CusumSteps:
    """Choose the steps and the limit of a sum that separates a good pass rate from a bad one.

    While the rate is `good` or better, the chance of an alarm in any `horizon` trials in a row is
    at most alpha. The limit is the lowest that keeps this.
    """
    if not 0 < bad < good < 1:
        raise ValueError(f"expected 0 < bad < good < 1, got {bad} and {good}")
    if not 0 < alpha < 1 or horizon < 1:
        raise ValueError(f"alpha {alpha} over {horizon} trials")
    up, down = _whole(good, bad)
    law = {up: 1 - good, -down: good}
    rise = _rise(law)
    # High enough, by Ville's inequality at every start.
    limit = max(up, ceil(log(horizon / alpha) / rise))
    if limit > PLACES:
        return CusumSteps(up, down, limit)
    allowed = -log1p(-alpha) / horizon  # the hazard that spends alpha
    limit = max(up, limit - floor(log(allowed / alarm_hazard(law, limit)) / rise))
    while alarm_hazard(law, limit) > allowed:
        limit += 1
    while limit > up and alarm_hazard(law, limit - 1) <= allowed:
        limit -= 1
    return CusumSteps(up, down, limit)


def _whole(good: float, bad: float) -> tuple[int, int]:
    """Return steps up and down, as small numbers, near the ratio of the log-likelihood ratios."""
    even = log(good / bad) / (log(good / bad) + log((1 - bad) / (1 - good)))
    near = min(even - (1 - good), (1 - bad) - even) / 4
    most = 12
    while abs((share := Fraction(even).limit_denominator(most)) - even) > near:
        most *= 2
    return share.denominator - share.numerator, share.numerator


def alarm_hazard(law: Law, limit: int) -> float:
    """Return the chance of an alarm at the next trial, after a long time without one.

    A sum that starts at 0 has a lower chance at every trial, so 1 − (1 − hazard)^n bounds the
    chance of an alarm in any n trials in a row.
    """
    rise, last = _rise(law), 2.0
    weights = [exp(-rise * place) for place in range(limit)]  # higher than where it ends
    total = sum(weights)
    places = [weight / total for weight in weights]
    for trial in range(50 * limit):
        after, over = [0.0] * limit, 0.0
        for step, chance in law.items():
            if step >= 0:
                moved = [0.0] * step + places
                over += chance * sum(moved[limit:])
            else:
                moved = [sum(places[: 1 - step]), *places[1 - step :], *[0.0] * -step]
            after = [old + chance * new for old, new in zip(after, moved, strict=False)]
        places = [mass / (1 - over) for mass in after]
        if trial % limit == 0:  # not every trial: the hazard may stay constant for a few
            if last - over <= 1e-3 * over:
                break
            last = over
    return over


def mean_run_length(law: Law, limit: int) -> float:
    """Return the mean number of trials from 0 to the limit (Brook & Evans 1972).

    Two sums with the run lengths a and b, one for each direction, have 1/(1/a + 1/b) together.
    """
    rows = []
    for place in range(limit):
        row = [0.0] * limit
        for step, chance in law.items():
            to = place + step
            if to < limit:
                row[max(0, to)] -= chance
        row[place] += 1.0
        rows.append([*row, 1.0])
    for at in range(limit):  # diagonally dominant: no pivoting
        pivot = rows[at]
        for row in rows[at + 1 :]:
            if row[at]:
                factor = row[at] / pivot[at]
                for i in range(at, limit + 1):
                    row[i] -= factor * pivot[i]
    for at in reversed(range(limit)):
        rows[at][limit] -= sum(rows[at][i] * rows[i][limit] for i in range(at + 1, limit))
        rows[at][limit] /= rows[at][at]
    return rows[0][limit]


def _rise(law: Law) -> float:
    """Return the t with E exp(t·step) = 1: the chance of ever reaching h falls as exp(−t·h)."""
    if sum(step * chance for step, chance in law.items()) >= 0:
        return 0.0
    low, high = 0.0, 1.0

    def mean(t: float) -> float:
        return sum(chance * exp(t * step) for step, chance in law.items())

    while mean(high) < 1:
        high *= 2
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (low, middle) if mean(middle) > 1 else (middle, high)
    return low
