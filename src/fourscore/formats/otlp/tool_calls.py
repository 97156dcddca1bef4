"""The tool calls of a trace: from tool spans, and from model messages where there is no such span.

Many applications record model calls but not tools; then a later request repeats the tool's
arguments and result. A call that is in both is one call, matched by its id, else by the
tool's name, in the order of the calls.
"""

from collections import defaultdict, deque
from collections.abc import Sequence
from typing import Any

import msgspec

from fourscore.core import ToolCall, freeze
from fourscore.formats.otlp import semantic_conventions as names
from fourscore.formats.otlp.messages import CallPart, Turn, parse_json_text
from fourscore.formats.otlp.span import Span
from fourscore.formats.otlp.span_tree import Role

Turns = Sequence[Sequence[Turn]]

#: Tool calls that are kept of one trace.
MOST = 2000


class _MessageCall(msgspec.Struct, kw_only=True):
    """A tool call found in messages, and its result."""

    at: float
    call: CallPart
    result: Any = None
    taken: bool = False


def collect_tool_calls(
    spans: Sequence[Span], roles: Sequence[Role], inputs: Turns, outputs: Turns
) -> tuple[ToolCall, ...]:
    """Return the tool calls by start; `inputs` and `outputs` are the messages of each span."""
    message_calls = _collect_message_calls(spans, inputs, outputs)
    by_name: defaultdict[str, deque[_MessageCall]] = defaultdict(deque)
    for item in message_calls.values():
        by_name[item.call.name].append(item)
    made: list[tuple[float, int, ToolCall]] = []
    for span, role in zip(spans, roles, strict=True):
        if role == "tool":
            name = str(span.attributes.get(names.TOOL_NAME) or _oi_name(span))
            twin = _twin(span, name, message_calls, by_name)
            made.append((span.start or 0.0, len(made), _of_span(name, span, twin)))
        elif role == "retriever":
            made.append((span.start or 0.0, len(made), _retrieval(span)))
    for item in message_calls.values():
        if not item.taken:
            call = ToolCall(
                name=item.call.name, arguments=_safe(item.call.value), result=_safe(item.result)
            )
            made.append((item.at, len(made), call))
    return tuple(call for _, _, call in sorted(made, key=lambda entry: entry[:2])[:MOST])


def _collect_message_calls(
    spans: Sequence[Span], inputs: Turns, outputs: Turns
) -> dict[str, _MessageCall]:
    """Return the calls in models' messages by id.

    The next request repeats a call; without an id the two cannot be told apart, so it is left out.
    """
    found: dict[str, _MessageCall] = {}
    results: dict[str, object] = {}
    for span, asked, answered in zip(spans, inputs, outputs, strict=True):
        for turn in asked:
            for result in turn.answers:
                results.setdefault(result.id, result.value)
        for turn in (*answered, *_since(asked)):
            for call in turn.calls:
                if call.id and call.name and len(found) < MOST:
                    found.setdefault(
                        call.id, _MessageCall(at=span.end or span.start or 0.0, call=call)
                    )
    for key, item in found.items():
        item.result = results.get(key)
    return found


def _since(asked: Sequence[Turn]) -> Sequence[Turn]:
    """Return the messages after the user's last one: earlier calls belong to earlier questions."""
    for at in range(len(asked) - 1, -1, -1):
        if asked[at].role == "user" and asked[at].text:
            return asked[at + 1 :]
    return asked


def _twin(
    span: Span,
    name: str,
    message_calls: dict[str, _MessageCall],
    by_name: dict[str, deque[_MessageCall]],
) -> _MessageCall | None:
    key = span.attributes.get(names.TOOL_CALL_ID) or span.attributes.get(names.OI_TOOL_CALL_ID)
    item = message_calls.get(str(key)) if key else None
    waiting = by_name.get(name)
    while item is None and not key and waiting:
        candidate = waiting.popleft()
        item = None if candidate.taken else candidate
    if item is not None:
        item.taken = True
    return item


def _of_span(name: str, span: Span, twin: _MessageCall | None) -> ToolCall:
    attributes = span.attributes
    arguments = attributes.get(names.TOOL_ARGUMENTS)
    if arguments is None and names.KIND in attributes:
        arguments = attributes.get(names.INPUT_VALUE, attributes.get(names.OI_TOOL_PARAMETERS))
    result = attributes.get(names.TOOL_RESULT)
    if result is None and names.KIND in attributes:
        result = attributes.get(names.OUTPUT_VALUE)
    if twin is not None:
        arguments = twin.call.value if arguments is None else arguments
        result = twin.result if result is None else result
    return ToolCall(
        name=name,
        arguments=_safe(parse_json_text(arguments)),
        result=_safe(parse_json_text(result)),
        exit_code=None if span.error else 0,
        seconds=span.seconds,
        error=span.error,
    )


def _oi_name(span: Span) -> object:
    return span.attributes.get(names.OI_TOOL) or span.name or "tool"


def _retrieval(span: Span) -> ToolCall:
    """Return a retriever's span as a tool call whose result is the documents."""
    documents: dict[int, str] = {}
    for key, value in span.attributes.items():
        if key.startswith(names.DOCUMENTS) and key.endswith(".document.content"):
            number = key[len(names.DOCUMENTS) + 1 :].partition(".")[0]
            if number.isdecimal() and len(number) < 6:
                documents[int(number)] = str(value)
    result = [documents[number] for number in sorted(documents)]
    return ToolCall(
        name=span.name or "retrieval",
        arguments=_safe(parse_json_text(span.attributes.get(names.INPUT_VALUE))),
        result=result or _safe(parse_json_text(span.attributes.get(names.OUTPUT_VALUE))),
        exit_code=None if span.error else 0,
        seconds=span.seconds,
        error=span.error,
    )


def _safe(value: object) -> object:
    """Return the value frozen; as text where it is nested too deeply or is not JSON."""
    try:
        return freeze(value)
    except (ValueError, RecursionError):
        return str(value)[:1000]
