"""Rewards for a trainer: one task and its n outputs in, one score for each out.

"Wrong" and "could not be judged" are told apart: a score has a reward only where something was
measured, and elsewhere a status and a reason.
"""

from collections.abc import Coroutine, Sequence
from typing import Any

from fourscore.core import INLINE, Case, Executor, JudgeError, Rubric, Score, Signal, Status, score
from fourscore.core.numbers import clamp
from fourscore.executors.local import Local
from fourscore.executors.portal import PORTAL
from fourscore.formats.rows import Recorded
from fourscore.judges.workflow import (
    WorkflowOutput,
    WorkflowTask,
    make_case,
    make_trace,
    read_preset_reward,
)


async def rewards(
    rubric: Rubric, case: Case, outputs: Sequence[Recorded], *, executor: Executor = INLINE
) -> list[Score]:
    """A score for each output of one case; one that brings its own reward is not judged."""
    open_traces = [output.trace for output in outputs if output.reward is None]
    if len(open_traces) == len(outputs):
        return await score(rubric, case, open_traces, executor=executor)
    scores = iter(await score(rubric, case, open_traces, executor=executor) if open_traces else ())
    return [next(scores) if output.reward is None else _preset(output) for output in outputs]


def _preset(output: Recorded) -> Score:
    try:
        reward, success = read_preset_reward(output.reward or 0.0, output.is_success)
    except JudgeError as error:
        return Score(status=Status.JUDGE_ERROR, reason=str(error))
    signal = Signal(name="preset", value=clamp(reward), reward=reward, passed=success)
    return Score(
        status=Status.SCORED,
        value=signal.value,
        passed=success,
        reward=reward,
        coverage=1.0,
        signals=(signal,),
        reason="the output brought its reward",
    )


#: Beyond a deadline that its executor should have kept, in seconds.
GRACE = 1.0


class Rewards:
    """A rubric as one call for every caller: blocking from any thread, or awaited.

    It pickles, and it can be shared by as many threads as there are.
    """

    def __init__(self, rubric: Rubric, deadline: float = 30.0) -> None:
        self.rubric, self.deadline = rubric, deadline
        self._executor: Executor = INLINE if rubric.is_bounded else Local(deadline)

    def __call__(self, case: Case, outputs: Sequence[Recorded]) -> list[Score]:
        if self.rubric.is_bounded:
            return PORTAL.finish(lambda: self.scores(case, outputs))
        return self.wait(self.scores(case, outputs), len(outputs))

    def wait(self, work: Coroutine[Any, Any, list[Score]], n: int) -> list[Score]:
        """The n scores of work that waits; a judge may still block the loop it should await on."""
        try:
            return PORTAL.run(work, self.deadline + GRACE)
        except TimeoutError:
            reason = f"no answer within {self.deadline:g} s"
            return [Score(status=Status.JUDGE_ERROR, reason=reason)] * n

    async def scores(self, case: Case, outputs: Sequence[Recorded]) -> list[Score]:
        return await rewards(self.rubric, case, outputs, executor=self._executor)

    def __reduce__(self) -> tuple[object, ...]:
        return (Rewards, (self.rubric, self.deadline))


async def filled(
    rubric: Rubric,
    task: WorkflowTask,
    outputs: Sequence[WorkflowOutput],
    *,
    executor: Executor = INLINE,
) -> list[WorkflowOutput]:
    """New outputs with `reward` and `is_success` filled; both stay None where nothing was judged.

    Why not is in `log_metrics["fourscore_status"]`.
    """
    recorded = [
        Recorded(make_trace(output), output.reward, output.is_success) for output in outputs
    ]
    given = await rewards(rubric, make_case(task), recorded, executor=executor)
    return [
        WorkflowOutput(
            reward=scored.reward,
            is_success=scored.passed,
            metadata=dict(output.metadata),
            log_metrics={**output.log_metrics, "fourscore_status": str(scored.status)},
        )
        for output, scored in zip(outputs, given, strict=True)
    ]
