"""A scored interaction as it is stored: cut and redacted.

Judges see the original text. What is stored is redacted, also the judges' reasons and evidence,
which may quote it.
"""

from math import isfinite
from typing import Any

import msgspec
from msgspec.structs import replace

from fourscore.core import (
    Case,
    Evidence,
    Message,
    Rubric,
    Score,
    Signal,
    Status,
    Step,
    Trace,
    Usage,
)
from fourscore.core.numbers import check_finite, check_whole
from fourscore.core.trace import as_text
from fourscore.monitor.redaction import Redaction, cut
from fourscore.stores.errors import decode_stored
from fourscore.stores.monitor_rows import SampleRow


class Sample(msgspec.Struct, frozen=True, kw_only=True):
    """A sampled and scored interaction. `id` is unique: observed twice, it is one sample.

    The statuses `scored`, `agent_error` and `timeout` count in the rates; others are shown
    separately. `weight` is 1 / the probability that it was sampled. `query` and `preview` are the
    redacted beginnings of question and answer, and `reason` says why it did not pass.
    """

    id: str
    at: float
    status: Status
    passed: bool | None
    value: float | None
    dimensions: dict[str, float]
    tags: tuple[str, ...] = ()
    weight: float = 1.0
    length: int = 0
    tool_calls: int = 0
    tool_errors: int = 0
    query: str = ""
    preview: str = ""
    reason: str = ""
    cost: Usage = Usage()

    def __post_init__(self) -> None:
        if not isfinite(self.at):
            raise ValueError(f"at: {self.at} is not a finite number")
        if self.status.measured != (self.passed is not None):
            raise ValueError(f"passed: {self.passed} for a sample that is {self.status}")
        if self.value is not None:
            check_finite("value", self.value, low=0, high=1)
        for name, value in self.dimensions.items():
            check_finite(f"dimensions.{name}", value, low=0, high=1)
        check_finite("weight", self.weight, low=1, high=1e15)
        for field in ("length", "tool_calls", "tool_errors"):
            check_whole(field, getattr(self, field), low=0)
        if self.tool_errors > self.tool_calls:
            raise ValueError(f"tool_errors: {self.tool_errors} of {self.tool_calls} calls")


#: Characters kept of the query and the output, and of the reason.
MAX_PREVIEW, MAX_REASON = 200, 500
#: Characters that are redacted before a text is cut to `MAX_PREVIEW` or `MAX_REASON`.
REDACTED_CHARS = 4000


class ScoredInteraction(msgspec.Struct, frozen=True, kw_only=True):
    """An interaction with its score, before redaction."""

    id: str
    at: float
    case: Case
    trace: Trace
    score: Score
    rate: float = 1.0
    drawn: bool = True


class FullText(msgspec.Struct, frozen=True, kw_only=True):
    """The full redacted interaction, kept for a week by default, for making a test case of it."""

    case: Case
    trace: Trace
    score: Score


def make_sample(scored: ScoredInteraction, rubric: Rubric, redaction: Redaction) -> Sample:
    """Return the sample of a scored interaction: the summary that outlives its full text."""
    case, trace, score = scored.case, scored.trace, scored.score
    measured = {signal.name: signal.value for signal in score.signals if signal.value is not None}
    names = [dimension.name for dimension in rubric.dimensions]
    calls = trace.tool_calls
    return Sample(
        id=scored.id,
        at=scored.at,
        status=score.status,
        passed=score.passed,
        value=score.value,
        dimensions={name: measured[name] for name in names if name in measured},
        tags=case.tags,
        weight=1 / scored.rate if scored.drawn else 1.0,
        length=len(trace.answer),
        tool_calls=len(calls),
        tool_errors=sum(call.error is not None or bool(call.exit_code) for call in calls),
        query=_make_preview(case.input, redaction),
        preview=_make_preview(trace.answer, redaction),
        reason=""
        if score.passed
        else redaction.text(cut(_find_reason(score), REDACTED_CHARS))[:MAX_REASON],
        cost=score.cost,
    )


def make_sample_row(
    scored: ScoredInteraction, sample: Sample, redaction: Redaction, *, keep_text: bool
) -> SampleRow:
    """Return the row of a sample for the store; with `keep_text`, its full redacted text too."""
    text = None
    if keep_text:
        full = FullText(
            case=_redact_case(scored.case, redaction),
            trace=_redact_trace(scored.trace, redaction),
            score=_redact_score(scored.score, redaction),
        )
        text = msgspec.json.encode(full)
    return SampleRow(
        id=sample.id,
        at=sample.at,
        drawn=scored.drawn,
        status=str(sample.status),
        passed=sample.passed,
        value=sample.value,
        body=msgspec.json.encode(sample),
        text=text,
    )


def _make_preview(value: Any, redaction: Redaction) -> str:
    """Redact a value as text, then cut it: half an e-mail address would not be recognized."""
    return redaction.text(cut(as_text(value), REDACTED_CHARS))[:MAX_PREVIEW]


def _find_reason(score: Score) -> str:
    """Return why a sample did not pass: the score's reason, or that of its lowest dimension."""
    if score.reason or not score.signals:
        return score.reason
    known = [signal for signal in score.signals if signal.value is not None]
    if not known:
        return ""
    lowest = min(known, key=lambda signal: signal.value or 0.0)
    summary = f"{lowest.name} is {lowest.value:.3g}"
    return f"{summary}: {lowest.reason}" if lowest.reason else summary


def _redact_case(case: Case, redaction: Redaction) -> Case:
    """Redact a case, except its id and tags: users search by them."""
    return replace(
        case,
        input=redaction.value(case.input),
        expected=redaction.value(case.expected),
        metadata=redaction.value(case.metadata),
    )


def _redact_trace(trace: Trace, redaction: Redaction) -> Trace:
    fault = trace.fault
    return replace(
        trace,
        output=redaction.value(trace.output),
        steps=tuple([_redact_step(step, redaction) for step in trace.steps]),
        metadata=redaction.value(trace.metadata),
        fault=fault and replace(fault, message=redaction.text(fault.message)),
    )


def _redact_step(step: Step, redaction: Redaction) -> Step:
    if isinstance(step, Message):
        return replace(step, content=redaction.value(step.content))
    return replace(
        step,
        arguments=redaction.value(step.arguments),
        result=redaction.value(step.result),
        error=None if step.error is None else redaction.text(step.error),
    )


def _redact_score(score: Score, redaction: Redaction) -> Score:
    signals = tuple([_redact_signal(signal, redaction) for signal in score.signals])
    return replace(score, reason=redaction.text(score.reason), signals=signals)


def _redact_signal(signal: Signal, redaction: Redaction) -> Signal:
    """Redact a signal; its evidence loses its positions, which no longer match the text."""
    evidence = [
        Evidence(text=redaction.text(one.text), field=one.field, step=one.step)
        for one in signal.evidence
    ]
    fault = signal.fault
    return replace(
        signal,
        reason=redaction.text(signal.reason),
        evidence=tuple(evidence),
        fault=fault and replace(fault, message=redaction.text(fault.message)),
    )


def read_sample(body: bytes) -> Sample:
    """Decode the stored body of a sample."""
    return decode_stored(body, Sample, "sample")


def read_text(text: bytes) -> FullText:
    """Decode the stored full text of a sample."""
    return decode_stored(text, FullText, "text of a sample")
