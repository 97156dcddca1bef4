"""What a trainer gets for a score: the reward, its components, or why there is none."""

from typing import Any

from fourscore.core import Case, Fault, Rubric, Score, Signal, Status
from fourscore.judges.math import MathJudge
from fourscore.train.trainer_output import (
    describe_failure,
    get_components,
    get_unit_value,
    make_error,
)

CASE = Case(id="t", expected="2")


def failed(kind: Any, message: str) -> Score:
    signal = Signal(name="math", fault=Fault(kind, message))
    return Score(status=Status.JUDGE_ERROR, reason=f"math: {message}", signals=(signal,))


def test_error_names_the_missing_field_or_the_judge_failure() -> None:
    lost = make_error(CASE, failed("data", "task 't': metadata.answer: it is not there"))
    assert (type(lost).__name__, str(lost)) == (
        "CaseError",
        "task 't': metadata.answer: it is not there",
    )
    for kind, message in (
        ("error", "ValueError: x"),
        ("timeout", "late"),
        ("data", "in other words"),
    ):
        error = make_error(CASE, failed(kind, message))
        assert type(error).__name__ == "JudgeError"
        assert str(error) == f"task 't': judge_error: math: {message}"


def test_described_failure_never_quotes_the_judge() -> None:
    for kind in ("data", "error", "timeout", "refused", "cancelled"):
        short = describe_failure(failed(kind, "the secret"))
        assert short.startswith("math: ")
        assert "secret" not in short
    assert describe_failure(Score(status=Status.SKIPPED, reason="the secret")) == "skipped"


def test_component_keys_are_the_same_for_every_score() -> None:
    rubric = Rubric.from_judge(MathJudge())
    silent = get_components(rubric, Score(status=Status.CANCELLED))
    agent = get_components(
        rubric, Score(status=Status.AGENT_ERROR, reward=0.0, passed=False, value=0.0)
    )
    assert (
        list(silent)
        == list(agent)
        == ["fourscore_judged", "fourscore_passed", "fourscore_signal_math"]
    )
    assert list(silent.values()) == [0.0, None, None]
    assert list(agent.values()) == [1.0, 0.0, None]


def test_unit_value_of_a_ranking_is_its_clamped_reward() -> None:
    assert get_unit_value(Score(status=Status.SCORED, reward=1.5, passed=True)) == 1.0
    assert get_unit_value(Score(status=Status.SCORED, reward=1.5, value=0.75, passed=True)) == 0.75
    assert get_unit_value(Score(status=Status.SKIPPED)) is None
