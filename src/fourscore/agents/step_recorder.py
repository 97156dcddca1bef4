"""`record`: how a Python agent reports its tool calls, messages and tokens.

The agent needs none of our types, and keeps its calls to `record` in production: outside of a run
they do nothing, and inside of one they never raise, whatever their arguments. A recorded step
belongs to the attempt in whose context the call is made, and is frozen at once.
"""

import time
from contextvars import ContextVar
from types import TracebackType
from typing import Any, Self

import msgspec
from msgspec.structs import replace

from fourscore.agents.trace_values import (
    MAX_TEXT,
    read_seconds,
    read_usage,
    to_json,
    to_text,
    truncate,
)
from fourscore.core import Message, Step, ToolCall, Usage

#: Steps recorded of one attempt: an agent may be in an endless loop.
MAX_STEPS = 10_000
#: Bytes of JSON that the steps of one attempt may take.
MAX_SIZE = 16 * 2**20
#: Notes kept on what could not be recorded.
MAX_NOTES = 20


class Recording:
    """The steps and usage recorded in one attempt so far. Threads may share it."""

    def __init__(self) -> None:
        self.usage: Usage | None = None
        self.notes: list[str] = []
        self._steps: list[Step | ToolUse] = []
        self._size = self._dropped = 0
        self._closed = False

    def add(self, step: "Step | ToolUse") -> None:
        if self._closed:
            return
        kept = step if isinstance(step, ToolUse) else self.limit_step(step)
        if kept is not None and len(self._steps) < MAX_STEPS:
            self._steps.append(kept)
        else:
            self._dropped += 1

    def add_usage(self, usage: Usage) -> None:
        if not self._closed:
            self.usage = usage if self.usage is None else self.usage + usage

    def add_note(self, note: str) -> None:
        if not self._closed and len(self.notes) < MAX_NOTES:
            self.notes.append(note)

    def close(self) -> tuple[Step, ...]:
        """Return the steps, open tool calls marked as such; nothing can be added afterwards."""
        self._closed = True
        steps: list[Step] = []
        for step in self._steps:
            kept = step.end() if isinstance(step, ToolUse) else step
            if kept is None:
                self._dropped += 1
            else:
                steps.append(kept)
        if self._dropped:
            self.notes.append(f"{self._dropped} further steps were dropped")
        return tuple(steps)

    def limit_step(self, step: Step) -> Step | None:
        """Return the step with fields cut to `MAX_TEXT`; None beyond the limit of the attempt."""
        for field in ("content",) if isinstance(step, Message) else ("arguments", "result"):
            value, whole = truncate(getattr(step, field))
            if whole:
                step = replace(step, **{field: value})
                name = step.role if isinstance(step, Message) else step.name
                self.add_note(f"{field} of {name!r} is cut: {whole} characters, {MAX_TEXT} kept")
        size = len(msgspec.json.encode(step))
        if self._size + size > MAX_SIZE:
            return None
        self._size += size
        return step


#: The attempt under way in this context; None outside of a run.
CURRENT: ContextVar[Recording | None] = ContextVar("fourscore_recording", default=None)


class ToolUse:
    """A tool call under way; set `result`, `error` or `exit_code` before the block ends."""

    def __init__(self, name: str, arguments: object) -> None:
        self.name, self.arguments = name, arguments
        self.result: Any = None
        self.error: Any = None
        self.exit_code: int | None = None
        self._begun = time.perf_counter()
        self._ended = False
        self._step: Step | None = None
        self._recording = CURRENT.get()

    def __enter__(self) -> Self:
        self._begun = time.perf_counter()
        if self._recording is not None:
            self.arguments = to_json(self.arguments)
            self._recording.add(self)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.end(error if self.error is None else self.error)

    def end(self, error: object = "the attempt ended before the call did") -> Step | None:
        """Record the end of the call, once; returns None where there is no room, or no run."""
        if not self._ended and self._recording is not None:
            seconds = time.perf_counter() - self._begun
            step = _make_tool_call(
                self.name,
                self.arguments,
                self.result,
                error=error,
                seconds=seconds,
                exit_code=self.exit_code,
            )
            self._step, self._ended = self._recording.limit_step(step), True
        return self._step


class Recorder:
    """The methods of `record`."""

    def tool(
        self,
        name: str,
        arguments: object = None,
        result: object = None,
        *,
        error: object = None,
        seconds: float | None = None,
        exit_code: int | None = None,
    ) -> None:
        """Record a finished tool call. `error` is text or an exception."""
        recording = CURRENT.get()
        if recording is not None:
            recording.add(
                _make_tool_call(
                    name, arguments, result, error=error, seconds=seconds, exit_code=exit_code
                )
            )

    def tool_call(self, name: str, arguments: object = None) -> ToolUse:
        """Record a tool call around a `with` block, timed; an exception is its error."""
        return ToolUse(name, arguments)

    def message(self, role: str, content: object = None) -> None:
        """Record a message of the conversation."""
        recording = CURRENT.get()
        if recording is not None:
            recording.add(Message(role=to_text(role), content=to_json(content)))

    def usage(
        self,
        used: object = None,
        *,
        calls: int = 1,
        input_tokens: int = 0,
        output_tokens: int = 0,
        dollars: float = 0.0,
    ) -> None:
        """Record the cost of a model call; calls add up. `used` is a provider's usage object."""
        recording = CURRENT.get()
        if recording is None:
            return
        try:
            usage = Usage(
                calls=calls,
                input_tokens=input_tokens,
                output_tokens=output_tokens,
                dollars=dollars,
            )
            recording.add_usage(usage if used is None else usage + read_usage(used))
        except Exception as error:
            recording.add_note(f"record.usage: {to_text(error)}")


def _make_tool_call(
    name: object,
    arguments: object,
    result: object,
    *,
    error: object,
    seconds: object,
    exit_code: object,
) -> ToolCall:
    prefix = f"{type(error).__name__}: " if isinstance(error, BaseException) else ""
    return ToolCall(
        name=to_text(name),
        arguments=to_json(arguments),
        result=to_json(result),
        error=None if error is None else prefix + to_text(error),
        seconds=read_seconds(seconds),
        exit_code=exit_code if type(exit_code) is int else None,
    )


record = Recorder()
