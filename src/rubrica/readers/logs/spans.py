"""OpenTelemetry spans of generative AI, exported as JSON: one trace for each conversation.

Both shapes are read: OTLP (`resourceSpans`, attributes as a list of pairs) and the one that SDKs
print (`context`, attributes as an object). A tool is a span with `gen_ai.tool.name`; one that ended
without an error has succeeded, which stands as exit code 0, since contents are often not recorded.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import msgspec

from rubrica.core import DataError, Step, ToolCall, Trace, Usage
from rubrica.readers.logs.record import instant
from rubrica.readers.messages import trace_of_messages


class Span(NamedTuple):
    """What both shapes say."""

    trace: str
    name: str
    start: float | None
    end: float | None
    attributes: Mapping[str, Any]
    error: str | None


def traces_of_spans(documents: Iterable[tuple[int, Any]]) -> Iterator[Trace]:
    groups: dict[str, list[Span]] = {}
    for line, document in documents:
        try:
            for span in _spans(document):
                key = span.attributes.get("gen_ai.conversation.id") or span.trace
                groups.setdefault(str(key), []).append(span)
        except DataError as error:
            raise DataError(error.message, line=line, field=error.field) from None
    for key, spans in groups.items():
        yield _trace(key, sorted(spans, key=lambda span: span.start or 0.0))


def _spans(document: Any) -> Iterator[Span]:
    if isinstance(document, list):
        for item in document:
            yield from _spans(item)
        return
    if not isinstance(document, Mapping):
        raise DataError("expected an object")
    if "resourceSpans" not in document:
        yield _printed(document)
        return
    for i, resource in enumerate(_list(document["resourceSpans"], "resourceSpans")):
        place = f"resourceSpans[{i}]"
        held = resource.get("resource")
        common = _attributes((held or {}).get("attributes"), f"{place}.resource.attributes")
        scopes = resource.get("scopeSpans", resource.get("instrumentationLibrarySpans", []))
        for j, scope in enumerate(_list(scopes, f"{place}.scopeSpans")):
            here = f"{place}.scopeSpans[{j}].spans"
            for k, span in enumerate(_list(scope.get("spans", []), here)):
                yield _wired(span, common, f"{here}[{k}]")


def _wired(span: Mapping[str, Any], common: Mapping[str, Any], place: str) -> Span:
    attributes = {**common, **_attributes(span.get("attributes"), f"{place}.attributes")}
    status = span.get("status") or {}
    bad = status.get("code") in (2, "2", "STATUS_CODE_ERROR")
    return Span(
        str(span.get("traceId", "")),
        str(span.get("name", "")),
        _moment(span.get("startTimeUnixNano"), f"{place}.startTimeUnixNano"),
        _moment(span.get("endTimeUnixNano"), f"{place}.endTimeUnixNano"),
        attributes,
        _error(bad, status.get("message"), attributes),
    )


def _printed(span: Mapping[str, Any]) -> Span:
    context, status = span.get("context") or {}, span.get("status") or {}
    resource = (span.get("resource") or {}).get("attributes")
    attributes = {**_attributes(resource, "resource"), **_attributes(span.get("attributes"), "")}
    bad = str(status.get("status_code", "")).upper().endswith("ERROR")
    return Span(
        str(context.get("trace_id") or span.get("trace_id") or ""),
        str(span.get("name", "")),
        _moment(span.get("start_time"), "start_time"),
        _moment(span.get("end_time"), "end_time"),
        attributes,
        _error(bad, status.get("description"), attributes),
    )


def _error(bad: bool, words: Any, attributes: Mapping[str, Any]) -> str | None:
    kind = attributes.get("error.type")
    if not bad and not kind:
        return None
    return ": ".join(str(word) for word in (kind, words) if word)[:500] or "it failed"


def _attributes(given: Any, field: str) -> dict[str, Any]:
    if given is None:
        return {}
    if isinstance(given, Mapping):
        return dict(given)
    return {
        str(pair.get("key")): _value(pair.get("value"))
        for pair in _list(given, field or "attributes")
    }


def _value(given: Any) -> Any:
    """`{"intValue": "5"}` and its like."""
    if not isinstance(given, Mapping):
        return given
    for kind, value in given.items():
        if kind == "intValue":
            return int(value) if str(value).lstrip("-").isdecimal() else None
        if kind == "arrayValue":
            return [_value(item) for item in (value or {}).get("values", [])]
        if kind == "kvlistValue":
            return _attributes((value or {}).get("values"), kind)
        return value
    return None


def _trace(key: str, spans: list[Span]) -> Trace:
    steps: list[Step] = []
    output: Any = None
    usage = Usage()
    for span in spans:
        told = span.attributes
        tool = told.get("gen_ai.tool.name")
        if tool and told.get("gen_ai.operation.name", "execute_tool") == "execute_tool":
            steps.append(_call(str(tool), span))
            continue
        output = _said(told) or output
        spent = [
            _count(told.get(f"gen_ai.usage.{new}", told.get(f"gen_ai.usage.{old}")))
            for new, old in (
                ("input_tokens", "prompt_tokens"),
                ("output_tokens", "completion_tokens"),
            )
        ]
        if told.get("gen_ai.operation.name") != "invoke_agent" and any(spent):
            usage += Usage(calls=1, input_tokens=spent[0], output_tokens=spent[1])
    starts = [span.start for span in spans if span.start is not None]
    ends = [span.end for span in spans if span.end is not None]
    version = next((v for s in spans if (v := s.attributes.get("service.version"))), "")
    return Trace(
        output=output,
        steps=tuple(steps),
        started=min(starts) if starts else None,
        seconds=max(0.0, max(ends) - min(starts)) if starts and ends else None,
        usage=usage if usage.calls else None,
        metadata={"session": key, "version": str(version), **({"ts": max(ends)} if ends else {})},
    )


def _call(tool: str, span: Span) -> ToolCall:
    took = None
    if span.start is not None and span.end is not None:
        took = max(0.0, span.end - span.start)
    return ToolCall(
        name=tool,
        arguments=_parsed(span.attributes.get("gen_ai.tool.call.arguments")),
        result=_parsed(span.attributes.get("gen_ai.tool.call.result")),
        exit_code=None if span.error else 0,
        seconds=took,
        error=span.error,
    )


def _said(told: Mapping[str, Any]) -> Any:
    """The text of the last message that a model put out."""
    messages = _parsed(told.get("gen_ai.output.messages", told.get("gen_ai.completion")))
    if isinstance(messages, str):
        return messages
    for message in reversed(messages) if isinstance(messages, list) else ():
        if not isinstance(message, Mapping):
            continue
        parts = message.get("parts", message.get("content"))
        if isinstance(parts, list):
            texts = [p.get("content", p.get("text")) for p in parts if isinstance(p, Mapping)]
            parts = "".join(text for text in texts if isinstance(text, str))
        if isinstance(parts, str) and parts:
            return trace_of_messages([{"role": "assistant", "content": parts}]).output
    return None


def _parsed(given: Any) -> Any:
    if not isinstance(given, str):
        return given
    try:
        return msgspec.json.decode(given)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return given


def _count(given: Any) -> int:
    return given if type(given) is int and given > 0 else 0


def _moment(given: Any, field: str) -> float | None:
    try:
        return instant(given)
    except (DataError, TypeError):
        raise DataError("expected a time", field=field) from None


def _list(given: Any, field: str) -> list[Mapping[str, Any]]:
    if not isinstance(given, list) or not all(isinstance(item, Mapping) for item in given):
        raise DataError("expected a list of objects", field=field)
    return given
