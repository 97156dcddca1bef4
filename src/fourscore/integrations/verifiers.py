"""verifiers, both generations of its API.

Until 0.1 a `vf.Rubric` calls functions by the names of their arguments, one rollout at a time, or a
whole group where the names are plural: `vf.Rubric(**rubric_arguments("math"))`. It turns an
exception into 0 and a line of its log, so an output that could not be judged is marked where
verifiers marks its own failures: in `state["error"]`.

Since 0.2 (`verifiers.v1`) a task has `@vf.reward` methods over a trace: `TaskReward("math")` is
one. There an exception leaves the reward None and marks the trace as failed.
"""

import sys
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from fourscore.core import Case, Score, Status, Trace
from fourscore.formats.recorded_outputs import RecordedOutput
from fourscore.integrations.judge_source import JudgeSource, load_scorer
from fourscore.judges.scorer import RubricScorer
from fourscore.train.failures import FailureLog, OnAllFailed
from fourscore.train.rollout_groups import BatchRow, has_ranker, refuse_rankers, score_batch_async
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

#: The key of `state` where the reward function leaves its components for the metrics.
KEY = "fourscore"
#: Has the keys of all components, without values.
_NO_SCORE = Score(status=Status.SKIPPED)


def rubric_arguments(
    source: JudgeSource,
    options: Mapping[str, object] | None = None,
    *,
    on_error: OnError = "none",
    deadline: float = 30.0,
) -> dict[str, Any]:
    """Return `funcs` and `weights` of a `vf.Rubric`: the reward, then components with weight 0."""
    check_on_error(on_error, ("none", "zero", "raise"), "verifiers")
    scorer = load_scorer(source, options, deadline)
    kind = GroupReward if has_ranker(scorer.rubric) else RolloutReward
    keys = get_components(scorer.rubric, _NO_SCORE)
    funcs = [kind(scorer, on_error), *(Component(key) for key in keys)]
    return {"funcs": funcs, "weights": [1.0, *(0.0 for _ in keys)]}


class RolloutReward:
    """A reward function for one rollout; verifiers calls it by the names of its arguments."""

    def __init__(self, scorer: RubricScorer, on_error: OnError) -> None:
        self.scorer, self.on_error = scorer, on_error
        self.__name__ = scorer.rubric.name
        self.failures = FailureLog(self.__name__, "none")  # verifiers makes an exception a 0

    async def __call__(
        self,
        prompt: object,
        completion: object,
        answer: object = "",
        state: dict[str, Any] | None = None,
        info: object = None,
        task: object = None,
    ) -> float:
        state = {} if state is None else state
        row = _make_row(prompt, completion, answer, state, info=info, task=task)
        (score,) = await score_batch_async(self.scorer, [row])
        return _return_reward(
            self.scorer, self.on_error, self.failures, case=row[0], score=score, state=state
        )


class GroupReward:
    """A reward function for a group; verifiers knows it by the plural names of its arguments."""

    def __init__(self, scorer: RubricScorer, on_error: OnError) -> None:
        self.scorer, self.on_error = scorer, on_error
        self.__name__ = scorer.rubric.name
        self.failures = FailureLog(self.__name__, "none")  # verifiers makes an exception a 0

    async def __call__(
        self,
        prompts: Sequence[object],
        completions: Sequence[object],
        answers: Sequence[object],
        states: Sequence[dict[str, Any]],
        infos: Sequence[object],
        tasks: Sequence[object],
    ) -> list[float]:
        columns = zip(prompts, completions, answers, states, infos, tasks, strict=True)
        rows = [_make_row(*column, info=info, task=task) for *column, info, task in columns]
        scores = await score_batch_async(self.scorer, rows)
        return [
            _return_reward(
                self.scorer, self.on_error, self.failures, case=case, score=score, state=state
            )
            for (case, _), score, state in zip(rows, scores, states, strict=True)
        ]


class Component:
    """One component as a metric, as the reward function before it left it in the state."""

    def __init__(self, key: str) -> None:
        self.key = self.__name__ = key

    def __call__(self, state: Mapping[str, Any]) -> float:
        parts: Mapping[str, float] = state.get(KEY) or {}
        return parts.get(self.key, 0.0)


def _make_row(
    prompt: object,
    completion: object,
    answer: object,
    state: Mapping[str, object],
    *,
    info: object,
    task: object,
) -> BatchRow:
    """Return the case and output of a rollout; columns, task and `info` are metadata."""
    columns = read_metadata(state.get("input"))
    for repeated in ("prompt", "answer", "info"):
        columns.pop(repeated, None)
    metadata = {**columns, **read_metadata(task), **read_metadata(info)}
    expected = None if answer in ("", None) else to_json_value(answer)
    case = Case(
        id=read_task_id(metadata), input=to_json_value(prompt), expected=expected, metadata=metadata
    )
    return case, RecordedOutput(read_completion(completion))


def _return_reward(
    scorer: RubricScorer,
    on_error: OnError,
    failures: FailureLog,
    *,
    case: Case,
    score: Score,
    state: dict[str, Any],
) -> float:
    """Return the reward, with its components and any failure written to the state."""
    state[KEY] = get_numeric_components(scorer.rubric, score)
    if on_error != "raise":
        failures.add([score])
    reward = resolve_reward(case, score, on_error)
    if reward is None and state.get("error") is None:
        state["error"] = _make_verifiers_error(str(make_error(case, score)))
    return 0.0 if reward is None else reward


def _make_verifiers_error(message: str) -> Exception:
    """Return an error of verifiers' own class, which its trainers know and do not retry."""
    kind = getattr(sys.modules.get("verifiers"), "Error", RuntimeError)
    error: Exception = kind(message)
    return error


class TaskReward:
    """A reward over a trace: use it in or as a `@vf.reward` method, or from a configuration."""

    def __init__(
        self,
        source: JudgeSource,
        options: Mapping[str, object] | None = None,
        *,
        on_error: Literal["raise", "zero"] = "raise",
        on_all_failed: OnAllFailed = "raise",
        deadline: float = 30.0,
    ) -> None:
        check_on_error(on_error, ("raise", "zero"), "a task of verifiers")
        scorer = load_scorer(source, options, deadline)
        self.scorer = refuse_rankers(scorer, "a task of verifiers")
        self.on_error = on_error
        self.__name__ = self.scorer.rubric.name
        self.failures = FailureLog(self.__name__, on_all_failed)

    async def __call__(self, task: object, trace: Any) -> float:
        """Return the reward of a rollout; the components become metrics of the trace."""
        metadata = read_metadata(task)
        name = str(metadata.get("id") or metadata.get("name") or read_task_id(metadata))
        case = Case(id=name, input=metadata.pop("prompt", None), metadata=metadata)
        answer = Trace(output=trace.last_reply, steps=read_messages(trace.messages))
        (score,) = await score_batch_async(self.scorer, [(case, RecordedOutput(answer))])
        trace.metrics.update(get_components(self.scorer.rubric, score))
        if self.on_error != "raise":
            self.failures.add([score])
        return resolve_reward(case, score, self.on_error) or 0.0
