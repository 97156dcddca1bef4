"""Read the values of trainers (columns, numpy values, messages) into cases and traces.

A reward must not fail because a data set carries an image: what is not JSON data becomes None.
"""

from collections.abc import Iterable, Mapping
from math import isfinite
from typing import Any

import msgspec

from fourscore.core import DataError, Message, Step, ToolCall, Trace
from fourscore.core.answer import read_answer, read_message_text
from fourscore.core.frozen import MAX_DEPTH, MAX_INT_BITS

#: A larger array is an image or an embedding; no judge reads it from metadata.
MAX_ARRAY_BYTES = 1_000_000


def to_json_value(value: object, depth: int = 0) -> Any:
    """Return a foreign value as JSON data: arrays become lists, live objects and NaN None."""
    if value is None or isinstance(value, str | bool):
        return value
    if isinstance(value, int):
        return int(value) if value.bit_length() <= MAX_INT_BITS else None
    if isinstance(value, float):
        return float(value) if isfinite(value) else None
    if depth >= MAX_DEPTH - 1:
        return None
    if isinstance(value, Mapping):
        return {str(key): to_json_value(item, depth + 1) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [to_json_value(item, depth + 1) for item in value]
    if hasattr(value, "tolist"):  # numpy, torch
        large = getattr(value, "nbytes", 0) > MAX_ARRAY_BYTES
        return None if large else to_json_value(value.tolist(), depth + 1)
    if hasattr(value, "model_dump"):  # pydantic
        return to_json_value(value.model_dump(), depth + 1)
    return None


def read_metadata(value: object) -> dict[str, Any]:
    """Return a foreign mapping as JSON data; anything but a mapping gives {}."""
    found = to_json_value(value)
    return found if isinstance(found, dict) else {}


def read_task_id(metadata: Mapping[str, object]) -> str:
    """Return the task's own id, or "": then a case is identified by its prompt."""
    given = metadata.get("task_id")
    return "" if given is None else str(given)


def read_completion(completion: object) -> Trace:
    """Return the trace of a completion: text, or the messages that led to it.

    The output is the assistant's last message. A conversation that ends in a tool call has none.
    """
    if not isinstance(completion, list | tuple):
        try:
            return Trace(output=read_answer(completion))
        except ValueError as error:
            raise DataError(str(error), field="completion") from None
    answer = ""
    for message in completion:
        if _get(message, "role") == "assistant":
            answer = read_content(_get(message, "content"))
    return Trace(output=answer, steps=read_messages(completion))


def read_messages(messages: Iterable[Any]) -> tuple[Step, ...]:
    """Return chat messages as steps; a tool's result is put into its call."""
    messages = list(messages)
    results = {
        str(_get(message, "tool_call_id")): read_content(_get(message, "content"))
        for message in messages
        if _get(message, "role") == "tool"
    }
    steps: list[Step] = []
    for message in messages:
        role = str(_get(message, "role") or "")
        if role != "tool":
            steps.append(Message(role=role, content=read_content(_get(message, "content"))))
        steps += [_read_tool_call(call, results) for call in _get(message, "tool_calls") or ()]
    return tuple(steps)


def read_content(content: object) -> str:
    """Return the text of a message's content: the string itself, or its text parts joined."""
    try:
        return read_message_text(content)
    except ValueError as error:
        raise DataError(str(error), field="content") from None


def parse_json_or_text(text: str) -> Any:
    """Return the value of a JSON text, else the text itself: models write broken JSON."""
    try:
        return to_json_value(msgspec.json.decode(text))
    except (msgspec.DecodeError, RecursionError):
        return text


def _read_tool_call(call: object, results: Mapping[str, str]) -> ToolCall:
    function = _get(call, "function") or call
    arguments = to_json_value(_get(function, "arguments"))
    if isinstance(arguments, str):
        arguments = parse_json_or_text(arguments)
    name = str(_get(function, "name") or "")
    return ToolCall(name=name, arguments=arguments, result=results.get(str(_get(call, "id"))))


def _get(holder: object, key: str) -> Any:
    return holder.get(key) if isinstance(holder, Mapping) else getattr(holder, key, None)
