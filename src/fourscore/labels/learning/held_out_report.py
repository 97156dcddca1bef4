"""Compare the learned rubric with the plain prompt on held-out labels.

The comparison is fair: the scale of the plain prompt is fitted on the check part too, so that it
does not lose for being too kind. Something was learned if two tests succeed, each at the level 1%:
the rubric agrees with the labels better than with shuffled ones, and its errors are smaller than
the plain prompt's, pair by pair.
"""

from collections.abc import Mapping, Sequence
from math import fsum
from typing import Any

import msgspec

from fourscore.core.numbers import clamp
from fourscore.core.rubric import SLACK
from fourscore.formats.labelled_samples import SampleFile
from fourscore.labels.learning.checker import EMPTY, Checker
from fourscore.labels.learning.choose_criteria import (
    Candidate,
    ChosenCriteria,
    find_value_range,
    keep_complete,
)
from fourscore.labels.learning.data_split import DataSplit, LabelledAnswer, list_answers
from fourscore.stats.agreement import kappa, make_table
from fourscore.stats.bootstrap import bootstrap
from fourscore.stats.correlation import kendall, spearman
from fourscore.stats.intervals import IntervalEstimate
from fourscore.stats.permutation import shuffled_agreement_p_value, sign_flip_p_value
from fourscore.stats.regression import fit_non_negative

#: The significance level of each of the two tests.
LEVEL = 0.01


def compute_values(
    choice: ChosenCriteria,
    verdicts: Mapping[str, Mapping[LabelledAnswer, int]],
    answers: Sequence[LabelledAnswer],
) -> list[float]:
    """Return the values that the judge in the rubric file gives, with the same rounding."""
    low, high = find_value_range(choice.fit)
    weights = normalize_weights(choice)
    values = []
    for answer in answers:
        given = [verdicts[one.text][answer] for one in choice.chosen]
        if EMPTY in given:
            values.append(0.0)
            continue
        met = (
            w * one.measure_met(v) for one, w, v in zip(choice.chosen, weights, given, strict=True)
        )
        values.append(low + (high - low) * fsum(met) / fsum(weights))
    return values


def normalize_weights(choice: ChosenCriteria) -> list[float]:
    """Return the weights as written to the file: they sum to about 1."""
    total = fsum(choice.fit.weights)
    return [max(round(weight / total, 3), 0.001) for weight in choice.fit.weights]


async def report_scores(
    samples: SampleFile,
    split: DataSplit,
    checker: Checker,
    choice: ChosenCriteria,
    threshold: float,
) -> dict[str, Any]:
    """Return the report for pointwise mode: how near the values are to the labels."""
    held, check = list_answers(samples, split.held), list_answers(samples, split.check)
    verdicts = await checker.check_criteria([one.text for one in choice.chosen], held)
    ratings = await checker.rate([*check, *held])
    scale = [answer for answer in check if answer in ratings]
    fit = fit_non_negative(
        [[ratings[answer]] for answer in scale], [answer.label for answer in scale]
    )
    there = [answer for answer in keep_complete(choice.chosen, verdicts, held) if answer in ratings]
    labels = [answer.label for answer in there]
    learned = compute_values(choice, verdicts, there)
    plain = [ratings[answer] for answer in there]
    fitted = [clamp(fit.at([rating])) for rating in plain]
    saved = [abs(b - y) - abs(a - y) for a, b, y in zip(learned, fitted, labels, strict=True)]
    tests = {
        "agreement_p": shuffled_agreement_p_value(learned, labels),
        "better_p": sign_flip_p_value(saved),
        "error_saved": _round_figure(_estimate_mean(saved)),
    }
    return {
        "held_out": len(held),
        "learned": _measure_scores(learned, labels, threshold),
        "plain": _measure_scores(plain, labels, threshold),
        "plain_fitted": _measure_scores(fitted, labels, threshold),
        **_decide(tests),
    }


async def report_rankings(
    samples: SampleFile, split: DataSplit, checker: Checker, criterion: str
) -> dict[str, Any]:
    """Return the report for listwise mode: how well the order of the answers fits the labels."""
    learned = await checker.rank(criterion, split.held)
    plain = await checker.rank("", split.held)
    there = [at for at in split.held if at in learned and at in plain]
    ours = [kendall(learned[at], samples.values(at)).value or 0.0 for at in there]
    theirs = [kendall(plain[at], samples.values(at)).value or 0.0 for at in there]
    tests = {
        "agreement_p": sign_flip_p_value(ours),
        "better_p": sign_flip_p_value([a - b for a, b in zip(ours, theirs, strict=True)]),
        "tau_gained": _round_figure(
            _estimate_mean([a - b for a, b in zip(ours, theirs, strict=True)])
        ),
    }
    return {
        "held_out": len(split.held),
        "learned": _measure_orders(samples, there, learned, ours),
        "plain": _measure_orders(samples, there, plain, theirs),
        **_decide(tests),
    }


def _decide(tests: dict[str, Any]) -> dict[str, Any]:
    agrees, better = tests["agreement_p"] < LEVEL, tests["better_p"] < LEVEL
    if agrees and better:
        why = "it agrees with held-out labels, and better than the plain prompt"
    elif not agrees:
        why = "on held-out labels it agrees no better than chance might"
    else:
        why = "on held-out labels it is not shown to be better than the plain prompt"
    return {**tests, "level": LEVEL, "learned_something": agrees and better, "why": why}


def _measure_scores(
    given: Sequence[float], labels: Sequence[float], threshold: float
) -> dict[str, Any]:
    n = len(given)
    return {
        "n": n,
        "spearman": _round_figure(spearman(given, labels)),
        "kappa": _round_figure(_kappa(given, labels, threshold)),
        "mean_absolute_error": _round_figure(
            _estimate_mean([abs(a - y) for a, y in zip(given, labels, strict=True)])
        ),
    }


def _measure_orders(
    samples: SampleFile,
    there: Sequence[int],
    given: Mapping[int, list[float]],
    taus: Sequence[float],
) -> dict[str, Any]:
    first = [
        float(
            max(range(len(given[at])), key=given[at].__getitem__) == _find_best(samples.values(at))
        )
        for at in there
    ]
    errors = [
        abs(a - y) for at in there for a, y in zip(given[at], samples.values(at), strict=True)
    ]
    rhos = [spearman(given[at], samples.values(at)).value or 0.0 for at in there]
    return {
        "n": len(there),
        "kendall": _round_figure(_estimate_mean(taus)),
        "spearman": _round_figure(_estimate_mean(rhos)),
        "first_right": _round_figure(_estimate_mean(first)),
        "mean_absolute_error": _round_figure(_estimate_mean(errors)),
    }


def _find_best(values: Sequence[float]) -> int:
    return max(range(len(values)), key=values.__getitem__)


def _estimate_mean(values: Sequence[float]) -> IntervalEstimate:
    n = len(values)
    return IntervalEstimate(value=fsum(values) / n if n else None, interval=bootstrap(values), n=n)


def _kappa(given: Sequence[float], labels: Sequence[float], threshold: float) -> IntervalEstimate:
    """Return the kappa of passing and failing at the threshold."""
    pairs = [
        (y >= threshold - SLACK, value >= threshold - SLACK)
        for value, y in zip(given, labels, strict=True)
    ]
    return kappa(make_table(pairs, (False, True))).figure()


def _round_figure(figure: IntervalEstimate) -> dict[str, Any]:
    document: dict[str, Any] = msgspec.to_builtins(figure)
    value, interval = document["value"], document["interval"]
    return {
        "value": None if value is None else round(value, 4),
        "interval": None if interval is None else [round(end, 4) for end in interval],
        "n": document["n"],
    }


def join_criteria(chosen: Sequence[Candidate], language: str) -> str:
    """Return the criteria as one text for a ranking, in their order."""
    meets = [one.text.rstrip(".。") for one in chosen if one.expect == "yes"]
    lacks = [one.text.rstrip(".。") for one in chosen if one.expect == "no"]
    if language == "zh":
        parts = [f"（{i}）{text}" for i, text in enumerate(meets, 1)]
        positive = "哪一个更符合以下标准，重要的在前：" + "；".join(parts) if meets else ""
        negative = "不应出现：" + "；".join(lacks) if lacks else ""
        return "；".join(part for part in (positive, negative) if part)
    parts = [f"({i}) {text}" for i, text in enumerate(meets, 1)]
    positive = "which meets these criteria better, the most important first: " + "; ".join(parts)
    negative = "of a good answer this is not true: " + "; ".join(lacks)
    return "; ".join(part for part, some in ((positive, meets), (negative, lacks)) if some)
