"""Means with their error, clustered by case where a case was tried more than once.

The error is that of an ordinary least squares fit of a constant with cluster-robust covariance, as
statsmodels gives it by default (`cov_type="cluster"`, `use_correction=True`): its small-sample
factor G/(G − 1) · (N − 1)/(N − K) is G/(G − 1) here, as K is 1. Intervals use Student's t with
G − 1 degrees of freedom (statsmodels' `use_t=True`). With one attempt per case this is the
textbook's s/√n.

All sums are integers, so the result does not depend on the order of rows. Rows are not stored: a
mean is eight integers however many rows were added.
"""

from collections.abc import Hashable, Iterable
from math import sqrt

import msgspec

from fourscore.stats.intervals import clustered_interval, wilson
from fourscore.stats.quantiles import student_quantile

#: Means are exact: a float of at least 2^-28 is a whole multiple of 2^-80.
EXACT = 80
#: Errors need less precision; sums over one case's attempts at this grain fit in 64 bits.
GRAIN = 48

_EXACT = 2.0**EXACT
_COARSER = EXACT - GRAIN


class MeanEstimate(msgspec.Struct, frozen=True, kw_only=True):
    """A mean with its error and interval, over n attempts at `cases` cases.

    The values are None where n is 0; the error is None also where there is only one case.
    """

    n: int
    cases: int
    mean: float | None
    error: float | None
    interval: tuple[float, float] | None


class Moments:
    """The sums that the clustered error of a mean of whole numbers needs.

    These are Σs², Σns and Σn² over the cases, where a case has n attempts that sum to s. `cross` is
    Σns − Σs and `sizes` is Σn² − Σn: both are 0 where every case was tried once.
    """

    __slots__ = ("again", "cross", "n", "sizes", "squares", "total")

    def __init__(self) -> None:
        self.n = self.total = self.squares = 0
        self.again = self.cross = self.sizes = 0

    @property
    def cases(self) -> int:
        return self.n - self.again

    def error(self) -> float | None:
        """Return the clustered standard error of the mean; None with fewer than two cases."""
        n, g, total = self.n, self.cases, self.total
        if g < 2:
            return None
        cross, sizes = total + self.cross, n + self.sizes
        spread = self.squares * n * n - 2 * total * n * cross + total * total * sizes
        return sqrt(g * spread / ((g - 1) * n**4))


class Rate(Moments):
    """Successes (1) and failures (0), added one attempt at a time."""

    __slots__ = ("_pairs",)

    def __init__(self) -> None:
        super().__init__()
        self._pairs = 0

    def add(self, x: int, n: int = 0, s: int = 0) -> None:
        """Add an attempt (1 or 0) at a case whose n earlier attempts had s successes."""
        self.n += 1
        self.total += x
        if n:
            self.again += 1
            self._pairs += s * x
            self.cross += s + x * n
            self.sizes += n + n

    def estimate(self, level: float = 0.95) -> MeanEstimate:
        """Return the rate with Wilson's interval, clustered where cases have repeats."""
        self.squares = self.total + 2 * self._pairs
        mean, error, interval = None, self.error(), None
        if self.n:
            mean = self.total / self.n
            if self.again:
                interval = clustered_interval(mean, error, self.cases, self.n, level)
            else:
                interval = wilson(self.total, self.n, level)
        return MeanEstimate(n=self.n, cases=self.cases, mean=mean, error=error, interval=interval)


class Mean(Moments):
    """The mean of scores in [0, 1] (or similar numbers; those below 1e-24 count as 0).

    Call `add` for a case that is tried once. With repeats, call `part` for each attempt, and then
    `close` with the number of attempts and the sum of what `part` returned.
    """

    __slots__ = ("exact",)

    def __init__(self) -> None:
        super().__init__()
        self.exact = 0

    def add(self, value: float) -> None:
        exact = int(value * _EXACT)
        grains = exact >> _COARSER
        self.n += 1
        self.exact += exact
        self.total += grains
        self.squares += grains * grains

    def part(self, value: float) -> int:
        exact = int(value * _EXACT)
        self.n += 1
        self.exact += exact
        return exact >> _COARSER

    def close(self, n: int, s: int) -> None:
        self.total += s
        self.squares += s * s
        self.again += n - 1
        self.cross += (n - 1) * s
        self.sizes += (n - 1) * n

    def copy(self) -> "Mean":
        twin = Mean()
        for field in (*Moments.__slots__, *self.__slots__):
            setattr(twin, field, getattr(self, field))
        return twin

    def mean(self) -> float | None:
        """Return the mean, exact except for one rounding."""
        return self.exact / (self.n << EXACT) if self.n else None

    def estimate(
        self, level: float = 0.95, bounds: tuple[float, float] | None = (0.0, 1.0)
    ) -> MeanEstimate:
        """Return the mean with a t interval, cut at the bounds.

        Where all cases have the same mean there is no spread, and [1, 1] from three perfect scores
        would be wrong: Wilson's interval over the cases, the widest that scores in [0, 1] can need,
        is returned instead. With other bounds the interval is then unknown.
        """
        mean, error, interval = self.mean(), self.error(), None
        if error is not None:
            error /= 1 << GRAIN
        if mean is not None and error:
            reach = student_quantile(level, self.cases - 1) * error
            interval = mean - reach, mean + reach
            if bounds is not None:
                interval = max(bounds[0], interval[0]), min(bounds[1], interval[1])
        elif mean is not None and bounds == (0.0, 1.0):
            interval = clustered_interval(mean, None, self.cases, self.n, level)
        return MeanEstimate(n=self.n, cases=self.cases, mean=mean, error=error, interval=interval)


def estimate_mean(
    values: Iterable[float],
    cases: Iterable[Hashable] | None = None,
    *,
    level: float = 0.95,
    bounds: tuple[float, float] | None = (0.0, 1.0),
) -> MeanEstimate:
    """Return the mean of values, clustered by case; without cases each value is a case."""
    mean = Mean()
    if cases is None:
        for value in values:
            mean.add(value)
        return mean.estimate(level, bounds)
    seen: dict[Hashable, tuple[int, int]] = {}
    for value, case in zip(values, cases, strict=True):
        n, s = seen.get(case, (0, 0))
        seen[case] = n + 1, s + mean.part(value)
    for n, s in seen.values():
        mean.close(n, s)
    return mean.estimate(level, bounds)


def estimate_rate(counts: Iterable[tuple[int, int]], *, level: float = 0.95) -> MeanEstimate:
    """Return the success rate of (successes, attempts) pairs, one per case."""
    total = Rate()
    for successes, attempts in counts:
        if not 0 <= successes <= attempts:
            raise ValueError(f"{successes} successes of {attempts}")
        for i in range(attempts):
            total.add(int(i < successes), i, min(i, successes))
    return total.estimate(level)
