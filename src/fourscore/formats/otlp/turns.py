"""One message of a conversation, whoever's library wrote it.

An agent wrote the content, so nothing of it is trusted to have a shape: what does not fit is left
out.
"""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import msgspec

#: As LangChain calls them.
_ROLES = {"human": "user", "ai": "assistant", "system": "system", "tool": "tool"}
_TEXTS = (None, "text", "input_text", "output_text", "refusal")


class Call(NamedTuple):
    """A tool call as a model's message has it, or its result as the next one has."""

    id: str
    name: str
    value: Any


class Turn(NamedTuple):
    """One message."""

    role: str
    text: str = ""
    calls: tuple[Call, ...] = ()
    answers: tuple[Call, ...] = ()


def parsed(given: Any) -> Any:
    """JSON in a text as its value; any other text as it is."""
    if not isinstance(given, str):
        return given
    try:
        return msgspec.json.decode(given)
    except (msgspec.DecodeError, UnicodeError, ValueError, RecursionError):
        return given


def turn_of(message: Mapping[str, Any], role: str) -> Turn:
    """A message with parts, with contents, or as OpenAI and LangChain write them."""
    body = message.get("parts")
    if body is None:
        message = unwrapped(message)
        body = message.get("parts", message.get("content"))
    kind = message.get("role") or _ROLES.get(str(message.get("type")))
    role = _ROLES.get(word := str(kind or role).lower(), word)
    calls: list[Call] = []
    answers: list[Call] = []
    texts: list[str] = []
    for part in body if isinstance(body, list) else (body,):
        if isinstance(part, str):
            texts.append(part)
        elif isinstance(part, dict):
            _read_part(part, texts, calls, answers)
    if "tool_calls" in message:
        calls += [_call(call) for call in _some(message["tool_calls"])]
    text = "".join(texts)
    if role == "tool" and not answers:
        key = str(message.get("tool_call_id") or message.get("id") or "")
        answers.append(Call(key, str(message.get("name") or ""), parsed(text)))
    return Turn(role, "" if role == "tool" else text, tuple(calls), tuple(answers))


def _read_part(
    part: Mapping[str, Any], texts: list[str], calls: list[Call], answers: list[Call]
) -> None:
    kind = part.get("type")
    if kind in _TEXTS:
        text = part.get("content", part.get("text", part.get("refusal")))
        if isinstance(text, str):
            texts.append(text)
    elif kind in ("tool_call", "tool_use", "function"):
        calls.append(_call(part))
    elif kind in ("tool_call_response", "tool_result"):
        key = part.get("id") or part.get("tool_use_id") or ""
        found = part.get("response", part.get("result", part.get("content")))
        answers.append(Call(str(key), "", parsed(found)))


def _call(given: Mapping[str, Any]) -> Call:
    function = given.get("function")
    inner = function if isinstance(function, dict) else given
    arguments = inner.get("arguments", inner.get("input"))
    return Call(str(given.get("id") or ""), str(inner.get("name") or ""), parsed(arguments))


def gathered(row: Mapping[str, Any]) -> Turn:
    """One message of scattered fields; contents and tool calls are scattered once more."""
    calls: dict[int, dict[str, Any]] = {}
    texts: list[tuple[int, str]] = []
    for key, value in row.items():
        head, _, rest = key.partition(".")
        number, _, field = rest.partition(".")
        if not number.isdecimal() or len(number) > 5:
            continue
        if head == "tool_calls":
            name = field.removeprefix("tool_call.").removeprefix("function.")
            calls.setdefault(int(number), {})[name] = value
        elif head == "contents" and field.endswith("text") and isinstance(value, str):
            texts.append((int(number), value))
    made: dict[str, Any] = {
        "role": row.get("role"),
        "content": row.get("content") or "".join(text for _, text in sorted(texts)),
        "tool_calls": [calls[number] for number in sorted(calls)],
        "tool_call_id": row.get("tool_call_id"),
        "name": row.get("name"),
    }
    return turn_of(made, "assistant")


def unwrapped(item: Any) -> Any:
    """`{"message": {…}}` of a choice, `{"kwargs": {…}}` of a message that LangChain wrote."""
    for key in ("message", "kwargs"):
        if isinstance(item, dict) and isinstance(item.get(key), dict):
            return item[key]
    return item


def _some(given: Any) -> Iterator[Mapping[str, Any]]:
    for item in given if isinstance(given, list) else ():
        if isinstance(item, dict):
            yield item
