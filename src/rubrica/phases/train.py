"""Rewards for a trainer: one task and its n outputs in, one reward for each out.

"Wrong" and "could not be judged" are told apart: a reward is a number only where something was
measured, and None, with a status and a reason, where nothing was.
"""

from collections.abc import Sequence

import msgspec

from rubrica.core import INLINE, Case, Executor, Rubric, Score, Status, score
from rubrica.core.numbers import real
from rubrica.judges.workflow import WorkflowOutput, WorkflowTask, case_of, preset, trace_of
from rubrica.readers.rows import Recorded


class Reward(msgspec.Struct, frozen=True):
    """What a trainer is told about one output."""

    raw_reward: float | None
    is_success: bool | None
    status: Status
    reason: str = ""


async def rewards(
    rubric: Rubric, case: Case, outputs: Sequence[Recorded], *, executor: Executor = INLINE
) -> list[Reward]:
    """Rewards for the outputs of one case; one that brings its own reward is not judged."""
    open_traces = [output.trace for output in outputs if output.reward is None]
    scores = iter(await score(rubric, case, open_traces, executor=executor) if open_traces else ())
    return [
        _reward(next(scores)) if output.reward is None else _preset(output) for output in outputs
    ]


def _reward(scored: Score) -> Reward:
    if scored.status.measured:
        return Reward(scored.reward, scored.passed, scored.status, scored.reason)
    return Reward(None, None, scored.status, scored.reason)


def _preset(output: Recorded) -> Reward:
    if real(output.reward) is None:
        return Reward(None, None, Status.JUDGE_ERROR, f"its own reward is {output.reward!r}")
    reward, success = preset(output.reward or 0.0, output.is_success)
    return Reward(reward, success, Status.SCORED, "the output brought its reward")


async def filled(
    rubric: Rubric,
    task: WorkflowTask,
    outputs: Sequence[WorkflowOutput],
    *,
    executor: Executor = INLINE,
) -> list[WorkflowOutput]:
    """New outputs with `reward` and `is_success` filled; both stay None where nothing was judged.

    Why not is in `log_metrics["rubrica_status"]`.
    """
    recorded = [Recorded(trace_of(output), output.reward, output.is_success) for output in outputs]
    given = await rewards(rubric, case_of(task), recorded, executor=executor)
    return [
        WorkflowOutput(
            reward=reward.raw_reward,
            is_success=reward.is_success,
            metadata=output.metadata,
            log_metrics={**output.log_metrics, "rubrica_status": str(reward.status)},
        )
        for output, reward in zip(outputs, given, strict=True)
    ]
