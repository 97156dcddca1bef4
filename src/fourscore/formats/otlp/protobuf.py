"""OTLP bodies as protobuf, by OpenTelemetry's own classes: pip install 'fourscore[otel]'."""

from base64 import b64encode
from collections.abc import Iterable, Iterator
from typing import Any

from google.protobuf.message import DecodeError  # type: ignore[import-untyped]
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)

from fourscore.core import DataError
from fourscore.formats.otlp.semantic_conventions import (
    EXCEPTION_EVENT,
    EXCEPTION_MESSAGE,
    EXCEPTION_TYPE,
    is_kept,
)
from fourscore.formats.otlp.span import Event, Span, find_error

#: Lists within lists, as deep as protobuf itself would read them.
DEEPEST = 64


def read_protobuf_spans(body: bytes) -> Iterator[Span]:
    """Read the spans of an `ExportTraceServiceRequest`."""
    try:
        request = ExportTraceServiceRequest.FromString(body)
    except DecodeError:
        raise DataError("the body is not an ExportTraceServiceRequest in protobuf") from None
    for resource in request.resource_spans:
        common = _attributes(resource.resource.attributes)
        for scope in resource.scope_spans:
            for span in scope.spans:
                yield _span(span, common)


def encode_response(rejected: int, message: str) -> bytes:
    """Encode an `ExportTraceServiceResponse`: no bytes where nothing was rejected."""
    reply = ExportTraceServiceResponse()
    if rejected or message:
        reply.partial_success.rejected_spans = rejected
        reply.partial_success.error_message = message
    return bytes(reply.SerializeToString())


def _span(span: Any, common: dict[str, Any]) -> Span:
    attributes = {**common, **_attributes(span.attributes)}
    events = tuple(_events(span.events)) if span.events else ()
    status = span.status
    return Span(
        trace=span.trace_id.hex(),
        id=span.span_id.hex(),
        parent=span.parent_span_id.hex(),
        name=span.name,
        start=_moment(span.start_time_unix_nano),
        end=_moment(span.end_time_unix_nano),
        attributes=attributes,
        error=find_error(status.code == 2, status.message, attributes, events),
        events=events,
    )


def _moment(nanoseconds: int) -> float | None:
    return nanoseconds / 1e9 if nanoseconds else None


def _events(given: Iterable[Any]) -> Iterator[Event]:
    for event in given:
        if event.name.startswith("gen_ai."):
            yield Event(event.name, {pair.key: _value(pair.value) for pair in event.attributes})
        elif event.name == EXCEPTION_EVENT:
            attributes = {pair.key: _value(pair.value) for pair in event.attributes}
            about = (EXCEPTION_TYPE, EXCEPTION_MESSAGE)
            yield Event(event.name, {key: attributes[key] for key in about if key in attributes})


def _attributes(given: Iterable[Any]) -> dict[str, Any]:
    return {pair.key: _value(pair.value) for pair in given if is_kept(pair.key)}


def _value(given: Any, depth: int = 0) -> Any:
    kind = given.WhichOneof("value")
    if kind == "string_value":
        return given.string_value
    if kind == "int_value":
        return given.int_value
    if kind is None or depth > DEEPEST:
        return None
    if kind == "array_value":
        return [_value(item, depth + 1) for item in given.array_value.values]
    if kind == "kvlist_value":
        return {pair.key: _value(pair.value, depth + 1) for pair in given.kvlist_value.values}
    if kind == "bytes_value":
        return b64encode(given.bytes_value).decode()  # as OTLP's JSON has it
    return getattr(given, kind)
