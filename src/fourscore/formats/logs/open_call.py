"""A tool call while a log is being read: started, and perhaps without a result yet."""

from typing import Any

import msgspec

from fourscore.core import Message, Step, ToolCall


class OpenCall(msgspec.Struct, kw_only=True):
    """A tool call as far as the log has been read."""

    name: str
    arguments: Any
    result: Any = None
    exit_code: int | None = None
    error: str | None = None


def make_step(step: OpenCall | Message) -> Step:
    """Return the finished step of a trace."""
    if isinstance(step, Message):
        return step
    return ToolCall(
        name=step.name,
        arguments=step.arguments,
        result=step.result,
        exit_code=step.exit_code,
        error=step.error,
    )
