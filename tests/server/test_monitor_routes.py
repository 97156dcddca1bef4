"""`POST /v1/traces`: the real SDK and exporter against a real server that may be killed."""

import gzip
import http.client
import importlib.util
import itertools
import json
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.exporter.otlp.proto.http import Compression
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)
from opentelemetry.proto.trace.v1.trace_pb2 import ResourceSpans, ScopeSpans
from opentelemetry.proto.trace.v1.trace_pb2 import Span as ProtoSpan
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.trace import Status, StatusCode

from fourscore.monitor.sample import read_sample, read_text
from fourscore.stores.monitor import MonitorStore
from fourscore.stores.monitor_rows import StoredSample

from .conftest import Served, Start, refused

PROTOBUF = {"content_type": "application/x-protobuf"}
TOKEN = "not-a-real-token-0123456789"
JUDGE = """
from fourscore import judge


@judge
def polite(case, trace):
    return "please" in trace.answer.lower()
"""


@pytest.fixture
def monitored(start: Start, tmp_path: Path) -> Callable[..., Served]:
    def begin(*more: str, **rest: Any) -> Served:
        (tmp_path / "polite.py").write_text(JUDGE)
        options = ("--judge", "polite.py->polite", "--monitor", "monitor.db", "--sample-rate", "1")
        return start(*options, *more, **rest)

    return begin


def request(*spans: tuple[int, int], parent: bool = False) -> bytes:
    """Return a request of spans, each given as (trace number, span number)."""
    made = [
        ProtoSpan(
            trace_id=trace.to_bytes(16, "big"),
            span_id=span.to_bytes(8, "big"),
            parent_span_id=(1).to_bytes(8, "big") if parent else b"",
            name="s",
            start_time_unix_nano=10**18,
        )
        for trace, span in spans
    ]
    scopes = [ScopeSpans(spans=made)]
    message = ExportTraceServiceRequest(resource_spans=[ResourceSpans(scope_spans=scopes)])
    return bytes(message.SerializeToString())


def eventually(found: Callable[[], Any]) -> Any:
    """Wait until `found` returns something: the server works on after its reply."""
    for _ in range(600):
        if value := found():
            return value
        time.sleep(0.05)
    raise AssertionError("nothing was found in 30 s")


def converse(served: Served, compression: Compression, headers: dict[str, str]) -> str:
    """Record and send an agent's spans as applications do; returns the trace id."""
    exporter = OTLPSpanExporter(
        endpoint=f"{served.url}/v1/traces", compression=compression, headers=headers
    )
    provider = TracerProvider(resource=Resource({"service.name": "shop", "service.version": "3"}))
    provider.add_span_processor(BatchSpanProcessor(exporter))
    tracer = provider.get_tracer("shop")
    user = [{"role": "user", "parts": [{"type": "text", "content": "Where is it?"}]}]
    answer = [{"role": "assistant", "parts": [{"type": "text", "content": "Please wait."}]}]
    agent = {"gen_ai.operation.name": "invoke_agent", "fourscore.tags": ["orders"]}
    with tracer.start_as_current_span("invoke_agent shop", attributes=agent) as root:
        tool = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "lookup"}
        with tracer.start_as_current_span("execute_tool lookup", attributes=tool) as span:
            span.set_attribute("gen_ai.tool.call.arguments", '{"order": 7}')
            span.record_exception(ValueError("no such order"))
            span.set_status(Status(StatusCode.ERROR))
        with tracer.start_as_current_span("chat m") as span:
            span.set_attribute("gen_ai.operation.name", "chat")
            span.set_attribute("gen_ai.input.messages", json.dumps(user))
            span.set_attribute("gen_ai.output.messages", json.dumps(answer))
            span.set_attribute("gen_ai.usage.input_tokens", 12)
            span.set_attribute("gen_ai.usage.output_tokens", 3)
        trace_id = f"{root.get_span_context().trace_id:032x}"
    assert provider.force_flush()
    provider.shutdown()
    return trace_id


@pytest.mark.parametrize("compression", [Compression.Gzip, Compression.NoCompression])
def test_spans_of_the_real_sdk_and_exporter_are_scored(
    monitored: Callable[..., Served], tmp_path: Path, compression: Compression
) -> None:
    served = monitored("--quiet", "0.3", token=TOKEN)
    trace_id = converse(served, compression, {"authorization": f"Bearer {TOKEN}"})
    with MonitorStore(tmp_path / "monitor.db") as store:

        def found() -> StoredSample | None:
            return store.sample("default", trace_id)

        kept = eventually(found)
        sample = read_sample(kept.body)
        assert (sample.id, sample.passed, sample.tags) == (trace_id, True, ("orders",))
        assert (sample.query, sample.preview) == ("Where is it?", "Please wait.")
        assert (sample.tool_calls, sample.tool_errors) == (1, 1)
        text = read_text(kept.text)
        (call,) = text.trace.tool_calls
        assert (call.name, call.arguments) == ("lookup", {"order": 7})
        assert call.error == "ValueError: no such order"
        assert text.trace.usage is not None
        assert (text.trace.usage.input_tokens, text.trace.usage.output_tokens) == (12, 3)
        assert text.trace.metadata["version"] == "3"
        eventually(lambda: store.counts("default").get("traces_scored") == 1)
        assert store.counts("default")["spans_new"] == 3
    assert served.stop() == 0
    assert "Traceback" not in served.log.read_text()


def test_acknowledged_spans_survive_a_killed_server(
    monitored: Callable[..., Served], tmp_path: Path
) -> None:
    served = monitored("--quiet", "3600")
    numbers, replied = itertools.count(1), list[int]()

    def send() -> None:
        with closing(served.connect()) as connection, suppress(OSError, http.client.HTTPException):
            while True:
                number = next(numbers)
                body = request((number, 1), (number, 2), parent=True)
                headers = {"content-type": "application/x-protobuf"}
                connection.request("POST", "/v1/traces", body, headers)
                if connection.getresponse().read() == b"":
                    replied.append(number)

    senders = [threading.Thread(target=send) for _ in range(4)]
    for sender in senders:
        sender.start()
    eventually(lambda: len(replied) >= 100)
    served.process.send_signal(signal.SIGKILL)  # in the middle of it
    for sender in senders:
        sender.join()
    served.process.wait(30)
    with MonitorStore(tmp_path / "monitor.db") as store:
        assert all(len(store.spans.read(f"{n:032x}")) == 2 for n in replied)
        assert store.counts("default")["spans_new"] >= 2 * len(replied)


def test_restarted_server_scores_the_traces_of_a_killed_one(
    monitored: Callable[..., Served], tmp_path: Path
) -> None:
    served = monitored("--quiet", "3600")
    trace_id = converse(served, Compression.Gzip, {})
    served.stop(signal.SIGKILL)
    again = monitored("--quiet", "0.2")
    with MonitorStore(tmp_path / "monitor.db") as store:
        eventually(lambda: store.sample("default", trace_id))
        eventually(lambda: store.counts("default").get("traces_scored") == 1)
        # Late spans are counted, and the trace is not scored again.
        assert again.post(request((int(trace_id, 16), 99)), "/v1/traces", **PROTOBUF).status == 200
        assert store.counts("default")["spans_late"] == 1
        assert len(store.samples("default")) == 1


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("traces")
    options = ("--judge", "math", "--monitor", "monitor.db", "--max-body", "100k")
    served = Served(*options, "--quiet", "3600", folder=folder)
    yield served
    served.close()


def test_reply_has_the_encoding_of_the_request(plain: Served) -> None:
    good = plain.post(request((1, 1)), "/v1/traces", **PROTOBUF)
    assert (good.status, good.body) == (200, b"")
    assert good.headers["content-type"] == "application/x-protobuf"
    partial = plain.post(request((2, 1), (0, 1)), "/v1/traces", **PROTOBUF)
    partial_success = ExportTraceServiceResponse.FromString(partial.body).partial_success
    assert (partial.status, partial_success.rejected_spans) == (200, 1)
    assert "span 2: traceId" in partial_success.error_message
    empty = plain.post({"resourceSpans": []}, "/v1/traces")
    assert (empty.status, empty.json) == (200, {})
    odd = {"resourceSpans": [{"scopeSpans": [{"spans": [{"traceId": "zz", "spanId": "1"}]}]}]}
    answer = plain.post(odd, "/v1/traces")
    assert answer.json["partialSuccess"]["rejectedSpans"] == "1"
    assert answer.headers["content-type"] == "application/json"


def test_refusals_have_a_status_that_exporters_do_not_retry(plain: Served) -> None:
    path = "/v1/traces"
    bad = plain.post(b"\xff\xff", path, **PROTOBUF)
    assert (bad.status, bad.headers["content-type"]) == (400, "application/x-protobuf")
    assert bad.body[:1] == b"\x12"  # a Status with a message
    assert b"protobuf" in bad.body
    assert plain.post({"resourceSpans": 5}, path).json["message"] == "expected a list of objects"
    assert plain.post(b"x", path, content_type="text/plain").status == 415
    assert plain.post(b"x", path, content_encoding="br", **PROTOBUF).status == 415
    assert plain.post(b"x", path, content_encoding="gzip", **PROTOBUF).status == 400
    bomb = gzip.compress(b"\0" * 20_000_000)
    assert plain.post(bomb, path, content_encoding="gzip", **PROTOBUF).status == 413
    assert plain.post(b"\0" * 200_000, path, **PROTOBUF).status == 413
    assert plain.ask("GET", path).status == 405
    assert plain.post(request((1, 7)), path, **PROTOBUF).status == 200


def test_openapi_has_traces_only_with_a_monitor(plain: Served, math: Served) -> None:
    assert "/v1/traces" in plain.ask("GET", "/openapi.json").json["paths"]
    assert "/v1/traces" not in math.ask("GET", "/openapi.json").json["paths"]
    assert math.post(request((1, 1)), "/v1/traces", **PROTOBUF).status == 404


def test_traces_need_the_token(monitored: Callable[..., Served]) -> None:
    served = monitored(token=TOKEN)
    answer = served.post(request((1, 1)), "/v1/traces", **PROTOBUF)
    assert (answer.status, answer.headers["content-type"]) == (401, "application/x-protobuf")
    given = {**PROTOBUF, "authorization": f"Bearer {TOKEN}"}
    assert served.post(request((1, 1)), "/v1/traces", **given).status == 200


def test_store_failure_gets_503_with_retry_after(
    monitored: Callable[..., Served],
) -> None:
    patch = """
from fourscore.stores.received_spans import SpanTable
from fourscore.stores.errors import StoreError
def full(*_, **__): raise StoreError("the disk is full", file="monitor.db")
SpanTable.receive = full
"""
    served = monitored(patch=patch)
    answer = served.post(request((1, 1)), "/v1/traces", **PROTOBUF)
    assert (answer.status, answer.headers["retry-after"]) == (503, "5")
    assert b"disk is full" not in answer.body
    assert "disk is full" in served.log.read_text()


def test_too_many_waiting_traces_get_503_with_retry_after(monitored: Callable[..., Served]) -> None:
    served = monitored(patch="import fourscore.server.monitor_routes as t; t.MAX_WAITING = -1")
    answer = served.post(request((1, 1)), "/v1/traces", **PROTOBUF)
    assert (answer.status, answer.headers["retry-after"]) == (503, "5")


def test_several_processes_share_one_trace_store(
    monitored: Callable[..., Served], tmp_path: Path
) -> None:
    served = monitored("--quiet", "0.3", "--workers", "2")
    ids = {converse(served, Compression.Gzip, {}) for _ in range(6)}
    with MonitorStore(tmp_path / "monitor.db") as store:
        eventually(lambda: store.counts("default").get("traces_scored") == 6)
        assert {kept.id for kept in store.samples("default")} == ids


def test_monitor_that_cannot_start_is_a_usage_error(tmp_path: Path) -> None:
    (tmp_path / "odd.db").write_bytes(b"no database")
    stderr = refused("--judge", "math", "--monitor", "odd.db", folder=tmp_path)
    assert "odd.db" in stderr
    stderr = refused("--judge", "math", "--monitor-rubric", "r.yaml", folder=tmp_path)
    assert "--monitor-rubric: use it with --monitor FILE only" in stderr
    odd = ("--monitor", "m.db", "--hourly-budget", "5apples")
    assert "5apples" in refused("--judge", "math", *odd, folder=tmp_path)


def test_traces_can_have_their_own_rubric_and_keep_no_text(start: Start, tmp_path: Path) -> None:
    (tmp_path / "polite.py").write_text(JUDGE)
    (tmp_path / "rubric.yaml").write_text(
        "name: manners\ndimensions:\n  polite:\n    judge: polite.py->polite\n    weight: 1\n"
    )
    options = (
        "--monitor",
        "monitor.db",
        "--monitor-rubric",
        "rubric.yaml",
        "--monitor-name",
        "shop",
    )
    limits = ("--sample-rate", "1", "--quiet", "0.2", "--hourly-budget", "500calls", "--no-text")
    served = start("--judge", "math", *options, *limits)
    eventually(lambda: "scored by manners" in served.log.read_text())
    trace_id = converse(served, Compression.Gzip, {})
    with MonitorStore(tmp_path / "monitor.db") as store:
        kept = eventually(lambda: store.sample("shop", trace_id))
        assert read_sample(kept.body).dimensions == {"polite": 1.0}
        assert kept.text is None


@pytest.mark.skipif(not importlib.util.find_spec("schemathesis"), reason="needs schemathesis")
def test_traces_route_agrees_with_its_openapi_document(plain: Served, tmp_path: Path) -> None:
    # Attribute values may be of any type, so the server accepts more than the schema.
    (tmp_path / "schemathesis.toml").write_text(
        '[[operations]]\ninclude-path = "/v1/traces"\n'
        "checks.negative_data_rejection.enabled = false\n"
    )
    done = subprocess.run(
        [
            *(sys.executable, "-m", "schemathesis.cli"),
            *("--config-file", "schemathesis.toml", "run", f"{plain.url}/openapi.json"),
            *("--include-path", "/v1/traces", "--max-examples", "15", "--seed", "1"),
            *("--phases", "coverage,fuzzing", "--mode", "all", "--no-color"),
            *("--request-timeout", "10", "--suppress-health-check", "all"),
        ],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Traceback" not in plain.log.read_text()
