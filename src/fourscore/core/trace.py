"""`Trace`: what an agent did about a case."""

from typing import Any, Literal

import msgspec
from msgspec.structs import force_setattr

from fourscore.core.frozen import EMPTY, check_tuple, clean_fields, freeze_field
from fourscore.core.numbers import check_finite, check_whole, decimal_text
from fourscore.core.secrets import hide_secrets

FAULTS = ("error", "timeout", "refused", "cancelled", "data", "connection")


class Fault(msgspec.Struct, frozen=True):
    """A failure: of the agent on a trace, of the judge on a signal.

    `data`: the case lacks what its judge needs; `refused`: the judge's model refused to answer;
    `connection`: the agent or the model could not be reached, which is nobody's failure.
    """

    kind: Literal["error", "timeout", "refused", "cancelled", "data", "connection"]
    message: str = ""

    def __post_init__(self) -> None:
        if self.kind not in FAULTS:
            raise ValueError(f"kind: {self.kind!r} is none of {', '.join(FAULTS)}")
        clean_fields(self, "message")
        if self.message:  # libraries quote addresses and headers, servers what they were sent
            force_setattr(self, "message", hide_secrets(self.message))


class Usage(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What model calls cost."""

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    dollars: float = 0.0

    def __post_init__(self) -> None:
        for field in ("calls", "input_tokens", "output_tokens"):
            check_whole(field, getattr(self, field), low=0)
        check_finite("dollars", self.dollars, low=0)
        if None in (self.calls, self.input_tokens, self.output_tokens, self.dollars):
            raise ValueError("usage: expected numbers, got None; use 0 where nothing was used")

    @property
    def is_nothing(self) -> bool:
        return not (self.calls or self.input_tokens or self.output_tokens or self.dollars)

    def __add__(self, other: "Usage") -> "Usage":
        if other.is_nothing:
            return self
        if self.is_nothing:
            return other
        return Usage(
            calls=self.calls + other.calls,
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            dollars=self.dollars + other.dollars,
        )


class Message(
    msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="kind", tag="message"
):
    """One message of the conversation."""

    role: str
    content: Any = None

    def __post_init__(self) -> None:
        clean_fields(self, "role")
        force_setattr(self, "content", freeze_field("content", self.content))


class ToolCall(
    msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="kind", tag="tool"
):
    """One tool call with its result."""

    name: str
    arguments: Any = None
    result: Any = None
    exit_code: int | None = None
    seconds: float | None = None
    error: str | None = None

    def __post_init__(self) -> None:
        force_setattr(self, "arguments", freeze_field("arguments", self.arguments))
        force_setattr(self, "result", freeze_field("result", self.result))
        clean_fields(self, "name", "error")
        check_whole("exit_code", self.exit_code)
        check_finite("seconds", self.seconds, low=0)


Step = Message | ToolCall


class Trace(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One attempt at a case: the final output and the steps that led to it."""

    output: Any = None
    steps: tuple[Step, ...] = ()
    started: float | None = None
    seconds: float | None = None
    usage: Usage | None = None
    metadata: dict[str, Any] = EMPTY
    fault: Fault | None = None

    def __post_init__(self) -> None:
        if self.output is not None:
            force_setattr(self, "output", freeze_field("output", self.output))
        if self.metadata is not EMPTY:
            force_setattr(self, "metadata", freeze_field("metadata", self.metadata, dict))
        if self.steps != ():
            check_tuple(self, "steps", Message | ToolCall)
        if self.started is not None:
            check_finite("started", self.started)
        if self.seconds is not None:
            check_finite("seconds", self.seconds, low=0)
        if self.usage is not None and type(self.usage) is not Usage:
            raise ValueError("usage: expected a Usage")
        if self.fault is not None and type(self.fault) is not Fault:
            raise ValueError("fault: expected a Fault")

    @property
    def answer(self) -> str:
        """`metadata.final_answer`, else the output, as text; empty where the agent gave neither."""
        answer = self.metadata.get("final_answer")
        return as_text(self.output if answer is None else answer)

    @property
    def tool_calls(self) -> tuple[ToolCall, ...]:
        return tuple(step for step in self.steps if isinstance(step, ToolCall))


def as_text(value: Any) -> str:
    """Return a JSON value as the text that a judge reads: decimal numbers, structures as JSON."""
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return decimal_text(value)
    return msgspec.json.encode(value).decode()
