"""The test on labels that nothing has seen: the learned rubric beside the plain prompt.

The plain prompt is given the same chance: its scale is fitted on the check part too, so that it
does not lose for being too kind. To have learned something takes two things, each at a level of
one in a hundred: the rubric agrees with the labels better than with shuffled ones, and its errors
are smaller than the plain prompt's, pair by pair.
"""

from collections.abc import Mapping, Sequence
from math import fsum
from typing import Any

import msgspec

from fourscore.core.numbers import clamp
from fourscore.core.rubric import SLACK
from fourscore.formats.labelled_samples import SampleFile
from fourscore.labels.learning.checker import SILENT, Checker
from fourscore.labels.learning.choose_criteria import Candidate, Choice, complete, find_value_range
from fourscore.labels.learning.data_split import Parts, Unit, list_answers
from fourscore.stats.agreement import kappa, make_table
from fourscore.stats.bootstrap import bootstrap
from fourscore.stats.correlation import kendall, spearman
from fourscore.stats.intervals import IntervalEstimate
from fourscore.stats.permutation import shuffled_agreement_p_value, sign_flip_p_value
from fourscore.stats.regression import fit_non_negative

#: What chance may do at the most, in each of the two tests.
LEVEL = 0.01


def values_of(
    choice: Choice, verdicts: Mapping[str, Mapping[Unit, int]], units: Sequence[Unit]
) -> list[float]:
    """What the judge in the artifact gives: as `Criteria` does, with the same rounding."""
    low, high = find_value_range(choice.fit)
    weights = shares_of(choice)
    values = []
    for unit in units:
        given = [verdicts[one.text][unit] for one in choice.chosen]
        if SILENT in given:
            values.append(0.0)
            continue
        met = (w * one.met(v) for one, w, v in zip(choice.chosen, weights, given, strict=True))
        values.append(low + (high - low) * fsum(met) / fsum(weights))
    return values


def shares_of(choice: Choice) -> list[float]:
    """The weights as they are written down: parts of 1."""
    total = fsum(choice.fit.weights)
    return [max(round(weight / total, 3), 0.001) for weight in choice.fit.weights]


async def report_scores(
    samples: SampleFile, parts: Parts, checker: Checker, choice: Choice, threshold: float
) -> dict[str, Any]:
    """Pointwise: how near the values are to the labels."""
    held, check = list_answers(samples, parts.held), list_answers(samples, parts.check)
    verdicts = await checker.verdicts([one.text for one in choice.chosen], held)
    ratings = await checker.ratings([*check, *held])
    scale = [unit for unit in check if unit in ratings]
    fit = fit_non_negative([[ratings[unit]] for unit in scale], [unit.y for unit in scale])
    there = [unit for unit in complete(choice.chosen, verdicts, held) if unit in ratings]
    labels = [unit.y for unit in there]
    learned = values_of(choice, verdicts, there)
    plain = [ratings[unit] for unit in there]
    fitted = [clamp(fit.at([rating])) for rating in plain]
    saved = [abs(b - y) - abs(a - y) for a, b, y in zip(learned, fitted, labels, strict=True)]
    tests = {
        "agreement_p": shuffled_agreement_p_value(learned, labels),
        "better_p": sign_flip_p_value(saved),
        "error_saved": _shown(_mean(saved)),
    }
    return {
        "held_out": len(held),
        "learned": _figures(learned, labels, threshold),
        "plain": _figures(plain, labels, threshold),
        "plain_fitted": _figures(fitted, labels, threshold),
        **_verdict(tests),
    }


async def report_rankings(
    samples: SampleFile, parts: Parts, checker: Checker, criterion: str
) -> dict[str, Any]:
    """Listwise: how often two answers are put in the order that the labels have."""
    learned = await checker.rankings(criterion, parts.held)
    plain = await checker.rankings("", parts.held)
    there = [at for at in parts.held if at in learned and at in plain]
    ours = [kendall(learned[at], samples.values(at)).value or 0.0 for at in there]
    theirs = [kendall(plain[at], samples.values(at)).value or 0.0 for at in there]
    tests = {
        "agreement_p": sign_flip_p_value(ours),
        "better_p": sign_flip_p_value([a - b for a, b in zip(ours, theirs, strict=True)]),
        "tau_gained": _shown(_mean([a - b for a, b in zip(ours, theirs, strict=True)])),
    }
    return {
        "held_out": len(parts.held),
        "learned": _orders(samples, there, learned, ours),
        "plain": _orders(samples, there, plain, theirs),
        **_verdict(tests),
    }


def _verdict(tests: dict[str, Any]) -> dict[str, Any]:
    agrees, better = tests["agreement_p"] < LEVEL, tests["better_p"] < LEVEL
    if agrees and better:
        why = "it agrees with held-out labels, and better than the plain prompt"
    elif not agrees:
        why = "on held-out labels it agrees no better than chance might"
    else:
        why = "on held-out labels it is not shown to be better than the plain prompt"
    return {**tests, "level": LEVEL, "learned_something": agrees and better, "why": why}


def _figures(given: Sequence[float], labels: Sequence[float], threshold: float) -> dict[str, Any]:
    n = len(given)
    return {
        "n": n,
        "spearman": _shown(spearman(given, labels)),
        "kappa": _shown(_kappa(given, labels, threshold)),
        "mean_absolute_error": _shown(
            _mean([abs(a - y) for a, y in zip(given, labels, strict=True)])
        ),
    }


def _orders(
    samples: SampleFile,
    there: Sequence[int],
    given: Mapping[int, list[float]],
    taus: Sequence[float],
) -> dict[str, Any]:
    first = [
        float(max(range(len(given[at])), key=given[at].__getitem__) == _best(samples.values(at)))
        for at in there
    ]
    errors = [
        abs(a - y) for at in there for a, y in zip(given[at], samples.values(at), strict=True)
    ]
    rhos = [spearman(given[at], samples.values(at)).value or 0.0 for at in there]
    return {
        "n": len(there),
        "kendall": _shown(_mean(taus)),
        "spearman": _shown(_mean(rhos)),
        "first_right": _shown(_mean(first)),
        "mean_absolute_error": _shown(_mean(errors)),
    }


def _best(values: Sequence[float]) -> int:
    return max(range(len(values)), key=values.__getitem__)


def _mean(values: Sequence[float]) -> IntervalEstimate:
    n = len(values)
    return IntervalEstimate(value=fsum(values) / n if n else None, interval=bootstrap(values), n=n)


def _kappa(given: Sequence[float], labels: Sequence[float], threshold: float) -> IntervalEstimate:
    """Of passing and failing, at the threshold."""
    pairs = [
        (y >= threshold - SLACK, value >= threshold - SLACK)
        for value, y in zip(given, labels, strict=True)
    ]
    return kappa(make_table(pairs, (False, True))).figure()


def _shown(figure: IntervalEstimate) -> dict[str, Any]:
    told: dict[str, Any] = msgspec.to_builtins(figure)
    value, interval = told["value"], told["interval"]
    return {
        "value": None if value is None else round(value, 4),
        "interval": None if interval is None else [round(end, 4) for end in interval],
        "n": told["n"],
    }


def join_criteria(chosen: Sequence[Candidate], language: str) -> str:
    """Criteria as one text for a ranking, the weightiest first."""
    meets = [one.text.rstrip(".。") for one in chosen if one.expect == "yes"]
    lacks = [one.text.rstrip(".。") for one in chosen if one.expect == "no"]
    if language == "zh":
        parts = [f"（{i}）{text}" for i, text in enumerate(meets, 1)]
        said = "哪一个更符合以下标准，重要的在前：" + "；".join(parts) if meets else ""
        not_said = "不应出现：" + "；".join(lacks) if lacks else ""
        return "；".join(part for part in (said, not_said) if part)
    parts = [f"({i}) {text}" for i, text in enumerate(meets, 1)]
    said = "which meets these criteria better, the most important first: " + "; ".join(parts)
    not_said = "of a good answer this is not true: " + "; ".join(lacks)
    return "; ".join(part for part, some in ((said, meets), (not_said, lacks)) if some)
