"""p-values: two-sided tail probabilities, and Holm's adjustment for several tests.

Written by hand for the reason in quantiles.py; the tests compare with SciPy's output.

Holm's step-down adjustment lets several tests share one chance of a false alarm. Tests with an
adjusted p of at most 0.05 are significant, and the chance that any of them is a false alarm is at
most 5%, even if the tests depend on each other: tags overlap, and pass/fail comes from the score.
"""

from collections.abc import Sequence
from math import erfc, exp, lgamma, log, log1p, pi, sqrt

#: Up to this many tosses, integers are used; beyond, floats that are exact to nine digits.
COUNTED = 1000


def normal_tail(z: float) -> float:
    """Return P(|Z| ≥ |z|)."""
    return erfc(abs(z) / sqrt(2))


def student_tail(t: float, df: int) -> float:
    """Return P(|T| ≥ |t|) for whole degrees of freedom, exact for small values too."""
    if df < 1:
        raise ValueError(f"{df} degrees of freedom")
    if t == 0:
        return 1.0
    a, odds = df / 2, t * t / df
    # The incomplete beta function at 1/(1 + odds), or its complement where only that converges.
    front = exp(
        lgamma(a + 0.5) - lgamma(a) - log(pi) / 2 - (a + 0.5) * log1p(odds) + log(abs(t) / sqrt(df))
    )
    if odds * (a + 1) > 1.5:
        return min(1.0, front * _fraction(a, 0.5, 1 / (1 + odds)) / a)
    return max(0.0, 1 - 2 * front * _fraction(0.5, a, odds / (1 + odds)))


def coin_tail(heads: int, tails: int) -> float:
    """Return the chance that heads + tails fair tosses split at least as unevenly as these."""
    if heads < 0 or tails < 0:
        raise ValueError(f"counts must not be negative: {heads} against {tails}")
    n, k = heads + tails, min(heads, tails)
    if 2 * k >= n - 1:
        return 1.0
    if n <= COUNTED:
        ways = total = 1
        for i in range(k):
            ways = ways * (n - i) // (i + 1)
            total += ways
        return 2 * total / (1 << n)
    total_, term, i = 1.0, 1.0, k
    while i and term > 1e-17 * total_:
        term *= i / (n - i + 1)
        total_ += term
        i -= 1
    log_of_first = lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1) - n * log(2)
    return min(1.0, 2 * total_ * exp(log_of_first))


def _fraction(a: float, b: float, x: float) -> float:
    """Return the continued fraction of the incomplete beta function (DLMF 8.17.22, Lentz)."""
    tiny = 1e-300
    c, d = 1.0, 1 / (1 - (a + b) * x / (a + 1) or tiny)
    value = d
    for m in range(1, 100_000):
        for step in (
            m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            d = 1 / (1 + step * d or tiny)
            c = 1 + step / c or tiny
            value *= c * d
        if abs(c * d - 1) < 1e-15:
            break
    return value


def adjust_holm(p_values: Sequence[float]) -> list[float]:
    """Return the p-values with Holm's adjustment, in the same order."""
    adjusted, floor = [1.0] * len(p_values), 0.0
    ranked = sorted(range(len(p_values)), key=p_values.__getitem__)
    for rank, place in enumerate(ranked):
        p = p_values[place]
        if not 0.0 <= p <= 1.0:
            raise ValueError(f"p-value: {p} is not between 0 and 1")
        floor = max(floor, min(1.0, p * (len(ranked) - rank)))
        adjusted[place] = floor
    return adjusted
