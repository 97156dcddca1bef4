"""Bias of a judge: errors in one direction, by groups of outputs and by their length.

For each output, the judge's value minus people's value is analysed. For groups (a position, a
family of models): the mean difference of each group, and its excess over the mean of all other
groups, with Welch's interval; it shows a judge that favours its own model family. For length: the
least-squares slope on the logarithm of the length, with an error that allows unequal variances
(HC3, MacKinnon & White 1985, as in statsmodels) and Student's t. A slope of 0.05 means 0.05 more
for an output e times as long, and 0.035 more for one twice as long.
"""

from collections.abc import Mapping, Sequence
from math import fsum, sqrt

import msgspec

from fourscore.stats.intervals import IntervalEstimate, unknown_estimate
from fourscore.stats.quantiles import student_quantile


class GroupBias(msgspec.Struct, frozen=True, kw_only=True):
    """The judge's difference from people in one group, and its excess over the other groups."""

    name: str
    difference: IntervalEstimate
    excess: IntervalEstimate


def mean_difference(values: Sequence[float], *, level: float = 0.95) -> IntervalEstimate:
    """Return the mean with Student's interval; no interval where all values are equal."""
    n = len(values)
    if not n:
        return unknown_estimate(0)
    centre, variance = _moments(values)
    if not variance:
        return IntervalEstimate(value=centre, interval=None, n=n)
    reach = student_quantile(level, n - 1) * sqrt(variance / n)
    return IntervalEstimate(value=centre, interval=(centre - reach, centre + reach), n=n)


def measure_group_bias(
    groups: Mapping[str, Sequence[float]], *, level: float = 0.95
) -> list[GroupBias]:
    """Return the bias in each group, sorted by name, from the differences judge − people."""
    return [
        GroupBias(
            name=name,
            difference=mean_difference(groups[name], level=level),
            excess=_excess(
                groups[name],
                [x for other, values in groups.items() if other != name for x in values],
                level,
            ),
        )
        for name in sorted(groups)
    ]


def _excess(here: Sequence[float], elsewhere: Sequence[float], level: float) -> IntervalEstimate:
    """Return the difference of two means with Welch's interval, degrees of freedom rounded down."""
    n, m = len(here), len(elsewhere)
    if not n or not m:
        return unknown_estimate(n + m)
    (one, spread), (other, wide) = _moments(here), _moments(elsewhere)
    a, b = spread / n, wide / m
    if n < 2 or m < 2 or not a + b:
        return IntervalEstimate(value=one - other, interval=None, n=n + m)
    freedom = int((a + b) ** 2 / (a * a / (n - 1) + b * b / (m - 1)))
    reach = student_quantile(level, max(1, freedom)) * sqrt(a + b)
    return IntervalEstimate(
        value=one - other, interval=(one - other - reach, one - other + reach), n=n + m
    )


def fit_slope(x: Sequence[float], y: Sequence[float], *, level: float = 0.95) -> IntervalEstimate:
    """Return the slope of y on x with its interval."""
    n = len(x)
    if n < 3:
        return unknown_estimate(n)
    middle = fsum(x) / n
    squares = fsum((a - middle) ** 2 for a in x)
    if squares <= 1e-12 * n * (1 + middle * middle):
        return unknown_estimate(n)
    centre = fsum(y) / n
    found = fsum((a - middle) * (b - centre) for a, b in zip(x, y, strict=True)) / squares
    spread = 0.0
    for a, b in zip(x, y, strict=True):
        pull = 1 - 1 / n - (a - middle) ** 2 / squares  # 1 less its leverage
        if pull <= 1e-9:  # the line goes through this point whatever its y is
            return IntervalEstimate(value=found, interval=None, n=n)
        left = b - centre - found * (a - middle)
        spread += ((a - middle) * left / pull) ** 2
    reach = student_quantile(level, n - 2) * sqrt(spread) / squares
    return IntervalEstimate(value=found, interval=(found - reach, found + reach), n=n)


def _moments(values: Sequence[float]) -> tuple[float, float]:
    n = len(values)
    centre = fsum(values) / n
    return centre, fsum((x - centre) ** 2 for x in values) / (n - 1) if n > 1 else 0.0
