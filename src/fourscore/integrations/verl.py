"""verl: `compute_score(data_source, solution_str, ground_truth, extra_info)`.

verl collects the keys of the first result of a batch and looks all of them up in every other, so
they never change. It has no value for "no reward", and an exception ends the run: an answer that
cannot be judged is 0 with `fourscore_judged` 0 beside it. Only many in a row raise, because the
judge or the data is broken then.
"""

import json
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Literal

from fourscore.core import Case, Score
from fourscore.formats.recorded_outputs import RecordedOutput
from fourscore.integrations.judge_source import JudgeSource, load_scorer
from fourscore.train.failures import FailureLog, OnAllFailed
from fourscore.train.rollout_groups import BatchRow, refuse_rankers, score_batch, score_batch_async
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
        options: Mapping[str, object] | None = None,
        *,
        on_error: RaiseOrZero = "zero",
        on_all_failed: OnAllFailed = "raise",
        deadline: float = 30.0,
    ) -> None:
        self.scorer = refuse_rankers(load_scorer(source, options, deadline), "verl")
        check_on_error(on_error, ("raise", "zero"), "verl")
        self.on_error = on_error
        self.failures = FailureLog(self.scorer.rubric.name, on_all_failed)

    def compute_score(
        self,
        data_source: str,
        solution_str: str,
        ground_truth: object,
        extra_info: Mapping[str, object] | None = None,
        **_reward_model: object,
    ) -> dict[str, Any]:
        """Return the result that verl expects, called in a thread.

        verl adds two arguments where it serves a reward model.
        """
        row = _make_row(data_source, solution_str, ground_truth, extra_info)
        return self._make_result(row, *score_batch(self.scorer, [row]))

    async def compute_score_async(
        self,
        data_source: str,
        solution_str: str,
        ground_truth: object,
        extra_info: Mapping[str, object] | None = None,
        **_reward_model: object,
    ) -> dict[str, Any]:
        """Return the result that verl expects, awaited."""
        row = _make_row(data_source, solution_str, ground_truth, extra_info)
        return self._make_result(row, *await score_batch_async(self.scorer, [row]))

    def _make_result(self, row: BatchRow, score: Score) -> dict[str, Any]:
        if self.on_error != "raise":
            self.failures.add([score])
        return {
            "score": resolve_reward(row[0], score, self.on_error),
            **get_components(self.scorer.rubric, score),
            "fourscore_status": str(score.status),
            "fourscore_reason": score.reason,
        }


def compute_score(
    data_source: str,
    solution_str: str,
    ground_truth: object,
    extra_info: Mapping[str, object] | None = None,
    *,
    judge: str,
    options: Mapping[str, object] | None = None,
    on_error: RaiseOrZero = "zero",
    on_all_failed: OnAllFailed = "raise",
    deadline: float = 30.0,
    **_reward_model: object,
) -> dict[str, Any]:
    """Return verl's result with a judge named in the configuration, without a file of yours.

    `path: pkg://fourscore.integrations.verl`, and the judge in `reward_kwargs`.
    """
    scorer = _get_scorer(judge, _make_key(options), on_error, on_all_failed, deadline)
    return scorer.compute_score(data_source, solution_str, ground_truth, extra_info)


async def compute_score_async(
    data_source: str,
    solution_str: str,
    ground_truth: object,
    extra_info: Mapping[str, object] | None = None,
    *,
    judge: str,
    options: Mapping[str, object] | None = None,
    on_error: RaiseOrZero = "zero",
    on_all_failed: OnAllFailed = "raise",
    deadline: float = 30.0,
    **_reward_model: object,
) -> dict[str, Any]:
    """Return the result of `compute_score`, as a coroutine function."""
    scorer = _get_scorer(judge, _make_key(options), on_error, on_all_failed, deadline)
    return await scorer.compute_score_async(data_source, solution_str, ground_truth, extra_info)


@lru_cache(maxsize=16)
def _get_scorer(
    judge: str, options: str, on_error: RaiseOrZero, on_all_failed: OnAllFailed, deadline: float
) -> Scorer:
    return Scorer(
        judge,
        json.loads(options),
        on_error=on_error,
        on_all_failed=on_all_failed,
        deadline=deadline,
    )


def _make_key(options: Mapping[str, object] | None) -> str:
    """Return options as text: verl's mapping of them is not hashable."""
    return json.dumps(read_metadata(options), sort_keys=True)


def _make_row(
    data_source: str,
    solution_str: str,
    ground_truth: object,
    extra_info: Mapping[str, object] | None,
) -> BatchRow:
    """Return the case and output; a ground truth that is a mapping is metadata too (countdown)."""
    extra, expected = read_metadata(extra_info), to_json_value(ground_truth)
    metadata = {"data_source": to_json_value(data_source), **extra}
    if isinstance(expected, dict):
        metadata.update(expected)
    name = read_task_id(metadata) or f"{data_source}:{extra.get('index', '')}"
    case = Case(id=name, input=extra.get("question"), expected=expected, metadata=metadata)
    return case, RecordedOutput(read_completion(solution_str))
