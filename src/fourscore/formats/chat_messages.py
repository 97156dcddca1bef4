"""OpenAI chat messages as a `Trace`.

A tool call and the message with its result become one step, at the position of the call. The
agent's last message is the output; an agent that ends with a tool call has none. An agent or its
tools wrote the content: what does not fit is kept as text, or refused with its path.
"""

from collections import defaultdict, deque
from collections.abc import Mapping
from typing import Any

import msgspec

from fourscore.core import DataError, Message, Step, ToolCall, Trace, freeze

#: Types of content parts that are only text, and the key of that text.
TEXTS = {"text": "text", "input_text": "text", "output_text": "text", "refusal": "refusal"}


class _Call(msgspec.Struct):
    """A tool call that waits for its result."""

    name: str
    arguments: Any
    result: Any = None


def read_messages(messages: object) -> Trace:
    """Read a list of messages as a trace; a `DataError` names the path of what does not fit."""
    if not isinstance(messages, list | tuple):
        raise DataError(f"expected a list, got {type(messages).__name__}", field="messages")
    steps: list[Step | _Call] = []
    waiting: defaultdict[str, deque[_Call]] = defaultdict(deque)
    output: object = None
    for position, item in enumerate(messages):
        place = f"messages[{position}]"
        message = _object(item, place)
        role = message.get("role")
        if not isinstance(role, str) or not role:
            raise DataError("expected text", field=f"{place}.role")
        content = _content(message, place)
        if role in ("tool", "function"):
            call = _answered(message, waiting)
            if call is not None:
                call.result = content
                continue
        calls = _calls(message, place)
        if role == "assistant":
            output = _join_text(content)
        if content not in (None, "") or not calls:
            steps.append(Message(role=role, content=content))
        for key, call in calls:
            steps.append(call)
            waiting[key].append(call)
    return Trace(output=output, steps=tuple(map(_step, steps)))


def _object(item: object, place: str) -> Mapping[str, object]:
    """Return a message as a mapping; client libraries may pass pydantic models."""
    dump = getattr(item, "model_dump", None)
    if callable(dump):
        item = dump()
    if not isinstance(item, Mapping):
        raise DataError(f"expected an object, got {type(item).__name__}", field=place)
    return item


def _content(message: Mapping[str, object], place: str) -> object:
    """Return the content as text where it is only text, else its parts (an image, a sound)."""
    content = message.get("content")
    if content is None:
        content = message.get("refusal")
    try:
        content = freeze(content)
    except ValueError as error:
        raise DataError(str(error), field=f"{place}.content") from None
    if isinstance(content, list) and content:
        texts = [_part(part) for part in content]
        if None not in texts:
            return "".join(text for text in texts if text is not None)
    return content


def _part(part: object) -> str | None:
    if isinstance(part, str):
        return part
    if isinstance(part, dict):
        text = part.get(TEXTS.get(str(part.get("type")), ""))
        return text if isinstance(text, str) else None
    return None


def _join_text(content: object) -> object:
    """Return the text of a message's content; None where it is empty."""
    if isinstance(content, list):
        content = "".join(text for text in map(_part, content) if text)
    return None if content == "" else content


def _calls(message: Mapping[str, object], place: str) -> list[tuple[str, _Call]]:
    """Return the tool calls of a message, each with the key by which its result refers to it."""
    old = message.get("function_call")
    if isinstance(old, Mapping):
        call = _call(old, f"{place}.function_call")
        return [(f"name:{call.name}", call)]
    given = message.get("tool_calls")
    if given is None:
        return []
    if not isinstance(given, list | tuple):
        raise DataError("expected a list", field=f"{place}.tool_calls")
    calls = []
    for position, item in enumerate(given):
        here = f"{place}.tool_calls[{position}]"
        if not isinstance(item, Mapping):
            raise DataError(f"expected an object, got {type(item).__name__}", field=here)
        inner = next((k for k in ("function", "custom") if isinstance(item.get(k), Mapping)), None)
        call = _call(item[inner], f"{here}.{inner}") if inner else _call(item, here)
        key = item.get("id")
        calls.append((f"id:{key}" if key is not None else f"name:{call.name}", call))
    return calls


def _call(function: Mapping[str, object], place: str) -> _Call:
    name = function.get("name")
    if not isinstance(name, str) or not name:
        raise DataError("expected text", field=f"{place}.name")
    field = "arguments" if "arguments" in function else "input"
    try:
        return _Call(name, _arguments(function.get(field)))
    except ValueError as error:
        raise DataError(str(error), field=f"{place}.{field}") from None


def _arguments(given: object) -> object:
    """Return arguments decoded from JSON text; text that is not valid JSON stays text."""
    if not isinstance(given, str):
        return freeze(given)
    if not given:
        return None
    try:
        return freeze(msgspec.json.decode(given))
    except (msgspec.DecodeError, UnicodeError, ValueError, RecursionError):
        return freeze(given)


def _answered(message: Mapping[str, object], waiting: Mapping[str, deque[_Call]]) -> _Call | None:
    """Return the call of a result: the one with its id, else the oldest open call of that name."""
    for key in (f"id:{message.get('tool_call_id')}", f"name:{message.get('name')}"):
        open_calls = waiting.get(key)
        if open_calls:
            return open_calls.popleft()
    return None


def _step(step: Step | _Call) -> Step:
    if isinstance(step, _Call):
        return ToolCall(name=step.name, arguments=step.arguments, result=step.result)
    return step
