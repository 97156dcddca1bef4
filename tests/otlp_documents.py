"""OTLP requests for property tests: an attribute of any type in any position, and broken copies.

`requests()` draws requests that any receiver must accept. `as_json` writes one as OTLP's JSON by
protobuf's own encoder, with ids in hexadecimal as OTLP asks. `broken_json` and `broken_protobuf`
damage what was valid: the result may be refused, and must never be more than that.
"""

import json
from typing import Any

from google.protobuf.json_format import MessageToDict  # type: ignore[import-untyped]
from hypothesis import strategies as st
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, ArrayValue, KeyValue, KeyValueList
from opentelemetry.proto.resource.v1.resource_pb2 import Resource
from opentelemetry.proto.trace.v1.trace_pb2 import ResourceSpans, ScopeSpans, Span, Status

from fourscore.formats.otlp import semantic_conventions as names


def _list_names() -> tuple[str, ...]:
    """Return every attribute name that a reader knows, and those with a number in them."""
    known: set[str] = {"http.url", "gen_ai.unknown", "message", "tool_calls", "role", "content"}
    for name, value in vars(names).items():
        if name.isupper() and not name.startswith("_") and not name.endswith("_OPERATIONS"):
            known.update({value} if isinstance(value, str) else value)
    for prefix in (names.LLM_INPUT, names.LLM_OUTPUT):
        for field in ("role", "content", "contents.0.message_content.text", "tool_call_id"):
            known.add(f"{prefix}.0.message.{field}")
        for field in ("id", "function.name", "function.arguments"):
            known.add(f"{prefix}.0.message.tool_calls.0.tool_call.{field}")
    for prefix in (names.PROMPT, names.COMPLETION):
        known.update(f"{prefix}.0.{field}" for field in ("role", "content", "tool_calls.0.name"))
    known.add(f"{names.DOCUMENTS}.0.document.content")
    return tuple(sorted(known))


NAMES = _list_names()
EVENTS = (
    names.EXCEPTION_EVENT,
    names.PROMPT_EVENT,
    names.COMPLETION_EVENT,
    names.DETAILS_EVENT,
    names.CHOICE_EVENT,
    *names.MESSAGE_EVENTS,
    "cache.hit",
)
#: Texts that a reader gives a meaning, and messages in JSON of the right and of a wrong shape.
MEANT = (
    *("chat", "execute_tool", "invoke_agent", "embeddings", "AGENT", "TOOL", "LLM", "RETRIEVER"),
    *("user", "assistant", "tool", "system", "down", "a, b", "timeout", "ValueError", "NaN", ""),
    '[{"role":"user","parts":[{"type":"text","content":"Where?"}]}]',
    '[{"role":"assistant","parts":[{"type":"tool_call","id":"1","name":"find","arguments":{}}]}]',
    '[{"role":"tool","parts":[{"type":"tool_call_response","id":"1","response":[1]}]}]',
    '{"messages":[{"role":["x"],"content":{"a":1},"tool_calls":[{"function":{"name":[]}}]}]}',
    '[{"parts":[{"type":["text"],"content":5},{"type":{},"id":[]},null,7],"type":{}}]',
    '{"input":[1,[2,[3]]],"choices":[{"message":{"content":null}}]}',
    '{"kwargs":{"type":[],"content":[{"text":{}}]}}',
    "[" * 500 + "]" * 500,
    '{"a":' * 500 + "1" + "}" * 500,
    "9" * 400,
    "-1e999",
)

_texts = st.sampled_from(MEANT) | st.text(max_size=20)
_keys = st.sampled_from(NAMES) | st.text(max_size=12).map(lambda text: f"gen_ai.{text}")
_scalars = st.one_of(
    st.just(AnyValue()),
    _texts.map(lambda text: AnyValue(string_value=text)),
    st.booleans().map(lambda value: AnyValue(bool_value=value)),
    st.integers(-(2**63), 2**63 - 1).map(lambda value: AnyValue(int_value=value)),
    st.floats().map(lambda value: AnyValue(double_value=value)),
    st.binary(max_size=12).map(lambda value: AnyValue(bytes_value=value)),
)


def _pairs(values: st.SearchStrategy[AnyValue], most: int) -> st.SearchStrategy[list[KeyValue]]:
    return st.lists(
        st.builds(lambda key, value: KeyValue(key=key, value=value), _keys, values), max_size=most
    )


_values = st.recursive(
    _scalars,
    lambda inner: (
        st.lists(inner, max_size=3).map(
            lambda items: AnyValue(array_value=ArrayValue(values=items))
        )
        | _pairs(inner, 3).map(lambda items: AnyValue(kvlist_value=KeyValueList(values=items)))
    ),
    max_leaves=3,
)
_attributes = _pairs(_values, 4)
_times = st.sampled_from((0, 1, 5 * 10**9, 10**18, 10**18 + 1, 2**63, 2**64 - 1))
_events = st.builds(
    lambda name, attributes, at: Span.Event(name=name, attributes=attributes, time_unix_nano=at),
    st.sampled_from(EVENTS),
    _attributes,
    _times,
)
_ids = st.integers(1, 4).map(lambda number: number.to_bytes(8, "big"))
_spans = st.builds(
    Span,
    trace_id=st.integers(1, 3).map(lambda number: number.to_bytes(16, "big")),
    span_id=_ids,
    parent_span_id=st.just(b"") | _ids,
    name=_texts,
    kind=st.integers(0, 5),
    start_time_unix_nano=_times,
    end_time_unix_nano=_times,
    attributes=_attributes,
    events=st.lists(_events, max_size=1),
    status=st.builds(Status, code=st.integers(0, 2), message=_texts),
)


@st.composite
def requests(draw: st.DrawFn) -> ExportTraceServiceRequest:
    """Draw a valid request of a few spans."""
    resources = st.builds(
        lambda attributes, spans: ResourceSpans(
            resource=Resource(attributes=attributes), scope_spans=[ScopeSpans(spans=spans)]
        ),
        _pairs(_values, 1),
        st.lists(_spans, min_size=1, max_size=3),
    )
    made = draw(st.lists(resources, min_size=1, max_size=2))
    return ExportTraceServiceRequest(resource_spans=made)


#: Fields of a span that may be missing or null in JSON.
OPTIONAL = (
    *("parent_span_id", "name", "start_time_unix_nano", "end_time_unix_nano"),
    *("attributes", "events", "status"),
)


def as_json(
    request: ExportTraceServiceRequest, *, snake_case: bool = False, nulls: bool = False
) -> dict[str, Any]:
    """Return the request as OTLP's JSON, with keys in either of protobuf's two spellings.

    With `nulls`, fields that are not set are null, which means the same as missing.
    """
    document: dict[str, Any] = MessageToDict(
        request, preserving_proto_field_name=snake_case, use_integers_for_enums=True
    )
    of_spans = ("scope_spans", "resource_spans") if snake_case else ("scopeSpans", "resourceSpans")
    ids = ("trace_id", "span_id", "parent_span_id")
    for number, resource in enumerate(request.resource_spans):
        of_resource = document[of_spans[1]][number]
        for place, scope in enumerate(resource.scope_spans):
            found = of_resource[of_spans[0]][place].get("spans", [])
            for written, span in zip(found, scope.spans, strict=True):
                for name in ids:
                    key = name if snake_case else _camel(name)
                    if key in written:
                        written[key] = getattr(span, name).hex()
                for name in OPTIONAL if nulls else ():
                    written.setdefault(name if snake_case else _camel(name), None)
    return document


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(word.title() for word in rest)


_json = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**30), 10**30)
    | st.floats(allow_nan=False, allow_infinity=False)
    | _texts,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(("key", "value", "values", "intValue", "arrayValue", "kvlistValue"))
            | st.text(max_size=5),
            inner,
            max_size=3,
        )
    ),
    max_leaves=6,
)


@st.composite
def broken_json(draw: st.DrawFn) -> bytes:
    """Draw a request in JSON of which some values are replaced, removed, wrapped or repeated."""
    document = as_json(draw(requests()), snake_case=draw(st.booleans()))
    for _ in range(draw(st.integers(1, 3))):
        places = list(_find_places(document))
        if not places:
            break
        holder, key = places[draw(st.integers(0, len(places) - 1))]
        how = draw(st.sampled_from(("replace", "remove", "wrap", "rename")))
        if how == "replace":
            holder[key] = draw(_json)
        elif how == "wrap":
            holder[key] = draw(st.sampled_from(([holder[key]], {"values": holder[key]})))
        elif how == "rename" and isinstance(holder, dict):
            holder[draw(st.sampled_from(("attributes", "arrayValue", "key", "x")))] = holder.pop(
                key
            )
        else:
            del holder[key]
    return json.dumps(document).encode()


def _find_places(value: Any) -> Any:
    """Yield each object or list with each key in it."""
    items = value.items() if isinstance(value, dict) else enumerate(value)
    for key, item in list(items):
        yield value, key
        if isinstance(item, dict | list):
            yield from _find_places(item)


@st.composite
def broken_protobuf(draw: st.DrawFn) -> bytes:
    """Draw a request in protobuf with some bytes replaced, removed or repeated."""
    body = bytearray(draw(requests()).SerializeToString())
    for _ in range(draw(st.integers(1, 3))):
        at = draw(st.integers(0, max(0, len(body) - 1)))
        size = draw(st.integers(0, 8))
        body[at : at + size] = draw(st.binary(max_size=8) | st.just(bytes(body[at : at + 16]) * 2))
    return bytes(body)
