"""Fit the weights of factual accuracy to people's labels on a user's own outputs.

The fit is a logistic regression with the shipped weights as prior, which counts as much as twenty
labels. Passes and fails have the same total weight, so that a probability of 0.5 divides them
however many of each there are. Five-fold cross-validation by case measures the fit on unseen
outputs; without a clear gain over the shipped weights it is refused.
"""

from collections import Counter
from collections.abc import Sequence
from math import log
from typing import Any, NamedTuple

import msgspec

from fourscore.core import CaseError, DataError, digest
from fourscore.judges.dimensions.case_fields import find_question
from fourscore.judges.dimensions.factual_accuracy import Fact, FactualAccuracy, read_facts
from fourscore.judges.empty_answers import explain_empty_answer
from fourscore.judges.reader.features import DIRECTION, NAMES, Match, measure
from fourscore.judges.reader.support import read_claims, stem_question
from fourscore.judges.reader.text import Text, read_text
from fourscore.judges.reader.weights import Fitted, HeldOut, LinearModel, shipped_weights
from fourscore.labels.labelled_outputs import LabelledOutput, LabelledOutputs, average_labels
from fourscore.stats.classification import count_confusion
from fourscore.stats.intervals import IntervalEstimate
from fourscore.stats.means import estimate_mean
from fourscore.stats.regression import Logistic, fit_logistic

#: The fewest labels, and the fewest passes, fails and cases.
LEAST, LEAST_EACH = 100, 10
#: Strength of the prior (the shipped weights), in labels. On six public sets (200 labels of
#: each, benchmarks/fitting.py), anything from 5 to 40 gives the same log loss within .01.
PULL = 20.0
#: Probability from which an output passes. A cut tuned on held-out labels was no better.
CUT = 0.5
FOLDS = 5
#: The gain in log loss has to be above 0 at this level, one-sided.
LEVEL = 0.95

_DIRECTIONS = [DIRECTION[name] for name in NAMES]
#: The features of one wording of a fact, in the order of `NAMES`.
Row = list[float]


class Example(NamedTuple):
    """A labelled output: its case, and each fact as a weight and one row per wording."""

    case: str
    passed: bool
    facts: list[tuple[float, list[Row]]]


class Fit(msgspec.Struct, frozen=True, kw_only=True):
    """The fitted weights and their figures on held-out labels; `gain` is in log loss.

    `refused` says why the weights should not be used; "" if they should.
    """

    weights: Fitted
    gain: IntervalEstimate
    shipped_accuracy: IntervalEstimate
    fitted_accuracy: IntervalEstimate
    refused: str
    left_out: dict[str, int]


def fit_labelled(found: LabelledOutputs, judge: FactualAccuracy, pass_at: float, date: str) -> Fit:
    """Fit to labelled outputs; `DataError` if they are too few or all of one kind."""
    examples: list[Example] = []
    left_out: Counter[str] = Counter()
    used: list[Any] = []
    for row in found.rows:
        passed = average_labels(row, found.scale, pass_at)[1]
        facts = measure_output(row, judge)
        if passed is None or not facts:
            left_out["tied" if passed is None else "without facts or an answer"] += 1
            continue
        case = row.case.metadata.get("group") or row.case.id
        examples.append(Example(str(case), passed, facts))
        used.append(row.identity())
    _check_examples(examples)
    fit = fit_examples(examples, shipped_model())
    weights = msgspec.structs.replace(fit.weights, data=digest(used), date=date)
    return msgspec.structs.replace(fit, weights=weights, left_out=dict(left_out))


def measure_output(row: LabelledOutput, judge: FactualAccuracy) -> list[tuple[float, list[Row]]]:
    """Return the features of each fact of a case; [] if the output is not judged."""
    answer = row.trace.answer
    try:
        facts = read_facts(row.case)
    except CaseError:  # not judged either: `calibrate` counts it as unmeasured
        return []
    text = read_text(answer, keep_thinking=judge.think == "keep")
    if not facts or not text.sentences or explain_empty_answer(row.case, answer) is not None:
        return []
    measured = measure_facts(facts, text, find_question(row.case.input))
    pairs = zip(facts, measured, strict=True)
    return [(fact.weight, rows) for fact, rows in pairs if fact.weight]


def measure_facts(facts: Sequence[Fact], text: Text, question: str) -> list[list[Row]]:
    """Return the features of each fact, one row for each of its wordings."""
    asked = stem_question(question)
    if any(fact.others for fact in facts):
        wordings = [(fact.text, *fact.others) for fact in facts]
        return [
            [measure(Match(read_claims([one], asked)[0], text)) for one in each]
            for each in wordings
        ]
    claims = read_claims([fact.text for fact in facts], asked)
    return [[measure(Match(claim, text))] for claim in claims]


def shipped_model() -> Logistic:
    """Return the shipped model of support."""
    model = shipped_weights().support
    return Logistic(model.intercept, tuple(model.coefficients[name] for name in NAMES))


def _check_examples(examples: Sequence[Example]) -> None:
    passes = sum(example.passed for example in examples)
    cases = len({example.case for example in examples})
    for count, least, what in (
        (len(examples), LEAST, "labelled outputs whose case expects facts"),
        (passes, LEAST_EACH, "outputs that people pass"),
        (len(examples) - passes, LEAST_EACH, "outputs that people fail"),
        (cases, LEAST_EACH, "different cases"),
    ):
        if count < least:
            raise DataError(f"needs at least {least} {what}, found {count}", field="--fit")


def fit_examples(examples: Sequence[Example], shipped: Logistic) -> Fit:
    """Fit, and compare the result with the shipped model on held-out labels."""
    before = [predict_pass(example, shipped) for example in examples]
    after = predict_held_out(examples, shipped)
    worth = _balance_classes(examples)
    old, new = _compute_losses(examples, before), _compute_losses(examples, after)
    gained = estimate_mean(
        (w * (a - b) for w, a, b in zip(worth, old, new, strict=True)),
        [example.case for example in examples],
        level=2 * LEVEL - 1,
        bounds=None,
    )
    gain = IntervalEstimate(value=gained.mean, interval=gained.interval, n=gained.n)
    shipped_accuracy, fitted_accuracy = (
        _measure_accuracy(examples, before),
        _measure_accuracy(examples, after),
    )
    model = fit_model(examples, shipped)
    coefficients = zip(NAMES, model.coefficients, strict=True)
    weights = Fitted(
        support=LinearModel(
            round(model.intercept, 4), {name: round(value, 4) for name, value in coefficients}
        ),
        cut=CUT,
        labels=len(examples),
        cases=gained.cases,
        data="",
        date="",
        shipped=_make_held_out(worth, old, shipped_accuracy),
        fitted=_make_held_out(worth, new, fitted_accuracy),
    )
    return Fit(
        weights=weights,
        gain=gain,
        shipped_accuracy=shipped_accuracy,
        fitted_accuracy=fitted_accuracy,
        refused=_explain_refusal(weights, gain),
        left_out={},
    )


def predict_held_out(examples: Sequence[Example], shipped: Logistic) -> list[float]:
    """Return the probability of each example by a model that has not seen its case."""
    folds = split_cases(examples)
    chances = [0.0] * len(examples)
    for fold in range(FOLDS):
        seen = [example for example, at in zip(examples, folds, strict=True) if at != fold]
        model = fit_model(seen, shipped)
        for number, at in enumerate(folds):
            if at == fold:
                chances[number] = predict_pass(examples[number], model)
    return chances


def _explain_refusal(weights: Fitted, gain: IntervalEstimate) -> str:
    if gain.interval is not None and gain.interval[0] > 0:
        return ""
    return (
        f"no clear gain on {gain.n} held-out labels: log loss {weights.fitted.log_loss:.3f} "
        f"fitted, {weights.shipped.log_loss:.3f} shipped"
    )


def fit_model(examples: Sequence[Example], shipped: Logistic) -> Logistic:
    """Fit a model to the labels; the shipped one if they are all of one kind."""
    labels = [example.passed for example in examples]
    if len(set(labels)) < 2:
        return shipped
    return fit_logistic(
        [_mean_features(example, shipped) for example in examples],
        labels,
        ridge=PULL / len(examples),
        weights=_balance_classes(examples),
        directions=_DIRECTIONS,
        prior=shipped.coefficients,
    )


def predict_pass(example: Example, model: Logistic) -> float:
    """Return the mean probability of support of an output's facts, each in its best wording."""
    total = sum(weight for weight, _ in example.facts)
    return sum(w * max(map(model.probability, rows)) for w, rows in example.facts) / total


def _mean_features(example: Example, model: Logistic) -> Row:
    """Return the mean features of an output's facts, each in its best wording."""
    total = sum(weight for weight, _ in example.facts)
    chosen = [(w / total, max(rows, key=model.log_odds)) for w, rows in example.facts]
    return [sum(w * row[j] for w, row in chosen) for j in range(len(NAMES))]


def split_cases(examples: Sequence[Example]) -> list[int]:
    """Return the fold of each example: one case is in one fold, folds have similar sizes."""
    sizes = Counter(example.case for example in examples)
    filled = [0] * FOLDS
    fold_of = {}
    for case in sorted(sizes, key=lambda case: (-sizes[case], digest(case))):
        fold_of[case] = filled.index(min(filled))
        filled[fold_of[case]] += sizes[case]
    return [fold_of[example.case] for example in examples]


def _balance_classes(examples: Sequence[Example]) -> list[float]:
    """Return the weight of each example: the same total for passes and fails, 1 on average."""
    counts = Counter(example.passed for example in examples)
    return [len(examples) / (2 * counts[example.passed]) for example in examples]


def _compute_losses(examples: Sequence[Example], chances: Sequence[float]) -> list[float]:
    return [
        -log(max(1e-12, chance if example.passed else 1 - chance))
        for example, chance in zip(examples, chances, strict=True)
    ]


def _measure_accuracy(examples: Sequence[Example], chances: Sequence[float]) -> IntervalEstimate:
    pairs = zip(examples, chances, strict=True)
    return count_confusion((one.passed, chance >= CUT) for one, chance in pairs).balanced_accuracy()


def _make_held_out(
    worth: Sequence[float], losses: Sequence[float], accuracy: IntervalEstimate
) -> HeldOut:
    loss = sum(w * one for w, one in zip(worth, losses, strict=True)) / len(losses)
    return HeldOut(round(loss, 4), round(accuracy.value or 0.0, 4))
