"""verl: `compute_score(data_source, solution_str, ground_truth, extra_info)`.

verl collects the keys of the first result of a batch and looks all of them up in every other, so
they never change. It has no word for "no reward": an answer that cannot be judged raises, or is
0 with `fourscore_judged` 0 beside it.
"""

import json
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Literal

from fourscore.core import Case, Score
from fourscore.formats.recorded_outputs import Recorded
from fourscore.integrations.judge_source import JudgeSource, load_scorer
from fourscore.train.batch import BatchRow, refuse_rankers, score_batch, score_batch_async
from fourscore.train.trainer_input import (
    read_completion,
    read_metadata,
    read_task_id,
    to_json_value,
)
from fourscore.train.trainer_output import check_on_error, get_components, resolve_reward

RaiseOrZero = Literal["raise", "zero"]


class Scorer:
    """`compute_score = Scorer("math").compute_score` in the file that verl is pointed at."""

    def __init__(
        self,
        source: JudgeSource,
        options: Mapping[str, Any] | None = None,
        *,
        on_error: RaiseOrZero = "raise",
        deadline: float = 30.0,
    ) -> None:
        self.scorer = refuse_rankers(load_scorer(source, options, deadline), "verl")
        check_on_error(on_error, ("raise", "zero"), "verl")
        self.on_error = on_error

    def compute_score(
        self,
        data_source: str,
        solution_str: str,
        ground_truth: Any,
        extra_info: Mapping[str, Any] | None = None,
        **_reward_model: Any,
    ) -> dict[str, Any]:
        """What verl calls in a thread. It adds two arguments where it serves a reward model."""
        row = _row(data_source, solution_str, ground_truth, extra_info)
        return self._result(row, *score_batch(self.scorer, [row]))

    async def compute_score_async(
        self,
        data_source: str,
        solution_str: str,
        ground_truth: Any,
        extra_info: Mapping[str, Any] | None = None,
        **_reward_model: Any,
    ) -> dict[str, Any]:
        """What verl awaits: a bound `async def` is a coroutine function to it."""
        row = _row(data_source, solution_str, ground_truth, extra_info)
        return self._result(row, *await score_batch_async(self.scorer, [row]))

    def _result(self, row: BatchRow, score: Score) -> dict[str, Any]:
        return {
            "score": resolve_reward(row[0], score, self.on_error),
            **get_components(self.scorer.rubric, score),
            "fourscore_status": str(score.status),
            "fourscore_reason": score.reason,
        }


def compute_score(
    data_source: str,
    solution_str: str,
    ground_truth: Any,
    extra_info: Mapping[str, Any] | None = None,
    *,
    judge: str,
    options: Mapping[str, Any] | None = None,
    on_error: RaiseOrZero = "raise",
    deadline: float = 30.0,
    **_reward_model: Any,
) -> dict[str, Any]:
    """Without a file: `path: pkg://fourscore.integrations.verl`, the judge in `reward_kwargs`."""
    scorer = _scorer(judge, _as_key(options), on_error, deadline)
    return scorer.compute_score(data_source, solution_str, ground_truth, extra_info)


async def compute_score_async(
    data_source: str,
    solution_str: str,
    ground_truth: Any,
    extra_info: Mapping[str, Any] | None = None,
    *,
    judge: str,
    options: Mapping[str, Any] | None = None,
    on_error: RaiseOrZero = "raise",
    deadline: float = 30.0,
    **_reward_model: Any,
) -> dict[str, Any]:
    """The same as a coroutine function."""
    scorer = _scorer(judge, _as_key(options), on_error, deadline)
    return await scorer.compute_score_async(data_source, solution_str, ground_truth, extra_info)


@lru_cache(maxsize=16)
def _scorer(judge: str, options: str, on_error: RaiseOrZero, deadline: float) -> Scorer:
    return Scorer(judge, json.loads(options), on_error=on_error, deadline=deadline)


def _as_key(options: Mapping[str, Any] | None) -> str:
    """Options are a mapping of the configuration's, which does not hash."""
    return json.dumps(read_metadata(options), sort_keys=True)


def _row(
    data_source: str, solution_str: str, ground_truth: Any, extra_info: Mapping[str, Any] | None
) -> BatchRow:
    """A case of verl's row. A ground truth that is a mapping is metadata too: countdown's is."""
    extra, expected = read_metadata(extra_info), to_json_value(ground_truth)
    metadata = {"data_source": to_json_value(data_source), **extra}
    if isinstance(expected, dict):
        metadata.update(expected)
    name = read_task_id(metadata) or f"{data_source}:{extra.get('index', '')}"
    case = Case(id=name, input=extra.get("question"), expected=expected, metadata=metadata)
    return case, Recorded(read_completion(solution_str))
