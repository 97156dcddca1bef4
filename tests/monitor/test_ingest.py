"""Spans from a file: complete, mixed formats, broken lines, ingested twice."""

import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from google.protobuf.json_format import MessageToDict  # type: ignore[import-untyped]
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import ConsoleSpanExporter, SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from fourscore.core import Case, DataError, Trace, judge
from fourscore.monitor.monitor import ProductionMonitor
from fourscore.monitor.otel.ingest import ingest
from fourscore.stores.monitor import MonitorStore


@judge
def doubles(case: Case, trace: Trace) -> bool:
    return "doubles" in trace.answer


@pytest.fixture
def monitor(tmp_path: Path) -> Iterator[ProductionMonitor]:
    with (
        MonitorStore(tmp_path / "monitor.db") as store,
        ProductionMonitor(1.0, rubric=doubles, store=store) as monitor,
    ):
        yield monitor


def chat_attributes(n: int) -> dict[str, str]:
    return {
        "gen_ai.operation.name": "chat",
        "gen_ai.prompt": f"What is {n} and {n}?",
        "gen_ai.completion": f"{n} and {n} is {2 * n}, as adding a number to itself doubles it.",
    }


def record_spans(n: int) -> tuple[list[Any], str]:
    """Return the spans of n traces, two each, and the text that the SDK prints for them."""
    memory, text = InMemorySpanExporter(), io.StringIO()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(memory))
    provider.add_span_processor(SimpleSpanProcessor(ConsoleSpanExporter(out=text)))
    tracer = provider.get_tracer("t")
    for number in range(1, n + 1):
        with tracer.start_as_current_span("request"):
            tracer.start_span("chat", attributes=chat_attributes(number)).end()
    provider.shutdown()
    return list(memory.get_finished_spans()), text.getvalue()


def as_collector_lines(spans: list[Any]) -> str:
    """Lines as the collector's file exporter writes them: ids in hexadecimal."""
    lines = []
    for span in spans:
        document = MessageToDict(encode_spans([span]))
        for resource in document["resourceSpans"]:
            for scope in resource["scopeSpans"]:
                for one in scope["spans"]:
                    one["traceId"] = f"{span.context.trace_id:032x}"
                    one["spanId"] = f"{span.context.span_id:016x}"
                    one.pop("parentSpanId", None)
                    if span.parent is not None:
                        one["parentSpanId"] = f"{span.parent.span_id:016x}"
        lines.append(json.dumps(document))
    return "\n".join(lines) + "\n"


def test_reads_collector_lines_and_spans_printed_by_sdks(
    monitor: ProductionMonitor, tmp_path: Path
) -> None:
    spans, printed = record_spans(5)
    file = tmp_path / "traces.jsonl"
    for text in (as_collector_lines(spans), printed, json.dumps(_objects(printed))):
        file.write_text(text)
        done = ingest(str(file), monitor)
        assert (done.planned, done.broken, done.noted) == (10, 0, ())
    counts = monitor.store.counts("default")
    assert (counts["spans_new"], counts["spans_late"]) == (10, 20)
    assert counts["traces_scored"] == 5
    queries = {one["query"] for one in monitor.samples}
    assert queries == {chat_attributes(n)["gen_ai.prompt"] for n in range(1, 6)}


def test_ingesting_a_file_twice_adds_nothing(monitor: ProductionMonitor, tmp_path: Path) -> None:
    spans, _ = record_spans(4)
    file = tmp_path / "traces.jsonl"
    file.write_text(as_collector_lines(list(reversed(spans))) + as_collector_lines(spans[:3]))
    first = ingest(str(file), monitor)
    assert (first.planned, first.ingested, first.twice) == (11, 8, 3)
    assert first.traces == {"scored": 4}
    before = monitor.get_metrics()
    again = ingest(str(file), monitor)
    assert (again.planned, again.ingested, again.late, again.traces) == (11, 0, 11, {})
    after = monitor.get_metrics()
    assert after["sample_count"] == before["sample_count"] == 4
    # A span in the far future makes the store forget which traces are done: no sample is added.
    monitor.store.spans.receive([[_row(at=4e9)]])
    last = ingest(str(file), monitor)
    assert last.ingested == 8
    assert monitor.get_metrics()["sample_count"] == 4


def test_broken_lines_are_counted_and_named(monitor: ProductionMonitor, tmp_path: Path) -> None:
    spans, _ = record_spans(1)
    lines = as_collector_lines(spans).splitlines()
    odd = json.loads(lines[0])
    odd["resourceSpans"][0]["scopeSpans"][0]["spans"][0]["traceId"] = "short"
    file = tmp_path / "traces.jsonl"
    bad = {"resourceSpans": [{"scopeSpans": 5}]}
    rows = [lines[0], "{no JSON", json.dumps(bad), '{"role": "user"}', json.dumps(odd), lines[1]]
    file.write_text("\n".join(rows) + "\n")
    done = ingest(str(file), monitor)
    assert (done.planned, done.ingested, done.broken) == (6, 2, 4)
    assert done.traces == {"scored": 1}
    assert [note.line for note in done.noted] == [2, 3, 4, 5]
    noted = {note.line: (note.field, note.message) for note in done.noted}
    assert json.loads(msgspec.json.encode(done))["noted"][1]["line"] == 3
    assert noted[3][0] == "resourceSpans[0].scopeSpans"
    assert "expected resourceSpans" in noted[4][1]
    assert "traceId" in noted[5][1]


def test_crash_after_the_commit_counts_nothing_twice(
    monitor: ProductionMonitor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spans, _ = record_spans(3)
    file = tmp_path / "traces.jsonl"
    file.write_text(as_collector_lines(spans))

    def killed(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(monitor.store.spans, "mark_done", killed)
        with pytest.raises(KeyboardInterrupt):
            ingest(str(file), monitor)
    assert monitor.get_metrics()["sample_count"] == 3
    assert monitor.store.spans.count_waiting() == 3
    again = ingest(str(file), monitor)
    assert (again.ingested, again.twice) == (0, 6)
    assert monitor.get_metrics()["sample_count"] == 3
    assert monitor.store.spans.count_waiting() == 0


def test_traces_not_drawn_are_counted_and_failed_ones_are_kept(tmp_path: Path) -> None:
    spans, _ = record_spans(3)
    documents = [json.loads(line) for line in as_collector_lines(spans).splitlines()]
    failed = documents[-1]["resourceSpans"][0]["scopeSpans"][0]["spans"][0]
    failed["status"] = {"code": 2, "message": "boom"}  # the root span of the last trace
    file = tmp_path / "traces.jsonl"
    file.write_text("\n".join(map(json.dumps, documents)))
    with (
        MonitorStore(tmp_path / "monitor.db") as store,
        ProductionMonitor(0.0, rubric=doubles, store=store) as monitor,
    ):
        done = ingest(str(file), monitor)
        assert done.traces == {"not_drawn": 2, "scored": 1}
        (kept,) = store.samples("default")
        assert (kept.id, kept.drawn) == (failed["traceId"], False)
        assert store.counts("default")["observed"] == 3


def test_file_that_cannot_be_opened_is_a_data_error(
    monitor: ProductionMonitor, tmp_path: Path
) -> None:
    with pytest.raises(DataError, match="No such file"):
        ingest(str(tmp_path / "none.jsonl"), monitor)
    (tmp_path / "list.json").write_text("[{")
    with pytest.raises(DataError, match=r"list\.json:1"):
        ingest(str(tmp_path / "list.json"), monitor)


def _objects(printed: str) -> list[Any]:
    scanner, at, found = json.JSONDecoder(), 0, []
    while at < len(printed):
        value, at = scanner.raw_decode(printed, at)
        found.append(value)
        while at < len(printed) and printed[at].isspace():
            at += 1
    return found


def _row(at: float) -> Any:
    from fourscore.stores.received_spans import SpanRow

    return SpanRow("f" * 32, "f" * 16, at, b"", False)
