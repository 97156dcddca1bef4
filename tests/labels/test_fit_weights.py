"""Weights fitted to labels: what is learned, what is refused, and what it is measured on."""

import random

import pytest

from fourscore.core import Case, DataError, Trace
from fourscore.formats.label_scale import Scale
from fourscore.judges.dimensions.case_fields import find_question
from fourscore.judges.dimensions.factual_accuracy import FactualAccuracy, judge_facts, read_facts
from fourscore.judges.reader.features import DIRECTION, NAMES
from fourscore.judges.reader.text import read_text
from fourscore.judges.reader.weights import shipped_weights
from fourscore.labels.fit_weights import (
    Example,
    fit_examples,
    fit_labelled,
    fit_model,
    measure_output,
    predict_pass,
    shipped_model,
    split_cases,
)
from fourscore.labels.labelled_outputs import LabelledOutput, LabelledOutputs
from fourscore.stats.regression import Logistic

SHIPPED = shipped_model()


#: People who pass what has a fifth of the words.
GENEROUS = Logistic(-4.0, tuple(20.0 * (name == "words_in_text") for name in NAMES))


def make_examples(
    count: int, seed: int, people: Logistic = SHIPPED, rate: float = 1.0
) -> list[Example]:
    """Outputs that share a part of their claim's words. Of those that pass, `rate` is kept."""
    chance = random.Random(seed)
    made: list[Example] = []
    while len(made) < count:
        share = chance.random()
        row = [0.0] * len(NAMES)
        for name in ("words_in_text", "words_in_sentence", "words_in_window", "pairs_in_sentence"):
            row[NAMES.index(name)] = share
        example = Example(f"case {len(made)}", False, [(1.0, [row])])
        passed = chance.random() < predict_pass(example, people)
        if not passed or chance.random() < rate:
            made.append(example._replace(passed=passed))
    return made


def test_learns_that_people_are_more_generous() -> None:
    fit = fit_examples(make_examples(200, 1, GENEROUS), SHIPPED)
    assert not fit.refused
    assert fit.weights.labels == fit.weights.cases == fit.gain.n == 200
    assert fit.weights.fitted.log_loss < fit.weights.shipped.log_loss - 0.1
    assert fit.weights.fitted.balanced_accuracy > fit.weights.shipped.balanced_accuracy + 0.1
    assert fit.gain.interval is not None
    assert fit.gain.interval[0] > 0
    for name, value in fit.weights.support.coefficients.items():
        assert value * DIRECTION[name] >= 0 or not DIRECTION[name]


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_fit_without_gain_is_refused(seed: int) -> None:
    fit = fit_examples(make_examples(200, seed), SHIPPED)
    shipped, fitted = fit.weights.shipped.log_loss, fit.weights.fitted.log_loss
    figures = f"200 held-out labels: log loss {fitted:.3f} fitted, {shipped:.3f} shipped"
    assert fit.refused == f"no clear gain on {figures}"


def test_fit_does_not_depend_on_pass_rate() -> None:
    """Where most outputs are bad, an unbalanced fit would fail nearly all of them."""
    rare = fit_model(make_examples(400, 4, GENEROUS, rate=0.05), SHIPPED)
    others = make_examples(400, 5, GENEROUS)
    found = {True: 0, False: 0}
    for example in others:
        found[example.passed] += (predict_pass(example, rare) >= 0.5) == example.passed
    passes = sum(example.passed for example in others)
    assert found[True] / passes > 0.75
    assert found[False] / (len(others) - passes) > 0.75


def test_labels_of_one_kind_keep_shipped_weights() -> None:
    passes = [example for example in make_examples(200, 6) if example.passed]
    assert fit_model(passes, SHIPPED) == SHIPPED


def test_all_outputs_of_a_case_are_in_one_fold() -> None:
    examples = [
        example._replace(case=f"case {number // 3}")
        for number, example in enumerate(make_examples(100, 7))
    ]
    folds = split_cases(examples)
    assert len(set(zip((one.case for one in examples), folds, strict=True))) == 34
    assert all(18 <= folds.count(fold) <= 22 for fold in range(5))


@pytest.mark.parametrize(
    "expected",
    [
        {
            "claims": [
                {"text": "The tower opened in 1889."},
                {"text": "It is in Paris.", "weight": 3},
            ]
        },
        {"answer": ["the Eiffel Tower", "La tour Eiffel", "a tower in Paris"]},
    ],
)
def test_features_are_those_the_judge_uses(expected: object) -> None:
    case = Case(input="Which tower opened in Paris?", expected=expected)
    output = "The Eiffel Tower opened in 1889. It stands beside the river."
    row = LabelledOutput(case=case, trace=Trace(output=output))
    facts = read_facts(case)
    verdicts = judge_facts(facts, read_text(output), find_question(case.input), shipped_weights())
    total = sum(fact.weight for fact in facts)
    judged = sum(f.weight * one.support for f, one in zip(facts, verdicts, strict=True)) / total
    measured = Example("", True, measure_output(row, FactualAccuracy()))
    assert predict_pass(measured, SHIPPED) == pytest.approx(judged)


def make_labelled(count: int, passes: int) -> LabelledOutputs:
    rows = [
        LabelledOutput(
            case=Case(id=str(number), expected=f"The bridge of {number} meters."),
            trace=Trace(output=f"It has {number + number % 2} meters."),
            labels=(float(number < passes),),
        )
        for number in range(count)
    ]
    return LabelledOutputs(scale=Scale("verdict"), rows=rows, people=1)


@pytest.mark.parametrize(
    ("count", "passes", "words"),
    [
        (99, 50, "at least 100 labelled outputs whose case expects facts, found 99"),
        (120, 9, "at least 10 outputs that people pass, found 9"),
        (120, 111, "at least 10 outputs that people fail, found 9"),
    ],
)
def test_too_few_labels_are_refused(count: int, passes: int, words: str) -> None:
    with pytest.raises(DataError, match=words):
        fit_labelled(make_labelled(count, passes), FactualAccuracy(), 0.7, "2026-01-01")


def test_outputs_without_facts_or_an_answer_are_left_out_and_counted() -> None:
    found = make_labelled(120, 60)
    found.rows.append(
        LabelledOutput(case=Case(id="a"), trace=Trace(output="Hello."), labels=(1.0,))
    )
    found.rows.append(
        LabelledOutput(
            case=Case(id="b", expected="A bridge."), trace=Trace(output=""), labels=(1.0,)
        )
    )
    tied = LabelledOutput(
        case=Case(id="c", expected="A bridge."), trace=Trace(output="A bridge."), labels=(1.0, 0.0)
    )
    found.rows.append(tied)
    fit = fit_labelled(found, FactualAccuracy(), 0.7, "2026-01-01")
    assert fit.weights.labels == 120
    assert fit.left_out == {"without facts or an answer": 2, "tied": 1}
    assert fit.weights.date == "2026-01-01"
    assert fit.weights.data
