"""OpenRLHF: `reward_func(queries, prompts, labels)` in a file, or the same over HTTP.

OpenRLHF has no value for "no reward": after an exception the sample has none, and the step fails.
NaN poisons its group's advantages, unless dynamic filtering is on: then the whole group is drawn
again.
"""

import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from fourscore.core import Case, DataError, Score, Status
from fourscore.integrations.judge_source import JudgeSource, load_scorer
from fourscore.train.failures import FailureLog, OnAllFailed
from fourscore.train.openrlhf_format import (
    list_components,
    list_unit_values,
    read_query,
    read_request,
    write_response,
)
from fourscore.train.rollout_groups import BatchRow, score_batch
from fourscore.train.trainer_output import OnError, check_on_error, resolve_reward

__all__ = ["RewardFunc", "read_request", "write_response"]

NAN = float("nan")


class RewardFunc:
    """`reward_func = RewardFunc("math")` in the file that `--reward.remote_url` names."""

    def __init__(
        self,
        source: JudgeSource,
        options: Mapping[str, object] | None = None,
        *,
        on_error: OnError = "raise",
        on_all_failed: OnAllFailed = "raise",
        deadline: float = 30.0,
    ) -> None:
        check_on_error(on_error, ("raise", "zero", "none"), "OpenRLHF")
        self.scorer, self.on_error = load_scorer(source, options, deadline), on_error
        self.__name__ = "reward_func"
        self.failures = FailureLog(self.scorer.rubric.name, on_all_failed)

    def __call__(
        self,
        queries: Sequence[str],
        prompts: Sequence[str],
        labels: Sequence[object],
        **_more: object,  # earlier versions added some
    ) -> dict[str, Any]:
        cases, scores = self._score(list(zip(queries, prompts, labels, strict=True)))
        missing = NAN if self.on_error == "none" else 0.0
        if self.on_error != "raise":
            self.failures.add(scores)
        rewards = [
            resolve_reward(case, score, self.on_error)
            for case, score in zip(cases, scores, strict=True)
        ]
        return {
            "rewards": _to_tensor([missing if reward is None else reward for reward in rewards]),
            "scores": _to_tensor(list_unit_values(scores, missing)),
            "extra_logs": {
                key: _to_tensor(column)
                for key, column in list_components(self.scorer.rubric, scores, missing).items()
            },
        }

    def _score(self, columns: list[tuple[str, str, object]]) -> tuple[list[Case], list[Score]]:
        """Score each query; one that cannot be read costs its own answer and no other."""
        rows: list[BatchRow | Score] = []
        for query in columns:
            try:
                rows.append(read_query(*query))
            except (DataError, ValueError) as error:
                if self.on_error == "raise":
                    raise
                rows.append(Score(status=Status.JUDGE_ERROR, reason=str(error)))
        read = [row for row in rows if not isinstance(row, Score)]
        scored = iter(zip(read, score_batch(self.scorer, read), strict=True))
        cases, scores = [], []
        for row in rows:
            case, score = (Case(input=""), row) if isinstance(row, Score) else _take(scored)
            cases.append(case)
            scores.append(score)
        return cases, scores


def _take(scored: Iterator[tuple[BatchRow, Score]]) -> tuple[Case, Score]:
    (case, _), score = next(scored)
    return case, score


def _to_tensor(values: list[float]) -> Any:
    """Return a tensor where torch is loaded: a list makes OpenRLHF's batches a dimension deeper."""
    torch = sys.modules.get("torch")
    return values if torch is None else torch.tensor(values, dtype=torch.float32)
