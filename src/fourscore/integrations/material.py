"""What trainers hand over (columns, numpy values, messages) as what a case and a trace hold.

A reward must not fail because a data set carries an image: what is not data is left out.
"""

from collections.abc import Iterable, Mapping
from math import isfinite
from typing import Any

import msgspec

from fourscore.core import Message, Step, ToolCall, Trace
from fourscore.core.frozen import MAX_DEPTH, MAX_INT_BITS

#: An array beyond this is an image or an embedding, nothing a judge reads from metadata.
MAX_ARRAY_BYTES = 1_000_000


def plain(value: Any, depth: int = 0) -> Any:
    """The JSON value in a foreign one: arrays are lists, live objects and NaN are None."""
    if value is None or isinstance(value, str | bool):
        return value
    if isinstance(value, int):
        return int(value) if value.bit_length() <= MAX_INT_BITS else None
    if isinstance(value, float):
        return float(value) if isfinite(value) else None
    if depth >= MAX_DEPTH - 1:
        return None
    if isinstance(value, Mapping):
        return {str(key): plain(item, depth + 1) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item, depth + 1) for item in value]
    if hasattr(value, "tolist"):  # numpy, torch
        large = getattr(value, "nbytes", 0) > MAX_ARRAY_BYTES
        return None if large else plain(value.tolist(), depth + 1)
    if hasattr(value, "model_dump"):  # pydantic
        return plain(value.model_dump(), depth + 1)
    return None


def metadata_of(value: Any) -> dict[str, Any]:
    """The same for what should be a mapping; anything else holds nothing."""
    found = plain(value)
    return found if isinstance(found, dict) else {}


def identity(metadata: Mapping[str, Any]) -> str:
    """The task's own id, if it brings one; otherwise a case is known by its prompt."""
    given = metadata.get("task_id")
    return "" if given is None else str(given)


def trace_of(completion: Any) -> Trace:
    """An answer as trainers give it: text, or the messages that led to it.

    The answer is the last message of the assistant. One that ends in a tool call has none.
    """
    if not isinstance(completion, list | tuple):
        return Trace(output=plain(completion))
    answer = ""
    for message in completion:
        if _get(message, "role") == "assistant":
            answer = text_of(_get(message, "content"))
    return Trace(output=answer, steps=steps_of(completion))


def steps_of(messages: Iterable[Any]) -> tuple[Step, ...]:
    """Messages as steps; what a tool answered stands with its call."""
    messages = list(messages)
    results = {
        str(_get(message, "tool_call_id")): text_of(_get(message, "content"))
        for message in messages
        if _get(message, "role") == "tool"
    }
    steps: list[Step] = []
    for message in messages:
        role = str(_get(message, "role") or "")
        if role != "tool":
            steps.append(Message(role=role, content=text_of(_get(message, "content"))))
        steps += [_tool_call(call, results) for call in _get(message, "tool_calls") or ()]
    return tuple(steps)


def text_of(content: Any) -> str:
    """The text of a message: the string, or its text parts."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list | tuple):
        return ""
    texts = (part if isinstance(part, str) else _get(part, "text") for part in content)
    return "".join(text for text in texts if isinstance(text, str))


def decoded(text: str) -> Any:
    """The value of a JSON text, or the text where it is none: models write broken JSON."""
    try:
        return plain(msgspec.json.decode(text))
    except (msgspec.DecodeError, RecursionError):
        return text


def _tool_call(call: Any, results: Mapping[str, str]) -> ToolCall:
    function = _get(call, "function") or call
    arguments = plain(_get(function, "arguments"))
    if isinstance(arguments, str):
        arguments = decoded(arguments)
    name = str(_get(function, "name") or "")
    return ToolCall(name=name, arguments=arguments, result=results.get(str(_get(call, "id"))))


def _get(holder: Any, key: str) -> Any:
    return holder.get(key) if isinstance(holder, Mapping) else getattr(holder, key, None)
