"""A judge's verdicts compared with people's: the confusion table, its rates, and AUC.

*Positive* is a pass. Rates have Wilson's interval, and so has F1: it is 2J/(1 + J) with the rate
J = TP/(TP + FP + FN) among the outputs that people or the judge passed. The interval of
Youden's index (sensitivity + specificity − 1: 0 is chance) joins the two Wilson intervals by
Newcombe's square-and-add, as for any difference of two independent rates.

The area under the ROC curve (AUC) is the chance that an output that people pass has a higher score
than one that they fail; 0.5 is no better than chance. The standard error is DeLong's
(Biometrics 44, 1988), and the interval is taken on the logit scale, so that it stays within [0, 1].
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from math import exp, log, sqrt

import msgspec

from fourscore.stats.intervals import IntervalEstimate, unknown_estimate, wilson
from fourscore.stats.quantiles import normal_quantile


class Confusion(msgspec.Struct, frozen=True, kw_only=True):
    """Counts of a judge's passes and fails, by people's verdict."""

    true_pass: int
    false_pass: int
    false_fail: int
    true_fail: int

    @property
    def n(self) -> int:
        return self.passes + self.fails

    @property
    def passes(self) -> int:
        """The number of outputs that people pass."""
        return self.true_pass + self.false_fail

    @property
    def fails(self) -> int:
        return self.true_fail + self.false_pass

    def sensitivity(self, level: float = 0.95) -> IntervalEstimate:
        """The share of people's passes that the judge passes: recall."""
        return wilson_estimate(self.true_pass, self.passes, level)

    def specificity(self, level: float = 0.95) -> IntervalEstimate:
        """The share of people's fails that the judge fails."""
        return wilson_estimate(self.true_fail, self.fails, level)

    def precision(self, level: float = 0.95) -> IntervalEstimate:
        """The share of the judge's passes that people pass."""
        return wilson_estimate(self.true_pass, self.true_pass + self.false_pass, level)

    def accuracy(self, level: float = 0.95) -> IntervalEstimate:
        return wilson_estimate(self.true_pass + self.true_fail, self.n, level)

    def f1(self, level: float = 0.95) -> IntervalEstimate:
        either = wilson_estimate(self.true_pass, self.n - self.true_fail, level)
        if either.value is None or either.interval is None:
            return either
        low, high = (2 * j / (1 + j) for j in either.interval)
        value = 2 * either.value / (1 + either.value)
        return IntervalEstimate(value=value, interval=(low, high), n=either.n)

    def youden(self, level: float = 0.95) -> IntervalEstimate:
        """Sensitivity + specificity − 1: 0 is chance, 1 is perfect."""
        one, other = self.sensitivity(level), self.specificity(level)
        if one.value is None or other.value is None or not one.interval or not other.interval:
            return unknown_estimate(self.n)
        value = one.value + other.value - 1
        below = sqrt((one.value - one.interval[0]) ** 2 + (other.value - other.interval[0]) ** 2)
        above = sqrt((one.value - one.interval[1]) ** 2 + (other.value - other.interval[1]) ** 2)
        return IntervalEstimate(
            value=value, interval=(max(-1.0, value - below), min(1.0, value + above)), n=self.n
        )

    def balanced_accuracy(self, level: float = 0.95) -> IntervalEstimate:
        """The mean of sensitivity and specificity: 0.5 is chance, however many pass."""
        gain = self.youden(level)
        if gain.value is None or gain.interval is None:
            return unknown_estimate(self.n)
        low, high = ((1 + end) / 2 for end in gain.interval)
        return IntervalEstimate(value=(1 + gain.value) / 2, interval=(low, high), n=self.n)


def count_confusion(pairs: Iterable[tuple[bool, bool]]) -> Confusion:
    """Count (people's verdict, judge's verdict) pairs."""
    counts = {(True, True): 0, (False, True): 0, (True, False): 0, (False, False): 0}
    for people, judge in pairs:
        counts[bool(people), bool(judge)] += 1
    return Confusion(
        true_pass=counts[True, True],
        false_pass=counts[False, True],
        false_fail=counts[True, False],
        true_fail=counts[False, False],
    )


def wilson_estimate(part: int, n: int, level: float = 0.95) -> IntervalEstimate:
    """Return a rate with Wilson's interval; unknown where n is 0."""
    if not n:
        return unknown_estimate(0)
    return IntervalEstimate(value=part / n, interval=wilson(part, n, level), n=n)


def auc(passes: Sequence[float], fails: Sequence[float], level: float = 0.95) -> IntervalEstimate:
    """Return the area under the ROC curve, from the scores of people's passes and fails.

    There is no interval with fewer than two passes or fails, or where the scores do not overlap.
    """
    n = len(passes) + len(fails)
    if not passes or not fails:
        return unknown_estimate(n)
    above = _shares_below(passes, fails)
    below = [1 - share for share in _shares_below(fails, passes)]
    value = sum(above) / len(above)
    if min(len(passes), len(fails)) < 2 or not 0 < value < 1:
        return IntervalEstimate(value=value, interval=None, n=n)
    error = sqrt(_variance(above) / len(above) + _variance(below) / len(below))
    half = normal_quantile(level) * error / (value * (1 - value))
    middle = log(value / (1 - value))
    low, high = (1 / (1 + exp(-(middle + side * half))) for side in (-1, 1))
    return IntervalEstimate(value=value, interval=(low, high), n=n)


def _shares_below(scores: Sequence[float], others: Sequence[float]) -> list[float]:
    """Return for each score the share of the others that are lower; equal ones count half."""
    ordered = sorted(others)
    return [
        (bisect_left(ordered, score) + bisect_right(ordered, score)) / 2 / len(ordered)
        for score in scores
    ]


def _variance(values: Sequence[float]) -> float:
    mean = sum(values) / len(values)
    return sum((value - mean) ** 2 for value in values) / (len(values) - 1)
