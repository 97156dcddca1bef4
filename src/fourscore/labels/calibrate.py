"""Compare a judge with people's labels: agreement, bias, and a corrected pass rate.

People's verdict on an output is that of the majority; a tied output has none, and counts for alpha
only. Their value is the mean. A label finer than pass and fail is a pass from `pass_at` on. Outputs
that the judge could not measure are left out and counted.
"""

import asyncio
from collections.abc import Callable, Iterable, Sequence
from math import log
from typing import Any

import msgspec

from fourscore.core import INLINE, DataError, Executor, Rubric, digest, score
from fourscore.core.levels import LEVELS
from fourscore.executors.local import LocalExecutor
from fourscore.formats.label_scale import RANKED_LEVELS, Scale
from fourscore.labels.labelled_outputs import (
    JudgeVerdict,
    LabelledOutput,
    LabelledOutputs,
    average_labels,
    read_verdict,
)
from fourscore.stats.agreement import METRICS, WEIGHTS, alpha, kappa, make_table
from fourscore.stats.classification import Confusion, auc, count_confusion, wilson_estimate
from fourscore.stats.corrected_rate import (
    ChanceError,
    CorrectedRate,
    include_labelled,
    ppi_rate,
    rogan_gladen,
)
from fourscore.stats.correlation import kendall, pearson, spearman
from fourscore.stats.intervals import IntervalEstimate
from fourscore.stats.judge_bias import GroupBias, fit_slope, mean_difference, measure_group_bias
from fourscore.stats.means import estimate_mean

#: People's verdict and the judge's.
Decided = Sequence[tuple[bool, bool]]


class JudgedOutput(msgspec.Struct, frozen=True, kw_only=True):
    """One output with people's mean label and verdict, and the judge's value and verdict.

    `over` is the judge's value less people's; of its verdict where people only pass and fail.
    """

    output: LabelledOutput
    people: float
    passed: bool | None
    judge: float
    judge_passed: bool
    over: float

    @property
    def length(self) -> float:
        """The logarithm of the output's length in characters."""
        return log(max(1, len(self.output.trace.answer)))


def pair_labels(
    row: LabelledOutput, verdict: JudgeVerdict, scale: Scale, pass_at: float
) -> JudgedOutput:
    """Return the output with people's labels beside the judge's verdict."""
    people, passed = average_labels(row, scale, pass_at)
    value, judge_passed = verdict.value or 0.0, bool(verdict.passed)
    over = (float(judge_passed) if scale.kind == "verdict" else value) - people
    return JudgedOutput(
        output=row, people=people, passed=passed, judge=value, judge_passed=judge_passed, over=over
    )


def compute_kappas(pairs: Sequence[JudgedOutput], scale: Scale) -> dict[str, IntervalEstimate]:
    """Return Cohen's kappa of people and judge, by kind of weights."""
    if scale.kind == "verdict":
        both = [(int(p.passed), int(p.judge_passed)) for p in pairs if p.passed is not None]
    else:
        both = [(scale.category(p.people), scale.category(p.judge)) for p in pairs]
    table = make_table(both, range(scale.categories))
    return {weights: kappa(table, weights).figure() for weights in WEIGHTS}


def compare_values(pairs: Sequence[JudgedOutput]) -> dict[str, IntervalEstimate]:
    """Return AUC, correlations and differences of the judge's values and people's."""
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


def group_differences(
    pairs: Sequence[JudgedOutput], name: Callable[[JudgedOutput], str | None]
) -> list[GroupBias]:
    """Return the judge's bias by group; `name` returns the group of an output or None."""
    groups: dict[str, list[float]] = {}
    for pair in pairs:
        word = name(pair)
        if word is not None:
            groups.setdefault(word, []).append(pair.over)
    return measure_group_bias(groups)


def list_ratings(pair: JudgedOutput, scale: Scale) -> list[float | None]:
    """Return each person's label as a number for alpha."""
    return [None if label is None else _step(label, scale) for label in pair.output.labels]


def convert_to_label(pair: JudgedOutput, scale: Scale) -> float:
    """Return the judge's value as the label that a person would have given."""
    if scale.kind == "verdict":
        return float(pair.judge_passed)
    if scale.kind == "level":
        return LEVELS[RANKED_LEVELS[scale.category(pair.judge)]]
    return _step(pair.judge, scale)


def _step(value: float, scale: Scale) -> float:
    return float(scale.low + scale.category(value)) if scale.kind == "scale" else value


class Calibration(msgspec.Struct, frozen=True, kw_only=True):
    """The comparison of a judge with people; every figure has its n."""

    judge: str
    fingerprint: str
    data: str
    labels: str
    n: int
    people: int
    left_out: dict[str, int]
    errors: Confusion
    rates: dict[str, IntervalEstimate]
    verdicts: dict[str, IntervalEstimate]
    kappa: dict[str, IntervalEstimate]
    alpha: dict[str, IntervalEstimate]
    alpha_people: dict[str, IntervalEstimate]
    values: dict[str, IntervalEstimate]
    by_length: IntervalEstimate
    by_position: list[GroupBias]
    by_family: list[GroupBias]
    corrected: CorrectedRate | None
    uncorrected: str

    def document(self) -> dict[str, Any]:
        """Return the calibration as JSON values."""
        document: dict[str, Any] = msgspec.to_builtins(self)
        return document


async def judge_outputs(
    rubric: Rubric | None,
    outputs: Sequence[LabelledOutput],
    *,
    concurrency: int = 16,
    deadline: float = 60.0,
    done: Callable[[], None] = lambda: None,
) -> list[JudgeVerdict]:
    """Return the verdict on each output: the one in the data, else the judge's."""
    gate = asyncio.Semaphore(concurrency)
    executor: Executor = INLINE if rubric is None or rubric.is_bounded else LocalExecutor(deadline)

    async def one(output: LabelledOutput) -> JudgeVerdict:
        if output.verdict is not None or rubric is None:
            return output.verdict or JudgeVerdict()
        async with gate:
            (scored,) = await score(rubric, output.case, [output.trace], executor=executor)
        done()
        return read_verdict(scored)

    return list(await asyncio.gather(*map(one, outputs)))


def calibrate(
    found: LabelledOutputs,
    verdicts: Sequence[JudgeVerdict],
    rest: Iterable[JudgeVerdict],
    *,
    judge: tuple[str, str],
    pass_at: float,
    random_sample: bool = False,
    together: bool = False,
    file: str | None = None,
) -> Calibration:
    """Compare the judge (its name and fingerprint) with the labels.

    `rest` are verdicts on outputs without labels. `together`: the labelled outputs are of the same
    run, and count in its corrected rate by their labels.
    """
    pairs = [
        pair_labels(row, verdict, found.scale, pass_at)
        for row, verdict in zip(found.rows, verdicts, strict=True)
        if verdict.value is not None and verdict.passed is not None
    ]
    decided = [(pair.passed, pair.judge_passed) for pair in pairs if pair.passed is not None]
    _check_labels(decided, found, file)
    errors = count_confusion(decided)
    others = [verdict.passed for verdict in rest if verdict.passed is not None]
    corrected, why = _correct_rate(decided, errors, others, random_sample, together)
    left_out = {
        "unmeasured": len(found.rows) - len(pairs),
        "tied": len(pairs) - len(decided),
        "stale": found.stale,
        "agent_failed": found.failed,
    }
    scale, several = found.scale, found.people > 1
    units = [list_ratings(pair, scale) for pair in pairs]
    with_judge = [
        [*unit, convert_to_label(pair, scale)] for unit, pair in zip(units, pairs, strict=True)
    ]
    return Calibration(
        judge=judge[0],
        fingerprint=judge[1],
        data=digest([row.identity() for row in found.rows]),
        labels=scale.kind,
        n=len(pairs),
        people=found.people,
        left_out={word: count for word, count in left_out.items() if count},
        errors=errors,
        rates=_compute_rates(errors, others),
        verdicts=_compute_verdicts(errors),
        kappa=compute_kappas(pairs, scale),
        alpha={metric: alpha(with_judge, metric) for metric in METRICS},
        alpha_people={metric: alpha(units, metric) for metric in METRICS} if several else {},
        values=compare_values(pairs),
        by_length=fit_slope([pair.length for pair in pairs], [pair.over for pair in pairs]),
        by_position=group_differences(pairs, lambda pair: pair.output.position),
        by_family=group_differences(pairs, lambda pair: pair.output.family),
        corrected=corrected,
        uncorrected=why,
    )


def _check_labels(decided: Decided, found: LabelledOutputs, file: str | None) -> None:
    """Raise `DataError` unless there are passes and fails: else half of the errors is unknown."""
    n, line = len(found.rows), found.rows[0].line
    if not decided:
        message = f"none of {n} labelled outputs has both a judge's verdict and people's"
        raise DataError(message, file=file)
    words = {passed for passed, _ in decided}
    if len(words) == 1:
        word = "passes" if words == {True} else "fails"
        message = f"all {len(decided)} labels are {word}: both passes and fails are needed"
        hint = "" if found.scale.kind == "verdict" else "; see --pass-at"
        raise DataError(f"{message}{hint}", file=file, line=line, field="label")


def _correct_rate(
    decided: Decided,
    errors: Confusion,
    others: Sequence[bool],
    random_sample: bool,
    together: bool,
) -> tuple[CorrectedRate | None, str]:
    if not others:
        return None, "there are no judged outputs without labels"
    people, judge = [one for one, _ in decided], [other for _, other in decided]
    if random_sample:
        return ppi_rate(people, judge, others), ""
    try:
        found = rogan_gladen(sum(others) / len(others), len(others), errors)
        return (include_labelled(found, errors) if together else found), ""
    except ChanceError as error:
        return None, str(error)


def _compute_rates(errors: Confusion, others: Sequence[bool]) -> dict[str, IntervalEstimate]:
    found = {
        "people": wilson_estimate(errors.passes, errors.n),
        "judge": wilson_estimate(errors.true_pass + errors.false_pass, errors.n),
    }
    return found | (
        {"judge_on_the_rest": wilson_estimate(sum(others), len(others))} if others else {}
    )


def _compute_verdicts(errors: Confusion) -> dict[str, IntervalEstimate]:
    return {
        "accuracy": errors.accuracy(),
        "precision": errors.precision(),
        "recall": errors.sensitivity(),
        "f1": errors.f1(),
        "sensitivity": errors.sensitivity(),
        "specificity": errors.specificity(),
        "balanced_accuracy": errors.balanced_accuracy(),
        "better_than_chance": errors.youden(),
    }
