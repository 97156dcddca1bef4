"""Rewards for a trainer: a number where something was measured, None and a reason elsewhere."""

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fourscore.core import Case, JudgeError, Rubric, Score, Signal, Status, Trace, judge
from fourscore.formats.recorded_outputs import RecordedOutput
from fourscore.judges.agentjet import CountdownAnswerAsJudge, MathAnswerAsJudge
from fourscore.judges.countdown import CountdownJudge
from fourscore.judges.math import MathJudge
from fourscore.judges.scorer import score_outputs
from fourscore.judges.workflow import Task, WorkflowOutput, WorkflowTask, make_case, make_trace

MATH = Rubric.from_judge(MathJudge())


def score_all(case: Case, *outputs: RecordedOutput, rubric: Rubric = MATH) -> list[Score]:
    return asyncio.run(score_outputs(rubric, case, outputs))


def answer(text: str, **preset: Any) -> RecordedOutput:
    return RecordedOutput(Trace(metadata={"final_answer": text}), **preset)


def outcome(scored: Score) -> tuple[Any, ...]:
    return (scored.reward, scored.passed, scored.status)


FOUR = Case(id="t", metadata={"answer": "4"})
NO_REFERENCE = Case(id="t")


def test_rewards_come_in_the_order_of_the_outputs() -> None:
    right, wrong, none = score_all(
        FOUR, answer(r"\boxed{4}"), answer(r"\boxed{5}"), RecordedOutput(Trace())
    )
    assert outcome(right) == (1.0, True, Status.SCORED)
    assert outcome(wrong) == (0.0, False, Status.SCORED)
    assert outcome(none) == (0.0, False, Status.SCORED)
    assert "no final_answer" in none.reason


@pytest.mark.parametrize(
    ("reward", "is_success", "success"),
    [
        (0.0, None, False),
        (0.99, None, False),
        (1.0, None, True),
        (1.5, None, True),
        (-2.0, None, False),
        (0.3, True, True),
        (1.0, False, False),
    ],
)
def test_preset_reward_is_kept(reward: float, is_success: bool | None, success: bool) -> None:
    preset, judged = score_all(
        FOUR, answer("?", reward=reward, is_success=is_success), answer(r"\boxed{4}")
    )
    assert outcome(preset) == (reward, success, Status.SCORED)
    assert outcome(judged) == (1.0, True, Status.SCORED)


def test_output_with_preset_reward_is_not_judged() -> None:
    asked: list[str] = []

    @judge
    def curious(case: Case, trace: Trace) -> float:
        asked.append(trace.answer)
        return 0.25

    outputs = [answer("a"), answer("b", reward=1.0), answer("c")]
    scores = score_all(NO_REFERENCE, *outputs, rubric=Rubric.from_judge(curious))
    assert [scored.reward for scored in scores] == [0.25, 1.0, 0.25]
    assert asked == ["a", "c"]


def test_output_with_preset_success_only_is_judged() -> None:
    (scored,) = score_all(FOUR, answer(r"\boxed{5}", is_success=True))
    assert outcome(scored) == (0.0, False, Status.SCORED)


def test_case_without_reference_has_no_reward() -> None:
    lost, kept = score_all(NO_REFERENCE, answer(r"\boxed{4}"), answer("?", reward=0.5))
    assert outcome(lost) == (None, None, Status.JUDGE_ERROR)
    assert "metadata.answer" in lost.reason
    assert outcome(kept) == (0.5, False, Status.SCORED)


@pytest.mark.parametrize("returned", [None, "x", float("nan"), (float("inf"), True), [], (1, 2, 3)])
def test_unusable_judge_result_gives_no_reward(returned: Any) -> None:
    @judge
    def rubbish(case: Case, trace: Trace) -> Any:
        return returned

    (scored,) = score_all(FOUR, answer("x"), rubric=Rubric.from_judge(rubbish))
    assert outcome(scored) == (None, None, Status.JUDGE_ERROR)
    assert "'rubbish' returned" in scored.reason


@pytest.mark.parametrize(
    ("returned", "reward", "success"),
    [
        ((0.5, True), 0.5, True),
        ((1.5, True), 1.5, True),
        ((-1.0, False), -1.0, False),
        (1.0, 1.0, True),
        (0.9, 0.9, False),
        (2, 2.0, True),
        (True, 1.0, True),
        (False, 0.0, False),
        (Signal(name="x", value=0.5, passed=True), 0.5, True),
    ],
)
def test_judge_may_return_bools_numbers_pairs_and_signals(
    returned: Any, reward: float, success: bool
) -> None:
    @judge
    def free(case: Case, trace: Trace) -> Any:
        return returned

    (scored,) = score_all(FOUR, answer("x"), rubric=Rubric.from_judge(free))
    assert outcome(scored) == (reward, success, Status.SCORED)
    assert scored.value == min(1.0, max(0.0, reward))


def test_judge_that_raises_loses_only_its_own_output() -> None:
    @judge
    def picky(case: Case, trace: Trace) -> float:
        if trace.answer == "bad":
            raise JudgeError("not this one")
        return 1.0

    scores = score_all(FOUR, *map(answer, ("a", "bad", "b")), rubric=Rubric.from_judge(picky))
    assert [scored.status for scored in scores] == ["scored", "judge_error", "scored"]
    assert "not this one" in scores[1].reason


def workflow(metadata: dict[str, Any], *answers: str) -> tuple[WorkflowTask, list[WorkflowOutput]]:
    task = WorkflowTask(task=Task(main_query="?", task_id="t", metadata=metadata))
    return task, [WorkflowOutput(metadata={"final_answer": text}) for text in answers]


answers = st.lists(
    st.sampled_from(
        [
            *(r"\boxed{", "}", "4", "2+2", "2*2", "1", "+", "=4", "<think>", "</think>"),
            *("<answer>", "</answer>", r"\frac{8}{2}", "(", ")", "/0", " ", "\0", "٤"),
        ]
    )
).map("".join)


@pytest.mark.parametrize(
    ("face", "core"),
    [(MathAnswerAsJudge, MathJudge()), (CountdownAnswerAsJudge, CountdownJudge())],
)
@given(text=answers)
def test_compute_reward_and_score_outputs_agree(face: Any, core: Any, text: str) -> None:
    metadata = {"answer": "4", "target": 4, "nums": [2, 2]}
    task, (output,) = workflow(metadata, text)
    (scored,) = asyncio.run(
        score_outputs(
            Rubric.from_judge(core), make_case(task), [RecordedOutput(make_trace(output))]
        )
    )
    assert face(None).compute_reward(task, output) == (scored.reward, scored.passed)


@given(st.floats(-1e6, 1e6), st.none() | st.booleans())
def test_preset_reward_is_the_same_for_compute_reward(
    reward: float, is_success: bool | None
) -> None:
    task, _ = workflow({"answer": "4"})
    output = WorkflowOutput(reward=reward, is_success=is_success)
    (scored,) = score_all(FOUR, RecordedOutput(Trace(), reward, is_success))
    returned = MathAnswerAsJudge(None).compute_reward(task, output)
    assert returned == (scored.reward, scored.passed)
    assert scored.reward == reward


def test_no_outputs_give_no_scores() -> None:
    nothing: Sequence[RecordedOutput] = []
    assert asyncio.run(score_outputs(MATH, FOUR, nothing)) == []
