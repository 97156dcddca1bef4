"""verifiers 0.1.14, `Rubric.score_rollout` and `score_group`; 0.4.0, `Task.score`."""

import asyncio
import inspect
import pickle
from collections.abc import Mapping, Sequence
from types import SimpleNamespace
from typing import Any, get_origin

import pytest

from fourscore.core import Case, CaseError, ConfigError, Dimension, Rubric, Signal, Trace, judge
from fourscore.integrations.verifiers import TaskReward, rubric_arguments
from fourscore.judges.math import MathJudge


class FakeRubric:
    """`verifiers.Rubric`, the parts that look at a function and call it."""

    def __init__(self, funcs: list[Any], weights: list[float]) -> None:
        assert len(funcs) == len(weights)
        self.funcs, self.weights = funcs, weights

    def is_group(self, func: Any) -> bool:
        signature = inspect.signature(func)
        plural = {"states", "prompts", "completions", "answers", "tasks", "infos"}
        annotation = signature.return_annotation
        returns_list = annotation is list or get_origin(annotation) is list
        return bool(set(signature.parameters) & plural) or returns_list

    async def call(self, func: Any, merged: Mapping[str, Any], failed: Any) -> Any:
        parameters = inspect.signature(func).parameters
        assert not any(p.kind == p.VAR_KEYWORD for p in parameters.values())
        try:
            result = func(**{key: value for key, value in merged.items() if key in parameters})
            return await result if inspect.isawaitable(result) else result
        except Exception:  # what the real one does: a line in its log, and a zero
            return failed

    async def score_group(self, states: list[dict[str, Any]]) -> None:
        objects = [self.objects(state) for state in states]
        for state in states:
            state.update(reward=0.0, metrics={})
        for func, weight in zip(self.funcs, self.weights, strict=True):
            if self.is_group(func):
                merged = {f"{key}s": [one[key] for one in objects] for key in objects[0]}
                scores = await self.call(func, merged, [0.0] * len(states))
            else:
                calls = [self.call(func, one, 0.0) for one in objects]
                scores = [float(score) for score in await asyncio.gather(*calls)]
            for state, score in zip(states, scores, strict=True):
                state["reward"] += score * weight
                state["metrics"][func.__name__] = score

    def objects(self, state: dict[str, Any]) -> dict[str, Any]:
        return {
            "prompt": state["prompt"],
            "completion": state["completion"],
            "answer": state.get("answer", ""),
            "state": state,
            "info": state.get("info", {}),
            "task": state.get("task"),
            "parser": object(),
        }


def rollout(text: str, answer: Any = "2", **more: Any) -> dict[str, Any]:
    prompt = [{"role": "user", "content": "1+1?"}]
    completion = [{"role": "assistant", "content": text}]
    given = {"prompt": prompt, "completion": completion, "answer": answer, "error": None}
    return {**given, "input": {"prompt": prompt, "answer": answer, "example_id": 0}, **more}


def scored(arguments: dict[str, Any], *states: dict[str, Any]) -> list[dict[str, Any]]:
    rubric = FakeRubric(**pickle.loads(pickle.dumps(arguments)))
    asyncio.run(rubric.score_group(list(states)))
    return list(states)


def test_rollouts_get_rewards_and_metrics() -> None:
    right, wrong, lost = scored(
        rubric_arguments("math"),
        rollout(r"\boxed{2}"),
        rollout(r"\boxed{3}"),
        rollout(r"\boxed{2}", answer=""),
    )
    assert [state["reward"] for state in (right, wrong, lost)] == [1.0, 0.0, 0.0]
    assert right["metrics"] == {
        "math": 1.0,
        "fourscore_judged": 1.0,
        "fourscore_passed": 1.0,
        "fourscore_signal_math": 1.0,
    }
    assert [list(state["metrics"]) for state in (wrong, lost)] == [list(right["metrics"])] * 2
    assert wrong["error"] is None
    assert "no reference answer" in str(lost["error"])
    assert lost["metrics"]["fourscore_judged"] == 0.0


def test_error_already_in_the_state_is_kept() -> None:
    own = RuntimeError("the model went away")
    (state,) = scored(rubric_arguments("math"), rollout("", answer="", error=own))
    assert state["error"] is own


def test_on_error_raise_becomes_zero_in_verifiers() -> None:
    (state,) = scored(rubric_arguments("math", on_error="raise"), rollout("x", answer=""))
    assert (state["reward"], state["error"]) == (0.0, None)
    assert state["metrics"]["fourscore_judged"] == 0.0


def test_columns_task_and_info_become_case_metadata() -> None:
    seen: list[Case] = []

    @judge
    async def curious(case: Case, trace: Trace) -> float:
        seen.append(case)
        return 1.0

    state = rollout("x", info={"nums": [1, 3]}, task={"target": 4})
    state["input"]["level"] = "hard"
    asyncio.run(FakeRubric(**rubric_arguments(curious)).score_group([state]))
    (case,) = seen
    assert case.metadata == {"example_id": 0, "level": "hard", "target": 4, "nums": [1, 3]}
    assert case.expected == "2"
    assert case.input == [{"role": "user", "content": "1+1?"}]


class Longest:
    name = "longest"

    async def rank(self, case: Case, traces: Sequence[Trace]) -> list[Signal]:
        order = sorted(len(trace.answer) for trace in traces)
        places = [order.index(len(trace.answer)) / (len(order) - 1) for trace in traces]
        return [Signal(name=self.name, value=place, relative=True) for place in places]


def test_ranking_judge_gets_the_whole_group() -> None:
    arguments = rubric_arguments(Longest())
    group = scored(arguments, rollout("1"), rollout("22"), rollout("333"))
    assert [state["reward"] for state in group] == [0.0, 0.5, 1.0]
    (alone,) = scored(arguments, rollout("1"))
    assert alone["error"] is not None


class FakeTask:
    """`verifiers.v1.Task.score`, with `discover_decorated` and `invoke`."""

    def __init__(self, data: Any) -> None:
        self.data = data

    async def score(self, trace: Any) -> None:
        available = {"task": self.data, "trace": trace}
        found = [
            getattr(self, name) for name, fn in vars(type(self)).items() if hasattr(fn, "reward")
        ]
        trace.rewards = {fn.__name__: None for fn in found}
        calls = []
        for fn in found:
            names = inspect.signature(fn).parameters
            calls.append(fn(**{name: available[name] for name in names if name in available}))
        for fn, result in zip(found, await asyncio.gather(*calls), strict=True):
            trace.rewards[fn.__name__] = float(result) * fn._vf_weight


def reward(fn: Any, weight: float = 1.0) -> Any:
    """`vf.reward`: marks the function and gives it back."""
    fn.reward, fn.reward_priority, fn._vf_weight = True, 0, weight
    return fn


score = TaskReward("math")


class Method(FakeTask):
    @reward
    async def math(self, trace: Any) -> float:
        return await score(self.data, trace)


class Attribute(FakeTask):
    math = reward(TaskReward("math"))


class Data(SimpleNamespace):
    def model_dump(self) -> dict[str, Any]:
        return {"id": None, "name": None, "prompt": "1+1?", **vars(self)}


def trace_of(reply: str) -> Any:
    messages = [SimpleNamespace(role="user", content="1+1?")]
    messages.append(SimpleNamespace(role="assistant", content=reply, tool_calls=None))
    return SimpleNamespace(last_reply=reply, messages=messages, metrics={}, rewards={})


@pytest.mark.parametrize("kind", [Method, Attribute])
def test_task_reward_scores_a_trace(kind: type[FakeTask]) -> None:
    for reply, expected in ((r"\boxed{2}", 1.0), (r"\boxed{3}", 0.0)):
        trace = trace_of(reply)
        asyncio.run(kind(Data(answer="2")).score(trace))
        assert trace.rewards == {"math": expected}
        assert trace.metrics == {
            "fourscore_judged": 1.0,
            "fourscore_passed": expected,
            "fourscore_signal_math": expected,
        }


@pytest.mark.parametrize("kind", [Method, Attribute])
def test_task_without_a_reference_has_no_reward(kind: type[FakeTask]) -> None:
    trace = trace_of(r"\boxed{2}")
    with pytest.raises(CaseError, match="task 'sum': "):
        asyncio.run(kind(Data(answer=None, id="sum")).score(trace))
    assert trace.rewards == {"math": None}
    assert trace.metrics == {
        "fourscore_judged": 0.0,
        "fourscore_passed": None,
        "fourscore_signal_math": None,
    }


def test_ranking_judge_is_refused_for_a_task() -> None:
    rubric = Rubric(
        name="both",
        dimensions=(
            Dimension(name="right", judge=MathJudge()),
            Dimension(name="long", judge=Longest()),
        ),
    )
    with pytest.raises(ConfigError, match="'longest' ranks a group"):
        TaskReward(rubric)
