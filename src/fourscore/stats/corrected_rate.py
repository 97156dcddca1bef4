"""The pass rate that people would give, from the one that a judge gives and its measured errors.

If a judge passes a share p of the outputs, passes `sensitivity` of those that people pass and fails
`specificity` of those that people fail, then people pass (p + specificity − 1) / (sensitivity +
specificity − 1) of them: Rogan & Gladen (1978). This needs only that the judge errs as often on new
outputs as on the labelled passes and the labelled fails: these need not be a random sample.

**The interval** is Lang & Reiczigel's (2014), which includes the uncertainty of sensitivity and
specificity: counts are moved towards the middle (z²/2 each way for p, one each way for the others),
the error of the ratio comes from the delta method, and its centre is shifted. Of the three
intervals that `benchmarks/calibration.py` simulates, only this one always reaches its level;
docs/benchmarks.md has the figures. Where the judge is not clearly better than chance the ratio is
meaningless, and `ChanceError` is raised.

Where the rate is for a set that includes the labelled outputs, people's own verdicts are used for
these, and the corrected rate for the others only (`include_labelled`).

**Prediction-powered inference** corrects many verdicts of a judge by a few labels of people. Where
the labelled outputs are a random sample of the judged ones, no model of the judge's errors is
needed: the judge's mean over all outputs, plus the mean difference people − judge on the sample, is
right on average however bad the judge is. With *power tuning* (PPI++, Angelopoulos, Duchi & Zrnic
2023, arXiv 2311.01453) the judge has a weight λ = cov(people, judge) / ((1 + n/N) · var(judge)),
estimated from the sample: an uninformative judge has weight 0 and does no harm; a judge that always
agrees has nearly 1, and the result is as precise as with labels for all outputs.

Its interval is Wilson's at the number of independent labels that would have its error, with
Student's t of n − 1 degrees of freedom. A judge without errors on a small sample still has some:
for the error only, one output that only people pass and one that only the judge passes are added,
as for paired rates. In 45 simulated settings the plain normal interval contained the true rate in
81% at worst, this one in 93% (docs/benchmarks.md).
"""

from collections.abc import Sequence
from math import fsum, sqrt
from typing import Literal

import msgspec

from fourscore.core import FourscoreError
from fourscore.stats.classification import Confusion
from fourscore.stats.intervals import wilson, wilson_from_rate
from fourscore.stats.quantiles import normal_quantile, student_quantile

#: How a corrected rate was computed.
Method = Literal["rogan_gladen", "ppi"]


class CorrectedRate(msgspec.Struct, frozen=True, kw_only=True):
    """The pass rate that people would give to n judged outputs, estimated with `labels` labels."""

    value: float
    interval: tuple[float, float]
    method: Method
    n: int
    labels: int


class ChanceError(FourscoreError):
    """The judge may be no better than chance, so its rate cannot be corrected."""


def rogan_gladen(
    rate: float, n: float, errors: Confusion, *, level: float = 0.95, judged: int | None = None
) -> CorrectedRate:
    """Return people's pass rate for n outputs of which the judge passed the share `rate`.

    With repeats, n is the number of independent outputs that would have the observed error (it may
    be a fraction), and `judged` is the real number of outputs.
    """
    if not 0 <= rate <= 1 or n <= 0:
        raise ValueError(f"a rate of {rate} of {n}")
    check_better_than_chance(errors, level)
    sensitivity, specificity = errors.true_pass / errors.passes, errors.true_fail / errors.fails
    value = _inside((rate + specificity - 1) / (sensitivity + specificity - 1))
    low, high = _lang_reiczigel(rate, n, errors, normal_quantile(level))
    return CorrectedRate(
        value=value,
        interval=(min(low, value), max(high, value)),  # it is centred elsewhere
        method="rogan_gladen",
        n=round(n) if judged is None else judged,
        labels=errors.n,
    )


def check_better_than_chance(errors: Confusion, level: float = 0.95) -> None:
    """Raise `ChanceError` unless the labels show that the judge is better than chance."""
    for of, word in ((errors.passes, "passed"), (errors.fails, "failed")):
        if not of:
            raise ChanceError(f"no output is labelled as {word}: the judge's errors are not known")
    youden = errors.youden(level)
    assert youden.interval is not None
    if youden.interval[0] > 0:
        return
    sensitivity, specificity = errors.sensitivity().value, errors.specificity().value
    raise ChanceError(
        f"the judge may be no better than chance: sensitivity {sensitivity:.3f} + specificity "
        f"{specificity:.3f} is not above 1 within its error (n={errors.passes} and "
        f"{errors.fails}); more labels or a better judge are needed"
    )


def _lang_reiczigel(rate: float, n: float, errors: Confusion, z: float) -> tuple[float, float]:
    n_, p = n + z * z, (n * rate + z * z / 2) / (n + z * z)
    n_se, se = errors.passes + 2, (errors.true_pass + 1) / (errors.passes + 2)
    n_sp, sp = errors.fails + 2, (errors.true_fail + 1) / (errors.fails + 2)
    gain = se + sp - 1
    centre = (p + sp - 1) / gain
    of_se, of_sp = se * (1 - se) / n_se, sp * (1 - sp) / n_sp
    shift = 2 * z * z * (centre * of_se - (1 - centre) * of_sp)
    error = sqrt(p * (1 - p) / n_ + centre**2 * of_se + (1 - centre) ** 2 * of_sp) / gain
    return _inside(centre + shift - z * error), _inside(centre + shift + z * error)


def _inside(value: float) -> float:
    return min(1.0, max(0.0, value))


def include_labelled(found: CorrectedRate, errors: Confusion, level: float = 0.95) -> CorrectedRate:
    """Return the rate over the outputs of `found` and the labelled ones, whose verdicts are known.

    The number that people passed and how often the judge was right about them are independent, so
    the two errors are joined by square-and-add.
    """
    known, n = errors.passes / errors.n, found.n + errors.n
    part = errors.n / n
    value = part * known + (1 - part) * found.value
    ends = zip(wilson(errors.passes, errors.n, level), found.interval, strict=True)
    down, up = (
        sqrt((part * (known - one)) ** 2 + ((1 - part) * (found.value - other)) ** 2)
        for one, other in ends
    )
    interval = _inside(value - down), _inside(value + up)
    return msgspec.structs.replace(found, value=value, interval=interval, n=n)


def include_failed(
    found: CorrectedRate, share: float, n: int, level: float = 0.95
) -> CorrectedRate:
    """Return the rate over n outputs, of which `share` were judged and the others failed.

    Wilson's error of the share and the error of `found` are joined by square-and-add.
    """
    if share == 1:
        return found
    low, high = wilson_from_rate(share, n, normal_quantile(level))
    value, (below, above) = found.value * share, found.interval
    down = sqrt((found.value * (share - low)) ** 2 + (share * (found.value - below)) ** 2)
    up = sqrt((found.value * (high - share)) ** 2 + (share * (above - found.value)) ** 2)
    ends = _inside(value - down), _inside(value + up)
    return msgspec.structs.replace(found, value=value, interval=ends, n=n)


class PoweredMean(msgspec.Struct, frozen=True, kw_only=True):
    """A mean, its standard error, and the judge's weight in it."""

    mean: float
    error: float
    weight: float


def estimate_powered_mean(
    people: Sequence[float],
    judge: Sequence[float],
    rest: Sequence[float],
    weight: float | None = None,
) -> PoweredMean:
    """Return the mean that people would give, by prediction-powered inference.

    `judge` has the judge's values for the outputs that people labelled, `rest` for the others.
    """
    n, more = len(people), len(rest)
    if n != len(judge) or n < 2:
        raise ValueError(f"{n} labels and {len(judge)} verdicts: expected at least two of each")
    if not more:
        weight = 0.0
    elif weight is None:
        weight = _weight(people, judge, rest)
    left = [y - weight * f for y, f in zip(people, judge, strict=True)]
    mean = fsum(left) / n + (weight * fsum(rest) / more if more else 0.0)
    variance = _variance(left) / n
    if more > 1:
        variance += weight * weight * _variance(rest) / more
    return PoweredMean(mean=mean, error=sqrt(variance), weight=weight)


def ppi_rate(
    people: Sequence[bool], judge: Sequence[bool], rest: Sequence[bool], *, level: float = 0.95
) -> CorrectedRate:
    """Return the pass rate that people would give to all outputs, labelled or not."""
    n = len(people)
    ours, given, more = ([float(x) for x in values] for values in (people, judge, rest))
    found = estimate_powered_mean(ours, given, more)
    mean = min(1.0, max(0.0, found.mean))
    careful = estimate_powered_mean([*ours, 1.0, 0.0], [*given, 0.0, 1.0], more, found.weight)
    if 0 < mean < 1:
        alike = min(float(n + len(more)), mean * (1 - mean) / careful.error**2)
        interval = wilson_from_rate(mean, alike, student_quantile(level, n - 1))
    else:
        interval = wilson(round(mean * n), n, level)
    return CorrectedRate(value=mean, interval=interval, method="ppi", n=n + len(more), labels=n)


def _weight(people: Sequence[float], judge: Sequence[float], rest: Sequence[float]) -> float:
    """Return the weight λ with the least variance, from 0 (ignore the judge) to 1 (trust it)."""
    n, more = len(people), len(rest)
    spread = _variance([*judge, *rest])
    if not spread:
        return 0.0
    middle, centre = fsum(people) / n, fsum(judge) / n
    shared = fsum((y - middle) * (f - centre) for y, f in zip(people, judge, strict=True)) / (n - 1)
    return min(1.0, max(0.0, shared / ((1 + n / more) * spread)))


def _variance(values: Sequence[float]) -> float:
    n = len(values)
    mean = fsum(values) / n
    return fsum((x - mean) ** 2 for x in values) / (n - 1)
