"""AgentJet's types, and judges with `compute_reward` inside the core."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace
from typing import Any

import pytest

import fourscore
import fourscore.task_judge
import fourscore.workflow
from fourscore.core import Case, Rubric, Score, Signal, Status, Trace, score
from fourscore.judges.agentjet import CountdownAnswerAsJudge, MathAnswerAsJudge
from fourscore.judges.workflow import (
    WorkflowJudge,
    make_case,
    make_output,
    make_task,
    make_trace,
    read_judge_options,
)
from fourscore.task_judge.base_judge import BaseJudge
from fourscore.workflow import ModelTuner, Task, Workflow, WorkflowOutput, WorkflowTask

CASE = Case(id="t-1", input="2+2?", metadata={"answer": "4", "seen": []})
TRACE = Trace(output="\\boxed{4}", metadata={"seen": []})


def scored(judge: BaseJudge, trace: Trace = TRACE) -> Score:
    (one,) = asyncio.run(score(Rubric.from_judge(WorkflowJudge(judge)), CASE, [trace]))
    return one


# The shapes.


def test_a_task_and_an_output_have_the_promised_fields() -> None:
    task = Task(main_query="q", init_messages=[], task_id="t", env_type="e", metadata={"a": 1})
    episode = WorkflowTask(task, "t-2", "uuid", gym_env="gym")
    assert (episode.task, episode.task_id, episode.episode_uuid) == (task, "t-2", "uuid")
    assert episode.gym_env == "gym"
    output = WorkflowOutput()
    assert (output.reward, output.is_success) == (None, None)
    assert (output.metadata, output.log_metrics) == ({}, {})


def test_defaults_are_not_shared() -> None:
    WorkflowOutput().metadata["a"] = 1
    Task().metadata["a"] = 1
    assert (WorkflowOutput().metadata, Task().metadata) == ({}, {})


def test_an_episode_takes_the_id_of_its_task() -> None:
    assert WorkflowTask(Task(task_id="t")).task_id == "t"


def test_a_workflow_without_execute_raises() -> None:
    class Mine(Workflow):
        async def execute(self, task: WorkflowTask, model_tuner: ModelTuner) -> WorkflowOutput:
            return WorkflowOutput(metadata={"final_answer": task.task.main_query})

    task = WorkflowTask(Task(main_query="q"))
    output = asyncio.run(Mine().execute(task, ModelTuner()))
    assert output.metadata == {"final_answer": "q"}
    with pytest.raises(NotImplementedError, match="Workflow"):
        asyncio.run(Workflow().execute(task, ModelTuner()))


@pytest.mark.parametrize("config", [None, {"a": 1}, SimpleNamespace(a=1)])
def test_a_base_judge_keeps_its_config_and_raises_without_compute_reward(config: Any) -> None:
    judge = BaseJudge(config)
    assert judge.config is config
    with pytest.raises(NotImplementedError, match="BaseJudge"):
        judge.compute_reward(WorkflowTask(Task()), WorkflowOutput())


def test_all_import_paths_give_the_same_object() -> None:
    assert fourscore.BaseJudge is fourscore.task_judge.BaseJudge is BaseJudge
    assert (
        fourscore.MathAnswerAsJudge is fourscore.task_judge.MathAnswerAsJudge is MathAnswerAsJudge
    )
    assert fourscore.CountdownAnswerAsJudge is CountdownAnswerAsJudge
    assert fourscore.WorkflowTask is fourscore.workflow.WorkflowTask
    assert fourscore.WorkflowOutput is fourscore.workflow.WorkflowOutput


# A custom judge in the core.


class Returns(BaseJudge):
    """Gives back its config."""

    def compute_reward(self, workflow_task: WorkflowTask, workflow_output: WorkflowOutput) -> Any:
        return self.config


class Later(Returns):
    async def compute_reward(
        self, workflow_task: WorkflowTask, workflow_output: WorkflowOutput
    ) -> Any:
        await asyncio.sleep(0)
        return self.config


class Scalar:
    """As numpy's and torch's scalars are."""

    def __float__(self) -> float:
        return 0.5


@pytest.mark.parametrize("kind", [Returns, Later])
@pytest.mark.parametrize(
    ("returned", "reward", "passed", "value"),
    [
        ((0.25, True), 0.25, True, 0.25),
        ((1.5, False), 1.5, False, 1.0),
        ((-1.0, False), -1.0, False, 0.0),
        (1.0, 1.0, True, 1.0),
        (1.5, 1.5, True, 1.0),
        (0.99, 0.99, False, 0.99),
        (1, 1.0, True, 1.0),
        (True, 1.0, True, 1.0),
        (False, 0.0, False, 0.0),
        (Scalar(), 0.5, False, 0.5),
        ((Scalar(), True), 0.5, True, 0.5),
        (Signal(name="mine", value=0.5, reward=3.0, passed=True), 3.0, True, 0.5),
        (Score(status=Status.SCORED, value=0.5, passed=True, reward=2.0), 2.0, True, 0.5),
    ],
)
def test_accepts_each_allowed_return_value_of_a_judge(
    kind: type[Returns], returned: Any, reward: float, passed: bool, value: float
) -> None:
    one = scored(kind(returned))
    assert one.status is Status.SCORED
    assert (one.reward, one.passed, one.value) == (reward, passed, value)
    assert [signal.name for signal in one.signals] == [kind.__name__]


@pytest.mark.parametrize("kind", [Returns, Later])
@pytest.mark.parametrize(
    "returned", [None, "1.0", float("nan"), (float("inf"), True), (1.0, "yes"), {}, [0.5, True]]
)
def test_any_other_return_value_is_an_error_that_names_the_judge(
    kind: type[Returns], returned: Any
) -> None:
    one = scored(kind(returned))
    assert (one.status, one.reward) == (Status.JUDGE_ERROR, None)
    assert f"judge '{kind.__name__}' returned {returned!r}" in one.reason


def test_a_judge_without_compute_reward_is_a_judge_error() -> None:
    one = scored(BaseJudge())
    assert one.status is Status.JUDGE_ERROR
    assert "BaseJudge has no compute_reward()" in one.reason


def test_plain_judges_run_in_a_thread_and_async_ones_on_the_loop() -> None:
    assert (WorkflowJudge(Returns()).runs, WorkflowJudge(Later()).runs) == ("thread", "loop")


class Vandal(BaseJudge):
    """Writes on everything it is given."""

    def compute_reward(self, workflow_task: WorkflowTask, workflow_output: WorkflowOutput) -> Any:
        seen = workflow_task.task.metadata["seen"], workflow_output.metadata["seen"]
        found = [list(entries) for entries in seen]
        for entries in seen:
            entries.append("was here")
        workflow_task.task.metadata.clear()
        workflow_output.metadata["final_answer"] = "\\boxed{5}"
        workflow_output.reward = 1.0
        return float(found == [[], []]), True


def test_a_judge_that_changes_its_input_changes_only_a_copy() -> None:
    rubric = Rubric.from_judge(WorkflowJudge(Vandal()))
    scores = asyncio.run(score(rubric, CASE, [TRACE, TRACE]))
    assert [one.reward for one in scores] == [1.0, 1.0]
    assert (CASE.metadata["seen"], TRACE.metadata) == ([], {"seen": []})


def test_a_judge_gets_the_task_and_output_fields_of_agentjet() -> None:
    task = make_task(Case(id="t-1", input="q", expected="4", metadata={"a": 1}))
    assert (task.task.main_query, task.task_id, task.task.task_id) == ("q", "t-1", "t-1")
    assert task.task.metadata == {"a": 1, "answer": "4"}
    assert make_task(CASE).task.metadata["answer"] == "4"
    messages = [{"role": "user", "content": "q"}]
    assert make_task(Case(input=messages)).task.init_messages == messages
    assert make_output(TRACE).metadata == {"seen": [], "final_answer": "\\boxed{4}"}
    assert make_output(Trace(output="a", metadata={"final_answer": "b"})).metadata == {
        "final_answer": "b"
    }


# The built-in judges as AgentJet calls them.


@pytest.mark.parametrize(
    ("reward", "is_success", "expected"),
    [
        (1.0, None, (1.0, True)),
        (1.5, None, (1.5, True)),
        (0.99, None, (0.99, False)),
        (0.0, None, (0.0, False)),
        (0.0, True, (0.0, True)),
        (1.0, False, (1.0, False)),
    ],
)
@pytest.mark.parametrize("kind", [MathAnswerAsJudge, CountdownAnswerAsJudge])
def test_a_preset_reward_is_kept_and_not_judged(
    kind: Any, reward: float, is_success: bool | None, expected: tuple[float, bool]
) -> None:
    output = WorkflowOutput(reward=reward, is_success=is_success)
    assert kind(None).compute_reward(WorkflowTask(Task()), output) == expected


class Array:
    """As numpy's arrays are."""

    def tolist(self) -> list[int]:
        return [3, 8]


def test_metadata_keeps_arrays_and_drops_live_objects() -> None:
    task = WorkflowTask(Task(metadata={"nums": Array(), "target": 24, "client": object()}))
    output = WorkflowOutput(metadata={"final_answer": "\\boxed{3*8}", "lock": object()})
    assert CountdownAnswerAsJudge(None).compute_reward(task, output) == (1.0, True)
    assert make_case(task).metadata == {"nums": [3, 8], "target": 24}
    assert make_trace(output).metadata == {"final_answer": "\\boxed{3*8}"}
    assert "client" in task.task.metadata


def test_the_case_id_is_the_episodes_task_id() -> None:
    assert make_case(WorkflowTask(Task(task_id="a"), task_id="b")).id == "b"
    assert make_case(WorkflowTask(Task(task_id="a"))).id == "a"
    assert make_case(WorkflowTask(Task(main_query="q"))).id == Case(input="q").id


def nested(**options: Any) -> Any:
    inner = SimpleNamespace(judge_options=SimpleNamespace(**options))
    return SimpleNamespace(ajet=SimpleNamespace(task_judge=inner))


@pytest.mark.parametrize(
    ("config", "options"),
    [
        (None, {}),
        ({}, {}),
        ({"box": "first"}, {"box": "first"}),
        ({"ajet": {"task_judge": {"judge_options": {"box": "first"}}}}, {"box": "first"}),
        ({"fourscore": {"task_judge": {"judge_options": {"box": "first"}}}}, {"box": "first"}),
        ({"ajet": {"task_judge": {}}, "model": {}}, {}),
        (nested(box="first"), {"box": "first"}),
        (SimpleNamespace(ajet=SimpleNamespace(task_judge=SimpleNamespace())), {}),
    ],
)
def test_reads_judge_options_from_every_kind_of_configuration(
    config: Any, options: dict[str, Any]
) -> None:
    assert read_judge_options(config) == options
    task = WorkflowTask(Task(metadata={"answer": "1"}))
    output = WorkflowOutput(metadata={"final_answer": r"\boxed{1} \boxed{2}"})
    verdict = MathAnswerAsJudge(config).compute_reward(task, output)
    assert verdict == ((1.0, True) if options else (0.0, False))


def test_one_instance_serves_many_threads() -> None:
    judge = CountdownAnswerAsJudge(None)

    def reward(n: int) -> tuple[float, bool]:
        task = WorkflowTask(Task(metadata={"target": n, "nums": [n]}))
        answer = f"\\boxed{{{n - n % 2}}}"
        return judge.compute_reward(task, WorkflowOutput(metadata={"final_answer": answer}))

    with ThreadPoolExecutor(8) as pool:
        given = list(pool.map(reward, range(1, 401)))
    assert given == [(0.1, False), (1.0, True)] * 200


def test_a_built_in_judge_works_inside_a_running_loop() -> None:
    async def inside() -> tuple[float, bool]:
        task = WorkflowTask(Task(metadata={"answer": "4"}))
        output = WorkflowOutput(metadata={"final_answer": r"\boxed{4}"})
        return MathAnswerAsJudge(None).compute_reward(task, output)

    assert asyncio.run(inside()) == (1.0, True)


def test_takes_the_other_fields_of_agentjet() -> None:
    task = WorkflowTask(Task(task_id="t"), episode_uuid="e", task_batch_index=3)
    assert (task.task_id, task.episode_uuid, vars(task)["task_batch_index"]) == ("t", "e", 3)
    assert task == WorkflowTask(Task(task_id="t"), episode_uuid="e", task_batch_index=3)
    assert task != WorkflowTask(Task(task_id="t"))
    assert Workflow(name="agent").name == "agent"
