"""Which criteria stay, and what they weigh.

A set of criteria is as good as its agreement with labels that had no part in its weights: these are
fitted on the check part for the selection part, and the other way round. Criteria are added one by
one: the one that raises agreement the most, less what it repeats of those already in. One that does
not raise it is not added, however sensible it sounds.
"""

from collections.abc import Mapping, Sequence
from math import fsum, sqrt
from typing import Literal, NamedTuple

from fourscore.core.numbers import clamp
from fourscore.labels.learning.checker import SILENT
from fourscore.labels.learning.data_split import Unit
from fourscore.stats.correlation import pearson
from fourscore.stats.regression import LinearFit, fit_non_negative

#: What a criterion that says the same as another loses, in agreement.
REPEATS = 0.1
#: Standard errors by which the error has to fall: chance alone does it once in ten times.
SURE = 1.28
#: A criterion below this correlation, either way, on the answers it is tried on, has failed.
WEAK = 0.12
#: A weight below this share of all counts as none.
NOTHING = 0.02
#: Differences that are nothing but rounding.
FLAT = 1e-9

Verdicts = Mapping[str, Mapping[Unit, int]]


class Candidate(NamedTuple):
    """A criterion, and whether good answers meet it or do not."""

    text: str
    expect: Literal["yes", "no"] = "yes"

    def met(self, verdict: int) -> float:
        if verdict == SILENT:
            return 0.0
        return float(bool(verdict) == (self.expect == "yes"))


class Choice(NamedTuple):
    """The criteria that stay, the fit of their weights on both parts, and the agreement of weights
    fitted on one part with the labels of the other, over n answers."""

    chosen: tuple[Candidate, ...]
    fit: LinearFit
    agreement: float
    n: int


def correlate_criterion(
    text: str, verdicts: Verdicts, units: Sequence[Unit], grouped: bool
) -> float:
    """The correlation of one criterion with the labels; 0 where either does not vary."""
    known = [unit for unit in units if unit in verdicts[text]]
    met = [Candidate(text).met(verdicts[text][unit]) for unit in known]
    labels = [unit.y for unit in known]
    if grouped:
        met, labels = centred(met, known), centred(labels, known)
    return correlation(met, labels)


def choose_criteria(
    pool: Sequence[Candidate],
    verdicts: Verdicts,
    check: Sequence[Unit],
    selection: Sequence[Unit],
    *,
    most: int,
    min_gain: float,
    grouped: bool,
) -> Choice:
    """The best set that adding one by one finds."""
    ground = _Ground(verdicts, check, selection, grouped)
    chosen: tuple[Candidate, ...] = ()
    errors, agreement = ground.judged(())
    while len(chosen) < most:
        best: tuple[float, Candidate, list[float], float] | None = None
        for one in pool:
            if one in chosen:
                continue
            new_errors, reached = ground.judged((*chosen, one))
            gain = reached - agreement
            worth = gain - REPEATS * max((ground.alike(one, two) for two in chosen), default=0.0)
            real = gain >= min_gain and _falls(errors, new_errors)
            if real and (best is None or worth > best[0]):
                best = (worth, one, new_errors, reached)
        if best is None or best[0] <= -REPEATS:
            break
        _, one, errors, agreement = best
        chosen = (*chosen, one)
    return _without_nothing(chosen, agreement, ground)


class _Ground:
    """Both parts, each of which tests what was fitted on the other."""

    def __init__(
        self, verdicts: Verdicts, check: Sequence[Unit], selection: Sequence[Unit], grouped: bool
    ) -> None:
        self.verdicts, self.grouped = verdicts, grouped
        self.check, self.selection = check, selection
        self.units = [*check, *selection]

    def judged(self, chosen: Sequence[Candidate]) -> tuple[list[float], float]:
        """Squared errors, NaN where a verdict is missing, and agreement."""
        known: dict[Unit, tuple[float, float]] = {}
        for here, there in ((self.check, self.selection), (self.selection, self.check)):
            fit = self.fit(chosen, here)
            tested = complete(chosen, self.verdicts, there)
            given = [fit.at(row) for row in rows_of(chosen, self.verdicts, tested)]
            labels = [unit.y for unit in tested]
            if self.grouped:
                given, labels = centred(given, tested), centred(labels, tested)
            known |= dict(zip(tested, zip(given, labels, strict=True), strict=True))
        errors = [
            (known[unit][0] - known[unit][1]) ** 2 if unit in known else float("nan")
            for unit in self.units
        ]
        if not chosen:  # two means that go against each other would agree less than nothing
            return errors, 0.0
        pairs = known.values()
        return errors, correlation([a for a, _ in pairs], [y for _, y in pairs])

    def fit(self, chosen: Sequence[Candidate], units: Sequence[Unit]) -> LinearFit:
        there = complete(chosen, self.verdicts, units)
        return fitted(chosen, self.verdicts, there, self.grouped)

    def alike(self, one: Candidate, two: Candidate) -> float:
        units = complete((one, two), self.verdicts, self.units)
        rows = rows_of((one, two), self.verdicts, units)
        return abs(correlation([row[0] for row in rows], [row[1] for row in rows]))


def correlation(a: Sequence[float], b: Sequence[float]) -> float:
    """Pearson's r; 0 where one of them does not vary by more than rounding."""
    if not a or max(a) - min(a) < FLAT or max(b) - min(b) < FLAT:
        return 0.0
    return pearson(a, b).value or 0.0


def complete(chosen: Sequence[Candidate], verdicts: Verdicts, units: Sequence[Unit]) -> list[Unit]:
    """The answers on which the model gave every verdict."""
    return [unit for unit in units if all(unit in verdicts[one.text] for one in chosen)]


def rows_of(
    chosen: Sequence[Candidate], verdicts: Verdicts, units: Sequence[Unit]
) -> list[list[float]]:
    return [[one.met(verdicts[one.text][unit]) for one in chosen] for unit in units]


def fitted(
    chosen: Sequence[Candidate], verdicts: Verdicts, units: Sequence[Unit], grouped: bool
) -> LinearFit:
    """Weights for the criteria. Ranks tell nothing across questions: there, within each only."""
    rows, labels = rows_of(chosen, verdicts, units), [unit.y for unit in units]
    if not grouped:
        return fit_non_negative(rows, labels)
    columns = [centred([row[j] for row in rows], units) for j in range(len(chosen))]
    rows = [list(row) for row in zip(*columns, strict=True)] if columns else [[] for _ in units]
    return fit_non_negative(rows, centred(labels, units), floor=False)


def centred(values: Sequence[float], units: Sequence[Unit]) -> list[float]:
    """Each value less the mean of its sample's."""
    groups: dict[int, list[float]] = {}
    for unit, value in zip(units, values, strict=True):
        groups.setdefault(unit.sample, []).append(value)
    means = {at: fsum(group) / len(group) for at, group in groups.items()}
    return [value - means[unit.sample] for unit, value in zip(units, values, strict=True)]


def find_value_range(fit: LinearFit) -> tuple[float, float]:
    """The values of meeting nothing and of meeting everything."""
    low = min(clamp(fit.floor), 0.99)
    return round(low, 4), round(max(clamp(fit.floor + fsum(fit.weights)), low + 0.01), 4)


def _falls(before: Sequence[float], after: Sequence[float]) -> bool:
    """Whether errors fell by more than they do by chance."""
    falls = [a - b for a, b in zip(before, after, strict=True) if a == a and b == b]
    n = len(falls)
    if n < 3:
        return False
    mean = fsum(falls) / n
    spread = sqrt(fsum((fall - mean) ** 2 for fall in falls) / (n - 1) / n)
    return mean > 0 and mean >= SURE * spread


def _without_nothing(chosen: tuple[Candidate, ...], agreement: float, ground: _Ground) -> Choice:
    """Without those whose weight came to nothing beside the others."""
    fit = ground.fit(chosen, ground.units)
    total = fsum(fit.weights)
    kept = tuple(
        one for one, w in zip(chosen, fit.weights, strict=True) if total and w >= NOTHING * total
    )
    if kept != chosen:
        fit = ground.fit(kept, ground.units)
        _, agreement = ground.judged(kept)
    return Choice(kept, fit, agreement, len(complete(kept, ground.verdicts, ground.units)))
