"""Fit the weights of factual accuracy to people's labels on a user's own outputs.

The fit starts from the weights that ship and moves each as far as the labels ask for, against a
pull that is as strong as some twenty labels. Passes and fails count the same in sum, so that a
probability of 0.5 divides them however many of each there are. Five-fold cross-validation by case
says what the fit is worth on outputs that it has not seen; where that is no clear gain over the
shipped weights, it is refused.
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
from fourscore.labels.label_pairs import average_labels
from fourscore.labels.labelled_outputs import Labelled, Output
from fourscore.stats.classification import count_confusion
from fourscore.stats.intervals import IntervalEstimate
from fourscore.stats.means import estimate_mean
from fourscore.stats.regression import Logistic, fit_logistic

#: Labels below which nothing is fitted, and how many passes, fails and cases there have to be.
LEAST, LEAST_EACH = 100, 10
#: How strong the pull toward the shipped weights is, in labels. On six public sets (200 labels of
#: each, benchmarks/fitting.py), anything from 5 to 40 gives the same log loss within .01.
PULL = 20.0
#: The cut. One that is searched for on held-out labels does no better on the public sets.
CUT = 0.5
FOLDS = 5
#: The gain in log loss has to be above 0 at this level, one-sided.
LEVEL = 0.95

_DIRECTIONS = [DIRECTION[name] for name in NAMES]
#: The features of one wording of a fact, in the order of `NAMES`.
Row = list[float]


class Example(NamedTuple):
    """A labelled output: its case, and each of its facts as a weight and a row a wording."""

    case: str
    passed: bool
    facts: list[tuple[float, list[Row]]]


class Fit(msgspec.Struct, frozen=True, kw_only=True):
    """What came of fitting. `refused` says why the weights are not to be used, if so.

    All figures are of labels that were held out; `gain` is in log loss.
    """

    weights: Fitted
    gain: IntervalEstimate
    shipped_accuracy: IntervalEstimate
    fitted_accuracy: IntervalEstimate
    refused: str
    left_out: dict[str, int]


def fit_labelled(found: Labelled, judge: FactualAccuracy, pass_at: float, date: str) -> Fit:
    """Fit to labelled outputs; `DataError` where they are too few or all of one kind."""
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
    _check(examples)
    fit = fit_examples(examples, shipped_model())
    weights = msgspec.structs.replace(fit.weights, data=digest(used), date=date)
    return msgspec.structs.replace(fit, weights=weights, left_out=dict(left_out))


def measure_output(row: Output, judge: FactualAccuracy) -> list[tuple[float, list[Row]]]:
    """The features of each fact of a case beside the output; nothing where none is judged."""
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
    """The features of each fact as it is judged: a row for each of its wordings."""
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
    """The shipped model of support."""
    model = shipped_weights().support
    return Logistic(model.intercept, tuple(model.coefficients[name] for name in NAMES))


def _check(examples: Sequence[Example]) -> None:
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
    """Fit, and hold the result against the shipped model on labels that were held out."""
    before = [predict_pass(example, shipped) for example in examples]
    after = predict_held_out(examples, shipped)
    worth = _worth(examples)
    old, new = _losses(examples, before), _losses(examples, after)
    gained = estimate_mean(
        (w * (a - b) for w, a, b in zip(worth, old, new, strict=True)),
        [example.case for example in examples],
        level=2 * LEVEL - 1,
        bounds=None,
    )
    gain = IntervalEstimate(value=gained.mean, interval=gained.interval, n=gained.n)
    shipped_accuracy, fitted_accuracy = _accuracy(examples, before), _accuracy(examples, after)
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
        shipped=_held_out(worth, old, shipped_accuracy),
        fitted=_held_out(worth, new, fitted_accuracy),
    )
    return Fit(
        weights=weights,
        gain=gain,
        shipped_accuracy=shipped_accuracy,
        fitted_accuracy=fitted_accuracy,
        refused=_why_refused(weights, gain),
        left_out={},
    )


def predict_held_out(examples: Sequence[Example], shipped: Logistic) -> list[float]:
    """The probability of each example by a model that has not seen its case."""
    folds = split_cases(examples)
    chances = [0.0] * len(examples)
    for fold in range(FOLDS):
        seen = [example for example, at in zip(examples, folds, strict=True) if at != fold]
        model = fit_model(seen, shipped)
        for number, at in enumerate(folds):
            if at == fold:
                chances[number] = predict_pass(examples[number], model)
    return chances


def _why_refused(weights: Fitted, gain: IntervalEstimate) -> str:
    if gain.interval is not None and gain.interval[0] > 0:
        return ""
    return (
        f"no clear gain on {gain.n} held-out labels: log loss {weights.fitted.log_loss:.3f} "
        f"fitted, {weights.shipped.log_loss:.3f} shipped"
    )


def fit_model(examples: Sequence[Example], shipped: Logistic) -> Logistic:
    """The shipped model, moved toward the labels; as it is where they are all of one kind."""
    labels = [example.passed for example in examples]
    if len(set(labels)) < 2:
        return shipped
    return fit_logistic(
        [_mean_features(example, shipped) for example in examples],
        labels,
        ridge=PULL / len(examples),
        weights=_worth(examples),
        directions=_DIRECTIONS,
        prior=shipped.coefficients,
    )


def predict_pass(example: Example, model: Logistic) -> float:
    """The mean probability of support of an output's facts, each in its best wording."""
    total = sum(weight for weight, _ in example.facts)
    return sum(w * max(map(model.probability, rows)) for w, rows in example.facts) / total


def _mean_features(example: Example, model: Logistic) -> Row:
    """The mean over an output's facts, each in its best wording."""
    total = sum(weight for weight, _ in example.facts)
    chosen = [(w / total, max(rows, key=model.log_odds)) for w, rows in example.facts]
    return [sum(w * row[j] for w, row in chosen) for j in range(len(NAMES))]


def split_cases(examples: Sequence[Example]) -> list[int]:
    """The fold of each example: all of one case are in the same, folds are of about one size."""
    sizes = Counter(example.case for example in examples)
    filled = [0] * FOLDS
    fold_of = {}
    for case in sorted(sizes, key=lambda case: (-sizes[case], digest(case))):
        fold_of[case] = filled.index(min(filled))
        filled[fold_of[case]] += sizes[case]
    return [fold_of[example.case] for example in examples]


def _worth(examples: Sequence[Example]) -> list[float]:
    """What each example counts: passes and fails the same in sum, 1 in the mean."""
    counts = Counter(example.passed for example in examples)
    return [len(examples) / (2 * counts[example.passed]) for example in examples]


def _losses(examples: Sequence[Example], chances: Sequence[float]) -> list[float]:
    return [
        -log(max(1e-12, chance if example.passed else 1 - chance))
        for example, chance in zip(examples, chances, strict=True)
    ]


def _accuracy(examples: Sequence[Example], chances: Sequence[float]) -> IntervalEstimate:
    pairs = zip(examples, chances, strict=True)
    return count_confusion((one.passed, chance >= CUT) for one, chance in pairs).balanced_accuracy()


def _held_out(
    worth: Sequence[float], losses: Sequence[float], accuracy: IntervalEstimate
) -> HeldOut:
    loss = sum(w * one for w, one in zip(worth, losses, strict=True)) / len(losses)
    return HeldOut(round(loss, 4), round(accuracy.value or 0.0, 4))
