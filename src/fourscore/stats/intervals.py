"""Estimates with an interval and n, and Wilson's interval for rates.

Repeats of one case have similar results, so 50 cases × 4 attempts tell less than 200 cases. The
error is clustered by case, and Wilson's interval uses the number of independent attempts that
would have that error. A plain t interval exceeds [0, 1] for rates near 0 or 1, and there it
misses the true rate more often (docs/statistics.md has the simulation).
"""

from math import sqrt

import msgspec

from fourscore.stats.quantiles import normal_quantile, student_quantile


class IntervalEstimate(msgspec.Struct, frozen=True, kw_only=True):
    """An estimate with n; `value` and `interval` are None where they are unknown."""

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
    """Return the interval of a mean in [0, 1] over n attempts at `cases` cases, by clustered error.

    Without spread between the cases (one case, all passed, none passed) nobody can know how similar
    the attempts at one case are, so each case counts as one attempt.
    """
    if not error:
        return wilson_from_rate(rate, cases, normal_quantile(level))
    alike = min(float(n), rate * (1 - rate) / (error * error))
    return wilson_from_rate(rate, alike, student_quantile(level, cases - 1))
