"""How well a score ranks passes above fails: the area under the ROC curve.

It is the chance that an output that people pass has a higher score than one that they fail; 0.5 is
chance. The standard error is DeLong's (Biometrics 44, 1988), and the interval is taken on the logit
scale, so that it stays within [0, 1].
"""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from math import exp, log, sqrt

from fourscore.stats.estimate import Figure, unknown
from fourscore.stats.quantiles import normal


def auc(passes: Sequence[float], fails: Sequence[float], level: float = 0.95) -> Figure:
    """The area under the ROC curve of the scores that people pass and of those that they fail.

    Without an interval where either has fewer than two scores or the two are fully apart.
    """
    n = len(passes) + len(fails)
    if not passes or not fails:
        return unknown(n)
    above = _shares_below(passes, fails)
    below = [1 - share for share in _shares_below(fails, passes)]
    value = sum(above) / len(above)
    if min(len(passes), len(fails)) < 2 or not 0 < value < 1:
        return Figure(value=value, interval=None, n=n)
    error = sqrt(_variance(above) / len(above) + _variance(below) / len(below))
    half = normal(level) * error / (value * (1 - value))
    middle = log(value / (1 - value))
    low, high = (1 / (1 + exp(-(middle + side * half))) for side in (-1, 1))
    return Figure(value=value, interval=(low, high), n=n)


def _shares_below(scores: Sequence[float], others: Sequence[float]) -> list[float]:
    """For each score the share of the others that are lower; one that is equal counts half."""
    ordered = sorted(others)
    return [
        (bisect_left(ordered, score) + bisect_right(ordered, score)) / 2 / len(ordered)
        for score in scores
    ]


def _variance(values: Sequence[float]) -> float:
    mean = sum(values) / len(values)
    return sum((value - mean) ** 2 for value in values) / (len(values) - 1)
