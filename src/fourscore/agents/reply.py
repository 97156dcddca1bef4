"""What an agent gave back, as a trace.

Text, any other JSON value, a mapping `{output, steps?, usage?, messages?, metadata?}`, a list of
OpenAI messages, or a Trace. Nothing (None) is a failure: it is more often a forgotten `return` than
an answer. What is too long is cut, and the trace says so under `metadata.fourscore.notes`.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from fourscore.agents.recorder_values import MAX_TEXT, cut, plain, read_usage, text_of
from fourscore.agents.step_recorder import Recording
from fourscore.agents.steps import read_steps
from fourscore.core import FourscoreError, Trace
from fourscore.core.frozen import EMPTY

#: Any of these makes a mapping a reply; without them it is the output itself.
REPLY = frozenset({"output", "messages", "steps"})


class AgentError(FourscoreError):
    """An agent failed; the message says how, without our own words for the exception."""


class UnusableError(AgentError):
    """It gave something that cannot be read: what it did, and what is wrong, the field first."""

    def __str__(self) -> str:
        return ": ".join(self.args)


def read_reply(returned: Any) -> Trace:
    """The trace; `AgentError` where there is none to be had."""
    if type(returned) is str and len(returned) <= MAX_TEXT:
        return Trace(output=returned)
    if returned is None:
        raise AgentError("it returned nothing")
    try:
        return bounded(_trace(returned))
    except (ValueError, TypeError, RecursionError) as error:
        raise UnusableError("it returned what cannot be used", text_of(error)) from None


def _trace(returned: Any) -> Trace:
    if isinstance(returned, Trace):
        return returned
    if isinstance(returned, Mapping) and not REPLY.isdisjoint(returned):
        return _of_mapping(returned)
    if _are_messages(returned):
        return _of_messages(returned)
    return Trace(output=returned)


def _of_mapping(reply: Mapping[Any, Any]) -> Trace:
    given = dict(reply)
    output, messages = given.pop("output", None), given.pop("messages", None)
    listed, usage = given.pop("steps", None), given.pop("usage", None)
    metadata = given.pop("metadata", None)
    if output is None and not messages and not listed:
        raise AgentError("it returned no output")
    trace = _of_messages(messages) if messages else Trace()
    metadata = {**trace.metadata, **(plain(metadata or {})), **plain(given)}
    return replace(
        trace,
        output=trace.output if output is None else output,
        steps=read_steps(listed) if listed else trace.steps,
        usage=trace.usage if usage is None else read_usage(usage),
        metadata=metadata or EMPTY,
    )


def _are_messages(value: Any) -> bool:
    return (
        isinstance(value, list | tuple)
        and len(value) > 0
        and all(isinstance(item, Mapping) and isinstance(item.get("role"), str) for item in value)
    )


def _of_messages(messages: Any) -> Trace:
    from fourscore.formats.chat_messages import trace_of_messages

    if not isinstance(messages, list | tuple):
        raise ValueError(f"messages: expected a list, got {type(messages).__name__}")
    try:
        return trace_of_messages(list(messages))
    except FourscoreError as error:
        raise UnusableError("it returned messages that cannot be read", str(error)) from None


def bounded(trace: Trace) -> Trace:
    """The trace at a size that can be kept, with notes on what was cut."""
    notes: list[str] = []
    output, whole = cut(trace.output)
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
    if metadata and cut(metadata)[1]:
        metadata = {}
        notes.append("the metadata was too long and is dropped")
    if not notes:
        return trace
    return noted(replace(trace, output=output, steps=steps, metadata=metadata), notes=notes)


def noted(trace: Trace, *, notes: Sequence[str] = (), **facts: str) -> Trace:
    """The trace with our own remarks, under one key of its metadata."""
    facts = {name: words for name, words in facts.items() if words}
    if not notes and not facts:
        return trace
    ours = trace.metadata.get("fourscore")
    ours = dict(ours) if isinstance(ours, Mapping) else {}
    if notes:
        ours["notes"] = [*(ours.get("notes") or ()), *notes]
    return replace(trace, metadata={**trace.metadata, "fourscore": {**ours, **facts}})
