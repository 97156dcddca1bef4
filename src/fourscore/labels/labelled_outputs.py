"""Read labelled outputs from a file or a run, and judged outputs without labels.

A file has the form of `--agent recorded`: a case, its output, and beside it `label`, or `labels` of
several people. `judge_score` is a verdict that the judge gave before; `position` and `model_family`
say where the output stood in a comparison and which model wrote it. A run has the labels that
`fourscore label` added.
"""

from collections.abc import Iterator, Sequence
from math import fsum
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
    """A judge's value and verdict on one output; None if it could not be measured."""

    value: float | None = None
    passed: bool | None = None


class LabelledOutput(msgspec.Struct, frozen=True, kw_only=True):
    """One output, each person's label (None: no label), and the judge's verdict if it is known."""

    case: Case
    trace: Trace
    labels: tuple[float | None, ...] = ()
    verdict: JudgeVerdict | None = None
    position: str | None = None
    family: str | None = None
    line: int | None = None

    def identity(self) -> list[Any]:
        """Return what a digest of the data is made of."""
        return [self.case.id, self.trace.answer, list(self.labels)]


class LabelledOutputs(msgspec.Struct, frozen=True, kw_only=True):
    """Labelled outputs on one scale; `rest` are judged outputs without a label.

    `stale` counts labels on outputs that a retry has replaced, `failed` the agent's own failures,
    which no judge has seen.
    """

    scale: Scale
    rows: list[LabelledOutput]
    people: int
    rest: list[LabelledOutput] = []
    stale: int = 0
    failed: int = 0


def read_labelled_file(path: str, scale: Scale | None, pass_at: float) -> LabelledOutputs:
    """Read the labelled outputs of a file; `DataError` names file, line and field of a mistake."""
    found = [(line, case, *_read_labels(path, line, case)) for line, case in CaseFile(path).lined()]
    if not found:
        raise DataError("no labelled outputs in this file", file=path)
    if scale is None:
        scale = detect_scale(
            label for *_, labels, _ in found for label in labels if label is not None
        )
    rows = [
        _make_output(
            path,
            line,
            case,
            scale=scale,
            pass_at=pass_at,
            labels=_convert_labels(path, line, field, labels, scale),
        )
        for line, case, labels, field in found
    ]
    return LabelledOutputs(scale=scale, rows=rows, people=max(len(row.labels) for row in rows))


def read_judged_file(path: str, scale: Scale, pass_at: float) -> list[LabelledOutput]:
    """Read judged outputs without labels."""
    rows = [
        _make_output(path, line, case, scale=scale, pass_at=pass_at, labels=())
        for line, case in CaseFile(path).lined()
    ]
    if not rows:
        raise DataError("no outputs in this file", file=path)
    return rows


def read_labelled_run(
    store: Store, info: RunInfo, judge: str, dimension: str | None, pass_at: float
) -> LabelledOutputs:
    """Read the labelled outputs of a run as judged by one of its rubrics, and the others."""
    by_output: dict[tuple[str, int], dict[str, float]] = {}
    stale = 0
    for label in store.labels(info.id):
        if label.stale:
            stale += 1
        else:
            at = by_output.setdefault((label.case_id, label.repeat), {})
            at[label.who] = float(label.verdict == "pass")
    people = sorted({who for labels in by_output.values() for who in labels})
    rows: list[LabelledOutput] = []
    rest: list[LabelledOutput] = []
    failed = 0
    for row in store.rows(info.id, judge):
        if row.trace.fault is not None:
            failed += 1
            continue
        labels = by_output.get((row.case.id, row.repeat))
        given = tuple(labels.get(who) for who in people) if labels else ()
        output = LabelledOutput(
            case=row.case,
            trace=row.trace,
            labels=given,
            verdict=_select_verdict(row.score, dimension, pass_at),
        )
        (rows if labels else rest).append(output)
    if not rows:
        hint = f"fourscore label {info.id} CASE pass|fail"
        raise DataError(f"run {info.id} has no labels: {hint}", file=str(store.path))
    return LabelledOutputs(
        scale=Scale("verdict"), rows=rows, people=len(people), rest=rest, stale=stale, failed=failed
    )


def average_labels(row: LabelledOutput, scale: Scale, pass_at: float) -> tuple[float, bool | None]:
    """Return the mean of people's labels on an output, and their verdict; None if they are tied."""
    given = [label for label in row.labels if label is not None]
    people = fsum(given) / len(given)
    if scale.kind == "verdict":
        return people, None if people == 0.5 else people > 0.5
    return people, people >= pass_at - 1e-9


def read_verdict(score: Score) -> JudgeVerdict:
    """Return the value and verdict of a score."""
    return JudgeVerdict(score.value, score.passed)


def _select_verdict(score: Score | None, dimension: str | None, pass_at: float) -> JudgeVerdict:
    """Return the verdict of the whole score, or of the signal of one dimension."""
    if score is None or dimension is None:
        return JudgeVerdict() if score is None else read_verdict(score)
    for signal in score.signals:
        if signal.name == dimension and signal.value is not None:
            reached = signal.value >= pass_at - 1e-9
            return JudgeVerdict(signal.value, reached if signal.passed is None else signal.passed)
    return JudgeVerdict()


def _read_labels(path: str, line: int, case: Case) -> tuple[list[Any], str]:
    try:
        field = "label" if case.metadata.get("labels") is None else "labels"
        return read_labels(case.metadata), field
    except DataError as error:
        raise DataError(error.message, file=path, line=line, field=error.field) from None


def _convert_labels(
    path: str, line: int, field: str, labels: Sequence[Any], scale: Scale
) -> Iterator[float | None]:
    for place, label in enumerate(labels):
        try:
            yield None if label is None else scale.value(label)
        except ValueError as error:
            where = field if field == "label" else f"{field}[{place}]"
            raise DataError(str(error), file=path, line=line, field=where) from None


def _make_output(
    path: str,
    line: int,
    case: Case,
    *,
    scale: Scale,
    pass_at: float,
    labels: Iterator[float | None] | tuple[()],
) -> LabelledOutput:
    more = case.metadata
    values = tuple(labels)
    try:
        trace = RecordedAgent().replay(case)
    except (CaseError, AgentError) as error:
        field = error.key if isinstance(error, CaseError) else "output"
        message = error.message if isinstance(error, CaseError) else str(error)
        raise DataError(message, file=path, line=line, field=field) from None
    return LabelledOutput(
        case=case,
        trace=trace,
        labels=values,
        verdict=_read_judge_score(path, line, more.get("judge_score"), scale, pass_at),
        position=_read_word(more.get("position")),
        family=_read_word(more.get("model_family")),
        line=line,
    )


def _read_judge_score(
    path: str, line: int, given: Any, scale: Scale, pass_at: float
) -> JudgeVerdict | None:
    if given is None:
        return None
    try:
        value = scale.grade(given)
    except ValueError as error:
        raise DataError(str(error), file=path, line=line, field="judge_score") from None
    return JudgeVerdict(value, value >= pass_at - 1e-9)


def _read_word(given: Any) -> str | None:
    return None if given is None else str(given)[:200]
