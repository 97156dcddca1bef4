"""Did the score change? The mean difference of paired scores, a before and b after.

A case is one pair however often it was tried: its score is the mean over its attempts. The interval
is the paired t interval, cut at ±1. Where all differences are equal there is no spread, and the
interval is the widest that scores in [0, 1] can need: Bonett & Price's, as for pass/fail results.

The p-value is the paired t test's, but at least 2^(1 − m) where m scores differ: if the agents are
equal, each of these m signs is a coin toss. Student's t alone would call four small changes in
200 cases significant if they have the same sign.
"""

from array import array
from math import sqrt

import msgspec

from fourscore.stats.bootstrap import RESAMPLES, bootstrap
from fourscore.stats.mcnemar import paired_rate_interval
from fourscore.stats.means import EXACT, Mean
from fourscore.stats.p_values import student_tail

#: Differences below this are rounding: 0.3 − 0.1 is not quite 0.2.
SAME = 1e-12

_EXACT = 2.0**EXACT


class ScoreChange(msgspec.Struct, frozen=True, kw_only=True):
    """How the mean score changed from a to b, over n pairs; None where there were none.

    The error of a single pair is unknown. `left_out` counts pairs without a score in one run.
    """

    n: int
    left_out: int
    differing: int
    mean_a: float | None = None
    mean_b: float | None = None
    difference: float | None = None
    error: float | None = None
    interval: tuple[float, float] | None = None
    p: float | None = None

    @property
    def spread(self) -> float | None:
        """The standard deviation of the differences."""
        return None if self.error is None else self.error * sqrt(self.n)


class ScorePairs:
    """Sums over pairs of scores; with `keep`, also every difference, eight bytes each."""

    __slots__ = ("_a", "_b", "_mean", "differences", "differing", "left_out")

    def __init__(self, *, keep: bool = False) -> None:
        self._a = self._b = 0
        self._mean = Mean()
        self.differing = self.left_out = 0
        self.differences = array("d") if keep else None

    def add(self, a: float | None, b: float | None) -> None:
        """Add one case: its scores in [0, 1]."""
        if a is None or b is None:
            self.left_out += 1
            return
        if not (0.0 <= a <= 1.0 and 0.0 <= b <= 1.0):
            raise ValueError(f"scores: {a} and {b} are not both in [0, 1]")
        difference = b - a
        if -SAME < difference < SAME:
            difference = 0.0
        else:
            self.differing += 1
        self._a += int(a * _EXACT)
        self._b += int(b * _EXACT)
        self._mean.add(difference)
        if self.differences is not None:
            self.differences.append(difference)

    def change(self, level: float = 0.95) -> ScoreChange:
        n, m = self._mean.n, self.differing
        if not n:
            return ScoreChange(n=0, left_out=self.left_out, differing=0)
        found = self._mean.estimate(level, (-1.0, 1.0))
        mean, error, p = found.mean or 0.0, found.error, 1.0
        if error:
            p = student_tail(mean / error, n - 1)
        elif mean:
            p = 0.0
        return ScoreChange(
            n=n,
            left_out=self.left_out,
            differing=m,
            mean_a=self._a / (n << EXACT),
            mean_b=self._b / (n << EXACT),
            difference=mean,
            error=error,
            interval=found.interval or paired_rate_interval(n, mean, mean * mean, level),
            p=max(p, 2.0 ** (1 - m)) if m else 1.0,
        )

    def bootstrap(
        self, *, level: float = 0.95, resamples: int = RESAMPLES, seed: int = 0
    ) -> tuple[float, float] | None:
        """Return the bootstrap interval; None without spread or where differences are not kept."""
        if self.differences is None:
            return None
        return bootstrap(self.differences, level=level, resamples=resamples, seed=seed)
