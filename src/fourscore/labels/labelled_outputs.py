"""Outputs that people have labelled, from a file or from a run; and judged ones nobody has.

A file has the form of `--agent recorded`: a case, its output, and beside it `label`, or `labels` of
several people. `judge_score` is a verdict that is already there; `position` and `model_family` say
where the output stood and who wrote it. A run has the labels that `fourscore label` put there.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from fourscore.agents.replay import RecordedAgent
from fourscore.agents.reply import AgentError
from fourscore.core import Case, CaseError, DataError, Score, Trace
from fourscore.formats.cases import CaseFile
from fourscore.formats.label_scale import Scale, detect_scale, read_labels
from fourscore.stores.run import RunInfo
from fourscore.stores.sqlite import Store


class JudgeVerdict(msgspec.Struct, frozen=True):
    """What a judge said of one output; None where it could not be measured."""

    value: float | None = None
    passed: bool | None = None


class Output(msgspec.Struct, frozen=True, kw_only=True):
    """One output, what each person said of it (None: nothing), and the verdict it brings."""

    case: Case
    trace: Trace
    labels: tuple[float | None, ...] = ()
    verdict: JudgeVerdict | None = None
    position: str | None = None
    family: str | None = None
    line: int | None = None

    def identity(self) -> list[Any]:
        """What a digest of the data is made of."""
        return [self.case.id, self.trace.answer, list(self.labels)]


class Labelled(msgspec.Struct, frozen=True, kw_only=True):
    """Labelled outputs on one scale; `rest` are judged outputs without a label.

    `stale` labels were on outputs that a retry has replaced, `failed` outputs are the agent's own
    failures, which no judge has seen.
    """

    scale: Scale
    rows: list[Output]
    people: int
    rest: list[Output] = []
    stale: int = 0
    failed: int = 0


def read_labelled_file(path: str, scale: Scale | None, pass_at: float) -> Labelled:
    """The labelled outputs of a file; `DataError` with file, line and field at a mistake."""
    found = [(line, case, *_labels(path, line, case)) for line, case in CaseFile(path).lined()]
    if not found:
        raise DataError("it holds no labelled outputs", file=path)
    if scale is None:
        scale = detect_scale(
            label for *_, labels, _ in found for label in labels if label is not None
        )
    rows = [
        _output(path, line, case, scale, pass_at, _values(path, line, field, labels, scale))
        for line, case, labels, field in found
    ]
    return Labelled(scale=scale, rows=rows, people=max(len(row.labels) for row in rows))


def read_judged_file(path: str, scale: Scale, pass_at: float) -> list[Output]:
    """Outputs without labels: those that a random sample stands for."""
    rows = [_output(path, line, case, scale, pass_at, ()) for line, case in CaseFile(path).lined()]
    if not rows:
        raise DataError("it holds no outputs", file=path)
    return rows


def read_labelled_run(
    store: Store, info: RunInfo, judge: str, dimension: str | None, pass_at: float
) -> Labelled:
    """The labelled outputs of a run, as one of its rubrics has judged them, and its others."""
    said: dict[tuple[str, int], dict[str, float]] = {}
    stale = 0
    for label in store.labels(info.id):
        if label.stale:
            stale += 1
        else:
            at = said.setdefault((label.case_id, label.repeat), {})
            at[label.who] = float(label.verdict == "pass")
    people = sorted({who for labels in said.values() for who in labels})
    rows: list[Output] = []
    rest: list[Output] = []
    failed = 0
    for row in store.rows(info.id, judge):
        if row.trace.fault is not None:
            failed += 1
            continue
        labels = said.get((row.case.id, row.repeat))
        given = tuple(labels.get(who) for who in people) if labels else ()
        output = Output(
            case=row.case,
            trace=row.trace,
            labels=given,
            verdict=_looked_at(row.score, dimension, pass_at),
        )
        (rows if labels else rest).append(output)
    if not rows:
        hint = f"fourscore label {info.id} CASE pass|fail"
        raise DataError(f"run {info.id} has no labels: {hint}", file=str(store.path))
    return Labelled(
        scale=Scale("verdict"), rows=rows, people=len(people), rest=rest, stale=stale, failed=failed
    )


def make_verdict(score: Score) -> JudgeVerdict:
    return JudgeVerdict(score.value, score.passed)


def _looked_at(score: Score | None, dimension: str | None, pass_at: float) -> JudgeVerdict:
    """Of the whole score, or of the one signal that is looked at."""
    if score is None or dimension is None:
        return JudgeVerdict() if score is None else make_verdict(score)
    for signal in score.signals:
        if signal.name == dimension and signal.value is not None:
            reached = signal.value >= pass_at - 1e-9
            return JudgeVerdict(signal.value, reached if signal.passed is None else signal.passed)
    return JudgeVerdict()


def _labels(path: str, line: int, case: Case) -> tuple[list[Any], str]:
    try:
        field = "label" if case.metadata.get("labels") is None else "labels"
        return read_labels(case.metadata), field
    except DataError as error:
        raise DataError(error.message, file=path, line=line, field=error.field) from None


def _values(
    path: str, line: int, field: str, labels: Sequence[Any], scale: Scale
) -> Iterator[float | None]:
    for place, label in enumerate(labels):
        try:
            yield None if label is None else scale.value(label)
        except ValueError as error:
            where = field if field == "label" else f"{field}[{place}]"
            raise DataError(str(error), file=path, line=line, field=where) from None


def _output(
    path: str,
    line: int,
    case: Case,
    scale: Scale,
    pass_at: float,
    labels: Iterator[float | None] | tuple[()],
) -> Output:
    more = case.metadata
    values = tuple(labels)
    try:
        trace = RecordedAgent().replay(case)
    except (CaseError, AgentError) as error:
        field = error.key if isinstance(error, CaseError) else "output"
        message = error.message if isinstance(error, CaseError) else str(error)
        raise DataError(message, file=path, line=line, field=field) from None
    return Output(
        case=case,
        trace=trace,
        labels=values,
        verdict=_preset(path, line, more.get("judge_score"), scale, pass_at),
        position=_word(more.get("position")),
        family=_word(more.get("model_family")),
        line=line,
    )


def _preset(path: str, line: int, given: Any, scale: Scale, pass_at: float) -> JudgeVerdict | None:
    if given is None:
        return None
    try:
        value = scale.grade(given)
    except ValueError as error:
        raise DataError(str(error), file=path, line=line, field="judge_score") from None
    return JudgeVerdict(value, value >= pass_at - 1e-9)


def _word(given: Any) -> str | None:
    return None if given is None else str(given)[:200]
