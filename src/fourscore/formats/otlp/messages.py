"""What was said in a span: messages of five spellings, read into one.

Today's GenAI attributes hold JSON with parts; older ones hold texts, or events; OpenInference and
others spread each message over attributes with a number in their name.
"""

from collections.abc import Mapping
from typing import Any

import msgspec

from fourscore.formats.otlp import names
from fourscore.formats.otlp.span import Span
from fourscore.formats.otlp.turns import Turn, gathered, parsed, turn_of, unwrapped

#: Messages of one span that are looked at, from its end.
MOST = 1000
#: Where frameworks keep the question, in an `input.value` that is an object.
_ASKED = ("input", "question", "query", "prompt", "message", "text", "content", "user_input")
_NOTHING = ("", "null", "[]", "{}", '""')
_ANSWERED = ("output", "answer", "response", "result", "text", "content", "message")


_MESSAGES = msgspec.json.Decoder(list[msgspec.Raw])
_SILENCE = Turn("")


def heard(span: Span, known: dict[bytes, Turn]) -> list[Turn]:
    """What went into the span, oldest first; `known` are messages that were read before."""
    told = span.attributes
    found = _repeated(told.get(names.INPUT_MESSAGES), known)
    found = found or _listed(told.get(names.INPUT_MESSAGES), "user")
    found = found or _listed(_detail(span, names.INPUT_MESSAGES), "user")
    found = found or _spread(told, names.LLM_INPUT, "message.")
    found = found or _spread(told, names.PROMPT, "") or _listed(told.get(names.PROMPT), "user")
    found = found or _from_events(span)
    return found or _listed(told.get(names.INPUT_VALUE), "user", _ASKED)


def said(span: Span) -> list[Turn]:
    """What came out of it."""
    told = span.attributes
    found = _listed(told.get(names.OUTPUT_MESSAGES), "assistant") or _listed(
        _detail(span, names.OUTPUT_MESSAGES), "assistant"
    )
    found = found or _spread(told, names.LLM_OUTPUT, "message.")
    found = found or _spread(told, names.COMPLETION, "")
    found = found or _listed(told.get(names.COMPLETION), "assistant")
    found = found or _choices(span)
    return found or _listed(told.get(names.OUTPUT_VALUE), "assistant", _ANSWERED)


def instructions(span: Span, turns: list[Turn]) -> str:
    """The system's instructions, which stand apart from the chat or at its beginning."""
    told = span.attributes.get(names.SYSTEM_INSTRUCTIONS)
    parts = parsed(told if told is not None else _detail(span, names.SYSTEM_INSTRUCTIONS))
    if parts is not None:
        return turn_of({"role": "system", "parts": parts}, "system").text
    return next((turn.text for turn in turns if turn.role == "system"), "")


def question(turns: list[Turn]) -> str:
    """The last thing that a person said."""
    for turn in turns[::-1]:
        if turn.text and turn.role == "user":
            return turn.text
    return ""


def answer(turns: list[Turn]) -> str:
    """The last thing that was said."""
    return next((turn.text for turn in reversed(turns) if turn.text), "")


def _repeated(given: Any, known: dict[bytes, Turn]) -> list[Turn]:
    """A chat comes again with each request that goes on with it: its messages are read once."""
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
            value = parsed(key.decode())
            turn = known[key] = turn_of(value, "user") if isinstance(value, dict) else _SILENCE
        if turn.text or turn.calls or turn.answers:
            turns.append(turn)
    return turns


def _listed(given: Any, role: str, keys: tuple[str, ...] = ()) -> list[Turn]:
    """Messages as a list, in JSON or not; a plain text is one message of `role`."""
    if given is None:
        return []
    value = parsed(given)
    if isinstance(value, dict) and "role" not in value:
        value = _within(value, keys)
    if isinstance(value, str):
        return [Turn(role, value)] if value else []
    items = value if isinstance(value, list) else [value]
    turns = [turn_of(item, role) for item in items[-MOST:] if isinstance(item, dict)]
    turns = [turn for turn in turns if turn.text or turn.calls or turn.answers]
    if not turns and isinstance(given, str) and given not in _NOTHING:
        return [Turn(role, given)]  # 42 is an answer, and so is an object of the agent's own
    return turns


def _within(value: Mapping[str, Any], keys: tuple[str, ...]) -> Any:
    """The messages, or the text, that an object of a framework holds."""
    for key in ("messages", "choices"):
        if isinstance(value.get(key), list):
            return [unwrapped(item) for item in value[key]]
    for key in keys:
        if isinstance(value.get(key), str | list):
            return value[key]
    # The only text there is.
    texts = [item for item in value.values() if isinstance(item, str)]
    return texts[0] if keys and len(texts) == 1 == len(value) else None


def _spread(told: Mapping[str, Any], prefix: str, inner: str) -> list[Turn]:
    """`llm.input_messages.0.message.role` and its like, put together again."""
    rows: dict[int, dict[str, Any]] = {}
    start = len(prefix) + 1
    for key, value in told.items():
        if key.startswith(prefix) and key[start - 1 : start] == ".":
            number, _, field = key[start:].partition(".")
            if number.isdecimal() and len(number) < 6:
                rows.setdefault(int(number), {})[field.removeprefix(inner)] = value
    return [gathered(rows[number]) for number in sorted(rows)[-MOST:]]


def _from_events(span: Span) -> list[Turn]:
    turns: list[Turn] = []
    for event in span.events:
        role = names.MESSAGE_EVENTS.get(event.name)
        if role is not None:
            turns.append(turn_of({"role": role, **_body(event.attributes)}, role))
        elif event.name == names.PROMPT_EVENT:
            turns += _listed(event.attributes.get(names.PROMPT), "user")
    return turns


def _choices(span: Span) -> list[Turn]:
    turns: list[Turn] = []
    for event in span.events:
        if event.name == names.CHOICE_EVENT:
            turns.append(turn_of(_body(event.attributes), "assistant"))
        elif event.name == names.COMPLETION_EVENT:
            turns += _listed(event.attributes.get(names.COMPLETION), "assistant")
    return turns


def _body(told: Mapping[str, Any]) -> dict[str, Any]:
    """An event's attributes, some of which are JSON in a text."""
    body = {key: parsed(value) for key, value in told.items() if key in ("message", "tool_calls")}
    if isinstance(body.get("message"), str):
        body["content"] = body.pop("message")
    return {**told, **body}


def _detail(span: Span, key: str) -> Any:
    """The attribute of an event that holds all that was said."""
    for event in span.events:
        if event.name == names.DETAILS_EVENT:
            return event.attributes.get(key)
    return None
