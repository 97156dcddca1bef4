"""AgentJet: `compute_reward(workflow_task, workflow_output)` for any judge or rubric.

AgentJet makes a new judge for every rollout, by calling what `judge_protocol` names with its
configuration; name a function that returns a `TaskJudge` made only once.
"""

from collections.abc import Mapping, Sequence
from typing import Literal

from fourscore.core import DataError, Score, Status
from fourscore.formats.recorded_outputs import RecordedOutput
from fourscore.integrations.judge_source import JudgeSource, load_scorer
from fourscore.judges.workflow import WorkflowOutput, WorkflowTask, make_case, make_trace
from fourscore.train.failures import FailureLog, OnAllFailed
from fourscore.train.rollout_groups import score_batch
from fourscore.train.trainer_output import check_on_error, get_numeric_components, resolve_reward


class TaskJudge:
    """A judge with AgentJet's `compute_reward`. An output that brings its own reward keeps it."""

    def __init__(
        self,
        source: JudgeSource,
        options: Mapping[str, object] | None = None,
        *,
        on_error: Literal["raise", "zero"] = "raise",
        on_all_failed: OnAllFailed = "raise",
        deadline: float = 30.0,
    ) -> None:
        check_on_error(on_error, ("raise", "zero"), "AgentJet")
        self.scorer, self.on_error = load_scorer(source, options, deadline), on_error
        self.failures = FailureLog(self.scorer.rubric.name, on_all_failed)

    def compute_reward(
        self, workflow_task: WorkflowTask, workflow_output: WorkflowOutput
    ) -> tuple[float, bool]:
        """Return `(raw_reward, is_success)`.

        The components go to the output's `log_metrics`, which AgentJet reads after the call.
        """
        case = make_case(workflow_task)
        try:
            (score,) = score_batch(self.scorer, [(case, _record_output(workflow_output))])
        except DataError as error:  # of the answer's type
            if self.on_error == "raise":
                raise
            score = Score(status=Status.JUDGE_ERROR, reason=str(error))
        if self.on_error != "raise":
            self.failures.add([score])
        workflow_output.log_metrics.update(get_numeric_components(self.scorer.rubric, score))
        return resolve_reward(case, score, self.on_error) or 0.0, bool(score.passed)

    async def fill_rewards(
        self, workflow_task: WorkflowTask, workflow_outputs: Sequence[WorkflowOutput]
    ) -> list[WorkflowOutput]:
        """Return new outputs with `reward` and `is_success`, the group judged together.

        A judge that ranks needs this method. Both fields stay None where nothing was judged, with
        the reason in `log_metrics["fourscore_status"]`.
        """
        recorded = [_record_output(output) for output in workflow_outputs]
        scores = await self.scorer.score_async(make_case(workflow_task), recorded)
        self.failures.add(scores, may_raise=False)
        return [
            WorkflowOutput(
                reward=score.reward,
                is_success=score.passed,
                metadata=output.metadata,
                log_metrics={
                    **output.log_metrics,
                    **get_numeric_components(self.scorer.rubric, score),
                    "fourscore_status": str(score.status),
                },
            )
            for output, score in zip(workflow_outputs, scores, strict=True)
        ]


def _record_output(output: WorkflowOutput) -> RecordedOutput:
    return RecordedOutput(make_trace(output), output.reward, output.is_success)
