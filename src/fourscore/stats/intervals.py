"""Estimates with an interval and n, and Wilson's interval for rates.

Repeats of one case resemble one another, so 50 cases × 4 say less than 200 cases: the error is
clustered by case, and Wilson's interval is taken at the number of independent attempts that would
have that error. A plain t interval leaves [0, 1] near its ends and misses more often there
(docs/statistics.md has the simulation).
"""

from math import sqrt

import msgspec

from fourscore.stats.quantiles import normal_quantile, student_quantile


class IntervalEstimate(msgspec.Struct, frozen=True, kw_only=True):
    """An estimate; `value` and `interval` are None where they are unknown, n never is."""

    value: float | None
    interval: tuple[float, float] | None
    n: int


def unknown_estimate(n: int) -> IntervalEstimate:
    return IntervalEstimate(value=None, interval=None, n=n)


def wilson(successes: int, n: int, level: float = 0.95) -> tuple[float, float]:
    """Return Wilson's score interval; [0, 1] where n is 0."""
    if not 0 <= successes <= n:
        raise ValueError(f"{successes} successes of {n}")
    if n == 0:
        return 0.0, 1.0
    return wilson_from_rate(successes / n, n, normal_quantile(level))


def wilson_from_rate(rate: float, n: float, z: float) -> tuple[float, float]:
    """Return Wilson's interval of a rate, for any n and quantile z."""
    centre = rate + z * z / (2 * n)
    spread = z * sqrt(rate * (1 - rate) / n + z * z / (4 * n * n))
    scale = 1 + z * z / n
    low = 0.0 if rate == 0 else (centre - spread) / scale
    high = 1.0 if rate == 1 else (centre + spread) / scale
    return low, high


def clustered_interval(
    rate: float, error: float | None, cases: int, n: int, level: float = 0.95
) -> tuple[float, float]:
    """Return the interval of a mean in [0, 1] of n attempts at `cases` cases, by clustered error.

    Without spread between the cases (one case, all passed, none passed) nothing is known about how
    much the attempts at one case have in common, so a case counts once.
    """
    if not error:
        return wilson_from_rate(rate, cases, normal_quantile(level))
    alike = min(float(n), rate * (1 - rate) / (error * error))
    return wilson_from_rate(rate, alike, student_quantile(level, cases - 1))
