"""The body of an OTLP/HTTP request: decompressed within bounds, decoded, and its reply encoded.

https://opentelemetry.io/docs/specs/otlp/#otlphttp
"""

import zlib
from collections.abc import Iterator
from typing import Literal

import msgspec

from fourscore.core import DataError
from fourscore.formats.case_records import decode_json
from fourscore.formats.otlp.json_spans import read_json_spans
from fourscore.formats.otlp.span import Span

BodyKind = Literal["protobuf", "json"]
KINDS: dict[bytes, BodyKind] = {b"application/x-protobuf": "protobuf", b"application/json": "json"}
#: zlib's window sizes (`wbits`) for gzip, and for HTTP's deflate.
CODINGS = {b"gzip": 31, b"x-gzip": 31, b"deflate": 15}

#: Compressed streams in one body at most; for each one, the rest of the body is copied.
MEMBERS = 16


class BodyTooLargeError(DataError):
    """A body that is longer than allowed once it is decompressed."""


def inflate(body: bytes, coding: bytes, most: int) -> bytes:
    """Return the decompressed body; more than `most` bytes raise a `BodyTooLargeError`."""
    if coding in (b"", b"identity"):
        return body
    parts, size = list[bytes](), 0
    for _ in range(MEMBERS):  # a body may be several gzip streams in a row
        stream = zlib.decompressobj(CODINGS[coding])
        try:
            part = stream.decompress(body, most - size + 1)
        except zlib.error:
            message = f"the body is not {coding.decode()}, though its Content-Encoding says so"
            raise DataError(message) from None
        parts.append(part)
        size += len(part)
        if size > most:
            raise BodyTooLargeError(f"decompressed, the body is longer than {most} bytes")
        if not stream.eof:
            raise DataError("the compressed body is cut off")
        body = stream.unused_data
        if not body:
            return b"".join(parts)
    raise DataError(f"the body has more than {MEMBERS} compressed parts")


def read_body_spans(body: bytes, kind: BodyKind, coding: bytes, most: int) -> Iterator[Span]:
    """Read the spans of a request's body; a `DataError` where it cannot be decoded."""
    body = inflate(body, coding, most)
    if kind == "protobuf":
        from fourscore.formats.otlp.protobuf import read_protobuf_spans

        return read_protobuf_spans(body)
    document, _ = decode_json(body)
    if not isinstance(document, dict):
        raise DataError("expected an object")
    resources = document.get("resourceSpans", document.get("resource_spans"))
    if resources is None:  # protobuf's JSON: nothing, and fields that are not known are ignored
        return iter(())
    return read_json_spans({"resourceSpans": resources})


def encode_reply(kind: BodyKind, rejected: int, message: str) -> bytes:
    """Encode an `ExportTraceServiceResponse`: empty where every span was accepted."""
    if kind == "protobuf":
        from fourscore.formats.otlp.protobuf import encode_response

        return encode_response(rejected, message)
    if not rejected and not message:
        return b"{}"
    partial = {"rejectedSpans": str(rejected), "errorMessage": message}
    return msgspec.json.encode({"partialSuccess": partial})


def encode_refusal(kind: BodyKind, message: str) -> bytes:
    """Encode a `google.rpc.Status` that has only a message."""
    if kind == "json":
        return msgspec.json.encode({"message": message})
    text = message.encode("utf-8", "replace")
    return b"\x12" + _varint(len(text)) + text


def _varint(number: int) -> bytes:
    parts = bytearray()
    while number > 0x7F:
        parts.append(number & 0x7F | 0x80)
        number >>= 7
    parts.append(number)
    return bytes(parts)
