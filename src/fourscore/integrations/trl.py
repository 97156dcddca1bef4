"""TRL: `reward_funcs=[Reward("math")]`.

TRL calls a reward function with the batch and every column of the data set by name, and takes None
for a completion that could not be judged, which then has no part in the advantages.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from fourscore.core import Case, ConfigError, Score, suggest_known
from fourscore.formats.recorded_outputs import RecordedOutput
from fourscore.integrations.judge_source import JudgeSource, load_scorer
from fourscore.train.failures import FailureLog, OnAllFailed
from fourscore.train.rollout_groups import BatchRow, score_batch, score_batch_async
from fourscore.train.trainer_input import read_completion, read_task_id, to_json_value
from fourscore.train.trainer_output import OnError, check_on_error, get_components, resolve_reward

#: Arguments that are no columns: live objects, or the texts as token ids.
NOT_COLUMNS = frozenset({"completion_ids", "environments", "trainer_state"})

LogExtra = Callable[[str, list[Any]], None]
LogMetric = Callable[[str, float], None]


class Reward:
    """A reward function for TRL. Columns of the data set are the task's metadata.

    `reference` names the column to compare with, where it is not called `answer`. A batch in which
    no completion could be judged raises, unless `on_all_failed` is `none`.
    """

    def __init__(
        self,
        source: JudgeSource,
        options: Mapping[str, object] | None = None,
        *,
        on_error: OnError = "none",
        on_all_failed: OnAllFailed = "raise",
        deadline: float = 30.0,
        reference: str | None = None,
    ) -> None:
        self.scorer = load_scorer(source, options, deadline)
        check_on_error(on_error, ("none", "zero", "raise"), "TRL")
        self.on_error = on_error
        self.reference = reference
        self.__name__ = self.scorer.rubric.name
        self.failures = FailureLog(self.__name__, on_all_failed)

    def __call__(
        self,
        prompts: Sequence[object],
        completions: Sequence[object],
        log_extra: LogExtra | None = None,
        log_metric: LogMetric | None = None,
        **columns: object,
    ) -> list[float | None]:
        rows = self._make_rows(prompts, completions, columns)
        scores = score_batch(self.scorer, rows)
        self._log_components(scores, log_extra, log_metric)
        return self._list_rewards(rows, scores)

    def _make_rows(
        self,
        prompts: Sequence[object],
        completions: Sequence[object],
        columns: Mapping[str, object],
    ) -> list[BatchRow]:
        n = len(prompts)
        data = {
            name: values
            for name, values in columns.items()
            if name not in NOT_COLUMNS and isinstance(values, list | tuple) and len(values) == n
        }
        if n and self.reference is not None and self.reference not in data:
            hint = suggest_known(self.reference, data)
            message = f"the data set has no column {self.reference!r}: {hint}"
            raise ConfigError(message, field="reference")
        return [
            (
                self._make_case(prompt, {name: to_json_value(data[name][i]) for name in data}),
                RecordedOutput(read_completion(completion)),
            )
            for i, (prompt, completion) in enumerate(zip(prompts, completions, strict=True))
        ]

    def _make_case(self, prompt: object, metadata: dict[str, Any]) -> Case:
        expected = None if self.reference is None else metadata.get(self.reference)
        name = read_task_id(metadata)
        return Case(id=name, input=to_json_value(prompt), expected=expected, metadata=metadata)

    def _list_rewards(
        self, rows: Sequence[BatchRow], scores: Sequence[Score]
    ) -> list[float | None]:
        if self.on_error != "raise":
            self.failures.add(scores)
        pairs = zip(rows, scores, strict=True)
        return [resolve_reward(case, score, self.on_error) for (case, _), score in pairs]

    def _log_components(
        self, scores: Sequence[Score], extra: LogExtra | None, metric: LogMetric | None
    ) -> None:
        """Log the components as columns of the completions table, and their means as metrics.

        Keys begin with this function's name: two functions sharing one would double its column.
        """
        parts = [get_components(self.scorer.rubric, score) for score in scores]
        columns: dict[str, list[Any]] = {}
        for key in parts[0] if parts else ():
            columns[key] = [part[key] for part in parts]
        for key, values in columns.items():
            known = [value for value in values if value is not None]
            if metric is not None and known:
                metric(f"{self.__name__}/{key}", sum(known) / len(known))
        columns["fourscore_status"] = [str(score.status) for score in scores]
        columns["fourscore_reason"] = [score.reason for score in scores]
        if extra is not None:
            for key, values in columns.items():
                extra(f"{self.__name__}/{key}", values)


class AsyncReward:
    """A `Reward` that is awaited: TRL runs such reward functions concurrently."""

    def __init__(self, reward: Reward) -> None:
        self.reward = reward
        self.__name__ = reward.__name__

    async def __call__(
        self,
        prompts: Sequence[object],
        completions: Sequence[object],
        log_extra: LogExtra | None = None,
        log_metric: LogMetric | None = None,
        **columns: object,
    ) -> list[float | None]:
        rows = self.reward._make_rows(prompts, completions, columns)
        scores = await score_batch_async(self.reward.scorer, rows)
        self.reward._log_components(scores, log_extra, log_metric)
        return self.reward._list_rewards(rows, scores)
