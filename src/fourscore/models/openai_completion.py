"""A chat completion as endpoints send it: only the fields that are read, loosely typed.

Servers differ in what they add and leave out. A field that is not needed cannot break a reply.
"""

from typing import Any

import msgspec

from fourscore.core import Usage
from fourscore.models.messages import ModelError, Token


class _Function(msgspec.Struct):
    arguments: msgspec.Raw = msgspec.Raw(b'""')


class _Call(msgspec.Struct):
    function: _Function


class _Message(msgspec.Struct):
    content: str | list[dict[str, Any]] | None = None
    refusal: str | None = None
    tool_calls: list[_Call] | None = None


class _Likely(msgspec.Struct):
    token: str
    logprob: float | None = None
    top_logprobs: "list[_Likely] | None" = None


class _Logprobs(msgspec.Struct):
    content: list[_Likely] | None = None


class _Choice(msgspec.Struct):
    message: _Message
    finish_reason: str | None = None
    logprobs: _Logprobs | None = None


class Completion(msgspec.Struct, kw_only=True):
    """The reply to a chat completion request."""

    choices: list[_Choice] = []
    usage: Any = None
    model: str | None = None
    error: Any = None


def read_text(message: _Message) -> str:
    """Return the text of a message, which may be in parts."""
    if isinstance(message.content, list):  # some parts are not text
        return "".join(str(part.get("text") or "") for part in message.content)
    return message.content or ""


def read_tool_arguments(message: _Message, text: str, spent: Usage) -> str:
    """Return the arguments of the only tool call; `text` where there is none."""
    calls = message.tool_calls or []
    if not calls:
        return text  # some servers write the forced tool call as text
    if len(calls) > 1:
        raise ModelError("malformed", f"{len(calls)} tool calls, expected one", usage=spent)
    raw = bytes(calls[0].function.arguments).decode()
    return str(msgspec.json.decode(raw)) if raw.startswith('"') else raw


def read_tokens(logprobs: _Logprobs | None) -> tuple[Token, ...]:
    """Return the tokens that have a log-probability."""
    if logprobs is None or not logprobs.content:
        return ()
    return tuple(
        Token(
            item.token,
            item.logprob,
            tuple((o.token, o.logprob) for o in item.top_logprobs or () if o.logprob is not None),
        )
        for item in logprobs.content
        if item.logprob is not None
    )


def read_openai_usage(reported: Any) -> Usage:
    """Return the usage of one call in the words of OpenAI."""
    return read_usage(reported, ("prompt_tokens",), ("completion_tokens",))


def read_usage(reported: Any, read: tuple[str, ...], written: tuple[str, ...]) -> Usage:
    """Return the usage of one call; tokens that an endpoint does not report count nothing."""
    if not isinstance(reported, dict):
        return Usage(calls=1)
    return Usage(calls=1, input_tokens=_sum(reported, read), output_tokens=_sum(reported, written))


def _sum(reported: dict[str, Any], names: tuple[str, ...]) -> int:
    total = 0
    for name in names:
        n = reported.get(name)
        if isinstance(n, int | float) and n > 0:
            total += int(n)
    return total
