"""A request and its answer, and what they usually look like: what was asked, and what was said."""

from collections.abc import Iterable
from typing import Any, NamedTuple

import msgspec

#: Where a request says what is asked, and an answer what was said, if they are JSON objects.
ASKED = ("query", "question", "input", "prompt", "message", "text")
SAID = ("output", "answer", "response", "text", "content", "message", "completion")


class Exchange(NamedTuple):
    """A request and its answer, whole, with the header fields by name in lower case."""

    method: str
    path: str
    headers: dict[str, str]
    request: bytes
    status: int
    reply_headers: dict[str, str]
    reply: bytes


class Read(NamedTuple):
    """What an exchange comes to; `error` where the answer says that the agent failed."""

    query: Any
    output: Any
    id: Any = None
    tags: Iterable[str] = ()
    trace: Any = None
    error: Any = None
    feedback: Any = None


def readable(status: int, headers: dict[str, str]) -> bool:
    """Not what the client did wrong, nor what is no plain text; a failure of ours needs none."""
    if status >= 500:
        return True
    kind = headers.get("content-type", "")
    text = "json" in kind or kind.startswith("text/")
    return 200 <= status < 300 and text and "content-encoding" not in headers


def read_exchange(exchange: Exchange) -> Read:
    """The usual shapes of requests and answers."""
    if exchange.status >= 500:
        return Read(asked(exchange), None, error=f"HTTP {exchange.status}")
    return Read(asked(exchange), _said(exchange))


def asked(exchange: Exchange) -> Any:
    body = _json(exchange.request)
    if isinstance(body, dict):
        messages = body.get("messages")
        if isinstance(messages, list) and messages and isinstance(messages[-1], dict):
            return messages[-1].get("content")
        return _first(body, ASKED)
    return exchange.request.decode(errors="replace") if body is None else body


def _said(exchange: Exchange) -> Any:
    if exchange.reply_headers.get("content-type", "").startswith("text/event-stream"):
        lines = exchange.reply.decode(errors="replace").splitlines()
        data = [line[5:].removeprefix(" ") for line in lines if line.startswith("data:")]
        return "".join(piece for piece in map(_piece, data) if piece)
    body = _json(exchange.reply)
    if body is None:
        return exchange.reply.decode(errors="replace")
    if isinstance(body, dict):
        return _choice(body, "message") or _first(body, SAID)
    return body


def _piece(data: str) -> str:
    """The text of one event: OpenAI's deltas, else the event itself."""
    if data == "[DONE]":
        return ""
    body = _json(data.encode())
    if isinstance(body, dict):
        found = _choice(body, "delta")
        return found if isinstance(found, str) else ""
    return data


def _choice(body: dict[str, Any], name: str) -> Any:
    choices = body.get("choices")
    if isinstance(choices, list) and choices and isinstance(choices[0], dict):
        said = choices[0].get(name)
        return said.get("content") if isinstance(said, dict) else None
    return None


def _first(body: dict[str, Any], names: Iterable[str]) -> Any:
    return next((body[name] for name in names if body.get(name) is not None), body)


def _json(data: bytes) -> Any:
    try:
        return msgspec.json.decode(data)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        return None
