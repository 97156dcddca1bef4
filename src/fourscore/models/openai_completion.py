"""What an endpoint of chat completions sends back: only the fields that are read, and loosely.

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


class Completion(msgspec.Struct):
    choices: list[_Choice] = []
    usage: Any = None
    model: str | None = None
    error: Any = None


def text_of(message: _Message) -> str:
    if isinstance(message.content, list):  # in parts, of which some are not text
        return "".join(str(part.get("text") or "") for part in message.content)
    return message.content or ""


def arguments_of(message: _Message, text: str, spent: Usage) -> str:
    calls = message.tool_calls or []
    if not calls:
        return text  # some servers write the forced call as the content
    if len(calls) > 1:
        raise ModelError("malformed", f"{len(calls)} verdicts instead of one", usage=spent)
    raw = bytes(calls[0].function.arguments).decode()
    return str(msgspec.json.decode(raw)) if raw.startswith('"') else raw


def tokens_of(logprobs: _Logprobs | None) -> tuple[Token, ...]:
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


def usage_in(said: Any) -> Usage:
    return usage_of(said, ("prompt_tokens",), ("completion_tokens",))


def usage_of(said: Any, spent: tuple[str, ...], written: tuple[str, ...]) -> Usage:
    """One call's usage as an endpoint tells it; what it does not tell counts nothing."""
    if not isinstance(said, dict):
        return Usage(calls=1)
    return Usage(calls=1, input_tokens=_sum(said, spent), output_tokens=_sum(said, written))


def _sum(said: dict[str, Any], names: tuple[str, ...]) -> int:
    total = 0
    for name in names:
        n = said.get(name)
        if isinstance(n, int | float) and n > 0:
            total += int(n)
    return total
