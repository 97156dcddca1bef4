"""verl 0.9.1: `NaiveRewardManager.run_single` and `RewardLoopManager.compute_rm_score`."""

import asyncio
import inspect
import pickle
from functools import partial
from typing import Any

import numpy as np
import pytest

from fourscore.core import Case, CaseError, ConfigError, Signal, Trace
from fourscore.integrations import verl
from fourscore.integrations.verl import Scorer


def loaded(raw_fn: Any, reward_kwargs: dict[str, Any]) -> Any:
    """verl/trainer/ppo/reward.py, get_custom_reward_fn."""
    if not inspect.iscoroutinefunction(raw_fn):
        return partial(_call_with_kwargs, raw_fn, reward_kwargs)
    return partial(_call_with_kwargs_async, raw_fn, reward_kwargs)


def _call_with_kwargs(raw_fn: Any, extra: dict[str, Any], *args: Any, **kwargs: Any) -> Any:
    return raw_fn(*args, **{**kwargs, **extra})


async def _call_with_kwargs_async(
    raw_fn: Any, extra: dict[str, Any], *args: Any, **kwargs: Any
) -> Any:
    return await raw_fn(*args, **{**kwargs, **extra})


async def run_single(
    compute_score: Any, solution: str, ground_truth: Any, extra: Any, **router: Any
) -> dict[str, Any]:
    """experimental/reward_loop/reward_manager/naive.py."""
    call = partial(
        compute_score,
        data_source="openai/gsm8k",
        solution_str=solution,
        ground_truth=ground_truth,
        extra_info=extra,
        **router,
    )
    if inspect.iscoroutinefunction(compute_score):
        result = await call()
    else:
        result = await asyncio.get_running_loop().run_in_executor(None, call)
    return {"reward_score": result["score"], "reward_extra_info": dict(result)}


def extra_info() -> dict[str, Any]:
    """A row of a parquet file, and what the manager adds to it."""
    return {
        "split": "train",
        "index": np.int64(3),
        "answer": "a long solution #### 72",
        "question": "How many?",
        "weights": np.array([0.25, 0.75]),
        "right": np.bool_(True),
        "broken": np.float32("nan"),
        "nested": {"ids": np.arange(3)},
        "num_turns": None,
        "rollout_reward_scores": {},
    }


FUNCTIONS = {
    "method": (Scorer("math", on_error="zero").compute_score, {}),
    "async method": (Scorer("math", on_error="zero").compute_score_async, {}),
    "function": (verl.compute_score, {"judge": "math", "on_error": "zero"}),
    "async function": (verl.compute_score_async, {"judge": "math", "on_error": "zero"}),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_batch_gets_scores_through_the_reward_loop(name: str) -> None:
    raw_fn, reward_kwargs = FUNCTIONS[name]
    assert inspect.iscoroutinefunction(raw_fn) is name.startswith("async")
    compute_score = loaded(pickle.loads(pickle.dumps(raw_fn)), reward_kwargs)
    assert inspect.iscoroutinefunction(compute_score) is name.startswith("async")

    async def batch() -> list[dict[str, Any]]:
        samples = [(r"\boxed{72}", "72"), (r"\boxed{7}", "72"), (r"\boxed{72}", None)]
        tasks = [run_single(compute_score, *sample, extra_info()) for sample in samples]
        router = {"reward_router_address": "localhost:1", "reward_model_tokenizer": object()}
        tasks.append(run_single(compute_score, r"\boxed{72}", np.str_("72"), None, **router))
        return await asyncio.gather(*tasks)

    outputs = asyncio.run(batch())
    # without a ground truth, the answer in the metadata is used: 72
    assert [output["reward_score"] for output in outputs] == [1.0, 0.0, 1.0, 1.0]
    infos = [output["reward_extra_info"] for output in outputs]
    columns = {key: np.array([info[key] for info in infos]) for key in infos[0]}
    assert all(list(info) == list(columns) for info in infos)
    assert next(iter(columns)) == "score"
    assert columns["fourscore_signal_math"].tolist() == [1.0, 0.0, 1.0, 1.0]


def test_unjudged_result_has_the_same_keys() -> None:
    scorer = Scorer("math", on_error="zero")
    right = scorer.compute_score("s", r"\boxed{1}", "1")
    failed = scorer.compute_score("s", r"\boxed{1}", None)
    assert list(failed) == list(right)
    assert failed == {
        "score": 0.0,
        "fourscore_judged": 0.0,
        "fourscore_passed": None,
        "fourscore_signal_math": None,
        "fourscore_status": "judge_error",
        "fourscore_reason": "math: task 's:': metadata.answer: the task has no reference answer",
    }


def test_unjudged_row_raises_with_its_name_on_request() -> None:
    with pytest.raises(CaseError, match=r"task 'gsm8k:3': metadata\.answer: "):
        Scorer("math", on_error="raise").compute_score(
            "gsm8k", r"\boxed{1}", None, {"index": np.int64(3)}
        )


def test_numpy_values_reach_the_judge_as_json() -> None:
    seen: list[Case] = []

    async def curious(case: Case, trace: Trace) -> float:
        seen.append(case)
        return 1.0

    Scorer(curious).compute_score("s", "x", np.array(["a", "b"]), extra_info())
    (case,) = seen
    assert case.expected == ["a", "b"]
    assert case.input == "How many?"
    assert case.metadata["weights"] == [0.25, 0.75]
    assert case.metadata["right"] is True
    assert case.metadata["broken"] is None
    assert case.metadata["nested"] == {"ids": [0, 1, 2]}
    assert type(case.metadata["index"]) is int


def test_ground_truth_mapping_becomes_metadata() -> None:
    """TinyZero's countdown."""
    truth = {"target": np.int64(24), "numbers": np.array([3, 3, 8, 8])}
    result = Scorer("countdown").compute_score("countdown", r"<answer>8/(3-8/3)</answer>", truth)
    assert result["score"] == 1.0


def test_ranking_judge_is_refused() -> None:
    class Ranker:
        name = "best"

        async def rank(self, case: Case, traces: Any) -> list[Signal]:
            raise AssertionError

    with pytest.raises(ConfigError, match="'best' ranks a group, and verl shows one answer"):
        Scorer(Ranker())


def test_scorer_is_made_once_for_a_configuration() -> None:
    verl._get_scorer.cache_clear()
    for _ in range(3):
        verl.compute_score("s", r"\boxed{1}", "1", judge="math", options={"box": "last"})
    assert verl._get_scorer.cache_info().misses == 1
    result = verl.compute_score(
        "s", r"\boxed{1}\boxed{2}", "1", judge="math", options={"box": "first"}
    )
    assert result["score"] == 1.0
