"""Score recorded outputs with a rubric: the one call behind training, the monitor and the server.

"Wrong" and "could not be judged" stay apart: a score has a reward only where something was
measured, and elsewhere a status and a reason.
"""

from collections.abc import Coroutine, Sequence
from typing import Any

from fourscore.core import INLINE, Case, Executor, JudgeError, Rubric, Score, Signal, Status, score
from fourscore.core.numbers import clamp
from fourscore.executors.local import LocalExecutor
from fourscore.executors.portal import PORTAL
from fourscore.formats.recorded_outputs import RecordedOutput
from fourscore.judges.workflow import read_preset_reward

#: Seconds past its deadline that an executor may take before the event loop counts as blocked.
GRACE = 1.0


async def score_outputs(
    rubric: Rubric, case: Case, outputs: Sequence[RecordedOutput], *, executor: Executor = INLINE
) -> list[Score]:
    """Score each output of one case; an output that already has a reward is not judged."""
    open_traces = [output.trace for output in outputs if output.reward is None]
    if len(open_traces) == len(outputs):
        return await score(rubric, case, open_traces, executor=executor)
    scores = iter(await score(rubric, case, open_traces, executor=executor) if open_traces else ())
    return [next(scores) if output.reward is None else _preset_score(output) for output in outputs]


def _preset_score(output: RecordedOutput) -> Score:
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
        reason="the output already had a reward",
    )


class RubricScorer:
    """Scores with one rubric, blocking from any thread or awaited. Picklable and thread-safe."""

    def __init__(self, rubric: Rubric, deadline: float = 30.0) -> None:
        self.rubric, self.deadline = rubric, deadline
        self._executor: Executor = INLINE if rubric.is_bounded else LocalExecutor(deadline)

    def score(self, case: Case, outputs: Sequence[RecordedOutput]) -> list[Score]:
        """Score each output of one case; blocks the calling thread."""
        if self.rubric.is_bounded:
            return PORTAL.finish(lambda: self.score_async(case, outputs))
        return self.run(self.score_async(case, outputs), len(outputs))

    async def score_async(self, case: Case, outputs: Sequence[RecordedOutput]) -> list[Score]:
        """Score each output of one case on the caller's event loop."""
        return await score_outputs(self.rubric, case, outputs, executor=self._executor)

    def run(self, work: Coroutine[Any, Any, list[Score]], n: int) -> list[Score]:
        """Run `work`, which returns n scores; after the deadline, return n judge errors.

        The executor enforces the deadline itself, unless a judge blocks the event loop.
        """
        try:
            return PORTAL.run(work, self.deadline + GRACE)
        except TimeoutError:
            reason = f"no answer within {self.deadline:g} s"
            return [Score(status=Status.JUDGE_ERROR, reason=reason)] * n

    def __reduce__(self) -> tuple[object, ...]:
        return (RubricScorer, (self.rubric, self.deadline))
