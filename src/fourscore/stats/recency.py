"""One score from many executions over time: recent ones count most, outliers are dropped.

The scores come newest first. The lowest and the highest tenth are dropped, the others stay in
order, and the newest five of them get the weights 1.0, 0.9, 0.8, 0.7, 0.6.
"""

from collections.abc import Iterable, Sequence
from math import fsum, isfinite, sqrt
from typing import Any

from fourscore.core.numbers import to_finite_float
from fourscore.stats.intervals import IntervalEstimate, unknown_estimate
from fourscore.stats.quantiles import student_quantile

WINDOW, STEP = 5, 0.1


def remove_outliers(scores: Sequence[float], share: float = 0.1) -> list[float]:
    """Return the scores without the `floor(share · n)` lowest and highest, in their order.

    Among equal scores the oldest are dropped first.
    """
    if not 0 <= share < 0.5:
        raise ValueError(f"share: {share} is outside [0, 0.5)")
    n = len(scores)
    cut = int(share * n + 1e-9)  # 0.1 · 30 is a little less than 3
    if not cut:
        return list(scores)
    oldest_first = range(n - 1, -1, -1)  # sorting keeps the order of equal ones
    dropped = set(sorted(oldest_first, key=scores.__getitem__)[:cut])
    rest = [i for i in oldest_first if i not in dropped]
    dropped.update(sorted(rest, key=scores.__getitem__, reverse=True)[:cut])
    return [score for i, score in enumerate(scores) if i not in dropped]


def make_weights(n: int, window: int = WINDOW, decay: float | None = None) -> list[float]:
    """Return the weights of the newest n: 1.0, 0.9, 0.8, …, or `decay` to the power 0, 1, 2, …"""
    if window < 1:
        raise ValueError(f"window: {window} is below 1")
    if decay is None:
        if window > 10:
            raise ValueError(f"window: {window} is more than 10: set `decay` for the weights")
        return [round(1 - STEP * i, 9) for i in range(min(n, window))]
    if not 0 < decay <= 1:
        raise ValueError(f"decay: {decay} is outside (0, 1]")
    return [decay**i for i in range(min(n, window))]


def aggregate_scores(
    executions: Iterable[Any],
    *,
    share: float = 0.1,
    window: int = WINDOW,
    decay: float | None = None,
) -> float | None:
    """Return one score from executions, newest first; None where there are none.

    An execution is a number or an object with `.score`.
    """
    return aggregate_recent(executions, share=share, window=window, decay=decay).value


def aggregate_recent(
    executions: Iterable[Any],
    *,
    share: float = 0.1,
    window: int = WINDOW,
    decay: float | None = None,
    level: float = 0.95,
    bounds: tuple[float, float] = (0.0, 100.0),
) -> IntervalEstimate:
    """Return the result of `aggregate_scores` with its interval.

    The interval uses the spread of all scores, outliers included, and the weights of the newest
    ones: a few newest scores that are equal by chance do not make it narrow.
    """
    scores = [_number(each) for each in executions]
    n = len(scores)
    kept = remove_outliers(scores, share)
    if not kept:
        return unknown_estimate(n)
    weights = make_weights(len(kept), window, decay)
    total = fsum(weights)
    value = fsum(w * s for w, s in zip(weights, kept, strict=False)) / total
    if n < 2:
        return IntervalEstimate(value=value, interval=None, n=n)
    mean = fsum(scores) / n
    spread = sqrt(fsum((s - mean) ** 2 for s in scores) / (n - 1))
    if not spread:
        return IntervalEstimate(value=value, interval=None, n=n)
    reach = student_quantile(level, n - 1) * spread * sqrt(fsum(w * w for w in weights)) / total
    interval = max(bounds[0], value - reach), min(bounds[1], value + reach)
    return IntervalEstimate(value=value, interval=interval, n=n)


class Trend(IntervalEstimate, frozen=True, kw_only=True):
    """A linear trend: `value` is its change from one execution to the next."""

    direction: str


def fit_trend(scores: Sequence[float], *, level: float = 0.95) -> Trend:
    """Return the linear trend of scores, oldest first; steady unless its interval excludes 0."""
    n = len(scores)
    if n < 3:
        return Trend(value=None, interval=None, n=n, direction="unknown")
    middle, mean = (n - 1) / 2, fsum(scores) / n
    squares = fsum((i - middle) ** 2 for i in range(n))
    slope = fsum((i - middle) * (s - mean) for i, s in enumerate(scores)) / squares
    left = fsum((s - mean - slope * (i - middle)) ** 2 for i, s in enumerate(scores))
    reach = student_quantile(level, n - 2) * sqrt(left / (n - 2) / squares)
    interval = slope - reach, slope + reach
    direction = "rising" if interval[0] > 0 else "falling" if interval[1] < 0 else "steady"
    return Trend(value=slope, interval=interval, n=n, direction=direction)


def _number(execution: Any) -> float:
    if type(execution) is float and isfinite(execution):
        return execution
    score = getattr(execution, "score", execution)
    number = to_finite_float(score)
    if number is None:
        raise ValueError(f"expected a number or an object with `.score`, got {score!r:.40}")
    return number
