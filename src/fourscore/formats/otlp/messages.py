"""Messages in a span, in the five spellings that instrumentations use, read into `Turn`.

Today's GenAI attributes contain JSON with parts; older ones are texts or events; OpenInference and
others spread each message over attributes with a number in their name. An agent wrote the content,
so it may have any shape: what cannot be read is ignored.
"""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import msgspec

from fourscore.formats.otlp import semantic_conventions as names
from fourscore.formats.otlp.span import Span

#: LangChain's names of the roles.
_ROLES = {"human": "user", "ai": "assistant", "system": "system", "tool": "tool"}
_TEXTS = (None, "text", "input_text", "output_text", "refusal")


class CallPart(NamedTuple):
    """A tool call in a model's message, or the result of one in a later message."""

    id: str
    name: str
    value: Any


class Turn(msgspec.Struct, frozen=True, kw_only=True):
    """One message: its text, the tool calls it makes and the results that it carries."""

    role: str
    text: str = ""
    calls: tuple[CallPart, ...] = ()
    answers: tuple[CallPart, ...] = ()


def parse_json_text(given: object) -> object:
    """Return the value of text that holds JSON; anything else unchanged."""
    if not isinstance(given, str):
        return given
    try:
        return msgspec.json.decode(given)
    except (msgspec.DecodeError, UnicodeError, ValueError, RecursionError):
        return given


def read_turn(message: Mapping[str, object], role: str) -> Turn:
    """Read one message: with `parts`, with `content`, or as OpenAI and LangChain write it."""
    body = message.get("parts")
    if body is None:
        message = unwrap_message(message)
        body = message.get("parts", message.get("content"))
    kind = message.get("role") or _ROLES.get(str(message.get("type")))
    role = _ROLES.get(word := str(kind or role).lower(), word)
    calls: list[CallPart] = []
    answers: list[CallPart] = []
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
        answers.append(CallPart(key, str(message.get("name") or ""), parse_json_text(text)))
    return Turn(
        role=role, text="" if role == "tool" else text, calls=tuple(calls), answers=tuple(answers)
    )


def _read_part(
    part: Mapping[str, object], texts: list[str], calls: list[CallPart], answers: list[CallPart]
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
        answers.append(CallPart(str(key), "", parse_json_text(found)))


def _call(given: Mapping[str, object]) -> CallPart:
    function = given.get("function")
    inner = function if isinstance(function, dict) else given
    arguments = inner.get("arguments", inner.get("input"))
    return CallPart(
        str(given.get("id") or ""), str(inner.get("name") or ""), parse_json_text(arguments)
    )


def join_turn_fields(row: Mapping[str, object]) -> Turn:
    """Read a message from attributes such as `role`, `contents.0.text`, `tool_calls.0.name`."""
    calls: dict[int, dict[str, object]] = {}
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
    made: dict[str, object] = {
        "role": row.get("role"),
        "content": row.get("content") or "".join(text for _, text in sorted(texts)),
        "tool_calls": [calls[number] for number in sorted(calls)],
        "tool_call_id": row.get("tool_call_id"),
        "name": row.get("name"),
    }
    return read_turn(made, "assistant")


def unwrap_message(item: Any) -> Any:
    """Return the message inside `{"message": {…}}` (a choice) or `{"kwargs": {…}}` (LangChain)."""
    for key in ("message", "kwargs"):
        if isinstance(item, dict) and isinstance(item.get(key), dict):
            return item[key]
    return item


def _some(given: object) -> Iterator[Mapping[str, object]]:
    for item in given if isinstance(given, list) else ():
        if isinstance(item, dict):
            yield item


#: Messages of one span that are read, counted from the last.
MOST = 1000
#: Where frameworks keep the question, in an `input.value` that is an object.
_ASKED = ("input", "question", "query", "prompt", "message", "text", "content", "user_input")
_NOTHING = ("", "null", "[]", "{}", '""')
_ANSWERED = ("output", "answer", "response", "result", "text", "content", "message")


_MESSAGES = msgspec.json.Decoder(list[msgspec.Raw])
_SILENCE = Turn(role="")


def read_input_turns(span: Span, known: dict[bytes, Turn]) -> list[Turn]:
    """Return the input messages of a span, oldest first; `known` caches messages read before."""
    attributes = span.attributes
    found = _repeated(attributes.get(names.INPUT_MESSAGES), known)
    found = found or _listed(attributes.get(names.INPUT_MESSAGES), "user")
    found = found or _listed(_detail(span, names.INPUT_MESSAGES), "user")
    found = found or _spread(attributes, names.LLM_INPUT, "message.")
    found = (
        found
        or _spread(attributes, names.PROMPT, "")
        or _listed(attributes.get(names.PROMPT), "user")
    )
    found = found or _from_events(span)
    return found or _listed(attributes.get(names.INPUT_VALUE), "user", _ASKED)


def read_output_turns(span: Span) -> list[Turn]:
    """Return the output messages of a span."""
    attributes = span.attributes
    found = _listed(attributes.get(names.OUTPUT_MESSAGES), "assistant") or _listed(
        _detail(span, names.OUTPUT_MESSAGES), "assistant"
    )
    found = found or _spread(attributes, names.LLM_OUTPUT, "message.")
    found = found or _spread(attributes, names.COMPLETION, "")
    found = found or _listed(attributes.get(names.COMPLETION), "assistant")
    found = found or _choices(span)
    return found or _listed(attributes.get(names.OUTPUT_VALUE), "assistant", _ANSWERED)


def find_instructions(span: Span, turns: list[Turn]) -> str:
    """Return the system instructions: their own attribute, or the first system message."""
    attributes = span.attributes.get(names.SYSTEM_INSTRUCTIONS)
    parts = parse_json_text(
        attributes if attributes is not None else _detail(span, names.SYSTEM_INSTRUCTIONS)
    )
    if parts is not None:
        return read_turn({"role": "system", "parts": parts}, "system").text
    return next((turn.text for turn in turns if turn.role == "system"), "")


def find_question(turns: list[Turn]) -> str:
    """Return the text of the last user message."""
    for turn in turns[::-1]:
        if turn.text and turn.role == "user":
            return turn.text
    return ""


def find_answer(turns: list[Turn]) -> str:
    """Return the text of the last message that has one."""
    return next((turn.text for turn in reversed(turns) if turn.text), "")


def _repeated(given: object, known: dict[bytes, Turn]) -> list[Turn]:
    """Read a chat history; each request repeats it, so messages in `known` are not read again."""
    if not isinstance(given, str):
        return []
    try:
        items = _MESSAGES.decode(given)
    except (msgspec.DecodeError, UnicodeError, ValueError, RecursionError):
        return []
    turns = []
    for item in items[-MOST:]:
        key = bytes(item)
        turn = known.get(key)
        if turn is None:
            value = parse_json_text(key.decode())
            turn = known[key] = read_turn(value, "user") if isinstance(value, dict) else _SILENCE
        if turn.text or turn.calls or turn.answers:
            turns.append(turn)
    return turns


def _listed(given: object, role: str, keys: tuple[str, ...] = ()) -> list[Turn]:
    """Read a list of messages, in JSON or not; plain text is one message of `role`."""
    if given is None:
        return []
    value = parse_json_text(given)
    if isinstance(value, dict) and "role" not in value:
        value = _within(value, keys)
    if isinstance(value, str):
        return [Turn(role=role, text=value)] if value else []
    items = value if isinstance(value, list) else [value]
    turns = [read_turn(item, role) for item in items[-MOST:] if isinstance(item, dict)]
    turns = [turn for turn in turns if turn.text or turn.calls or turn.answers]
    if not turns and isinstance(given, str) and given not in _NOTHING:
        return [
            Turn(role=role, text=given)
        ]  # the output may be a number such as 42, or the agent's own object
    return turns


def _within(value: Mapping[str, object], keys: tuple[str, ...]) -> object:
    """Return the messages, or the text, inside a framework's object; None where there are none."""
    for key in ("messages", "choices"):
        if isinstance(items := value.get(key), list):
            return [unwrap_message(item) for item in items]
    for key in keys:
        if isinstance(value.get(key), str | list):
            return value[key]
    # An object with a single text: that is it.
    texts = [item for item in value.values() if isinstance(item, str)]
    return texts[0] if keys and len(texts) == 1 == len(value) else None


def _spread(attributes: Mapping[str, object], prefix: str, inner: str) -> list[Turn]:
    """Read messages that are spread over attributes like `llm.input_messages.0.message.role`."""
    rows: dict[int, dict[str, object]] = {}
    start = len(prefix) + 1
    for key, value in attributes.items():
        if key.startswith(prefix) and key[start - 1 : start] == ".":
            number, _, field = key[start:].partition(".")
            if number.isdecimal() and len(number) < 6:
                rows.setdefault(int(number), {})[field.removeprefix(inner)] = value
    return [join_turn_fields(rows[number]) for number in sorted(rows)[-MOST:]]


def _from_events(span: Span) -> list[Turn]:
    turns: list[Turn] = []
    for event in span.events:
        role = names.MESSAGE_EVENTS.get(event.name)
        if role is not None:
            turns.append(read_turn({"role": role, **_body(event.attributes)}, role))
        elif event.name == names.PROMPT_EVENT:
            turns += _listed(event.attributes.get(names.PROMPT), "user")
    return turns


def _choices(span: Span) -> list[Turn]:
    turns: list[Turn] = []
    for event in span.events:
        if event.name == names.CHOICE_EVENT:
            turns.append(read_turn(_body(event.attributes), "assistant"))
        elif event.name == names.COMPLETION_EVENT:
            turns += _listed(event.attributes.get(names.COMPLETION), "assistant")
    return turns


def _body(attributes: Mapping[str, object]) -> dict[str, object]:
    """Return an event's attributes, with JSON in text decoded."""
    body = {
        key: parse_json_text(value)
        for key, value in attributes.items()
        if key in ("message", "tool_calls")
    }
    if isinstance(body.get("message"), str):
        body["content"] = body.pop("message")
    return {**attributes, **body}


def _detail(span: Span, key: str) -> object:
    """Return an attribute of the event that holds all messages of the span."""
    for event in span.events:
        if event.name == names.DETAILS_EVENT:
            return event.attributes.get(key)
    return None
