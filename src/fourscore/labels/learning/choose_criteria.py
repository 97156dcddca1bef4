"""Choose the criteria of a rubric and fit their weights to the labels.

A set of criteria is measured by its agreement with labels that its weights were not fitted to: they
are fitted on the check part for the selection part, and the other way round. Criteria are added one
by one: the one that raises agreement most, less what it repeats of those already chosen. One that
does not raise agreement is not added, however sensible it sounds.
"""

from collections.abc import Mapping, Sequence
from math import fsum, sqrt
from typing import Literal, NamedTuple

import msgspec

from fourscore.core.numbers import clamp
from fourscore.labels.learning.checker import EMPTY
from fourscore.labels.learning.data_split import LabelledAnswer
from fourscore.stats.correlation import pearson
from fourscore.stats.regression import LinearFit, fit_non_negative

#: Penalty in agreement for a criterion that fully repeats another.
REPEATS = 0.1
#: The error has to fall by so many standard errors; by chance it does so once in ten times.
SURE = 1.28
#: A criterion whose correlation with the labels is below this, either way, is rejected.
WEAK = 0.12
#: A weight below this share of all weights is dropped.
NOTHING = 0.02
#: Smaller differences are rounding errors.
FLAT = 1e-9

Verdicts = Mapping[str, Mapping[LabelledAnswer, int]]


class Candidate(NamedTuple):
    """A criterion, and whether good answers should meet it."""

    text: str
    expect: Literal["yes", "no"] = "yes"

    def measure_met(self, verdict: int) -> float:
        """Return 1 if the verdict is the expected one, else 0; an empty answer meets nothing."""
        if verdict == EMPTY:
            return 0.0
        return float(bool(verdict) == (self.expect == "yes"))


class ChosenCriteria(msgspec.Struct, frozen=True, kw_only=True):
    """The chosen criteria and the fit of their weights on both parts.

    `agreement` is that of weights fitted on one part with the labels of the other, over n answers.
    """

    chosen: tuple[Candidate, ...] = ()
    fit: LinearFit = LinearFit(0.0, ())
    agreement: float = 0.0
    n: int = 0


def correlate_criterion(
    text: str, verdicts: Verdicts, answers: Sequence[LabelledAnswer], grouped: bool
) -> float:
    """Return the correlation of a criterion with the labels; 0 if either does not vary."""
    known = [answer for answer in answers if answer in verdicts[text]]
    met = [Candidate(text).measure_met(verdicts[text][answer]) for answer in known]
    labels = [answer.label for answer in known]
    if grouped:
        met, labels = center_by_sample(met, known), center_by_sample(labels, known)
    return correlate(met, labels)


def choose_criteria(
    pool: Sequence[Candidate],
    verdicts: Verdicts,
    check: Sequence[LabelledAnswer],
    selection: Sequence[LabelledAnswer],
    *,
    most: int,
    min_gain: float,
    grouped: bool,
) -> ChosenCriteria:
    """Choose criteria greedily: add the best one while agreement rises."""
    data = _CrossValidation(verdicts, check=check, selection=selection, grouped=grouped)
    chosen: tuple[Candidate, ...] = ()
    errors, agreement = data.measure(())
    while len(chosen) < most:
        best: tuple[float, Candidate, list[float], float] | None = None
        for one in pool:
            if one in chosen:
                continue
            new_errors, reached = data.measure((*chosen, one))
            gain = reached - agreement
            worth = gain - REPEATS * max(
                (data.measure_overlap(one, two) for two in chosen), default=0.0
            )
            real = gain >= min_gain and _has_improved(errors, new_errors)
            if real and (best is None or worth > best[0]):
                best = (worth, one, new_errors, reached)
        if best is None or best[0] <= -REPEATS:
            break
        _, one, errors, agreement = best
        chosen = (*chosen, one)
    return _drop_negligible(chosen, agreement, data)


def keep_candidates(
    pool: Sequence[Candidate],
    verdicts: Verdicts,
    answers: Sequence[LabelledAnswer],
    *,
    most: int,
    grouped: bool,
) -> ChosenCriteria:
    """Return the candidates that correlate most with the labels, with equal weights.

    For few samples, on which nothing can be shown to raise agreement.
    """

    def measure(one: Candidate) -> float:
        return abs(correlate_criterion(one.text, verdicts, answers, grouped))

    chosen = tuple(sorted(pool, key=measure, reverse=True)[:most])
    equal = tuple(1 / len(chosen) for _ in chosen)
    return ChosenCriteria(chosen=chosen, fit=LinearFit(0.0, equal), n=len(answers))


class _CrossValidation:
    """Two parts of the data, each of which tests what was fitted on the other."""

    def __init__(
        self,
        verdicts: Verdicts,
        *,
        check: Sequence[LabelledAnswer],
        selection: Sequence[LabelledAnswer],
        grouped: bool,
    ) -> None:
        self.verdicts, self.grouped = verdicts, grouped
        self.check, self.selection = check, selection
        self.answers = [*check, *selection]

    def measure(self, chosen: Sequence[Candidate]) -> tuple[list[float], float]:
        """Return squared errors, NaN where a verdict is missing, and agreement."""
        known: dict[LabelledAnswer, tuple[float, float]] = {}
        for here, there in ((self.check, self.selection), (self.selection, self.check)):
            fit = self.fit(chosen, here)
            tested = keep_complete(chosen, self.verdicts, there)
            given = [fit.at(row) for row in make_rows(chosen, self.verdicts, tested)]
            labels = [answer.label for answer in tested]
            if self.grouped:
                given, labels = center_by_sample(given, tested), center_by_sample(labels, tested)
            known |= dict(zip(tested, zip(given, labels, strict=True), strict=True))
        errors = [
            (known[answer][0] - known[answer][1]) ** 2 if answer in known else float("nan")
            for answer in self.answers
        ]
        if not chosen:  # two means fitted crosswise would correlate negatively
            return errors, 0.0
        pairs = known.values()
        return errors, correlate([a for a, _ in pairs], [y for _, y in pairs])

    def fit(self, chosen: Sequence[Candidate], answers: Sequence[LabelledAnswer]) -> LinearFit:
        there = keep_complete(chosen, self.verdicts, answers)
        return fit_weights(chosen, self.verdicts, there, self.grouped)

    def measure_overlap(self, one: Candidate, two: Candidate) -> float:
        answers = keep_complete((one, two), self.verdicts, self.answers)
        rows = make_rows((one, two), self.verdicts, answers)
        return abs(correlate([row[0] for row in rows], [row[1] for row in rows]))


def correlate(a: Sequence[float], b: Sequence[float]) -> float:
    """Return Pearson's r; 0 if one of them does not vary by more than rounding."""
    if not a or max(a) - min(a) < FLAT or max(b) - min(b) < FLAT:
        return 0.0
    return pearson(a, b).value or 0.0


def keep_complete(
    chosen: Sequence[Candidate], verdicts: Verdicts, answers: Sequence[LabelledAnswer]
) -> list[LabelledAnswer]:
    """Return the answers on which the model gave every verdict."""
    return [answer for answer in answers if all(answer in verdicts[one.text] for one in chosen)]


def make_rows(
    chosen: Sequence[Candidate], verdicts: Verdicts, answers: Sequence[LabelledAnswer]
) -> list[list[float]]:
    """Return one row per answer: which of the criteria it meets."""
    return [[one.measure_met(verdicts[one.text][answer]) for one in chosen] for answer in answers]


def fit_weights(
    chosen: Sequence[Candidate],
    verdicts: Verdicts,
    answers: Sequence[LabelledAnswer],
    grouped: bool,
) -> LinearFit:
    """Fit weights for the criteria; ranks (`grouped`) are compared within a sample."""
    rows, labels = make_rows(chosen, verdicts, answers), [answer.label for answer in answers]
    if not grouped:
        return fit_non_negative(rows, labels)
    columns = [center_by_sample([row[j] for row in rows], answers) for j in range(len(chosen))]
    rows = [list(row) for row in zip(*columns, strict=True)] if columns else [[] for _ in answers]
    return fit_non_negative(rows, center_by_sample(labels, answers), floor=False)


def center_by_sample(values: Sequence[float], answers: Sequence[LabelledAnswer]) -> list[float]:
    """Return each value less the mean of its sample."""
    groups: dict[int, list[float]] = {}
    for answer, value in zip(answers, values, strict=True):
        groups.setdefault(answer.sample, []).append(value)
    means = {at: fsum(group) / len(group) for at, group in groups.items()}
    return [value - means[answer.sample] for answer, value in zip(answers, values, strict=True)]


def find_value_range(fit: LinearFit) -> tuple[float, float]:
    """Return the values of an answer that meets no criterion and of one that meets all."""
    low = min(clamp(fit.floor), 0.99)
    return round(low, 4), round(max(clamp(fit.floor + fsum(fit.weights)), low + 0.01), 4)


def _has_improved(before: Sequence[float], after: Sequence[float]) -> bool:
    """Whether errors fell by more than chance explains."""
    falls = [a - b for a, b in zip(before, after, strict=True) if a == a and b == b]
    n = len(falls)
    if n < 3:
        return False
    mean = fsum(falls) / n
    spread = sqrt(fsum((fall - mean) ** 2 for fall in falls) / (n - 1) / n)
    return mean > 0 and mean >= SURE * spread


def _drop_negligible(
    chosen: tuple[Candidate, ...], agreement: float, data: _CrossValidation
) -> ChosenCriteria:
    """Return the choice without criteria whose weight is negligible."""
    fit = data.fit(chosen, data.answers)
    total = fsum(fit.weights)
    kept = tuple(
        one for one, w in zip(chosen, fit.weights, strict=True) if total and w >= NOTHING * total
    )
    if kept != chosen:
        fit = data.fit(kept, data.answers)
        _, agreement = data.measure(kept)
    n = len(keep_complete(kept, data.verdicts, data.answers))
    return ChosenCriteria(chosen=kept, fit=fit, agreement=agreement, n=n)
