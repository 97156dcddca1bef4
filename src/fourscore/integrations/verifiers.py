"""verifiers, both generations.

Until 0.1 a `vf.Rubric` calls functions by the names of their arguments, one rollout at a time, or a
whole group where the names are plural: `vf.Rubric(**rubric_arguments("math"))`. It turns an
exception into 0 and a line of its log, so what could not be judged is marked where it marks its own
failures: in `state["error"]`.

Since 0.2 (`verifiers.v1`) a task has `@vf.reward` methods over a trace: `TaskReward("math")` is
one. There an exception leaves the reward None and the trace failed, which is just what is meant.
"""

import sys
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from fourscore.core import Case, Score, Status, Trace
from fourscore.formats.recorded_outputs import Recorded
from fourscore.integrations.judge_source import JudgeSource, load_scorer
from fourscore.judges.scorer import RubricScorer
from fourscore.train.batch import BatchRow, has_ranker, refuse_rankers, score_batch_async
from fourscore.train.trainer_input import (
    read_completion,
    read_messages,
    read_metadata,
    read_task_id,
    to_json_value,
)
from fourscore.train.trainer_output import (
    OnError,
    check_on_error,
    get_components,
    get_numeric_components,
    make_error,
    resolve_reward,
)

#: Where the reward leaves its components for the metrics that are asked after it.
KEY = "fourscore"
#: Names the components before there are any.
_NOTHING = Score(status=Status.SKIPPED)


def rubric_arguments(
    source: JudgeSource,
    options: Mapping[str, Any] | None = None,
    *,
    on_error: OnError = "none",
    deadline: float = 30.0,
) -> dict[str, Any]:
    """`funcs` and `weights` of a `vf.Rubric`: the reward, then its components with weight 0."""
    check_on_error(on_error, ("none", "zero", "raise"), "verifiers")
    scorer = load_scorer(source, options, deadline)
    kind = GroupReward if has_ranker(scorer.rubric) else RolloutReward
    keys = get_components(scorer.rubric, _NOTHING)
    funcs = [kind(scorer, on_error), *(Component(key) for key in keys)]
    return {"funcs": funcs, "weights": [1.0, *(0.0 for _ in keys)]}


class RolloutReward:
    """A reward function for one rollout. The arguments' names are the interface."""

    def __init__(self, scorer: RubricScorer, on_error: OnError) -> None:
        self.scorer, self.on_error = scorer, on_error
        self.__name__ = scorer.rubric.name

    async def __call__(
        self,
        prompt: Any,
        completion: Any,
        answer: Any = "",
        state: dict[str, Any] | None = None,
        info: Any = None,
        task: Any = None,
    ) -> float:
        row = _row(prompt, completion, answer, {} if state is None else state, info, task)
        (score,) = await score_batch_async(self.scorer, [row])
        return _give_reward(
            self.scorer, self.on_error, row[0], score, {} if state is None else state
        )


class GroupReward:
    """The same for a judge that ranks: verifiers knows it by its plural names."""

    def __init__(self, scorer: RubricScorer, on_error: OnError) -> None:
        self.scorer, self.on_error = scorer, on_error
        self.__name__ = scorer.rubric.name

    async def __call__(
        self,
        prompts: Sequence[Any],
        completions: Sequence[Any],
        answers: Sequence[Any],
        states: Sequence[dict[str, Any]],
        infos: Sequence[Any],
        tasks: Sequence[Any],
    ) -> list[float]:
        columns = zip(prompts, completions, answers, states, infos, tasks, strict=True)
        rows = [_row(*column) for column in columns]
        scores = await score_batch_async(self.scorer, rows)
        return [
            _give_reward(self.scorer, self.on_error, case, score, state)
            for (case, _), score, state in zip(rows, scores, states, strict=True)
        ]


class Component:
    """One component as a metric. It judges nothing: the reward before it has left it there."""

    def __init__(self, key: str) -> None:
        self.key = self.__name__ = key

    def __call__(self, state: Mapping[str, Any]) -> float:
        parts: Mapping[str, float] = state.get(KEY) or {}
        return parts.get(self.key, 0.0)


def _row(
    prompt: Any, completion: Any, answer: Any, state: Mapping[str, Any], info: Any, task: Any
) -> BatchRow:
    """Columns of the data set, the task's fields and `info` are metadata."""
    columns = read_metadata(state.get("input"))
    for repeated in ("prompt", "answer", "info"):
        columns.pop(repeated, None)
    metadata = {**columns, **read_metadata(task), **read_metadata(info)}
    expected = None if answer in ("", None) else to_json_value(answer)
    case = Case(
        id=read_task_id(metadata), input=to_json_value(prompt), expected=expected, metadata=metadata
    )
    return case, Recorded(read_completion(completion))


def _give_reward(
    scorer: RubricScorer, on_error: OnError, case: Case, score: Score, state: dict[str, Any]
) -> float:
    state[KEY] = get_numeric_components(scorer.rubric, score)
    reward = resolve_reward(case, score, on_error)
    if reward is None and state.get("error") is None:
        state["error"] = _their_error(str(make_error(case, score)))
    return 0.0 if reward is None else reward


def _their_error(message: str) -> Exception:
    """verifiers' own kind of error, which its outputs and trainers know. It is not retried."""
    kind = getattr(sys.modules.get("verifiers"), "Error", RuntimeError)
    error: Exception = kind(message)
    return error


class TaskReward:
    """A reward over a trace: called by a `@vf.reward` method, as one, or from a configuration."""

    def __init__(
        self,
        source: JudgeSource,
        options: Mapping[str, Any] | None = None,
        *,
        on_error: Literal["raise", "zero"] = "raise",
        deadline: float = 30.0,
    ) -> None:
        check_on_error(on_error, ("raise", "zero"), "a task of verifiers")
        scorer = load_scorer(source, options, deadline)
        self.scorer = refuse_rankers(scorer, "a task of verifiers")
        self.on_error = on_error
        self.__name__ = self.scorer.rubric.name

    async def __call__(self, task: Any, trace: Any) -> float:
        """`task` is the task's data, `trace` the rollout; the components are its metrics."""
        metadata = read_metadata(task)
        name = str(metadata.get("id") or metadata.get("name") or read_task_id(metadata))
        case = Case(id=name, input=metadata.pop("prompt", None), metadata=metadata)
        answer = Trace(output=trace.last_reply, steps=read_messages(trace.messages))
        (score,) = await score_batch_async(self.scorer, [(case, Recorded(answer))])
        trace.metrics.update(get_components(self.scorer.rubric, score))
        return resolve_reward(case, score, self.on_error) or 0.0
