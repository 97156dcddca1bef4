"""Spans as JSON: OTLP (`resourceSpans`, attributes as a list of pairs), and as SDKs print them.

Protobuf's JSON allows two spellings of a key (`traceId`, `trace_id`); both are read, as
exporters differ. The value of an attribute may have any type.
"""

from collections.abc import Iterator, Mapping

from fourscore.core import DataError
from fourscore.formats.logs.tool_record import parse_time
from fourscore.formats.otlp import semantic_conventions as names
from fourscore.formats.otlp.span import Event, Span, find_error

_BAD = (2, "2", "STATUS_CODE_ERROR")


def is_spans(document: object) -> bool:
    """Return whether a JSON value looks like spans, in OTLP or as an SDK prints them."""
    return isinstance(document, Mapping) and (
        "resourceSpans" in document
        or "resource_spans" in document
        or {"context", "attributes"} <= document.keys()
    )


def read_json_spans(document: object) -> Iterator[Span]:
    """Read the spans of one JSON value; a `DataError` names the path of what does not fit."""
    if isinstance(document, list):
        for item in document:
            yield from read_json_spans(item)
        return
    if not isinstance(document, Mapping):
        raise DataError("expected an object")
    resources = _either(document, "resourceSpans", "resource_spans")
    if resources is None:
        yield _printed(document)
        return
    for i, resource in enumerate(_list(resources, "resourceSpans")):
        place = f"resourceSpans[{i}]"
        held = _object(resource.get("resource"), f"{place}.resource")
        common = _attributes(held.get("attributes"), f"{place}.resource.attributes")
        scopes = _either(resource, "scopeSpans", "scope_spans", "instrumentationLibrarySpans")
        for j, scope in enumerate(_list(scopes or [], f"{place}.scopeSpans")):
            here = f"{place}.scopeSpans[{j}].spans"
            for k, span in enumerate(_list(scope.get("spans") or [], here)):
                yield _wired(span, common, f"{here}[{k}]")


def _wired(span: Mapping[str, object], common: Mapping[str, object], place: str) -> Span:
    attributes = {**common, **_attributes(span.get("attributes"), f"{place}.attributes")}
    events = _events(span.get("events"), f"{place}.events")
    status = _object(span.get("status"), f"{place}.status")
    start = _either(span, "startTimeUnixNano", "start_time_unix_nano")
    end = _either(span, "endTimeUnixNano", "end_time_unix_nano")
    return Span(
        trace=_id(_either(span, "traceId", "trace_id")),
        id=_id(_either(span, "spanId", "span_id")),
        parent=_id(_either(span, "parentSpanId", "parent_span_id")),
        name=str(span.get("name") or ""),
        start=_nanoseconds(start, f"{place}.startTimeUnixNano"),
        end=_nanoseconds(end, f"{place}.endTimeUnixNano"),
        attributes=attributes,
        error=find_error(status.get("code") in _BAD, status.get("message"), attributes, events),
        events=events,
    )


def _printed(span: Mapping[str, object]) -> Span:
    context = _object(span.get("context"), "context")
    status = _object(span.get("status"), "status")
    resource = _object(span.get("resource"), "resource").get("attributes")
    attributes = {
        **_attributes(resource, "resource.attributes"),
        **_attributes(span.get("attributes"), "attributes"),
    }
    events = _events(span.get("events"), "events")
    bad = str(status.get("status_code", "")).upper().endswith("ERROR")
    return Span(
        trace=_id(context.get("trace_id") or span.get("trace_id")),
        id=_id(context.get("span_id") or span.get("span_id")),
        parent=_id(span.get("parent_id")),
        name=str(span.get("name") or ""),
        start=_moment(span.get("start_time"), "start_time"),
        end=_moment(span.get("end_time"), "end_time"),
        attributes=attributes,
        error=find_error(bad, status.get("description"), attributes, events),
        events=events,
    )


def _events(given: object, place: str) -> tuple[Event, ...]:
    found = []
    for i, event in enumerate(_list(given or [], place)):
        name = str(event.get("name") or "")
        attributes = _pairs(event.get("attributes"), f"{place}[{i}].attributes")
        if name == names.EXCEPTION_EVENT:
            about = (names.EXCEPTION_TYPE, names.EXCEPTION_MESSAGE)
            attributes = {key: attributes[key] for key in about if key in attributes}
        elif not name.startswith("gen_ai."):
            continue
        found.append(Event(name, attributes))
    return tuple(found)


def _attributes(given: object, field: str) -> dict[str, object]:
    return {key: value for key, value in _pairs(given, field).items() if names.is_kept(key)}


def _pairs(given: object, field: str, depth: int = 0) -> dict[str, object]:
    if given is None:
        return {}
    if isinstance(given, Mapping):
        return dict(given)
    return {
        str(pair.get("key")): _value(pair.get("value"), field, depth)
        for pair in _list(given, field)
    }


def _value(given: object, field: str, depth: int = 0) -> object:
    """Return the plain value of an OTLP value such as `{"intValue": "5"}`."""
    if not isinstance(given, Mapping):
        return given
    if depth > 64:
        raise DataError("nested too deeply", field=field)
    for kind, value in given.items():
        if value is None:  # the same as no value, in protobuf's JSON
            continue
        if kind in ("intValue", "int_value"):
            return _whole(value)
        if kind in ("doubleValue", "double_value"):
            return _number(value, field)
        if kind in ("arrayValue", "array_value"):
            items = _object(value, field).get("values") or []
            if not isinstance(items, list):
                raise DataError("expected a list", field=field)
            return [_value(item, field, depth + 1) for item in items]
        if kind in ("kvlistValue", "kvlist_value"):
            return _pairs(_object(value, field).get("values"), field, depth + 1)
        return value
    return None


def _either(given: Mapping[str, object], *keys: str) -> object:
    return next((given[key] for key in keys if key in given), None)


def _id(given: object) -> str:
    return str(given or "").lower().removeprefix("0x")


def _whole(given: object) -> int | None:
    """Return a whole number; OTLP writes 64-bit numbers as text, which JavaScript needs."""
    text = str(given)
    return int(text) if len(text) < 21 and text.removeprefix("-").isdecimal() else None


def _number(given: object, field: str) -> float:
    """Return a float; protobuf's JSON writes NaN and infinities as text."""
    try:
        return float(given)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        raise DataError("expected a number", field=field) from None


def _nanoseconds(given: object, field: str) -> float | None:
    whole = _whole(given)
    if whole is None or not 0 <= whole < 2**64:
        return _moment(given, field)
    return whole / 1e9 if whole else None  # the same division as for protobuf


def _moment(given: object, field: str) -> float | None:
    whole = _whole(given)
    if whole is not None and whole > 10**17:
        return whole / 1e9
    try:
        return parse_time(given) or None
    except (DataError, TypeError):
        raise DataError("expected a time", field=field) from None


def _object(given: object, field: str) -> Mapping[str, object]:
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise DataError("expected an object", field=field)
    return given


def _list(given: object, field: str) -> list[Mapping[str, object]]:
    if not isinstance(given, list) or not all(isinstance(item, Mapping) for item in given):
        raise DataError("expected a list of objects", field=field)
    return given
