"""Bodies and files into spans: protobuf, JSON of two spellings, printed; whole, broken, hostile."""

import gzip
import json
import zlib
from typing import Any

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, ArrayValue, KeyValue, KeyValueList
from opentelemetry.proto.resource.v1.resource_pb2 import Resource
from opentelemetry.proto.trace.v1.trace_pb2 import ResourceSpans, ScopeSpans, Status
from opentelemetry.proto.trace.v1.trace_pb2 import Span as ProtoSpan

from fourscore.core import DataError
from fourscore.formats.otlp.http_body import (
    MEMBERS,
    BodyTooLargeError,
    encode_refusal,
    encode_reply,
    inflate,
    read_body_spans,
)
from fourscore.formats.otlp.json_spans import read_json_spans
from fourscore.formats.otlp.protobuf import read_protobuf_spans
from fourscore.formats.otlp.span import (
    LARGEST,
    Event,
    Span,
    deduplicate_spans,
    pack_span,
    unpack_span,
)

TRACE, SPAN, PARENT = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331", "00f067aa0ba902b7"
START, END = 1_767_607_200_000_000_001, 1_767_607_201_500_000_000
EXPECTED = Span(
    trace=TRACE,
    id=SPAN,
    parent=PARENT,
    name="chat m",
    start=START / 1e9,
    end=END / 1e9,
    attributes={
        "service.name": "shop",
        "gen_ai.operation.name": "chat",
        "gen_ai.usage.input_tokens": 7,
        "gen_ai.request.temperature": 0.5,
        "gen_ai.request.stream": True,
        "gen_ai.response.finish_reasons": ["stop"],
        "gen_ai.extra": {"a": "b"},
    },
    error="ValueError: no such order",
    events=(
        Event("exception", {"exception.type": "ValueError", "exception.message": "no such order"}),
    ),
)


def any_value(value: Any) -> AnyValue:
    if isinstance(value, bool):
        return AnyValue(bool_value=value)
    if isinstance(value, int):
        return AnyValue(int_value=value)
    if isinstance(value, float):
        return AnyValue(double_value=value)
    if isinstance(value, list):
        return AnyValue(array_value=ArrayValue(values=[any_value(one) for one in value]))
    if isinstance(value, dict):
        return AnyValue(kvlist_value=KeyValueList(values=pairs(value)))
    return AnyValue(string_value=value)


def pairs(values: dict[str, Any]) -> list[KeyValue]:
    return [KeyValue(key=key, value=any_value(value)) for key, value in values.items()]


def proto() -> bytes:
    attributes = {key: value for key, value in EXPECTED.attributes.items() if key != "service.name"}
    span = ProtoSpan(
        trace_id=bytes.fromhex(TRACE),
        span_id=bytes.fromhex(SPAN),
        parent_span_id=bytes.fromhex(PARENT),
        name="chat m",
        start_time_unix_nano=START,
        end_time_unix_nano=END,
        attributes=pairs(
            {**attributes, "http.url": "dropped", "llm.tools.0.tool.json_schema": "too"}
        ),
        status=Status(code=Status.STATUS_CODE_ERROR),
        events=[
            ProtoSpan.Event(name="cache.hit"),
            ProtoSpan.Event(
                name="exception",
                attributes=pairs({**EXPECTED.events[0].attributes, "exception.stacktrace": "…"}),
            ),
        ],
    )
    resource = Resource(attributes=pairs({"service.name": "shop", "host.name": "dropped"}))
    scopes = [ScopeSpans(spans=[span])]
    request = ExportTraceServiceRequest(
        resource_spans=[ResourceSpans(resource=resource, scope_spans=scopes)]
    )
    return bytes(request.SerializeToString())


def wired(value: Any) -> Any:
    """An attribute's value as OTLP's JSON has it."""
    if isinstance(value, bool):
        return {"boolValue": value}
    if isinstance(value, int):
        return {"intValue": str(value)}
    if isinstance(value, float):
        return {"doubleValue": value}
    if isinstance(value, list):
        return {"arrayValue": {"values": [wired(one) for one in value]}}
    if isinstance(value, dict):
        return {"kvlistValue": {"values": listed(value)}}
    return {"stringValue": value}


def listed(values: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"key": key, "value": wired(value)} for key, value in values.items()]


def document() -> dict[str, Any]:
    attributes = {key: value for key, value in EXPECTED.attributes.items() if key != "service.name"}
    span = {
        "traceId": TRACE.upper(),
        "spanId": SPAN,
        "parentSpanId": PARENT,
        "name": "chat m",
        "startTimeUnixNano": str(START),
        "endTimeUnixNano": str(END),
        "attributes": listed({**attributes, "http.url": "dropped"}),
        "status": {"code": 2},
        "events": [
            {"name": "exception", "attributes": listed(dict(EXPECTED.events[0].attributes))}
        ],
    }
    resource = {"attributes": listed({"service.name": "shop"})}
    return {"resourceSpans": [{"resource": resource, "scopeSpans": [{"spans": [span]}]}]}


def test_protobuf_and_json_give_the_same_span() -> None:
    assert list(read_protobuf_spans(proto())) == [EXPECTED]
    assert list(read_json_spans(document())) == [EXPECTED]
    for coding, body in ((b"", proto()), (b"gzip", gzip.compress(proto()))):
        assert list(read_body_spans(body, "protobuf", coding, 10_000)) == [EXPECTED]
    text = zlib.compress(json.dumps(document()).encode())
    assert list(read_body_spans(text, "json", b"deflate", 10_000)) == [EXPECTED]


def test_reads_snake_case_and_printed_spans() -> None:
    text = json.dumps(document())
    for camel, snake in (
        ("resourceSpans", "resource_spans"),
        ("scopeSpans", "scope_spans"),
        ("traceId", "trace_id"),
        ("spanId", "span_id"),
        ("parentSpanId", "parent_span_id"),
        ("startTimeUnixNano", "start_time_unix_nano"),
        ("endTimeUnixNano", "end_time_unix_nano"),
        ("intValue", "int_value"),
        ("arrayValue", "array_value"),
        ("kvlistValue", "kvlist_value"),
    ):
        text = text.replace(f'"{camel}"', f'"{snake}"')
    assert list(read_json_spans(json.loads(text))) == [EXPECTED]
    printed = {
        "name": "chat m",
        "context": {"trace_id": f"0x{TRACE}", "span_id": f"0x{SPAN}", "trace_state": "[]"},
        "parent_id": f"0x{PARENT}",
        "start_time": "2026-01-05T10:00:00Z",
        "end_time": "2026-01-05T10:00:01.5Z",
        "status": {"status_code": "ERROR"},
        "attributes": {k: v for k, v in EXPECTED.attributes.items() if k != "service.name"},
        "resource": {"attributes": {"service.name": "shop"}},
        "events": [{"name": "exception", "attributes": dict(EXPECTED.events[0].attributes)}],
    }
    (span,) = read_json_spans(printed)
    assert (span.trace, span.id, span.parent, span.seconds) == (TRACE, SPAN, PARENT, 1.5)
    assert (span.attributes, span.error) == (EXPECTED.attributes, EXPECTED.error)


def read_attribute(value: Any) -> Any:
    span = {"attributes": [{"key": "gen_ai.x", "value": value}], "startTimeUnixNano": "5000000000"}
    (read,) = read_json_spans({"resourceSpans": [{"scopeSpans": [{"spans": [span]}]}]})
    assert read.start == 5.0  # a time before 1973 too is in nanoseconds
    return read.attributes["gen_ai.x"]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ({"doubleValue": "Infinity"}, float("inf")),
        ({"doubleValue": 5}, 5.0),
        ({"stringValue": None, "intValue": "5"}, 5),
        ({"bytesValue": "/wA="}, "/wA="),
        ({"arrayValue": {}}, []),
        ({}, None),
        (None, None),
    ],
)
def test_values_are_read_as_protobuf_writes_them_in_json(value: Any, expected: Any) -> None:
    found = read_attribute(value)
    assert (found, type(found)) == (expected, type(expected))


def test_text_that_is_no_number_is_refused_as_a_double() -> None:
    with pytest.raises(DataError, match="expected a number"):
        read_attribute({"doubleValue": "five"})


@pytest.mark.parametrize(
    ("value", "field"),
    [
        (5, ""),
        ({"resourceSpans": 5}, "resourceSpans"),
        ({"resourceSpans": [{"resource": []}]}, "resourceSpans[0].resource"),
        ({"resourceSpans": [{"scopeSpans": {"a": 1}}]}, "resourceSpans[0].scopeSpans"),
        ({"resourceSpans": [{"scopeSpans": [{"spans": [1]}]}]}, "scopeSpans[0].spans"),
        (
            {"resourceSpans": [{"scopeSpans": [{"spans": [{"startTimeUnixNano": "soon"}]}]}]},
            "spans[0].startTimeUnixNano",
        ),
        (
            {"resourceSpans": [{"scopeSpans": [{"spans": [{"attributes": [5]}]}]}]},
            "spans[0].attributes",
        ),
        ({"context": 5}, "context"),
    ],
)
def test_error_names_the_path_of_the_field(value: Any, field: str) -> None:
    with pytest.raises(DataError) as caught:
        list(read_json_spans(value))
    assert field in (caught.value.field or "")


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        ("protobuf", b"\xff\xff\xff"),
        ("protobuf", proto()[:-5]),
        ("json", b"{"),
        ("json", b"[]"),
        ("json", b'{"resourceSpans": {}}'),
        ("json", b"[" * 100_000),
        ("json", b"\xff"),
    ],
)
def test_broken_bodies_are_refused(kind: Any, body: bytes) -> None:
    with pytest.raises(DataError):
        list(read_body_spans(body, kind, b"", 10**6))


def test_empty_request_has_no_spans() -> None:
    assert list(read_body_spans(b"", "protobuf", b"", 10)) == []
    for text in (b"{}", b'{"resourceSpans": null}', b'{"later": 1}'):
        assert list(read_body_spans(text, "json", b"", 10)) == []


def test_decompression_is_bounded() -> None:
    bomb = gzip.compress(b"\0" * 50_000_000)
    assert len(bomb) < 60_000
    with pytest.raises(BodyTooLargeError):
        inflate(bomb, b"gzip", 1_000_000)
    assert inflate(gzip.compress(b"ab") + gzip.compress(b"cd"), b"gzip", 4) == b"abcd"
    for bad in (b"abc", gzip.compress(b"hello")[:-9], gzip.compress(b"") * (MEMBERS + 1)):
        with pytest.raises(DataError):
            inflate(bad, b"gzip", 100)


def test_span_needs_valid_ids_and_bounded_size() -> None:
    packed = pack_span(EXPECTED)
    assert unpack_span(packed.body) == EXPECTED
    assert (packed.trace, packed.id, packed.root) == (TRACE, SPAN, False)
    for wrong in (
        Span(trace="t", id=SPAN, parent="", name="", start=None, end=None, attributes={}),
        Span(trace="0" * 32, id=SPAN, parent="", name="", start=None, end=None, attributes={}),
        Span(trace=TRACE, id="", parent="", name="", start=None, end=None, attributes={}),
        Span(trace=TRACE, id="0" * 16, parent="", name="", start=None, end=None, attributes={}),
        Span(
            trace=TRACE,
            id=SPAN,
            parent="",
            name="",
            start=None,
            end=None,
            attributes={"gen_ai.prompt": "x" * LARGEST},
        ),
    ):
        with pytest.raises(DataError):
            pack_span(wrong)
    half = Span(
        trace=TRACE,
        id=SPAN,
        parent="",
        name="",
        start=None,
        end=None,
        attributes={"gen_ai.prompt": "hi \ud83d"},
    )
    assert unpack_span(pack_span(half).body).attributes == {"gen_ai.prompt": "hi \ufffd"}


def test_longer_of_two_copies_wins_in_any_order() -> None:
    short = Span(trace=TRACE, id=SPAN, parent="", name="a", start=1.0, end=2.0, attributes={})
    long = Span(
        trace=TRACE,
        id=SPAN,
        parent="",
        name="a",
        start=1.0,
        end=2.0,
        attributes={"gen_ai.prompt": "x"},
    )
    assert deduplicate_spans([short, long]) == deduplicate_spans([long, short, long]) == [long]


def test_replies_follow_the_otlp_protocol() -> None:
    assert encode_reply("protobuf", 0, "") == b""
    assert encode_reply("json", 0, "") == b"{}"
    response = ExportTraceServiceResponse.FromString(encode_reply("protobuf", 3, "why"))
    assert response.partial_success.rejected_spans == 3
    assert response.partial_success.error_message == "why"
    assert json.loads(encode_reply("json", 3, "why")) == {
        "partialSuccess": {"rejectedSpans": "3", "errorMessage": "why"}
    }
    assert json.loads(encode_refusal("json", "no")) == {"message": "no"}
    long = "ü" * 100
    assert encode_refusal("protobuf", long) == b"\x12\xc8\x01" + long.encode()
