"""A judge held against people: how far they agree, where it leans, and what its pass rate is worth.

People's verdict on an output is that of most of them; where they are as many on either side it has
none, and counts for alpha only. Their value is the mean. A label finer than pass and fail is a pass
from `pass_at` on. What the judge could not measure is left out and counted.
"""

import asyncio
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import msgspec

from fourscore.core import INLINE, DataError, Executor, Rubric, digest, score
from fourscore.executors.local import LocalExecutor
from fourscore.labels.label_pairs import grouped, kappas, pair_labels, rating, ratings, values_of
from fourscore.labels.labelled_outputs import JudgeVerdict, Labelled, Output, make_verdict
from fourscore.stats.agreement import METRICS, alpha
from fourscore.stats.classification import Confusion, count_confusion, wilson_estimate
from fourscore.stats.corrected_rate import (
    ChanceError,
    CorrectedRate,
    include_labelled,
    ppi_rate,
    rogan_gladen,
)
from fourscore.stats.intervals import IntervalEstimate
from fourscore.stats.judge_bias import GroupBias, fit_slope

#: People's verdict and the judge's.
Decided = Sequence[tuple[bool, bool]]


class Calibration(msgspec.Struct, frozen=True, kw_only=True):
    """What came of holding a judge against people; every figure with its n."""

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
        """JSON-ready."""
        document: dict[str, Any] = msgspec.to_builtins(self)
        return document


async def judged(
    rubric: Rubric | None,
    outputs: Sequence[Output],
    *,
    concurrency: int = 16,
    deadline: float = 60.0,
    done: Callable[[], None] = lambda: None,
) -> list[JudgeVerdict]:
    """The verdict on each output: the one it brings, else the judge's."""
    gate = asyncio.Semaphore(concurrency)
    executor: Executor = INLINE if rubric is None or rubric.is_bounded else LocalExecutor(deadline)

    async def one(output: Output) -> JudgeVerdict:
        if output.verdict is not None or rubric is None:
            return output.verdict or JudgeVerdict()
        async with gate:
            (scored,) = await score(rubric, output.case, [output.trace], executor=executor)
        done()
        return make_verdict(scored)

    return list(await asyncio.gather(*map(one, outputs)))


def calibrate(
    found: Labelled,
    verdicts: Sequence[JudgeVerdict],
    rest: Iterable[JudgeVerdict],
    *,
    judge: tuple[str, str],
    pass_at: float,
    random_sample: bool = False,
    together: bool = False,
    file: str | None = None,
) -> Calibration:
    """Hold the judge (its name and fingerprint) against the labels.

    `rest` are verdicts on outputs without labels; `together` says that the labelled ones are of
    the same run, and count in its rate by what people said.
    """
    pairs = [
        pair_labels(row, verdict, found.scale, pass_at)
        for row, verdict in zip(found.rows, verdicts, strict=True)
        if verdict.value is not None and verdict.passed is not None
    ]
    decided = [(pair.passed, pair.judge_passed) for pair in pairs if pair.passed is not None]
    _check(decided, found, file)
    errors = count_confusion(decided)
    others = [verdict.passed for verdict in rest if verdict.passed is not None]
    corrected, why = _corrected(decided, errors, others, random_sample, together)
    left_out = {
        "unmeasured": len(found.rows) - len(pairs),
        "tied": len(pairs) - len(decided),
        "stale": found.stale,
        "agent_failed": found.failed,
    }
    scale, several = found.scale, found.people > 1
    units = [ratings(pair, scale) for pair in pairs]
    with_judge = [[*unit, rating(pair, scale)] for unit, pair in zip(units, pairs, strict=True)]
    return Calibration(
        judge=judge[0],
        fingerprint=judge[1],
        data=digest([row.identity() for row in found.rows]),
        labels=scale.kind,
        n=len(pairs),
        people=found.people,
        left_out={word: count for word, count in left_out.items() if count},
        errors=errors,
        rates=_rates(errors, others),
        verdicts=_verdicts(errors),
        kappa=kappas(pairs, scale),
        alpha={metric: alpha(with_judge, metric) for metric in METRICS},
        alpha_people={metric: alpha(units, metric) for metric in METRICS} if several else {},
        values=values_of(pairs),
        by_length=fit_slope([pair.length for pair in pairs], [pair.over for pair in pairs]),
        by_position=grouped(pairs, lambda pair: pair.output.position),
        by_family=grouped(pairs, lambda pair: pair.output.family),
        corrected=corrected,
        uncorrected=why,
    )


def _check(decided: Decided, found: Labelled, file: str | None) -> None:
    """One class only tells nothing about half of a judge's errors."""
    n, line = len(found.rows), found.rows[0].line
    if not decided:
        message = f"of {n} labelled outputs none has both a judge's verdict and people's"
        raise DataError(message, file=file)
    words = {passed for passed, _ in decided}
    if len(words) == 1:
        word = "a pass" if words == {True} else "a fail"
        message = f"from here on each of the {len(decided)} labels is {word}: both are needed"
        hint = "" if found.scale.kind == "verdict" else "; see --pass-at"
        raise DataError(f"{message}{hint}", file=file, line=line, field="label")


def _corrected(
    decided: Decided,
    errors: Confusion,
    others: Sequence[bool],
    random_sample: bool,
    together: bool,
) -> tuple[CorrectedRate | None, str]:
    if not others:
        return None, "there are no judged outputs beyond the labelled ones"
    people, judge = [one for one, _ in decided], [other for _, other in decided]
    if random_sample:
        return ppi_rate(people, judge, others), ""
    try:
        found = rogan_gladen(sum(others) / len(others), len(others), errors)
        return (include_labelled(found, errors) if together else found), ""
    except ChanceError as error:
        return None, str(error)


def _rates(errors: Confusion, others: Sequence[bool]) -> dict[str, IntervalEstimate]:
    found = {
        "people": wilson_estimate(errors.passes, errors.n),
        "judge": wilson_estimate(errors.true_pass + errors.false_pass, errors.n),
    }
    return found | (
        {"judge_on_the_rest": wilson_estimate(sum(others), len(others))} if others else {}
    )


def _verdicts(errors: Confusion) -> dict[str, IntervalEstimate]:
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
