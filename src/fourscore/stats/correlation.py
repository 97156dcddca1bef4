"""Correlation of two sequences of numbers: Pearson's r, Spearman's rho, Kendall's tau-b.

Intervals are Fisher's, on the scale of atanh, with the errors of Bonett & Wright (2000): 1/√(n − 3)
for r, √((1 + ρ²/2)/(n − 3)) for rho, √(0.437/(n − 4)) for tau. The last is valid without ties only;
with ties, tau has the jackknife's error instead. A correlation does not show that one rater always
gives higher scores; the mean absolute error does.
"""

from bisect import bisect_left, insort
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from math import atanh, fsum, sqrt, tanh

from fourscore.stats.intervals import IntervalEstimate, unknown_estimate
from fourscore.stats.quantiles import normal_quantile

#: With more different points than this, tau's error is not computed from all pairs.
MOST_POINTS = 1000


def pearson(a: Sequence[float], b: Sequence[float], *, level: float = 0.95) -> IntervalEstimate:
    n = len(a)
    return _figure(_product_moment(a, b), n, 1 / (n - 3) if n > 3 else None, level)


def spearman(a: Sequence[float], b: Sequence[float], *, level: float = 0.95) -> IntervalEstimate:
    """Return Spearman's rho: Pearson's r of the ranks; equal numbers share a rank."""
    n, found = len(a), _product_moment(ranks(a), ranks(b))
    known = n > 3 and found is not None
    variance = (1 + (found or 0.0) ** 2 / 2) / (n - 3) if known else None
    return _figure(found, n, variance, level)


def kendall(a: Sequence[float], b: Sequence[float], *, level: float = 0.95) -> IntervalEstimate:
    """Return Kendall's tau-b: share of pairs in the same order minus share in opposite order."""
    n = len(a)
    pairs = n * (n - 1) // 2
    ties_a, ties_b, both = _tied(a), _tied(b), _tied(list(zip(a, b, strict=True)))
    if ties_a == pairs or ties_b == pairs:
        return unknown_estimate(n)
    against = _inversions([y for _, y in sorted(zip(a, b, strict=True))])
    excess = pairs - ties_a - ties_b + both - 2 * against
    found = excess / sqrt((pairs - ties_a) * (pairs - ties_b))
    points = Counter(zip(a, b, strict=True))
    variance = 0.437 / (n - 4) if n > 4 else None
    if variance and (ties_a or ties_b) and len(points) <= MOST_POINTS:
        variance = _jackknife(points, (excess, pairs - ties_a, pairs - ties_b))
    return _figure(found, n, variance, level)


def _jackknife(
    points: Mapping[tuple[float, float], int], sums: tuple[int, int, int]
) -> float | None:
    """Return the jackknife variance of atanh(tau); equal points are computed once."""
    n = sum(points.values())
    found: list[tuple[float, int]] = []
    for (x, y), count in points.items():
        parts = [0, 0, 0]  # this point's share of: same minus opposite order, untied in a, in b
        for (u, v), times in points.items():
            one, other = (u > x) - (u < x), (v > y) - (v < y)
            parts[0] += times * one * other
            parts[1] += times * (one != 0)
            parts[2] += times * (other != 0)
        excess, of_a, of_b = (whole - part for whole, part in zip(sums, parts, strict=True))
        if not of_a or not of_b or excess * excess >= of_a * of_b:
            return None
        found.append((atanh(excess / sqrt(of_a * of_b)), count))
    mean = fsum(value * count for value, count in found) / n
    return (n - 1) / n * fsum(count * (value - mean) ** 2 for value, count in found)


def _figure(found: float | None, n: int, variance: float | None, level: float) -> IntervalEstimate:
    if found is None:
        return unknown_estimate(n)
    found = min(1.0, max(-1.0, found))
    if variance is None or abs(found) >= 1 - 1e-12:
        return IntervalEstimate(value=found, interval=None, n=n)
    reach = normal_quantile(level) * sqrt(variance)
    ends = tanh(atanh(found) - reach), tanh(atanh(found) + reach)
    return IntervalEstimate(value=found, interval=ends, n=n)


def _product_moment(a: Sequence[float], b: Sequence[float]) -> float | None:
    n = len(a)
    if n != len(b):
        raise ValueError(f"expected sequences of equal length, got {n} and {len(b)} numbers")
    if n < 2:
        return None
    mean_a, mean_b = fsum(a) / n, fsum(b) / n
    squares_a = fsum((x - mean_a) ** 2 for x in a)
    squares_b = fsum((y - mean_b) ** 2 for y in b)
    if not squares_a or not squares_b:
        return None
    shared = fsum((x - mean_a) * (y - mean_b) for x, y in zip(a, b, strict=True))
    return shared / sqrt(squares_a * squares_b)


def ranks(values: Sequence[float]) -> list[float]:
    """Return the rank of each number from 1; equal ones share their mean rank."""
    ordered, counts = sorted(values), Counter(values)
    first: dict[float, int] = {}
    for place, value in enumerate(ordered):
        first.setdefault(value, place)
    return [first[value] + (counts[value] + 1) / 2 for value in values]


def _tied(values: Iterable[object]) -> int:
    """Return the number of pairs of equal values."""
    return sum(count * (count - 1) // 2 for count in Counter(values).values())


def _inversions(values: Sequence[float]) -> int:
    """Return the number of pairs in falling order."""
    seen: list[float] = []
    found = 0
    for value in reversed(values):
        found += bisect_left(seen, value)
        insort(seen, value)
    return found
