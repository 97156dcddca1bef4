"""The BCa bootstrap interval of a mean: resampled where there are few values, else computed.

Up to `FEW` values it is Efron's method: draw n values with replacement, take their mean, do so
2,000 times, and correct the percentiles for bias and skewness. It is a check of Student's interval
that may be asymmetric; for very few values it is too narrow, as every bootstrap is.

With more values nothing is drawn. The cumulants of a resample's mean are known: those of the
values, divided by powers of n. Cornish & Fisher's expansion gives the percentiles in one pass, with
an error of order n^(-3/2), far below the noise of 2,000 draws: 200,000 pairs would cost 400 million
draws.

The values are sorted first and the generator has a fixed seed: the same values give the same
interval in any order.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from math import fsum, sqrt

from fourscore.stats.quantiles import normal_quantile

#: Up to this many values are resampled.
FEW = 200
RESAMPLES = 2000


def bootstrap(
    values: Iterable[float], *, level: float = 0.95, resamples: int = RESAMPLES, seed: int = 0
) -> tuple[float, float] | None:
    """Return the BCa interval of the mean; None where all values are equal."""
    ordered = sorted(values)
    n = len(ordered)
    if not n or ordered[0] == ordered[-1]:
        return None
    mean = fsum(ordered) / n
    squares = fsum((x - mean) ** 2 for x in ordered)
    cubes = fsum((x - mean) ** 3 for x in ordered)
    acceleration = cubes / (6 * squares**1.5)
    if n > FEW:
        fourths = fsum((x - mean) ** 4 for x in ordered)
        excess = (fourths * n / squares**2 - 3) / n
        low, high = (
            _cornish_fisher(z, 6 * acceleration, excess)
            for z in _bca_quantiles(acceleration, acceleration, level)
        )
        return mean + low * sqrt(squares) / n, mean + high * sqrt(squares) / n
    means = _resample_means(ordered, resamples, seed)
    return _efron(means, mean, acceleration, level)


def _resample_means(ordered: Sequence[float], resamples: int, seed: int) -> list[float]:
    from random import Random  # imports hashlib and more: only on first use

    draw, n = Random(seed).choices, len(ordered)  # noqa: S311
    return sorted(sum(draw(ordered, k=n)) / n for _ in range(resamples))


def _efron(
    means: Sequence[float], mean: float, acceleration: float, level: float
) -> tuple[float, float]:
    from statistics import NormalDist

    bell, count = NormalDist(), len(means)
    slack = 1e-12 * (means[-1] - means[0])  # sums of the same values differ in their last digit
    below, upto = bisect_left(means, mean - slack), bisect_right(means, mean + slack)
    share = min(max((below + upto) / (2 * count), 1 / (2 * count)), 1 - 1 / (2 * count))
    ends = _bca_quantiles(bell.inv_cdf(share), acceleration, level)
    low, high = (_quantile(means, bell.cdf(z)) for z in ends)
    return low, high


def _bca_quantiles(bias: float, acceleration: float, level: float) -> tuple[float, float]:
    """Return the quantiles that BCa uses instead of ±z."""
    z = normal_quantile(level)
    low, high = (bias + (bias + e) / (1 - acceleration * (bias + e)) for e in (-z, z))
    return low, high


def _quantile(ordered: Sequence[float], share: float) -> float:
    place = share * (len(ordered) - 1)
    i = min(int(place), len(ordered) - 2)
    return ordered[i] + (place - i) * (ordered[i + 1] - ordered[i])


def _cornish_fisher(z: float, skew: float, excess: float) -> float:
    """Return the quantile of a distribution with these cumulants (Cornish & Fisher)."""
    return (
        z
        + (z * z - 1) * skew / 6
        + (z**3 - 3 * z) * excess / 24
        - (2 * z**3 - 5 * z) * skew * skew / 36
    )
