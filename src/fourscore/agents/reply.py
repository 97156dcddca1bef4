"""Read what an agent returned into a trace.

Text, any other JSON value, a mapping `{output, steps?, usage?, messages?, metadata?}`, a list of
OpenAI messages, or a Trace. None is a failure: it is more often a forgotten `return` than an
answer. What is too long is cut, and the trace says so under `metadata.fourscore.notes`.

A step with a `name` is a tool call, one with a `role` a message; `kind` may be left out. Other keys
of a step are ignored, common synonyms of our fields are read as those, and a misspelt field is an
error: without its arguments one call looks like another.
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

import msgspec
from msgspec.structs import replace

from fourscore.agents.step_recorder import Recording
from fourscore.agents.trace_values import MAX_TEXT, read_usage, to_json, to_text, truncate
from fourscore.core import FourscoreError, Message, Step, ToolCall, Trace
from fourscore.core.answer import read_answer
from fourscore.core.errors import find_close_word
from fourscore.core.frozen import EMPTY
from fourscore.core.secrets import hide_secrets
from fourscore.formats.validation import explain_error

#: A mapping with any of these keys is a reply; without them it is the output itself.
REPLY_KEYS = frozenset({"output", "messages", "steps"})

#: Synonyms of the fields of a tool call.
_SYNONYMS = {
    "args": "arguments",
    "input": "arguments",
    "parameters": "arguments",
    "params": "arguments",
    "output": "result",
    "response": "result",
}
#: Similarity from which an unknown key counts as a misspelt field.
_MIN_SIMILARITY = 0.8


class AgentError(FourscoreError):
    """An agent failed; the message says how, and is shown without this class's name."""


class UnusableReplyError(AgentError):
    """The reply cannot be read: what the agent did, and what is wrong, the field first."""

    def __str__(self) -> str:
        return ": ".join(self.args)


class ConnectionLostError(FourscoreError):
    """The agent could not be reached, or its connection ended before an answer: no failure of it.

    The message begins with `connection lost`.
    """

    def __init__(self, reason: str) -> None:
        super().__init__(f"connection lost: {reason}")


def read_reply(returned: object) -> Trace:
    """Return the trace of what an agent returned; an `AgentError` where it cannot be read."""
    if type(returned) is str and len(returned) <= MAX_TEXT:
        return Trace(output=returned)
    if returned is None:
        raise AgentError("it returned nothing")
    try:
        return limit_size(_make_trace(returned))
    except (ValueError, TypeError, RecursionError) as error:
        raise UnusableReplyError("it returned an unusable value", to_text(error)) from None


def _make_trace(returned: object) -> Trace:
    if isinstance(returned, Trace):
        return returned
    if isinstance(returned, Mapping) and not REPLY_KEYS.isdisjoint(returned):
        return _read_mapping(returned)
    if _is_message_list(returned):
        return _read_messages(returned)
    return Trace(output=read_answer(returned))


def _read_mapping(reply: Mapping[Any, Any]) -> Trace:
    given = dict(reply)
    output, messages = given.pop("output", None), given.pop("messages", None)
    listed, usage = given.pop("steps", None), given.pop("usage", None)
    metadata = given.pop("metadata", None)
    if output is None and not messages and not listed:
        raise AgentError("it returned no output")
    trace = _read_messages(messages) if messages else Trace()
    metadata = {**trace.metadata, **(to_json(metadata or {})), **to_json(given)}
    return replace(
        trace,
        output=trace.output if output is None else read_answer(output),
        steps=read_steps(listed) if listed else trace.steps,
        usage=trace.usage if usage is None else read_usage(usage),
        metadata=metadata or EMPTY,
    )


def _is_message_list(value: object) -> bool:
    return (
        isinstance(value, list | tuple)
        and len(value) > 0
        and all(isinstance(_get_role(item), str) for item in value)
    )


def _get_role(message: object) -> object:
    return message.get("role") if isinstance(message, Mapping) else getattr(message, "role", None)


def _read_messages(messages: object) -> Trace:
    from fourscore.formats.chat_messages import read_messages

    if not isinstance(messages, list | tuple):
        raise ValueError(f"messages: expected a list, got {type(messages).__name__}")
    try:
        return read_messages(list(messages))
    except FourscoreError as error:
        raise UnusableReplyError("it returned messages that cannot be read", str(error)) from None


def limit_size(trace: Trace) -> Trace:
    """Return the trace at a size that can be stored, with notes on what was cut."""
    notes: list[str] = []
    output, whole = truncate(trace.output)
    if whole:
        notes.append(f"the output is cut: {whole} characters, {MAX_TEXT} kept")
    steps = trace.steps
    if steps:
        recording = Recording()
        for step in steps:
            recording.add(step)
        steps = recording.close()
        notes += recording.notes
    metadata = trace.metadata
    if metadata and truncate(metadata)[1]:
        metadata = {}
        notes.append("the metadata was too long and is dropped")
    if not notes:
        return trace
    return add_notes(replace(trace, output=output, steps=steps, metadata=metadata), notes=notes)


def add_notes(trace: Trace, *, notes: Sequence[str] = (), **facts: str) -> Trace:
    """Return the trace with notes and facts of ours, under `metadata.fourscore`."""
    facts = {name: hide_secrets(text) for name, text in facts.items() if text}
    if not notes and not facts:
        return trace
    ours = trace.metadata.get("fourscore")
    ours = dict(ours) if isinstance(ours, Mapping) else {}
    if notes:
        ours["notes"] = [*(ours.get("notes") or ()), *notes]
    return replace(trace, metadata={**trace.metadata, "fourscore": {**ours, **facts}})


def read_steps(listed: object) -> tuple[Step, ...]:
    """Read a list of steps; a `ValueError` at the first item that is none."""
    if not isinstance(listed, Sequence) or isinstance(listed, str | bytes):
        raise ValueError(f"steps: expected a list, got {type(listed).__name__}")
    return tuple([_read_step(f"steps[{position}]", item) for position, item in enumerate(listed)])


def _read_step(place: str, item: object) -> Step:
    if isinstance(item, Message | ToolCall):
        return item
    if isinstance(item, Mapping):
        kind = item.get("kind") or ("message" if "role" in item else "tool")
        if kind == "message" and "role" in item:
            return _convert_step(place, item, Message)
        if kind == "tool" and "name" in item:
            return _convert_step(place, item, ToolCall)
    raise ValueError(f"{place}: neither a tool call (name) nor a message (role)")


def _convert_step(place: str, item: Mapping[str, object], kind: type[Step]) -> Step:
    known = kind.__struct_fields__
    fields = {name: item[name] for name in known if name in item}
    for key, value in item.items() if len(fields) < len(item) else ():
        name = _SYNONYMS.get(key, key)
        if name in known:
            fields.setdefault(name, value)
        elif key != "kind" and (meant := find_misspelt(str(key), known)):
            raise ValueError(f"{place}.{key}: unknown key; did you mean {meant}?")
    try:
        return msgspec.convert(fields, kind)
    except msgspec.ValidationError as error:
        message, field = explain_error(error, fields, kind)
        raise ValueError(
            f"{place}.{field}: {message}" if field else f"{place}: {message}"
        ) from None


@lru_cache(maxsize=256)
def find_misspelt(key: str, known: tuple[str, ...]) -> str:
    """Return the known field that a key misspells; empty where it resembles none."""
    return find_close_word(key, known, _MIN_SIMILARITY)
