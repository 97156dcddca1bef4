"""Read a request's body: bounded while reading, and refused with the place of a mistake."""

import json
import re
from typing import TypeVar

import msgspec
from starlette.types import Receive

from fourscore.core import DataError
from fourscore.formats.json_keys import check_json, check_undecoded
from fourscore.formats.validation import explain_error
from fourscore.server.messages import Refusal, bad_request

T = TypeVar("T")
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


class ClientDisconnected(Exception):  # noqa: N818 - nothing failed
    """The client closed the connection, so no reply is sent."""


async def read_body(receive: Receive, content_length: bytes | None, max_bytes: int) -> bytes:
    """Return the whole body; bytes are counted as they come, whatever length was declared."""
    if content_length is not None and int(content_length) > max_bytes:
        raise _too_large(max_bytes)
    message = await receive()
    if message["type"] == "http.request" and not message.get("more_body"):  # nearly always
        body: bytes = message.get("body", b"")
        if len(body) > max_bytes:
            raise _too_large(max_bytes)
        return body
    parts = bytearray()
    while message["type"] == "http.request":
        parts += message.get("body", b"")
        if len(parts) > max_bytes:
            raise _too_large(max_bytes)
        if not message.get("more_body"):
            return bytes(parts)
        message = await receive()
    raise ClientDisconnected


def _too_large(max_bytes: int) -> Refusal:
    return Refusal(413, "too_large", f"the body is longer than {max_bytes} bytes")


def decode_body(body: bytes, decoder: "msgspec.json.Decoder[T]") -> tuple[T, int]:
    """Return the value of a body, and how many lone surrogates in it were replaced by U+FFFD.

    A body in which an object has a key twice is refused.
    """
    try:
        value = decoder.decode(body)
        check_undecoded(body)
        return value, 0
    except DataError as error:
        raise bad_request(error.message, error.field) from None
    except msgspec.ValidationError as error:
        raise _wrong_type(error) from None
    except (msgspec.DecodeError, ValueError, RecursionError) as error:
        body, replaced = _replace_surrogates(body, error)
    try:
        return decoder.decode(body), replaced
    except msgspec.ValidationError as error:
        raise _wrong_type(error) from None
    except (msgspec.DecodeError, ValueError, RecursionError) as error:
        raise bad_request(_describe_syntax_error(error)) from None


def _replace_surrogates(body: bytes, first_error: Exception) -> tuple[bytes, int]:
    """Return the body with lone surrogates replaced, and their number; else refuse it.

    Tokenizers cut emoji in half. msgspec refuses a half, `json` reads it.
    """
    try:
        text = body.decode()
    except UnicodeDecodeError as error:
        raise bad_request(f"not UTF-8 at byte {error.start + 1}") from None
    if "\\ud" not in text.lower():
        raise bad_request(_describe_syntax_error(first_error))
    try:
        value = json.loads(text, parse_constant=_refuse_constant)
        check_json(body)
        text, replaced = _LONE_SURROGATE.subn("\ufffd", json.dumps(value, ensure_ascii=False))
    except DataError as error:
        raise bad_request(error.message, error.field) from None
    except (ValueError, RecursionError) as error:
        raise bad_request(_describe_syntax_error(error)) from None
    return text.encode(), replaced


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


def _describe_syntax_error(error: Exception) -> str:
    return "nested too deeply" if isinstance(error, RecursionError) else f"not JSON: {error}"


def _wrong_type(error: msgspec.ValidationError) -> Refusal:
    """A value of the wrong type, at its field. The decoder names types and keys, never values."""
    return bad_request(*explain_error(error))
