"""`Span`: one span in any input format, how it is stored, and which of several copies is used."""

import re
from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from fourscore.core import DataError, freeze
from fourscore.formats.otlp import semantic_conventions as names

#: Bytes of one span as it is kept; a larger one is refused, as half a message would be misread.
LARGEST = 2**20
#: Characters of an error.
LONGEST_ERROR = 500
_TRACE_ID, _SPAN_ID = re.compile("[0-9a-f]{32}"), re.compile("[0-9a-f]{16}")


class Event(msgspec.Struct, frozen=True, array_like=True):
    """An event of a span."""

    name: str
    attributes: dict[str, Any]


class Span(msgspec.Struct, frozen=True, array_like=True, kw_only=True):
    """A span. Ids are hexadecimal, times are seconds since 1970."""

    trace: str
    id: str
    parent: str
    name: str
    start: float | None
    end: float | None
    attributes: dict[str, Any]
    error: str | None = None
    events: tuple[Event, ...] = ()

    @property
    def seconds(self) -> float | None:
        if self.start is None or self.end is None:
            return None
        return max(0.0, self.end - self.start)


class PackedSpan(msgspec.Struct, frozen=True, kw_only=True):
    """A span as the monitor stores it."""

    trace: str
    id: str
    root: bool
    body: bytes


_ENCODER = msgspec.json.Encoder()
_DECODER = msgspec.json.Decoder(Span)


def pack_span(span: Span) -> PackedSpan:
    """Encode a span; a `DataError` where it has no valid ids or is too large."""
    if not _TRACE_ID.fullmatch(span.trace) or span.trace == "0" * 32:
        raise DataError("expected 32 hexadecimal digits, not all 0", field="traceId")
    if not _SPAN_ID.fullmatch(span.id) or span.id == "0" * 16:
        raise DataError("expected 16 hexadecimal digits, not all 0", field="spanId")
    try:
        body = _encoded(span)
    except (RecursionError, TypeError, ValueError, OverflowError):
        raise DataError("a value cannot be written as JSON", field="attributes") from None
    if len(body) > LARGEST:
        raise DataError(f"larger than {LARGEST >> 10} KiB", field="attributes")
    return PackedSpan(trace=span.trace, id=span.id, root=not span.parent, body=body)


def _encoded(span: Span) -> bytes:
    try:
        return _ENCODER.encode(span)
    except UnicodeEncodeError:  # a lone surrogate (half an emoji), which `freeze` replaces
        return _ENCODER.encode(freeze(msgspec.to_builtins(span)))


def unpack_span(body: bytes) -> Span:
    """Decode a span that `pack_span` encoded."""
    return _DECODER.decode(body)


def deduplicate_spans(spans: Iterable[Span]) -> list[Span]:
    """Return each span once, in order of their start.

    Of two copies that differ the longer one counts, as in the store, whatever order they come in.
    """
    best: dict[str, Span] = {}
    loose: list[Span] = []  # a log may leave ids out
    for span in spans:
        if not span.id:
            loose.append(span)
        elif (other := best.get(span.id)) is None or _rank(span) > _rank(other):
            best[span.id] = span
    return sorted([*best.values(), *loose], key=_order)


def _rank(span: Span) -> tuple[int, bytes]:
    body = _ENCODER.encode(span)
    return (len(body), body)


def _order(span: Span) -> tuple[float, float, str]:
    # Of spans that start together the longer one encloses the other.
    return (span.start or 0.0, -(span.end or 0.0), span.id)


def find_error(
    bad: bool, words: object, attributes: Mapping[str, object], events: Iterable[Event] = ()
) -> str | None:
    """Return a span's error as text; None where it has none."""
    kind = attributes.get(names.ERROR_TYPE)
    if not bad and not kind:
        return None
    for event in events:
        if event.name == names.EXCEPTION_EVENT:
            kind = kind or event.attributes.get(names.EXCEPTION_TYPE)
            words = words or event.attributes.get(names.EXCEPTION_MESSAGE)
    return ": ".join(str(word) for word in (kind, words) if word)[:LONGEST_ERROR] or "it failed"
