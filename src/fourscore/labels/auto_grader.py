"""AutoGrader: a judge whose rubric is learned from labelled samples before it is first used.

The learned rubric is kept in a file named by a digest of the data and the settings, so that it is
learned once; processes that need the same one wait for the first. `prepare` learns it or reads the
file. Commands call it before the first row; otherwise the first answer waits for it.
"""

import asyncio
import fcntl
import os
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from fourscore.core import (
    Case,
    CaseError,
    ConfigError,
    JudgeError,
    Signal,
    Trace,
    Usage,
    digest,
    suggest_known,
)
from fourscore.core.rubric import SLACK
from fourscore.core.trace import as_text
from fourscore.executors.portal import PORTAL
from fourscore.formats.labelled_samples import SampleFile
from fourscore.formats.yaml_file import read_yaml_file
from fourscore.judges.llm.criteria import Criteria
from fourscore.judges.llm.listwise import Listwise
from fourscore.judges.llm.rating import Rating
from fourscore.judges.workflow import (
    BuiltInJudge,
    WorkflowOutput,
    WorkflowTask,
    make_case,
    make_trace,
    read_preset_reward,
)
from fourscore.labels.auto_grader_config import AutoGraderSection, find_section, read_section
from fourscore.labels.learning.journal import Journal
from fourscore.labels.learning.learn import LEARNED, learn
from fourscore.labels.learning.learned_rubric import is_measured, write_learned_rubric
from fourscore.labels.learning.settings import LearningSettings
from fourscore.models.messages import Model, ModelError
from fourscore.models.model_spec import get_default_cache

NAME = "auto_grader"
#: Seconds between two tries to get a lock that another process holds.
LOCK_INTERVAL = 0.2
KINDS: dict[str, type[msgspec.Struct]] = {
    "criteria": Criteria,
    "rating": Rating,
    "listwise": Listwise,
}
Log = Callable[[str], None]


def make_grader(
    section: AutoGraderSection, folders: Sequence[str] = ()
) -> "PointGrader | ListGrader":
    """Return the judge or ranker that a configuration section describes."""
    data = section.data(folders)
    settings = section.learning()
    kept = msgspec.structs.replace(section, api_key=None)
    kind = ListGrader if section.grader_mode == "listwise" else PointGrader
    return kind(kept, settings, data)


class _Grader:
    """Base of both graders: learning, and reading question, reference and answer of a task."""

    #: Commands call `prepare` before the first row.
    learns = True

    def __init__(self, section: AutoGraderSection, settings: LearningSettings, data: Path) -> None:
        self.section, self.settings, self.data = section, settings, data.resolve()
        self.inner: Any = None
        self.outcome = ""
        self.failure: ModelError | None = None

    @property
    def runs(self) -> str:
        return "loop"

    @property
    def models(self) -> tuple[str, ...]:
        return (self.pool_model.name,)

    @property
    def pool_model(self) -> Model:
        return self.settings.pool_model

    @property
    def prompts(self) -> Mapping[str, str]:
        found: Mapping[str, str] = {} if self.inner is None else self.inner.prompts
        return found

    @property
    def fingerprint(self) -> str:
        learned = None if self.inner is None else self.inner.fingerprint
        fields = self.settings.fields
        return digest([NAME, self.settings.fingerprint(str(learned)), fields.answer, learned])

    def most(self, case: Case) -> Usage:
        """Return the most that judging one answer can use."""
        if self.inner is not None:
            found: Usage = self.inner.most(case)
            return found
        return self.settings.criteria("x").ceiling("criterion", case, self.settings.max_rubrics)

    async def prepare(self, log: Log = lambda _: None) -> None:
        """Learn the rubric, or read it. If the model fails, every answer gets that error."""
        self.failure = None
        if self.inner is not None:
            return
        samples = SampleFile(
            self.data,
            mode=self.settings.mode,
            fields=self.settings.fields,
            bounds=self.settings.bounds,
        )
        run_id = self.settings.fingerprint(samples.digest)
        path = self._find_path(run_id)
        try:
            async with _lock(path):
                document = _read_learned(path, None if self.section.rubric_file else run_id)
                if document is None:
                    log(f"learning a rubric from {self.data.name}: {len(samples)} samples")
                    place = path.with_name(f"{path.name}.journal.jsonl")
                    with Journal(place, run_id, self.settings.concurrency) as journal:
                        document = await learn(samples, self.settings, journal, log=log)
                    write_learned_rubric(path, document)
        except ModelError as error:
            self.failure = error
            log(f"nothing could be learned: {error}")
            return
        self.inner = self._make_judge(document, path)
        self.outcome = str(document["learned"]["outcome"])
        if self.outcome != LEARNED:
            log(f"{self.outcome}, {document['learned'].get('why')}: the plain prompt judges")
        log(f"the rubric is {path}")

    def _find_path(self, run_id: str) -> Path:
        if self.section.rubric_file:
            return Path(self.section.rubric_file).expanduser().resolve()
        return get_default_cache().with_name("rubrics") / f"{run_id}.yaml"

    def _make_judge(self, document: Mapping[str, Any], path: Path) -> Any:
        """Return one judge with the criteria of all dimensions: themes change no value."""
        try:
            lines = list(document["dimensions"].values())
            # Model and address are those of the configuration: the file may be somebody else's.
            options = {**lines[0]["with"], "settings": self.settings.settings}
            options["model"] = self.settings.model
            if lines[0]["judge"] == "criteria":
                options["criteria"] = [one for line in lines for one in line["with"]["criteria"]]
            return msgspec.convert(options, KINDS[lines[0]["judge"]])
        except (LookupError, AttributeError, TypeError, ValueError) as error:
            raise ConfigError(f"not a learned rubric: {error}", file=str(path)) from None

    async def _get_judge(self) -> Any:
        if self.inner is None and self.failure is None:
            await self.prepare()
        if self.failure is not None:
            raise ModelError(self.failure.kind, f"no rubric: {self.failure.message}", usage=Usage())
        return self.inner

    def _read_case(self, case: Case) -> Case:
        section = self.section
        query = case.metadata.get(section.query_field, case.input)
        reference = case.metadata.get(section.reference_field, case.expected)
        return Case(id=case.id, input=query, expected=reference)

    def _read_trace(self, case: Case, trace: Trace) -> Trace:
        field = self.section.answer_field
        if field in trace.metadata:
            given = trace.metadata[field]
            return Trace(output="" if given is None else as_text(given))
        if field != "final_answer" and trace.answer:  # a misspelt field must not pay a 0
            message = f"the output has no such field: {suggest_known(field, trace.metadata)}"
            raise CaseError(case.id, f"metadata.{field}", message)
        return Trace(output=trace.answer)

    def _finish_signal(self, signal: Signal) -> Signal:
        if signal.value is None:
            return replace(signal, name=NAME)
        passed = signal.value >= self.section.success_threshold - SLACK
        before = f"{self.outcome}, the plain prompt judges: "
        if self.outcome == LEARNED:
            before = "" if signal.relative else self._write_score(signal.value)
        return replace(signal, name=NAME, passed=passed, reason=f"{before}{signal.reason}")

    def _write_score(self, value: float) -> str:
        """Return the value on the scale of the labels, as text."""
        low, high = self.settings.bounds
        return f"{low + value * (high - low):.3g} of {low:g} to {high:g}: "


class PointGrader(_Grader):
    """Pointwise grader: a value in [0, 1] per answer; success from the threshold on."""

    names = (NAME,)

    async def judge(self, case: Case, trace: Trace) -> Sequence[Signal]:
        inner = await self._get_judge()
        (signal,) = await inner.judge(self._read_case(case), self._read_trace(case, trace))
        return (self._finish_signal(signal),)


class ListGrader(_Grader):
    """Listwise grader: `(n - rank) / (n - 1)` for the answers to one task; a single one gets 1."""

    name = NAME
    alone = 1.0

    async def rank(self, case: Case, traces: Sequence[Trace]) -> Sequence[Signal]:
        inner = await self._get_judge()
        signals = await inner.rank(
            self._read_case(case), [self._read_trace(case, trace) for trace in traces]
        )
        return [self._finish_signal(signal) for signal in signals]


def _read_learned(path: Path, run_id: str | None) -> Mapping[str, Any] | None:
    """Read a learned rubric; None if there is none, or it is of another run or unmeasured."""
    if not path.is_file():
        return None
    document = read_yaml_file(str(path))
    learned = document.value.get("learned") if isinstance(document.value, dict) else None
    if not isinstance(learned, dict) or "outcome" not in learned:
        raise document.error("not a learned rubric: there is no section `learned`")
    if run_id is not None and learned.get("fingerprint") != run_id:
        return None
    if not is_measured(document.value):
        return None
    found: Mapping[str, Any] = document.value
    return found


@asynccontextmanager
async def _lock(path: Path) -> AsyncIterator[None]:
    """Let one process at a time learn; later ones find what the first has learned."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        file = os.open(f"{path}.lock", os.O_RDWR | os.O_CREAT, 0o644)
    except OSError as error:
        raise ConfigError(error.strerror or "cannot be written", file=str(path)) from None
    try:
        while True:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                await asyncio.sleep(LOCK_INTERVAL)
        yield
    finally:
        os.close(file)


Reward = tuple[float, bool]


class AutoGraderJudge(BuiltInJudge):
    """`(reward, is_success)` by a rubric learned from labelled samples.

    It takes a whole configuration, its section `rubrics_auto_grader`, or a mapping of the section's
    keys, which may include `on_error`. In listwise mode it gets the outputs of one task as a list.
    """

    def __init__(self, config: Any = None) -> None:
        self.config = None  # it may hold a key
        options = find_section(config)
        self.on_error = options.pop("on_error", "raise")
        if self.on_error not in ("raise", "zero"):
            raise ConfigError("expected raise or zero", field="on_error")
        self.core = make_grader(read_section(options), [str(Path.cwd())])

    def compute_reward(
        self,
        workflow_task: WorkflowTask,
        workflow_output: WorkflowOutput | Sequence[WorkflowOutput],
    ) -> Any:
        """Return one pair for an output, a list of pairs for a list."""
        single = not isinstance(workflow_output, list | tuple)
        outputs = [workflow_output] if single else list(workflow_output)  # type: ignore[arg-type]
        given: list[Reward]
        try:
            given = PORTAL.run(self._compute_rewards(workflow_task, outputs))  # type: ignore[arg-type]
        except Exception:  # `on_error` decides, whether the task or the model failed
            if self.on_error == "raise":
                raise
            given = [(0.0, False)] * len(outputs)
        return given[0] if single else given

    async def _compute_rewards(
        self, workflow_task: WorkflowTask, outputs: Sequence[WorkflowOutput]
    ) -> list[Reward]:
        case = make_case(workflow_task)
        left = [output for output in outputs if output.reward is None]
        traces = [make_trace(output, self.core.section.answer_field) for output in left]
        signals: Sequence[Signal] = ()
        if isinstance(self.core, ListGrader):
            signals = await self.core.rank(case, traces) if traces else ()
        else:
            signals = [(await self.core.judge(case, trace))[0] for trace in traces]
        found = iter(signals)
        return [
            _read_reward(next(found))
            if output.reward is None
            else read_preset_reward(output.reward, output.is_success)
            for output in outputs
        ]

    async def load_rubrics_from_cache(self) -> None:
        """Learn the rubric, or read it: AgentJet calls this before the first task."""
        await self.core.prepare()

    async def generate_rubrics_from_samples(self) -> None:
        """Do the same: what was learned from these samples is not learned again."""
        await self.core.prepare()


def _read_reward(signal: Signal) -> Reward:
    if signal.value is None:  # nothing was measured: that is no 0
        reason = signal.reason if signal.fault is None else signal.fault.message
        raise JudgeError(f"{NAME}: no reward: {reason or 'not applicable'}")
    return float(signal.value), bool(signal.passed)
