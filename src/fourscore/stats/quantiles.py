"""Two-sided quantiles of the normal distribution and of Student's t.

Written by hand because nothing else of SciPy is needed: it gives the same numbers (the tests
compare with its output), but importing it costs 39 MB and 0.35 s of processor time at every start,
and `scipy.stats` 86 MB and 1 s.
"""

from functools import lru_cache
from math import atan, cos, exp, lgamma, pi, sin, sqrt

#: From this many degrees of freedom on, the expansion is as exact as a float.
MANY = 1000


@lru_cache(maxsize=64)
def normal_quantile(level: float) -> float:
    """Return the z with P(|Z| ≤ z) = level."""
    from statistics import NormalDist  # imports decimal and random: only on first use

    if not 0.0 < level < 1.0:
        raise ValueError(f"level: {level} is not between 0 and 1")
    return NormalDist().inv_cdf((1 + level) / 2)


@lru_cache(maxsize=4096)
def student_quantile(level: float, df: int) -> float:
    """Return the t with P(|T| ≤ t) = level, for whole degrees of freedom."""
    z = normal_quantile(level)
    if df < 1:
        raise ValueError(f"{df} degrees of freedom")
    if df >= MANY:
        return _expansion(z, df)
    # P is concave in t and t > z: Newton's steps from z come up from below and cannot overshoot.
    t, density = z, exp(lgamma((df + 1) / 2) - lgamma(df / 2)) / sqrt(df * pi)
    for _ in range(100):
        slope = 2 * density * (1 + t * t / df) ** (-(df + 1) / 2)
        step = (level - _within(t, df)) / slope
        t += step
        if step <= 1e-14 * t:  # rounding may make the last steps negative
            break
    return t


def _within(t: float, df: int) -> float:
    """Return P(|T| ≤ t), a finite sum (Abramowitz & Stegun 26.7.3-4)."""
    angle = atan(t / sqrt(df))
    square = cos(angle) ** 2
    term = cos(angle) if df % 2 else 1.0
    total = 0.0 if df == 1 else term
    for i in range(3 if df % 2 else 2, df - 1, 2):
        term *= square * (i - 1) / i
        total += term
    total *= sin(angle)
    return 2 / pi * (angle + total) if df % 2 else total


def _expansion(z: float, df: int) -> float:
    """Return Student's t for many degrees of freedom (Abramowitz & Stegun 26.7.5)."""
    s = z * z
    g1 = z * (s + 1) / 4
    g2 = z * ((5 * s + 16) * s + 3) / 96
    g3 = z * (((3 * s + 19) * s + 17) * s - 15) / 384
    g4 = z * ((((79 * s + 776) * s + 1482) * s - 1920) * s - 945) / 92160
    return z + (g1 + (g2 + (g3 + g4 / df) / df) / df) / df
