"""One sampled interaction after it was scored: what the judgement folds and the store keeps."""

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
from fourscore.stores.monitor_rows import SampleRow


class Sample(msgspec.Struct, frozen=True, kw_only=True):
    """`id` is unique: the same interaction observed twice is one sample.

    `scored`, `agent_error` and `timeout` count in the rates; the other statuses are shown apart.
    `weight` is 1 / the probability that it was sampled. `query` and `preview` are the redacted
    beginnings of what was asked and answered, and `reason` says why it did not pass.
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


#: Characters kept of the query, the output and the reason, beside the full text.
SHOWN, REASON = 200, 500
#: Characters that are looked at for the sake of the first ones.
LOOKED_AT = 4000


class ScoredInteraction(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of an interaction once it was judged."""

    id: str
    at: float
    case: Case
    trace: Trace
    score: Score
    rate: float = 1.0
    drawn: bool = True


class FullText(msgspec.Struct, frozen=True, kw_only=True):
    """What is kept for a week: enough to make a test case of it, and to see why it failed."""

    case: Case
    trace: Trace
    score: Score


def make_sample(scored: ScoredInteraction, rubric: Rubric, redaction: Redaction) -> Sample:
    """The small part, which stays."""
    case, trace, score = scored.case, scored.trace, scored.score
    measured = {signal.name: signal.value for signal in score.signals if signal.value is not None}
    lines = [line.name for line in rubric.dimensions]
    calls = trace.tool_calls
    return Sample(
        id=scored.id,
        at=scored.at,
        status=score.status,
        passed=score.passed,
        value=score.value,
        dimensions={name: measured[name] for name in lines if name in measured},
        tags=case.tags,
        weight=1 / scored.rate if scored.drawn else 1.0,
        length=len(trace.answer),
        tool_calls=len(calls),
        tool_errors=sum(call.error is not None or bool(call.exit_code) for call in calls),
        query=_beginning(case.input, redaction),
        preview=_beginning(trace.answer, redaction),
        reason="" if score.passed else redaction.text(cut(_reason(score), LOOKED_AT))[:REASON],
        cost=score.cost,
    )


def make_sample_row(
    scored: ScoredInteraction, sample: Sample, redaction: Redaction, *, keep_text: bool
) -> SampleRow:
    """The row of a sample."""
    text = None
    if keep_text:
        full = FullText(
            case=_case(scored.case, redaction),
            trace=_trace(scored.trace, redaction),
            score=_score(scored.score, redaction),
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


def _beginning(value: Any, redaction: Redaction) -> str:
    """Redacted before it is cut to what is shown: half an address would no longer be found."""
    return redaction.text(cut(as_text(value), LOOKED_AT))[:SHOWN]


def _reason(score: Score) -> str:
    """Why it did not pass: the score's own words, else those of its lowest dimension."""
    if score.reason or not score.signals:
        return score.reason
    known = [signal for signal in score.signals if signal.value is not None]
    if not known:
        return ""
    lowest = min(known, key=lambda signal: signal.value or 0.0)
    words = f"{lowest.name} is {lowest.value:.3g}"
    return f"{words}: {lowest.reason}" if lowest.reason else words


def _case(case: Case, redaction: Redaction) -> Case:
    """Its id and tags stay: they are what it is called."""
    return replace(
        case,
        input=redaction.value(case.input),
        expected=redaction.value(case.expected),
        metadata=redaction.value(case.metadata),
    )


def _trace(trace: Trace, redaction: Redaction) -> Trace:
    fault = trace.fault
    return replace(
        trace,
        output=redaction.value(trace.output),
        steps=tuple([_step(step, redaction) for step in trace.steps]),
        metadata=redaction.value(trace.metadata),
        fault=fault and replace(fault, message=redaction.text(fault.message)),
    )


def _step(step: Step, redaction: Redaction) -> Step:
    if isinstance(step, Message):
        return replace(step, content=redaction.value(step.content))
    return replace(
        step,
        arguments=redaction.value(step.arguments),
        result=redaction.value(step.result),
        error=None if step.error is None else redaction.text(step.error),
    )


def _score(score: Score, redaction: Redaction) -> Score:
    signals = tuple([_signal(signal, redaction) for signal in score.signals])
    return replace(score, reason=redaction.text(score.reason), signals=signals)


def _signal(signal: Signal, redaction: Redaction) -> Signal:
    """Places in the text are no longer right, so evidence keeps its words alone."""
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
    return msgspec.json.decode(body, type=Sample)


def read_text(text: bytes) -> FullText:
    return msgspec.json.decode(text, type=FullText)
