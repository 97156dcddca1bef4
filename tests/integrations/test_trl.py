"""TRL 1.16.0, `GRPOTrainer._calculate_rewards`: its calls, and its handling of None."""

import asyncio
import functools
import inspect
import pickle
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from fourscore.core import Case, Dimension, Rubric, Signal, Trace, judge
from fourscore.executors.portal import require_loop
from fourscore.integrations.trl import AsyncReward, Reward
from fourscore.judges.countdown import CountdownJudge
from fourscore.judges.math import MathJudge

NAN = float("nan")


class FakeTrainer:
    """The part of `GRPOTrainer` that calls reward functions, line by line."""

    def __init__(self, *reward_funcs: Any) -> None:
        self.reward_funcs = list(reward_funcs)
        # trl/trainer/utils.py, get_callable_name
        self.names = [getattr(func, "__name__", type(func).__name__) for func in reward_funcs]
        self.extra: dict[str, list[Any]] = defaultdict(list)
        self.metrics: dict[str, list[float]] = defaultdict(list)

    def log_extra(self, column: str, values: list[Any]) -> None:
        self.extra[column].extend(values)

    def log_metric(self, name: str, value: float) -> None:
        self.metrics[name].append(value)

    def rewards(self, inputs: list[dict[str, Any]], completions: list[Any]) -> list[list[float]]:
        prompts = [example["prompt"] for example in inputs]
        keys = [key for key in inputs[0] if key not in ["prompt", "completion", "completion_ids"]]
        kwargs: dict[str, Any] = {key: [example[key] for example in inputs] for key in keys}
        kwargs["trainer_state"] = object()
        kwargs["log_extra"] = self.log_extra
        kwargs["log_metric"] = self.log_metric
        kwargs["environments"] = [object() for _ in inputs]
        kwargs["completion_ids"] = [[1, 2, 3] for _ in inputs]
        columns = []
        for func in self.reward_funcs:
            output = func(prompts=prompts, completions=completions, **kwargs)
            if is_async_callable(func):
                output = asyncio.run(output)
            assert len(output) == len(prompts)
            columns.append([NAN if reward is None else reward for reward in output])
        return columns


def is_async_callable(func: Any) -> bool:
    """trl/trainer/utils.py."""
    while isinstance(func, functools.partial):
        func = func.func
    return inspect.iscoroutinefunction(func) or inspect.iscoroutinefunction(func.__call__)


def row(prompt: Any = "1+1?", **columns: Any) -> dict[str, Any]:
    return {"prompt": prompt, **columns}


def chat(text: str) -> list[dict[str, Any]]:
    return [{"role": "assistant", "content": text}]


def same(given: list[float], expected: list[float]) -> bool:
    return [repr(reward) for reward in given] == [repr(reward) for reward in expected]


@pytest.mark.parametrize("awaited", [False, True], ids=["sync", "async"])
@pytest.mark.parametrize("shape", [str, chat], ids=["text", "messages"])
def test_batch_gets_a_reward_or_none_for_each_completion(awaited: bool, shape: Any) -> None:
    reward = Reward("math")
    func: Any = AsyncReward(reward) if awaited else reward
    assert is_async_callable(func) is awaited
    trainer = FakeTrainer(func)
    inputs = [row(answer="2"), row(answer="2"), row(answer=None), row(answer=2.0)]
    completions = [shape(r"\boxed{2}"), shape("two"), shape(r"\boxed{2}"), shape(r"\boxed{2}")]
    (column,) = trainer.rewards(inputs, completions)
    assert same(column, [1.0, 0.0, NAN, 1.0])
    assert trainer.names == ["math"]


def test_log_columns_are_constant_and_have_the_reason() -> None:
    trainer = FakeTrainer(Reward("math"))
    trainer.rewards([row(answer="2"), row(answer=None)], [r"\boxed{2}", r"\boxed{2}"])
    extra = trainer.extra
    assert extra["math/fourscore_status"] == ["scored", "judge_error"]
    assert extra["math/fourscore_judged"] == [1.0, 0.0]
    assert extra["math/fourscore_signal_math"] == [1.0, None]
    assert "no reference answer" in extra["math/fourscore_reason"][1]
    means = {key: [1.0] for key in ("math/fourscore_passed", "math/fourscore_signal_math")}
    assert trainer.metrics == {"math/fourscore_judged": [0.5], **means}
    keys = list(extra)
    trainer.rewards([row(answer=None)], [r"\boxed{2}"])
    assert list(extra) == keys
    assert {len(values) for values in extra.values()} == {3}


def test_two_reward_functions_have_separate_log_columns() -> None:
    both = Reward("math"), Reward(Rubric(name="other", dimensions=MATH.dimensions))
    trainer = FakeTrainer(*both)
    trainer.rewards([row(answer="2")], [r"\boxed{2}"])
    assert {len(values) for values in trainer.extra.values()} == {1}


MATH = Rubric.from_judge(MathJudge())


def test_data_set_columns_become_case_metadata() -> None:
    seen: list[Case] = []

    @judge
    async def curious(case: Case, trace: Trace) -> float:
        seen.append(case)
        return 0.5

    prompt = [{"role": "user", "content": [{"type": "image", "image": object()}]}]
    inputs = [row(prompt, answer="4", task_id=17, nums=[1, 3], image=object(), price=NAN)]
    assert FakeTrainer(Reward(curious)).rewards(inputs, ["4"]) == [[0.5]]
    (case,) = seen
    assert case.id == "17"
    assert case.metadata == {
        "answer": "4",
        "task_id": 17,
        "nums": [1, 3],
        "image": None,
        "price": None,
    }
    assert case.input[0]["content"] == [{"type": "image", "image": None}]


def test_reference_column_can_be_named() -> None:
    trainer = FakeTrainer(Reward("math", reference="solution"))
    assert trainer.rewards([row(solution="#### 4")], [r"\boxed{4}"]) == [[1.0]]


def test_countdown_judge_reads_its_columns() -> None:
    trainer = FakeTrainer(Reward("countdown", {"format_score": 0.2}))
    inputs = [row(target=24, nums=[3, 3, 8, 8])] * 2
    completions = [r"\boxed{8/(3-8/3)}", r"\boxed{3*8}"]
    assert trainer.rewards(inputs, completions) == [[1.0, 0.2]]


class Longest:
    """Ranks by length, and remembers the groups that it was given."""

    name = "longest"

    def __init__(self) -> None:
        self.groups: list[list[str]] = []

    async def rank(self, case: Case, traces: Sequence[Trace]) -> list[Signal]:
        self.groups.append([trace.answer for trace in traces])
        order = sorted(len(trace.answer) for trace in traces)
        places = [order.index(len(trace.answer)) / (len(order) - 1) for trace in traces]
        return [Signal(name=self.name, value=place, relative=True) for place in places]


def test_equal_tasks_of_a_batch_are_ranked_together() -> None:
    ranker = Longest()
    trainer = FakeTrainer(Reward(ranker))
    inputs = [row("a"), row("b"), row("a"), row("b"), row("alone")]
    given = trainer.rewards(inputs, ["1", "22", "22", "1", "?"])
    assert same(given[0], [0.0, 1.0, 1.0, 0.0, NAN])
    assert ranker.groups == [["1", "22"], ["22", "1"]]


def test_same_prompt_with_another_reference_is_another_group() -> None:
    ranker = Longest()
    inputs = [row("a", answer="1"), row("a", answer="2"), row("a", answer="1")]
    given = FakeTrainer(Reward(ranker)).rewards(inputs, ["1", "22", "333"])
    assert same(given[0], [0.0, NAN, 1.0])


def test_without_a_ranker_each_answer_is_judged_alone() -> None:
    @judge
    def picky(case: Case, trace: Trace) -> float:
        if trace.answer == "bad":
            raise ValueError("not this one")
        return 1.0

    given = FakeTrainer(Reward(picky)).rewards([row()] * 3, ["a", "bad", "b"])
    assert same(given[0], [1.0, NAN, 1.0])


def test_one_deadline_holds_for_the_whole_batch() -> None:
    @judge
    async def slow(case: Case, trace: Trace) -> float:
        await asyncio.sleep(60 if trace.answer == "hang" else 0)
        return 1.0

    trainer = FakeTrainer(Reward(slow, deadline=0.3))
    inputs = [row(str(i)) for i in range(40)]
    (column,) = trainer.rewards(inputs, ["hang", "ok"] * 20)
    assert same(column, [NAN, 1.0] * 20)


class Worker:
    """A bounded judge that sometimes waits for a worker process."""

    names = ("worker",)
    runs = "inline"

    def __init__(self) -> None:
        self.waiting = self.most = 0

    async def judge(self, case: Case, trace: Trace) -> list[Signal]:
        if trace.answer == "hard":
            require_loop()
            self.waiting += 1
            self.most = max(self.most, self.waiting)
            await asyncio.sleep(0.2)
            self.waiting -= 1
        return [Signal(name="worker", value=1.0)]


def test_answers_that_wait_are_judged_concurrently() -> None:
    worker = Worker()
    given = FakeTrainer(Reward(worker)).rewards([row()] * 60, ["hard", "easy"] * 30)
    assert given == [[1.0] * 60]
    assert worker.most == 30


def test_every_dimension_of_a_rubric_has_a_log_column() -> None:
    rubric = Rubric(
        name="both",
        dimensions=(
            Dimension(name="right", judge=MathJudge(), weight=0.5),
            Dimension(name="made", judge=CountdownJudge(), weight=0.5),
        ),
    )
    reward = pickle.loads(pickle.dumps(Reward(rubric)))
    trainer = FakeTrainer(reward)
    inputs = [row(answer="1+1", target=2, nums=[1, 1])]
    assert trainer.rewards(inputs, [r"\boxed{1+1}"]) == [[1.0]]
    assert trainer.extra["both/fourscore_signal_right"] == [1.0]
    assert trainer.extra["both/fourscore_signal_made"] == [1.0]


def test_judge_can_come_from_a_configuration_file(tmp_path: Path) -> None:
    path = tmp_path / "config.yaml"
    path.write_text("fourscore:\n  task_judge:\n    judge_protocol: math\n")
    for source in (path, str(path)):
        assert FakeTrainer(Reward(source)).rewards([row(answer="2")], [r"\boxed{2}"]) == [[1.0]]


def test_empty_batch_gives_no_rewards() -> None:
    assert Reward("math")(prompts=[], completions=[]) == []
