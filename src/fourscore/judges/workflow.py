"""AgentJet's types: a task, a workflow's output, and judges with `compute_reward`.

They are mutable and permissive, with the names that AgentJet's users know. `WorkflowJudge` adapts
an AgentJet judge to the core; it passes copies, so that a judge may change its input.
`BuiltInJudge` goes the other way and gives a core judge AgentJet's method.
"""

import inspect
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import msgspec

from fourscore.core import (
    Case,
    ConfigError,
    DataError,
    JudgeError,
    Signal,
    Trace,
    freeze,
    interpret_result,
    thaw,
)
from fourscore.core.answer import read_answer
from fourscore.core.judge import Runs, safe_repr
from fourscore.core.numbers import to_finite_float
from fourscore.executors.portal import PORTAL
from fourscore.formats.validation import ConversionError, convert_value


@dataclass
class Task:
    """A task of the trainer's data set."""

    main_query: str = ""
    init_messages: list[dict[str, Any]] = field(default_factory=list)
    task_id: str = ""
    env_type: str = ""
    metadata: dict[str, Any] = field(default_factory=dict)


class WorkflowTask:
    """A task in one episode. AgentJet's other fields are kept as attributes."""

    def __init__(
        self,
        task: Task,
        task_id: str = "",
        episode_uuid: str = "",
        gym_env: Any = None,
        **others: Any,
    ) -> None:
        self.task, self.episode_uuid, self.gym_env = task, episode_uuid, gym_env
        self.task_id = task_id or task.task_id
        vars(self).update(others)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, WorkflowTask) and vars(self) == vars(other)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        fields = ", ".join(f"{name}={value!r}" for name, value in vars(self).items())
        return f"WorkflowTask({fields})"


@dataclass
class WorkflowOutput:
    """The result of a workflow. If it already has a reward, that is kept and no judge runs."""

    reward: float | None = None
    is_success: bool | None = None
    metadata: dict[str, Any] = field(default_factory=dict)
    log_metrics: dict[str, Any] = field(default_factory=dict)


class ModelTuner:
    """The trainer's handle on the model; a workflow only passes it to the agent."""


class Workflow:
    """An agent that a trainer runs."""

    def __init__(self, name: str = "") -> None:
        self.name = name

    async def execute(self, task: WorkflowTask, model_tuner: ModelTuner) -> WorkflowOutput:
        raise NotImplementedError(f"{type(self).__name__} has no execute()")


class BaseJudge:
    """The base of a custom judge: override `compute_reward`, plain or async."""

    def __init__(self, config: Any = None) -> None:
        self.config = config

    def compute_reward(self, workflow_task: WorkflowTask, workflow_output: WorkflowOutput) -> Any:
        """Return `(raw_reward, is_success)` for one output."""
        raise NotImplementedError(f"{type(self).__name__} has no compute_reward()")


class WorkflowJudge:
    """Adapts a `BaseJudge` to the judge protocol of the core."""

    def __init__(self, inner: BaseJudge) -> None:
        self.inner = inner
        self.names = (type(inner).__name__,)
        waits = inspect.iscoroutinefunction(inner.compute_reward)
        self.runs: Runs = "loop" if waits else "thread"

    async def judge(self, case: Case, trace: Trace) -> Sequence[Signal]:
        returned = self.inner.compute_reward(make_task(case), make_output(trace))
        if inspect.isawaitable(returned):
            returned = await returned
        return interpret_result(self.names[0], returned)


class BuiltInJudge(BaseJudge):
    """Gives a core judge AgentJet's method; subclasses set `kind`, the class of the core judge.

    `on_error` says what happens if a task cannot be judged: `raise` (the default), or `zero` for
    trainers that cannot handle an exception: no reward and no success.
    """

    kind: type[msgspec.Struct]

    def __init__(self, config: Any = None) -> None:
        super().__init__(config)
        options = dict(read_judge_options(config, (*self.kind.__struct_fields__, "on_error")))
        self.on_error: Literal["raise", "zero"] = options.pop("on_error", "raise")
        if self.on_error not in ("raise", "zero"):
            raise ConfigError("expected raise or zero", field="judge_options.on_error")
        self.core: Any = make_judge(self.kind, options)

    def compute_reward(
        self, workflow_task: WorkflowTask, workflow_output: WorkflowOutput
    ) -> tuple[float, bool]:
        try:
            if workflow_output.reward is not None:
                return read_preset_reward(workflow_output.reward, workflow_output.is_success)
            case, trace = make_case(workflow_task), make_trace(workflow_output)
            (signal,) = PORTAL.finish(lambda: self.core.judge(case, trace))
        except Exception:  # an error of the task or of the judge: `on_error` decides
            if self.on_error == "raise":
                raise
            return 0.0, False
        reward = signal.value if signal.reward is None else signal.reward
        if reward is None and self.on_error == "raise":
            raise JudgeError(f"{signal.name}: no reward: {signal.reason or 'not applicable'}")
        return float(reward or 0.0), bool(signal.passed)


def read_preset_reward(reward: float, is_success: bool | None) -> tuple[float, bool]:
    """Return the output's reward and success; if `is_success` is None, a reward >= 1 succeeds."""
    number = to_finite_float(reward)
    if number is None:
        message = f"expected a finite number as the output's reward, got {safe_repr(reward)}"
        raise JudgeError(message)
    return number, bool(number >= 1.0 if is_success is None else is_success)


def make_judge(kind: type[msgspec.Struct], options: Mapping[str, Any]) -> Any:
    """Make a judge from its options; the error for a wrong option names the nearest right one."""
    try:
        return convert_value(dict(options), kind)
    except ConversionError as error:
        place = f"judge_options.{error.field}" if error.field else "judge_options"
        raise ConfigError(error.message, field=place) from None


def read_judge_options(config: Any, known: Collection[str] = ()) -> Mapping[str, Any]:
    """Return a judge's options: `task_judge.judge_options` of a configuration, or the mapping."""
    for root in ("ajet", "fourscore"):
        section = _get(config, root)
        if section is not None:
            return _read_options(_get(section, "task_judge"))
    if _get(config, "task_judge") is not None:
        return _read_options(_get(config, "task_judge"))
    if isinstance(config, Mapping):
        return config
    attributes = getattr(config, "__dict__", {})
    return {key: value for key, value in attributes.items() if key in known}


def _read_options(task_judge: Any) -> Mapping[str, Any]:
    options = _get(task_judge, "judge_options")
    return options if isinstance(options, Mapping) else vars(options) if options else {}


def _get(holder: Any, key: str) -> Any:
    return holder.get(key) if isinstance(holder, Mapping) else getattr(holder, key, None)


def make_case(workflow_task: WorkflowTask) -> Case:
    """Return an AgentJet task as a case."""
    task = workflow_task.task
    identity = str(workflow_task.task_id or task.task_id or "")
    return Case(
        id=identity,
        input=task.main_query,
        metadata=_keep_plain_data(task.metadata),
        task_type=task.env_type or None,
    )


def make_trace(workflow_output: WorkflowOutput, answer_field: str = "final_answer") -> Trace:
    """Return an AgentJet output as a trace; an answer that cannot be read raises a `DataError`."""
    return Trace(metadata=_keep_plain_data(workflow_output.metadata, answer_field))


def _keep_plain_data(metadata: Mapping[str, Any], needed: str = "") -> dict[str, Any]:
    """Return the metadata as JSON data: arrays become lists, messages their text.

    Other live objects are dropped, unless their key is `needed`.
    """
    plain: dict[str, Any] = {}
    for key, value in metadata.items():
        try:
            plain[str(key)] = freeze(read_answer(value))
        except ValueError as error:
            if needed and key in (needed, "final_answer"):
                raise DataError(str(error), field=f"metadata.{key}") from None
    return plain


def make_task(case: Case) -> WorkflowTask:
    """Return a case as an AgentJet task, with copies of its data."""
    metadata = thaw(case.metadata)
    if case.expected is not None and metadata.get("answer") is None:
        metadata["answer"] = thaw(case.expected)
    listed = thaw(case.input) if isinstance(case.input, list) else []
    task = Task(
        main_query=case.input if isinstance(case.input, str) else "",
        init_messages=metadata.pop("init_messages", listed),
        task_id=case.id,
        env_type=case.task_type or "",
        metadata=metadata,
    )
    episode = str(metadata.pop("episode_uuid", ""))
    return WorkflowTask(task=task, task_id=case.id, episode_uuid=episode)


def make_output(trace: Trace) -> WorkflowOutput:
    """Return a trace as an AgentJet output, with copies of its data."""
    metadata = thaw(trace.metadata)
    if trace.output is not None and metadata.get("final_answer") is None:
        metadata["final_answer"] = trace.answer
    return WorkflowOutput(log_metrics=metadata.pop("log_metrics", {}), metadata=metadata)
