"""AgentJet: `GeneralRunner` makes the judge from its protocol string and calls `compute_reward`."""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from fourscore.core import Case, CaseError, JudgeError, Signal, Trace
from fourscore.integrations.agentjet import TaskJudge
from fourscore.judges.agentjet import MathAnswerAsJudge
from fourscore.judges.workflow import Task, WorkflowOutput, WorkflowTask


def task(**metadata: Any) -> WorkflowTask:
    return WorkflowTask(Task(main_query="1+1?", task_id="t", metadata=metadata))


def output(text: str, **more: Any) -> WorkflowOutput:
    return WorkflowOutput(metadata={"final_answer": text}, **more)


def test_gives_the_same_as_the_built_in_judge() -> None:
    for text in (r"\boxed{2}", r"\boxed{3}", "two", ""):
        given = TaskJudge("math").compute_reward(task(answer="2"), output(text))
        assert given == MathAnswerAsJudge(None).compute_reward(task(answer="2"), output(text))


def test_preset_reward_is_kept() -> None:
    for reward, success in ((0.5, False), (1.5, True)):
        given = TaskJudge("math").compute_reward(task(), output("x", reward=reward))
        assert given == (reward, success)


def test_missing_reference_raises_with_task_and_key() -> None:
    with pytest.raises(CaseError) as error:
        TaskJudge("math").compute_reward(task(), output(r"\boxed{2}"))
    assert (error.value.case_id, error.value.key) == ("t", "metadata.answer")


FUNCTIONS = """
def brief(case, trace):
    return len(trace.answer) < 5

async def patient(case, trace):
    return 0.25

def broken(case, trace):
    raise ValueError("of its own")
"""


def test_function_and_file_judges_compute_rewards(tmp_path: Path) -> None:
    path = tmp_path / "house.py"
    path.write_text(FUNCTIONS)
    assert TaskJudge(f"{path}->brief").compute_reward(task(), output("yes")) == (1.0, True)
    assert TaskJudge(f"{path}->patient").compute_reward(task(), output("yes")) == (0.25, False)
    with pytest.raises(JudgeError, match="task 't': judge_error: broken: ValueError: of its own"):
        TaskJudge(f"{path}->broken").compute_reward(task(), output("yes"))


class Longest:
    name = "longest"

    async def rank(self, case: Case, traces: Sequence[Trace]) -> list[Signal]:
        order = sorted(len(trace.answer) for trace in traces)
        places = [order.index(len(trace.answer)) / (len(order) - 1) for trace in traces]
        return [Signal(name=self.name, value=place, relative=True) for place in places]


def test_fill_rewards_returns_new_outputs_and_ranks_a_group() -> None:
    outputs = [output("1", log_metrics={"turns": 1}), output("333"), output("22", reward=0.5)]
    done = asyncio.run(TaskJudge(Longest()).fill_rewards(task(), outputs))
    assert [new.reward for new in done] == [0.0, 1.0, 0.5]
    assert [old.reward for old in outputs] == [None, None, 0.5]
    assert done[0].log_metrics == {
        "turns": 1,
        "fourscore_judged": 1.0,
        "fourscore_passed": 0.0,
        "fourscore_signal_longest": 0.0,
        "fourscore_status": "scored",
    }
    assert outputs[0].log_metrics == {"turns": 1}


def test_fill_rewards_reports_the_status_of_an_unjudged_output() -> None:
    (done,) = asyncio.run(TaskJudge("math").fill_rewards(task(), [output(r"\boxed{2}")]))
    assert (done.reward, done.is_success) == (None, None)
    assert done.log_metrics["fourscore_status"] == "judge_error"
