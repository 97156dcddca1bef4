"""Any valid OTLP request is read, the same from JSON and protobuf; a broken one is refused at most.

`pytest --hypothesis-profile=searching` looks further.
"""

import json
from collections.abc import Iterable
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from tests.otlp_documents import as_json, broken_json, broken_protobuf, requests

from fourscore.core import DataError, Trace
from fourscore.formats.otlp.http_body import BodyKind, read_body_spans
from fourscore.formats.otlp.span import Span, pack_span, unpack_span
from fourscore.formats.otlp.trace import SpanTrace, read_span_traces

MOST = 1 << 24


def read(body: bytes, kind: BodyKind) -> list[Span]:
    """Read a body, and return its spans as the monitor's store returns them."""
    return [unpack_span(pack_span(span).body) for span in read_body_spans(body, kind, b"", MOST)]


def make_trace(spans: Iterable[Span]) -> Trace:
    made = SpanTrace(list(spans))
    assert isinstance(made.question(), str)
    assert isinstance(made.instructions(), str)
    return made.trace({}, fault=True)


@given(requests(), st.booleans(), st.booleans())
def test_json_and_protobuf_give_the_same_spans_and_a_trace(
    request: ExportTraceServiceRequest, snake_case: bool, nulls: bool
) -> None:
    spans = read(request.SerializeToString(), "protobuf")
    document = as_json(request, snake_case=snake_case, nulls=nulls)
    assert read(json.dumps(document).encode(), "json") == spans
    assert len(spans) == sum(
        len(scope.spans) for held in request.resource_spans for scope in held.scope_spans
    )
    make_trace(spans)
    list(read_span_traces([(1, document)]))


@pytest.mark.parametrize("kind", ["protobuf", "json"])
@given(st.data())
def test_broken_body_is_read_or_refused(kind: BodyKind, data: st.DataObject) -> None:
    body = data.draw(broken_protobuf() if kind == "protobuf" else broken_json())
    spans: list[Span] = []
    with suppress(DataError):
        spans = list(read_body_spans(body, kind, b"", MOST))
    assert isinstance(make_trace(spans), Trace)
