"""One span, whatever it came as; and which of several copies of it counts."""

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
    """Something that happened within a span."""

    name: str
    attributes: dict[str, Any]


class Span(msgspec.Struct, frozen=True, array_like=True, kw_only=True):
    """What all shapes say. Ids are hexadecimal, times are seconds since 1970."""

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
    """A span as the monitor keeps it."""

    trace: str
    id: str
    root: bool
    body: bytes


_ENCODER = msgspec.json.Encoder()
_DECODER = msgspec.json.Decoder(Span)


def pack_span(span: Span) -> PackedSpan:
    """The span as bytes; a `DataError` where it has no identity, or is too large."""
    if not _TRACE_ID.fullmatch(span.trace) or span.trace == "0" * 32:
        raise DataError("expected 32 hexadecimal digits, not all 0", field="traceId")
    if not _SPAN_ID.fullmatch(span.id) or span.id == "0" * 16:
        raise DataError("expected 16 hexadecimal digits, not all 0", field="spanId")
    try:
        body = _encoded(span)
    except (RecursionError, TypeError, ValueError, OverflowError):
        raise DataError("it holds what JSON cannot say", field="attributes") from None
    if len(body) > LARGEST:
        raise DataError(f"larger than {LARGEST >> 10} KiB", field="attributes")
    return PackedSpan(trace=span.trace, id=span.id, root=not span.parent, body=body)


def _encoded(span: Span) -> bytes:
    try:
        return _ENCODER.encode(span)
    except UnicodeEncodeError:  # half an emoji, which `freeze` makes whole
        return _ENCODER.encode(freeze(msgspec.to_builtins(span)))


def unpack_span(body: bytes) -> Span:
    """A span that `packed` made."""
    return _DECODER.decode(body)


def deduplicate_spans(spans: Iterable[Span]) -> list[Span]:
    """Each span once, in the order of their beginning.

    Of two copies that differ the longer one counts, as in the store: the order of arrival makes no
    difference.
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
    # Of spans that begin together the longer one stands around the other.
    return (span.start or 0.0, -(span.end or 0.0), span.id)


def find_error(
    bad: bool, words: object, attributes: Mapping[str, object], events: Iterable[Event] = ()
) -> str | None:
    """What went wrong, in the span's own words; None where nothing did."""
    kind = attributes.get(names.ERROR_TYPE)
    if not bad and not kind:
        return None
    for event in events:
        if event.name == names.EXCEPTION_EVENT:
            kind = kind or event.attributes.get(names.EXCEPTION_TYPE)
            words = words or event.attributes.get(names.EXCEPTION_MESSAGE)
    return ": ".join(str(word) for word in (kind, words) if word)[:LONGEST_ERROR] or "it failed"
