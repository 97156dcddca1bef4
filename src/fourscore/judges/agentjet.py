"""The built-in judges with AgentJet's names and methods."""

import inspect
from collections.abc import Awaitable
from typing import Any

from fourscore.core import FourscoreError
from fourscore.executors.portal import PORTAL
from fourscore.judges.countdown import CountdownJudge
from fourscore.judges.environment import (
    EnvironmentJudge,
    ServiceError,
    check_score,
    evaluate_local_environment,
    make_reward,
)
from fourscore.judges.math import MathJudge
from fourscore.judges.workflow import (
    BuiltInJudge,
    WorkflowOutput,
    WorkflowTask,
    make_case,
    read_preset_reward,
)


class MathAnswerAsJudge(BuiltInJudge):
    """Returns `(1.0, True)` if the last box of `final_answer` has the task's answer."""

    kind = MathJudge


class CountdownAnswerAsJudge(BuiltInJudge):
    """Gives 1 for a correct equation and 0.1 for a well-formed wrong one, unless options differ."""

    kind = CountdownJudge


class EnvServiceJudge(BuiltInJudge):
    """Gets the score from the task's environment `gym_env`, else from the service at `url`."""

    kind = EnvironmentJudge
    core: EnvironmentJudge

    def compute_reward(
        self, workflow_task: WorkflowTask, workflow_output: WorkflowOutput
    ) -> tuple[float, bool]:
        if workflow_output.reward is not None:
            return read_preset_reward(workflow_output.reward, workflow_output.is_success)
        try:
            return make_reward(self._score(workflow_task))
        except FourscoreError:
            if self.on_error == "raise":
                raise
            return 0.0, False

    def _score(self, workflow_task: WorkflowTask) -> float:
        instance = workflow_task.episode_uuid
        if workflow_task.gym_env is None:
            return PORTAL.run(self.core.evaluate(make_case(workflow_task), instance))
        try:
            score: Any = evaluate_local_environment(workflow_task.gym_env, instance)
            if inspect.isawaitable(score):
                score = PORTAL.run(_await(score))
        except Exception as error:
            message = f"the environment failed: {type(error).__name__}: {error}"
            raise ServiceError(message) from error
        return check_score(score)


async def _await(score: Awaitable[Any]) -> Any:
    return await score
