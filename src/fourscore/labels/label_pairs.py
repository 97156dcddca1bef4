"""Outputs that people labelled and a judge judged, side by side, and the figures of such pairs."""

from collections.abc import Callable, Sequence
from math import fsum, log

import msgspec

from fourscore.core.levels import LEVELS
from fourscore.formats.label_scale import RANKED_LEVELS, Scale
from fourscore.labels.labelled_outputs import JudgeVerdict, Output
from fourscore.stats.agreement import WEIGHTS, kappa, make_table
from fourscore.stats.classification import auc
from fourscore.stats.correlation import kendall, pearson, spearman
from fourscore.stats.intervals import IntervalEstimate
from fourscore.stats.judge_bias import GroupBias, mean_difference, measure_group_bias
from fourscore.stats.means import estimate_mean


class Pair(msgspec.Struct, frozen=True, kw_only=True):
    """One output: what people said of it, what the judge said, and how much kinder the judge is.

    Where people only pass and fail, kinder is by the judge's own pass and fail.
    """

    output: Output
    people: float
    passed: bool | None
    judge: float
    judge_passed: bool
    over: float

    @property
    def length(self) -> float:
        """The logarithm of the output's characters."""
        return log(max(1, len(self.output.trace.answer)))


def average_labels(row: Output, scale: Scale, pass_at: float) -> tuple[float, bool | None]:
    """The mean of people's labels on an output, and their verdict; None where they are tied."""
    given = [label for label in row.labels if label is not None]
    people = fsum(given) / len(given)
    if scale.kind == "verdict":
        return people, None if people == 0.5 else people > 0.5
    return people, people >= pass_at - 1e-9


def pair_labels(row: Output, verdict: JudgeVerdict, scale: Scale, pass_at: float) -> Pair:
    """People's value is their mean, their verdict that of most; None where they are tied."""
    people, passed = average_labels(row, scale, pass_at)
    value, judge_passed = verdict.value or 0.0, bool(verdict.passed)
    over = (float(judge_passed) if scale.kind == "verdict" else value) - people
    return Pair(
        output=row, people=people, passed=passed, judge=value, judge_passed=judge_passed, over=over
    )


def kappas(pairs: Sequence[Pair], scale: Scale) -> dict[str, IntervalEstimate]:
    if scale.kind == "verdict":
        both = [(int(p.passed), int(p.judge_passed)) for p in pairs if p.passed is not None]
    else:
        both = [(scale.category(p.people), scale.category(p.judge)) for p in pairs]
    table = make_table(both, range(scale.categories))
    return {weights: kappa(table, weights).figure() for weights in WEIGHTS}


def values_of(pairs: Sequence[Pair]) -> dict[str, IntervalEstimate]:
    people, judge = [pair.people for pair in pairs], [pair.judge for pair in pairs]
    off = estimate_mean(abs(pair.over) for pair in pairs)
    return {
        "auc": auc(
            [pair.judge for pair in pairs if pair.passed is True],
            [pair.judge for pair in pairs if pair.passed is False],
        ),
        "pearson": pearson(people, judge),
        "spearman": spearman(people, judge),
        "kendall": kendall(people, judge),
        "mean_absolute_error": IntervalEstimate(value=off.mean, interval=off.interval, n=off.n),
        "mean_difference": mean_difference([pair.over for pair in pairs]),
    }


def grouped(pairs: Sequence[Pair], name: Callable[[Pair], str | None]) -> list[GroupBias]:
    groups: dict[str, list[float]] = {}
    for pair in pairs:
        word = name(pair)
        if word is not None:
            groups.setdefault(word, []).append(pair.over)
    return measure_group_bias(groups)


def ratings(pair: Pair, scale: Scale) -> list[float | None]:
    """What each person wrote, as numbers for alpha."""
    return [None if label is None else _step(label, scale) for label in pair.output.labels]


def rating(pair: Pair, scale: Scale) -> float:
    """What the judge would have written in the place of a person."""
    if scale.kind == "verdict":
        return float(pair.judge_passed)
    if scale.kind == "level":
        return LEVELS[RANKED_LEVELS[scale.category(pair.judge)]]
    return _step(pair.judge, scale)


def _step(value: float, scale: Scale) -> float:
    return float(scale.low + scale.category(value)) if scale.kind == "scale" else value
