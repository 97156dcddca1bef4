"""AutoGrader under AgentJet's name and with its methods."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from fourscore.core import ConfigError, Signal
from fourscore.executors.portal import PORTAL
from fourscore.judges.workflow import (
    BuiltInJudge,
    WorkflowOutput,
    WorkflowTask,
    make_case,
    make_trace,
    read_preset_reward,
)
from fourscore.labels.auto_grader import ListGrader, make_grader
from fourscore.labels.auto_grader_config import find_section, read_section

Reward = tuple[float, bool]


class AutoGraderJudge(BuiltInJudge):
    """`(reward, is_success)` by a rubric learned from labelled samples.

    It takes a whole configuration, its section `rubrics_auto_grader`, or a mapping of its keys, and
    `on_error` beside them. In the mode listwise it is given the outputs of one task as a list.
    """

    def __init__(self, config: Any = None) -> None:
        self.config = None  # it may hold a key
        told = find_section(config)
        self.on_error = told.pop("on_error", "raise")
        if self.on_error not in ("raise", "zero"):
            raise ConfigError("expected raise or zero", field="on_error")
        self.core = make_grader(read_section(told), [str(Path.cwd())])

    def compute_reward(
        self,
        workflow_task: WorkflowTask,
        workflow_output: WorkflowOutput | Sequence[WorkflowOutput],
    ) -> Any:
        """One pair for an output, a list of pairs for a list."""
        single = not isinstance(workflow_output, list | tuple)
        outputs = [workflow_output] if single else list(workflow_output)  # type: ignore[arg-type]
        given: list[Reward]
        try:
            given = PORTAL.run(self._rewards(workflow_task, outputs))  # type: ignore[arg-type]
        except Exception:  # the task's fault or the model's, and the trainer's wish
            if self.on_error == "raise":
                raise
            given = [(0.0, False)] * len(outputs)
        return given[0] if single else given

    async def _rewards(
        self, workflow_task: WorkflowTask, outputs: Sequence[WorkflowOutput]
    ) -> list[Reward]:
        case = make_case(workflow_task)
        left = [output for output in outputs if output.reward is None]
        traces = [make_trace(output) for output in left]
        signals: Sequence[Signal] = ()
        if isinstance(self.core, ListGrader):
            signals = await self.core.rank(case, traces) if traces else ()
        else:
            signals = [(await self.core.judge(case, trace))[0] for trace in traces]
        found = iter(signals)
        return [
            _reward(next(found))
            if output.reward is None
            else read_preset_reward(output.reward, output.is_success)
            for output in outputs
        ]

    async def load_rubrics_from_cache(self) -> None:
        """Learn, or read what was learned: AgentJet calls this before the first task."""
        await self.core.prepare()

    async def generate_rubrics_from_samples(self) -> None:
        """The same: what was learned from these samples is not learned again."""
        await self.core.prepare()


def _reward(signal: Signal) -> Reward:
    return float(signal.value or 0.0), bool(signal.passed)
