"""What was acknowledged is counted: each trace of any valid request, whatever its attributes."""

import json
import logging
from collections.abc import Callable, Iterator
from itertools import count
from typing import Any

import pytest
from hypothesis import given
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, ArrayValue, KeyValue, KeyValueList
from tests.otlp_documents import NAMES, as_json, requests

from fourscore import Case, ProductionMonitor, Trace, judge
from fourscore.formats.otlp.http_body import BodyKind, read_body_spans
from fourscore.monitor.interaction import Observation
from fourscore.monitor.otel import trace_scoring
from fourscore.monitor.otel.receiver import make_span_rows
from fourscore.monitor.otel.trace_scoring import TraceAssembler, TraceSampler
from fourscore.monitor.settings import SamplingSettings
from fourscore.stores.monitor import MonitorStore

NOW = 2_000_000_000.0
MOST = 1 << 24


@judge
def answers(_case: Case, trace: Trace) -> bool:
    return bool(trace.answer)


class Receiver:
    """Stores the spans of bodies, as the server does, and scores their traces."""

    def __init__(self) -> None:
        self.store = MonitorStore(None)
        sampling = SamplingSettings(always=())
        self.monitor = ProductionMonitor(1.0, rubric=answers, store=self.store, sampling=sampling)
        sampler = TraceSampler(self.monitor)
        self.assembler = TraceAssembler(
            self.store.spans, self.monitor.name, sampler.score, can_skip=sampler.can_skip
        )
        self.spans, self.traces = 0, set[str]()

    def take(self, body: bytes, kind: BodyKind) -> None:
        """Store a body that must not be refused, and remember what was acknowledged."""
        rows = make_span_rows(read_body_spans(body, kind, b"", MOST), 0.0)
        assert (rows.rejected, rows.message) == (0, "")
        self.store.spans.receive([rows.rows], monitor=self.monitor.name)
        self.spans += len(rows.rows)
        self.traces |= {row.trace_id for row in rows.rows}
        while self.assembler.score_ready(NOW):
            pass

    def check(self) -> dict[str, int]:
        """Check that all acknowledged spans and traces are counted, and return the counts."""
        metrics = self.monitor.get_metrics()
        counts: dict[str, int] = metrics["counts"]
        assert sum(n for key, n in counts.items() if key.startswith("spans_")) == self.spans
        assert sum(n for key, n in counts.items() if key.startswith("traces_")) == len(self.traces)
        scored = counts.get("traces_scored", 0) + counts.get("traces_unreadable", 0)
        assert metrics["sample_count"] == scored
        return counts


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    receiver = Receiver()
    yield receiver
    receiver.monitor.close()
    receiver.store.close()


def test_every_trace_of_a_valid_request_is_counted(
    receiver: Receiver, caplog: pytest.LogCaptureFixture
) -> None:
    numbers = count(1)

    def renumber(request: ExportTraceServiceRequest) -> None:
        """Make the ids of the traces new: a trace that is done takes no more spans."""
        given: dict[bytes, bytes] = {}
        for resource in request.resource_spans:
            for span in resource.scope_spans[0].spans:
                if span.trace_id not in given:
                    given[span.trace_id] = next(numbers).to_bytes(16, "big")
                span.trace_id = given[span.trace_id]

    @given(requests())
    def receive(request: ExportTraceServiceRequest) -> None:
        renumber(request)
        receiver.take(request.SerializeToString(), "protobuf")
        renumber(request)
        receiver.take(json.dumps(as_json(request)).encode(), "json")

    with caplog.at_level(logging.WARNING, "fourscore"):
        receive()
    assert not caplog.records
    assert "traces_unreadable" not in receiver.check()


def make_values() -> dict[str, AnyValue]:
    texts = [AnyValue(string_value="chat"), AnyValue()]
    return {
        "string": AnyValue(string_value="chat"),
        "bool": AnyValue(bool_value=True),
        "int": AnyValue(int_value=-(2**63)),
        "double": AnyValue(double_value=float("nan")),
        "array": AnyValue(array_value=ArrayValue(values=texts)),
        "kvlist": AnyValue(
            kvlist_value=KeyValueList(values=[KeyValue(key="chat", value=v) for v in texts])
        ),
        "bytes": AnyValue(bytes_value=b"\xff\x00"),
        "empty": AnyValue(),
    }


@pytest.mark.parametrize("kind", make_values())
def test_attribute_of_any_type_is_counted(
    kind: str, receiver: Receiver, caplog: pytest.LogCaptureFixture
) -> None:
    """Each attribute that is read, alone with this type in a span and in its resource and event."""
    value = make_values()[kind]
    for number, name in enumerate(NAMES, 1):
        request = ExportTraceServiceRequest()
        resource = request.resource_spans.add()
        for place in range(3):
            span = resource.scope_spans.add().spans.add(
                trace_id=(number * 3 + place).to_bytes(16, "big"),
                span_id=b"12345678",
                attributes=[
                    KeyValue(key="gen_ai.prompt", value=AnyValue(string_value="Where?")),
                    KeyValue(key="gen_ai.completion", value=AnyValue(string_value="Here.")),
                ],
            )
            attribute = KeyValue(key=name, value=value)
            if place == 0:
                span.attributes.append(attribute)
            elif place == 1:
                span.events.add(name="gen_ai.choice", attributes=[attribute])
            else:
                resource.resource.attributes.append(attribute)
        receiver.take(request.SerializeToString(), "protobuf")
    assert len(receiver.traces) == 3 * len(NAMES)
    assert "traces_unreadable" not in receiver.check()
    assert not caplog.records


BODY = json.dumps(
    {
        "resourceSpans": [
            {
                "scopeSpans": [
                    {
                        "spans": [
                            {
                                "traceId": f"{number:032x}",
                                "spanId": "1" * 16,
                                "attributes": [
                                    {"key": "gen_ai.prompt", "value": {"stringValue": "q"}},
                                    {"key": "gen_ai.completion", "value": {"stringValue": "a"}},
                                ],
                            }
                            for number in (1, 2)
                        ]
                    }
                ]
            }
        ]
    }
).encode()


def fail_once(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the function with a bug that appears in its first call."""
    calls = count()

    def call(*arguments: Any, **more: Any) -> Any:
        if next(calls) == 0:
            raise TypeError("unhashable type: 'list' of ana@example.com")
        return function(*arguments, **more)

    return call


@pytest.mark.parametrize("place", ["assemble", "score"])
def test_trace_that_cannot_be_read_is_a_judge_error_with_its_reason(
    receiver: Receiver,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    place: str,
) -> None:
    owner, name = {"assemble": (trace_scoring, "SpanTrace"), "score": (Observation, "read")}[place]
    monkeypatch.setattr(owner, name, fail_once(getattr(owner, name)))
    receiver.take(BODY, "json")
    counts = receiver.check()
    assert (counts["traces_unreadable"], counts["traces_scored"], counts["observed"]) == (1, 1, 2)
    statuses = receiver.monitor.get_metrics()["statuses"]
    assert (statuses["judge_error"], statuses["scored"]) == (1, 1)
    bodies = [json.loads(one.body) for one in receiver.store.samples(receiver.monitor.name)]
    (reason,) = [body["reason"] for body in bodies if body["status"] == "judge_error"]
    assert reason == "the trace cannot be read: TypeError: unhashable type: 'list' of [e-mail]"
    assert "ana@example.com" not in caplog.text
    assert "Traceback" not in caplog.text
