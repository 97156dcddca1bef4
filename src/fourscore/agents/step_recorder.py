"""`record`: how a Python agent reports its tool calls, messages and tokens.

The agent needs none of our types, and keeps its calls to `record` in production: outside of a run
they do nothing, and inside of one they never raise, whatever they are given. What is recorded
belongs to the attempt in whose context the call is made, and is frozen there and then.
"""

import time
from contextvars import ContextVar
from types import TracebackType
from typing import Any, Self

import msgspec
from msgspec.structs import replace

from fourscore.agents.recorder_values import MAX_TEXT, cut, number, plain, read_usage, text_of
from fourscore.core import Message, Step, ToolCall, Usage

#: An agent in an endless loop records no more than this.
MAX_STEPS = 10_000
#: Bytes of JSON that the steps of one attempt may take.
MAX_SIZE = 16 * 2**20
#: Notes kept on what could not be recorded.
MAX_NOTES = 20


class Recording:
    """What one attempt recorded so far. Threads may share it."""

    def __init__(self) -> None:
        self.usage: Usage | None = None
        self.notes: list[str] = []
        self._steps: list[Step | ToolUse] = []
        self._size = self._dropped = 0
        self._closed = False

    def add(self, step: "Step | ToolUse") -> None:
        if self._closed:
            return
        kept = step if isinstance(step, ToolUse) else self.kept(step)
        if kept is not None and len(self._steps) < MAX_STEPS:
            self._steps.append(kept)
        else:
            self._dropped += 1

    def use(self, usage: Usage) -> None:
        if not self._closed:
            self.usage = usage if self.usage is None else self.usage + usage

    def note(self, words: str) -> None:
        if not self._closed and len(self.notes) < MAX_NOTES:
            self.notes.append(words)

    def close(self) -> tuple[Step, ...]:
        """The steps; a tool call that is still open says so. Nothing is added from now on."""
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

    def kept(self, step: Step) -> Step | None:
        """The step with no field longer than `MAX_TEXT`; None where there is no room for it."""
        for field in ("content",) if isinstance(step, Message) else ("arguments", "result"):
            value, whole = cut(getattr(step, field))
            if whole:
                step = replace(step, **{field: value})
                name = step.role if isinstance(step, Message) else step.name
                self.note(f"{field} of {name!r} is cut: {whole} characters, {MAX_TEXT} kept")
        size = len(msgspec.json.encode(step))
        if self._size + size > MAX_SIZE:
            return None
        self._size += size
        return step


#: The attempt under way in this context; None outside of a run.
CURRENT: ContextVar[Recording | None] = ContextVar("fourscore_recording", default=None)


class ToolUse:
    """A tool call under way; set `result`, `error` or `exit_code` before the block ends."""

    def __init__(self, name: str, arguments: Any) -> None:
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
            self.arguments = plain(self.arguments)
            self._recording.add(self)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.end(error if self.error is None else self.error)

    def end(self, error: Any = "the attempt ended before the call did") -> Step | None:
        """What is recorded of the call, once; None where there is no room, or no run."""
        if not self._ended and self._recording is not None:
            seconds = time.perf_counter() - self._begun
            step = _tool(self.name, self.arguments, self.result, error, seconds, self.exit_code)
            self._step, self._ended = self._recording.kept(step), True
        return self._step


class Recorder:
    """The functions of `record`."""

    def tool(
        self,
        name: str,
        arguments: Any = None,
        result: Any = None,
        *,
        error: Any = None,
        seconds: float | None = None,
        exit_code: int | None = None,
    ) -> None:
        """A tool call that is over. `error` is text or an exception."""
        recording = CURRENT.get()
        if recording is not None:
            recording.add(_tool(name, arguments, result, error, seconds, exit_code))

    def tool_call(self, name: str, arguments: Any = None) -> ToolUse:
        """A tool call around a block, timed; what the block raises is its error, and goes on."""
        return ToolUse(name, arguments)

    def message(self, role: str, content: Any = None) -> None:
        """A turn of the conversation."""
        recording = CURRENT.get()
        if recording is not None:
            recording.add(Message(role=text_of(role), content=plain(content)))

    def usage(
        self,
        used: Any = None,
        *,
        calls: int = 1,
        input_tokens: int = 0,
        output_tokens: int = 0,
        dollars: float = 0.0,
    ) -> None:
        """What a model call cost; calls add up. `used` is a provider's usage, object or mapping."""
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
            recording.use(usage if used is None else usage + read_usage(used))
        except Exception as error:
            recording.note(f"record.usage: {text_of(error)}")


def _tool(
    name: object, arguments: Any, result: Any, error: Any, seconds: Any, exit_code: Any
) -> ToolCall:
    words = f"{type(error).__name__}: " if isinstance(error, BaseException) else ""
    return ToolCall(
        name=text_of(name),
        arguments=plain(arguments),
        result=plain(result),
        error=None if error is None else words + text_of(error),
        seconds=number(seconds),
        exit_code=exit_code if type(exit_code) is int else None,
    )


record = Recorder()
