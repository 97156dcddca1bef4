"""AutoGrader: a judge that is learned from labelled samples before it is first used.

What is learned is kept in a file by the digest of the data and of all that bears on it, so that it
is learned once; processes that want the same one wait for the first. `prepare` learns, or reads the
file. Commands call it before the first row; where nobody does, the first answer waits for it.
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

from fourscore.core import Case, ConfigError, Signal, Trace, Usage, digest
from fourscore.core.rubric import SLACK
from fourscore.core.trace import as_text
from fourscore.formats.labelled_samples import SampleFile
from fourscore.formats.yaml_file import read_yaml_file
from fourscore.judges.llm.criteria import Criteria
from fourscore.judges.llm.listwise import Listwise
from fourscore.judges.llm.rating import Rating
from fourscore.labels.auto_grader_config import AutoGrader
from fourscore.labels.learning.journal import Journal
from fourscore.labels.learning.learn import LEARNED, learn
from fourscore.labels.learning.learned_rubric import write_learned_rubric
from fourscore.labels.learning.settings import Learning
from fourscore.models.messages import Model, ModelError
from fourscore.models.model_spec import usual_cache

NAME = "auto_grader"
#: Seconds between two looks at a lock that another process holds.
AGAIN = 0.2
KINDS: dict[str, type[msgspec.Struct]] = {
    "criteria": Criteria,
    "rating": Rating,
    "listwise": Listwise,
}
Tell = Callable[[str], None]


def make_grader(section: AutoGrader, folders: Sequence[str] = ()) -> "PointGrader | ListGrader":
    """The judge, or the ranker, that a section describes."""
    data = section.data(folders)
    settings = section.learning()
    kept = msgspec.structs.replace(section, api_key=None)
    kind = ListGrader if section.grader_mode == "listwise" else PointGrader
    return kind(kept, settings, data)


class _Grader:
    """What both have: the learning, and where the parts of a task stand."""

    #: Commands have it prepare itself before the first row.
    learns = True

    def __init__(self, section: AutoGrader, settings: Learning, data: Path) -> None:
        self.section, self.settings, self.data = section, settings, data.resolve()
        self.inner: Any = None
        self.outcome = ""
        self._failure: ModelError | None = None

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
        told = None if self.inner is None else self.inner.fingerprint
        fields = self.settings.fields
        return digest([NAME, self.settings.fingerprint(str(told)), fields.answer, told])

    def most(self, case: Case) -> Usage:
        """What one answer takes at the most."""
        if self.inner is not None:
            found: Usage = self.inner.most(case)
            return found
        return self.settings.criteria("x").ceiling("criterion", case, self.settings.max_rubrics)

    async def prepare(self, tell: Tell = lambda _: None) -> None:
        """Learn, or read what was learned. A model that fails is an error of every answer."""
        self._failure = None
        if self.inner is not None:
            return
        samples = SampleFile(
            self.data, self.settings.mode, self.settings.fields, self.settings.bounds
        )
        about = self.settings.fingerprint(samples.digest)
        path = self._place(about)
        try:
            async with _alone(path):
                document = _known(path, None if self.section.rubric_file else about)
                if document is None:
                    tell(f"learning a rubric from {self.data.name}: {len(samples)} samples")
                    place = path.with_name(f"{path.name}.journal.jsonl")
                    with Journal(place, about, self.settings.concurrency) as journal:
                        document = await learn(samples, self.settings, journal, tell=tell)
                    write_learned_rubric(path, document)
        except ModelError as error:
            self._failure = error
            tell(f"nothing could be learned: {error}")
            return
        self.inner = self._made(document, path)
        self.outcome = str(document["learned"]["outcome"])
        if self.outcome != LEARNED:
            tell(f"{self.outcome}, {document['learned']['why']}: the plain prompt judges")
        tell(f"the rubric is {path}")

    def _place(self, about: str) -> Path:
        if self.section.rubric_file:
            return Path(self.section.rubric_file).expanduser().resolve()
        return usual_cache().with_name("rubrics") / f"{about}.yaml"

    def _made(self, document: Mapping[str, Any], path: Path) -> Any:
        """One judge of all dimensions: themes are for people and change no value."""
        lines = list(document["dimensions"].values())
        options = {**lines[0]["with"], "settings": self.settings.settings}
        options["model"] = self.settings.model
        if lines[0]["judge"] == "criteria":
            options["criteria"] = [one for line in lines for one in line["with"]["criteria"]]
        try:
            return msgspec.convert(options, KINDS[lines[0]["judge"]])
        except (msgspec.ValidationError, KeyError, ValueError) as error:
            raise ConfigError(f"it is no learned rubric: {error}", file=str(path)) from None

    async def _ready(self) -> Any:
        if self.inner is None and self._failure is None:
            await self.prepare()
        if self._failure is not None:
            raise ModelError(
                self._failure.kind, f"no rubric: {self._failure.message}", usage=Usage()
            )
        return self.inner

    def _case(self, case: Case) -> Case:
        section = self.section
        query = case.metadata.get(section.query_field, case.input)
        reference = case.metadata.get(section.reference_field, case.expected)
        return Case(id=case.id, input=query, expected=reference)

    def _trace(self, trace: Trace) -> Trace:
        field = self.section.answer_field
        if field in trace.metadata:
            given = trace.metadata[field]
            return Trace(output="" if given is None else as_text(given))
        return Trace(output=trace.answer if field == "final_answer" else "")

    def _signal(self, signal: Signal) -> Signal:
        if signal.value is None:
            return replace(signal, name=NAME)
        passed = signal.value >= self.section.success_threshold - SLACK
        before = f"{self.outcome}, the plain prompt judges: "
        if self.outcome == LEARNED:
            before = "" if signal.relative else self._score(signal.value)
        return replace(signal, name=NAME, passed=passed, reason=f"{before}{signal.reason}")

    def _score(self, value: float) -> str:
        """The value on the scale of the labels, in words."""
        low, high = self.settings.bounds
        return f"{low + value * (high - low):.3g} of {low:g} to {high:g}: "


class PointGrader(_Grader):
    """Pointwise: one answer, a value in [0, 1], success from the threshold on."""

    names = (NAME,)

    async def judge(self, case: Case, trace: Trace) -> Sequence[Signal]:
        inner = await self._ready()
        (signal,) = await inner.judge(self._case(case), self._trace(trace))
        return (self._signal(signal),)


class ListGrader(_Grader):
    """Listwise: the answers to one task, `(n - rank) / (n - 1)`; one by itself is the best."""

    name = NAME
    alone = 1.0

    async def rank(self, case: Case, traces: Sequence[Trace]) -> Sequence[Signal]:
        inner = await self._ready()
        signals = await inner.rank(self._case(case), [self._trace(trace) for trace in traces])
        return [self._signal(signal) for signal in signals]


def _known(path: Path, about: str | None) -> Mapping[str, Any] | None:
    """The document of a rubric that was learned, from the same data where `about` says which."""
    if not path.is_file():
        return None
    document = read_yaml_file(str(path))
    learned = document.value.get("learned") if isinstance(document.value, dict) else None
    if not isinstance(learned, dict) or "outcome" not in learned:
        raise document.error("it was not learned: there is no section learned")
    if about is not None and learned.get("fingerprint") != about:
        return None
    found: Mapping[str, Any] = document.value
    return found


@asynccontextmanager
async def _alone(path: Path) -> AsyncIterator[None]:
    """One process at a time; whoever comes later finds what the first has learned."""
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
                await asyncio.sleep(AGAIN)
        yield
    finally:
        os.close(file)
