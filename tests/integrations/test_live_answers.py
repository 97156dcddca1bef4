"""A framework's message object as the answer is read for its text, wherever it enters."""

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest
from tests.core.test_answer import Model, Msg

from fourscore import EvaluationRunner, TestSet
from fourscore.agents.agent import attempt_case, load_agent
from fourscore.agents.trace_values import to_json
from fourscore.core import Case, DataError, FourscoreError
from fourscore.integrations import agentjet, trl, verl
from fourscore.task_judge import CountdownAnswerAsJudge, MathAnswerAsJudge
from fourscore.workflow import Task, WorkflowOutput, WorkflowTask

RIGHT = r"\boxed{4}"
ANSWERS = [
    Msg(RIGHT),
    SimpleNamespace(content=RIGHT),
    SimpleNamespace(content=[{"type": "text", "text": RIGHT}]),
]
#: A judge sees each of these as a live object that has no text.
ODD = [object(), b"4", SimpleNamespace(content=b"4")]


def ask_judge(answer: Any, **options: Any) -> Any:
    task = WorkflowTask(Task(task_id="t", metadata={"answer": "4"}))
    return MathAnswerAsJudge(options).compute_reward(
        task, WorkflowOutput(metadata={"final_answer": answer})
    )


def ask_adapter(answer: Any, **options: Any) -> Any:
    task = WorkflowTask(Task(task_id="t", metadata={"answer": "4"}))
    output = WorkflowOutput(metadata={"final_answer": answer})
    return agentjet.TaskJudge("math", **options).compute_reward(task, output)


@pytest.mark.parametrize("answer", ANSWERS)
@pytest.mark.parametrize("ask", [ask_judge, ask_adapter])
def test_message_object_is_judged_by_its_text(ask: Any, answer: Any) -> None:
    assert ask(answer) == (1.0, True)


@pytest.mark.parametrize("answer", ODD)
@pytest.mark.parametrize("ask", [ask_judge, ask_adapter])
def test_other_object_raises_and_names_its_type(ask: Any, answer: Any) -> None:
    with pytest.raises(FourscoreError, match=r"final_answer: an object of type \w+\.\w+"):
        ask(answer)
    assert ask(answer, on_error="zero") == (0.0, False)


def test_countdown_reads_a_message_too() -> None:
    task = WorkflowTask(Task(metadata={"target": 4, "nums": [2, 2]}))
    output = WorkflowOutput(metadata={"final_answer": Msg(r"\boxed{2+2}")})
    assert CountdownAnswerAsJudge().compute_reward(task, output) == (1.0, True)


def test_other_live_metadata_is_still_dropped() -> None:
    task = WorkflowTask(Task(metadata={"answer": "4", "env": object()}))
    output = WorkflowOutput(metadata={"final_answer": RIGHT, "trace": object()})
    assert MathAnswerAsJudge().compute_reward(task, output) == (1.0, True)


@pytest.mark.parametrize("answer", ANSWERS)
def test_trainers_completion_is_read(answer: Any) -> None:
    assert trl.Reward("math")(prompts=["?"], completions=[answer], answer=["4"]) == [1.0]
    message = SimpleNamespace(role="assistant", content=answer.content)
    assert trl.Reward("math")(prompts=["?"], completions=[[message]], answer=["4"]) == [1.0]
    assert verl.Scorer("math").compute_score("s", answer, "4")["score"] == 1.0


def test_trainers_completion_that_cannot_be_read_is_named() -> None:
    with pytest.raises(DataError, match=r"completion: an object of type builtins\.object"):
        trl.Reward("math")(prompts=["?"], completions=[object()], answer=["4"])


@pytest.mark.parametrize("answer", [*ANSWERS, {"output": Msg(RIGHT)}])
def test_agents_reply_is_read(answer: Any) -> None:
    agent = load_agent(lambda _: answer)
    trace = asyncio.run(attempt_case(agent, Case(input="2+2?")))
    assert trace.output == RIGHT
    assert trace.fault is None


def test_agents_reply_that_cannot_be_read_is_the_agents_error() -> None:
    trace = asyncio.run(attempt_case(load_agent(lambda _: object()), Case(input="2+2?")))
    assert trace.fault is not None
    assert "builtins.object cannot be read as an answer" in trace.fault.message


@pytest.mark.parametrize("answer", ANSWERS)
def test_evaluation_runner_reads_outputs(answer: Any) -> None:
    tests = TestSet("t")
    tests.add_test({"input": "2+2?", "expected": "4"})
    runner = EvaluationRunner(tests, {"math": {"weight": 1.0}}, lambda _: answer)
    assert runner.run_all()["pass_rate"] == 1.0
    assert runner.evaluate_output(answer, tests.tests[0])["passed"]


def test_monitor_and_steps_keep_the_text_of_a_message() -> None:
    assert to_json(Msg("a")) == "a"
    assert to_json({"x": Model()}) == {"x": {"answer": 4, "mode": "json"}}


def test_answer_under_another_field_is_read() -> None:
    from fourscore.judges.workflow import make_trace

    output = WorkflowOutput(metadata={"report": object()})
    assert make_trace(output).metadata == {}
    with pytest.raises(DataError, match=r"metadata\.report"):
        make_trace(output, "report")
