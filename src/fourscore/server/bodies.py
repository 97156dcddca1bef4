"""From bytes on the wire to checked values: bounded while reading, refused with their place."""

import json
import re
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any, TypeVar

import msgspec

from fourscore.formats.validation import explained
from fourscore.server.wire import Refusal, bad_request

T = TypeVar("T")
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]


class Gone(Exception):  # noqa: N818 - nothing failed, somebody left
    """The client closed the connection; nobody is there to answer."""


async def read_body(receive: Receive, declared: bytes | None, most: int) -> bytes:
    """The whole body. A declared length is only a word: the bytes are counted as they come."""
    if declared is not None and int(declared) > most:
        raise _too_large(most)
    message = await receive()
    if message["type"] == "http.request" and not message.get("more_body"):  # nearly always
        body: bytes = message.get("body", b"")
        if len(body) > most:
            raise _too_large(most)
        return body
    parts = bytearray()
    while message["type"] == "http.request":
        parts += message.get("body", b"")
        if len(parts) > most:
            raise _too_large(most)
        if not message.get("more_body"):
            return bytes(parts)
        message = await receive()
    raise Gone


def _too_large(most: int) -> Refusal:
    return Refusal(413, "too_large", f"the body is longer than {most} bytes")


def decoded(body: bytes, decoder: "msgspec.json.Decoder[T]") -> tuple[T, int]:
    """The value of a body, and how many lone surrogates in it were made U+FFFD."""
    try:
        return decoder.decode(body), 0
    except msgspec.ValidationError as error:
        raise misfit(error) from None
    except (msgspec.DecodeError, ValueError, RecursionError) as error:
        body, replaced = _mended(body, error)
    try:
        return decoder.decode(body), replaced
    except msgspec.ValidationError as error:
        raise misfit(error) from None
    except (msgspec.DecodeError, ValueError, RecursionError) as error:
        raise bad_request(_syntax(error)) from None


_LONE = re.compile("[\ud800-\udfff]")


def _mended(body: bytes, first: Exception) -> tuple[bytes, int]:
    """Tokenizers cut emoji in half, and a half stops the fast decoder. The slow one reads it."""
    try:
        text = body.decode()
    except UnicodeDecodeError as error:
        raise bad_request(f"not UTF-8 at byte {error.start + 1}") from None
    if "\\ud" not in text.lower():
        raise bad_request(_syntax(first))
    try:
        value = json.loads(text, parse_constant=_no_constant)
        text, replaced = _LONE.subn("\ufffd", json.dumps(value, ensure_ascii=False))
    except (ValueError, RecursionError) as error:
        raise bad_request(_syntax(error)) from None
    return text.encode(), replaced


def _no_constant(word: str) -> None:
    raise ValueError(f"{word} is not JSON")


def _syntax(error: Exception) -> str:
    return "nested too deeply" if isinstance(error, RecursionError) else f"not JSON: {error}"


def misfit(error: msgspec.ValidationError) -> Refusal:
    """A value of the wrong type, at its field. The decoder names types and keys, never values."""
    return bad_request(*explained(error))
