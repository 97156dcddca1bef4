"""TRL: `reward_funcs=[Reward("math")]`.

TRL calls a reward function with the batch and every column of the data set by name, and takes None
for a completion that could not be judged: it leaves the advantages then.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from fourscore.core import Case, Score
from fourscore.formats.rows import Recorded
from fourscore.integrations.ask import Row, Source, await_rows, rewards_of, score_rows
from fourscore.integrations.material import identity, plain, trace_of
from fourscore.integrations.verdict import OnError, check_word, components, reward_of

#: Arguments beside the columns that hold live objects, or what the texts say again.
NOT_COLUMNS = frozenset({"completion_ids", "environments", "trainer_state"})

LogExtra = Callable[[str, list[Any]], None]
LogMetric = Callable[[str, float], None]


class Reward:
    """A reward function. Columns are the task's metadata; `reference` names the one to compare
    with, where it is not called `answer`.
    """

    def __init__(
        self,
        source: Source,
        options: Mapping[str, Any] | None = None,
        *,
        on_error: OnError = "none",
        deadline: float = 30.0,
        reference: str | None = None,
    ) -> None:
        self.rewards = rewards_of(source, options, deadline)
        check_word(on_error, ("none", "zero", "raise"), "TRL")
        self.on_error = on_error
        self.reference = reference
        self.__name__ = self.rewards.rubric.name

    def __call__(
        self,
        prompts: Sequence[Any],
        completions: Sequence[Any],
        log_extra: LogExtra | None = None,
        log_metric: LogMetric | None = None,
        **columns: Any,
    ) -> list[float | None]:
        rows = self._rows(prompts, completions, columns)
        scores = score_rows(self.rewards, rows)
        self._log(scores, log_extra, log_metric)
        return self._given(rows, scores)

    def _rows(
        self, prompts: Sequence[Any], completions: Sequence[Any], columns: Mapping[str, Any]
    ) -> list[Row]:
        n = len(prompts)
        data = {
            name: values
            for name, values in columns.items()
            if name not in NOT_COLUMNS and isinstance(values, list | tuple) and len(values) == n
        }
        return [
            (self._case(prompt, {name: plain(data[name][i]) for name in data}), _answer(completion))
            for i, (prompt, completion) in enumerate(zip(prompts, completions, strict=True))
        ]

    def _case(self, prompt: Any, metadata: dict[str, Any]) -> Case:
        expected = None if self.reference is None else metadata.get(self.reference)
        name = identity(metadata)
        return Case(id=name, input=plain(prompt), expected=expected, metadata=metadata)

    def _given(self, rows: Sequence[Row], scores: Sequence[Score]) -> list[float | None]:
        pairs = zip(rows, scores, strict=True)
        return [reward_of(case, score, self.on_error) for (case, _), score in pairs]

    def _log(
        self, scores: Sequence[Score], extra: LogExtra | None, metric: LogMetric | None
    ) -> None:
        """Columns of the completions table, None where nothing was measured, and their means.

        They begin with this function's name: two that shared a column would double its length.
        """
        parts = [components(self.rewards.rubric, score) for score in scores]
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
    """The same, awaited: TRL runs such reward functions side by side."""

    def __init__(self, reward: Reward) -> None:
        self.reward = reward
        self.__name__ = reward.__name__

    async def __call__(
        self,
        prompts: Sequence[Any],
        completions: Sequence[Any],
        log_extra: LogExtra | None = None,
        log_metric: LogMetric | None = None,
        **columns: Any,
    ) -> list[float | None]:
        rows = self.reward._rows(prompts, completions, columns)
        scores = await await_rows(self.reward.rewards, rows)
        self.reward._log(scores, log_extra, log_metric)
        return self.reward._given(rows, scores)


def _answer(completion: Any) -> Recorded:
    return Recorded(trace_of(completion))
