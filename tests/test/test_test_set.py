"""The plain objects: TestSet, EvaluationRunner, calculate_overall_score, evaluate_output."""

from typing import Any

import pytest

from fourscore import (
    EVALUATION_RUBRIC,
    Case,
    ConfigError,
    EvaluationRunner,
    TestSet,
    assert_passes,
    calculate_overall_score,
    judge,
)
from fourscore import evaluate_output as evaluate_one
from fourscore.core import Dimension, Rubric, Trace
from fourscore.judges.math import MathJudge


def make_test_set() -> TestSet:
    tests = TestSet("sums")
    tests.add_test(
        {"input": "1+1", "expected": "2", "tags": ["easy", "sum"], "complexity": "simple"}
    )
    tests.add_test({"input": "2+2", "expected": "4", "tags": ["sum"]})
    tests.add_test(Case(input="3*3", expected="9", tags=("product",), complexity="complex"))
    return tests


class Agent:
    def run(self, question: str) -> str:
        return f"\\boxed{{{ {'1+1': 2, '2+2': 4}.get(question, 0) }}}"


def test_filters_by_fields_and_counts_complexities() -> None:
    tests = make_test_set()
    assert tests.tags == {"easy": [0], "sum": [0, 1], "product": [2]}
    assert tests.filter(complexity="simple") == [tests.tests[0]]
    assert tests.filter(input="3*3") == [tests.tests[2]]
    assert tests.filter(colour=None) == []
    assert tests.get_complexity_distribution() == {"simple": 1, "medium": 1, "complex": 1}
    assert (len(tests), TestSet.__test__) == (3, False)


def test_runs_and_scores_with_a_rubric() -> None:
    rubric = Rubric(name="r", dimensions=(Dimension(name="right", judge=MathJudge(), weight=1.0),))
    runner = EvaluationRunner(make_test_set(), rubric, Agent())
    summary = runner.run_all()
    assert (summary["total_tests"], summary["passed"], summary["failed"]) == (3, 2, 1)
    assert summary["pass_rate"] == pytest.approx(2 / 3)
    assert summary["dimension_averages"] == {"right": pytest.approx(2 / 3)}
    assert summary["failures"] == [runner.results[2]]
    assert runner.results[0]["output"] == "\\boxed{2}"
    assert runner.results[0]["evaluation"] == {
        "overall_score": 1.0,
        "dimension_scores": {"right": 1.0},
        "passed": True,
    }


@judge
def broken(_case: Any, _trace: Any) -> float:
    raise ValueError("broken")


def test_judge_that_fails_takes_nothing_from_other_dimensions() -> None:
    class Mine(EvaluationRunner):
        def evaluate_dimension(
            self, output: Any, ground_truth: Any, dimension: str, config: Any
        ) -> float | None:
            if dimension == "mine":
                return 0.5
            return super().evaluate_dimension(output, ground_truth, dimension, config)

    tests = TestSet("t")
    tests.add_test({"input": "x"})
    rubric = {
        "mine": {"weight": 0.5, "judge": broken},
        "broken": {"weight": 0.5, "judge": broken},
    }
    summary = Mine(tests, rubric, lambda text: text).run_all()
    assert (summary["total_tests"], summary["statuses"]["judge_error"]) == (0, 1)
    assert summary["dimension_averages"] == {"mine": 0.5}
    assert summary["dimensions"]["broken"]["not_measured"] == 1
    assert "ValueError: broken" in summary["unmeasured_first"][0]["reason"]


def test_scores_with_an_overridden_evaluate_dimension(capsys: Any) -> None:
    class Mine(EvaluationRunner):
        def evaluate_dimension(
            self, output: Any, ground_truth: Any, dimension: str, config: Any
        ) -> float:
            assert config["weight"] == {"right": 0.75, "short": 0.25}[dimension]
            return float(ground_truth in output) if dimension == "right" else 1.0

    runner = Mine(
        make_test_set(), {"right": {"weight": 0.75}, "short": {"weight": 0.25}}, Agent().run
    )
    summary = runner.run_all(verbose=True)
    assert capsys.readouterr().out.count("test ") == 3
    assert [r["evaluation"]["overall_score"] for r in runner.results] == [1.0, 1.0, 0.25]
    assert summary["passed"] == 2


def test_finds_the_judges_of_a_mapping_rubric() -> None:
    @judge
    def short(case: Case, trace: Trace) -> bool:
        return len(trace.answer) < 20

    rubric = {"right": {"weight": 0.8, "judge": "math"}, "short": {"weight": 0.2, "judge": short}}
    found = evaluate_one("\\boxed{4}", "4", rubric)
    assert found == {
        "overall_score": 1.0,
        "dimension_scores": {"right": 1.0, "short": 1.0},
        "passed": True,
    }
    with pytest.raises(ConfigError, match="mute: the dimension has no judge"):
        evaluate_one("x", "y", {"mute": {"weight": 1.0}})


def test_summary_of_no_results_is_an_error() -> None:
    assert "error" in EvaluationRunner(TestSet("none"), {}, Agent()).summarize()


def test_an_agent_that_raises_fails_its_test() -> None:
    def broken(question: str) -> str:
        raise RuntimeError("no")

    summary = EvaluationRunner(
        make_test_set(), {"right": {"weight": 1, "judge": "math"}}, broken
    ).run_all()
    assert (summary["failed"], summary["statuses"]["agent_error"]) == (3, 3)


@pytest.mark.parametrize(
    ("scores", "expected"),
    [({"a": 1.0, "b": 0.0}, 0.75), ({"a": 0.5}, 0.5), ({"other": 1.0}, 0), ({}, 0)],
)
def test_overall_score_is_the_weighted_mean(scores: dict[str, float], expected: float) -> None:
    rubric = {"a": {"weight": 0.3}, "b": {"weight": 0.1}}
    assert calculate_overall_score(scores, rubric) == pytest.approx(expected)


def test_names_a_dimension_whose_entry_is_no_mapping() -> None:
    runner = EvaluationRunner(TestSet("t"), {"completeness": 1.0}, None)
    with pytest.raises(ConfigError, match="expected a mapping with a weight, got float") as caught:
        runner.evaluate_output("x", {"input": "?"})
    assert caught.value.field == "completeness"


MATH = {"math": {"weight": 1.0}}


def test_overridden_evaluate_output_is_what_run_all_uses() -> None:
    class Generous(EvaluationRunner):
        def evaluate_output(self, output: object, test: Any) -> dict[str, Any]:
            evaluation = super().evaluate_output(output, test)
            evaluation["passed"] = True
            return evaluation

    runner = Generous(make_test_set(), MATH, Agent())
    summary = runner.run_all()
    assert (summary["pass_rate"], summary["failures"]) == (1.0, [])
    assert summary["dimension_averages"]["math"] == pytest.approx(2 / 3)


def test_overridden_run_test_is_what_run_all_uses() -> None:
    class Fixed(EvaluationRunner):
        def run_test(self, test: Any) -> dict[str, Any]:
            evaluation = {"overall_score": 0.9, "dimension_scores": {"own": 0.9}, "passed": True}
            return {"test": test, "output": "", "evaluation": evaluation}

    summary = Fixed(make_test_set(), MATH, Agent()).run_all()
    assert (summary["pass_rate"], summary["dimension_averages"]) == (1.0, {"own": 0.9})
    assert summary["planned"] == sum(summary["statuses"].values()) == 3


def test_evaluating_an_output_by_itself_changes_no_result() -> None:
    runner = EvaluationRunner(make_test_set(), MATH, Agent())
    summary = runner.run_all()
    results = list(runner.results)
    runner.evaluate_output(r"\boxed{5}", {"input": "?", "expected": "6"})
    assert runner.results == results
    assert runner.summarize() == summary


def test_the_results_are_the_only_list() -> None:
    runner = EvaluationRunner(make_test_set(), MATH, Agent())
    runner.run_all()
    runner.results.pop()
    assert runner.summarize()["total_tests"] == 2


def test_add_test_takes_the_name_of_the_seed() -> None:
    tests = TestSet("one")
    tests.add_test(test_case={"input": "1+1"})
    assert len(tests) == 1


def test_a_verbatim_right_answer_is_scored_by_the_five_dimensions() -> None:
    text = "Paris is the capital of France."
    assert evaluate_one(text, text, EVALUATION_RUBRIC)["overall_score"] == 1.0


def test_two_plain_questions_are_scored_by_the_default_rubric() -> None:
    for question, answer in (("Capital of France?", "Paris"), ("6*7?", "42")):
        found = assert_passes({"input": question, "expected": answer}, answer)
        assert found.status == "scored"
