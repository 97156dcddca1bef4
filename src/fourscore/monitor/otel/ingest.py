"""`fourscore monitor ingest FILE`: spans from a file, into the monitor, as if they had been sent.

OTLP as JSON, one request a line, is what the collector's file exporter writes; spans as SDKs print
them, one after the other or in a list, are read too. A trace's spans may stand anywhere in the
file; when it has been read, its traces are complete. The same file again adds nothing.
"""

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

import msgspec

from fourscore.core import DataError
from fourscore.formats.case_records import decode
from fourscore.formats.logs.json_objects import NOTED, Batches, Broken
from fourscore.formats.otlp.json_spans import is_spans, spans_of_document
from fourscore.formats.otlp.span import Span
from fourscore.monitor.monitor import ProductionMonitor
from fourscore.monitor.otel.receiver import make_span_rows
from fourscore.monitor.otel.traces import BATCH, TraceAssembler, TraceSampler
from fourscore.stores.monitor_spans import ReceivedCounts, SpanRow


class BadLine(msgspec.Struct, frozen=True):
    """What is wrong with a line."""

    line: int
    message: str
    field: str | None = None


class IngestSummary(msgspec.Struct, frozen=True, kw_only=True):
    """What became of a file. `planned` is the sum of the next five, `traces` of what they came to.

    A line that is no JSON, or no spans, is one `broken`; a span without an identity is another.
    The first of both are `noted`. `twice` were there already, `late` belong to a trace that has
    been scored, `beyond` to one that is full.
    """

    file: str
    planned: int
    ingested: int
    twice: int
    late: int
    beyond: int
    broken: int
    traces: dict[str, int]
    noted: tuple[BadLine, ...] = ()


def ingest(path: str, monitor: ProductionMonitor) -> IngestSummary:
    """Read a file of spans; its traces are drawn, scored and saved when this returns."""
    reading = _Reading(path)
    kept = ReceivedCounts()
    seen: set[bytes] = set()
    for rows in reading.batches():
        seen.update(bytes.fromhex(row.trace_id) for row in rows)
        kept += monitor.store.spans.receive([rows], monitor=monitor.name)[0]
    drawing = TraceSampler(monitor)
    gatherer = TraceAssembler(
        monitor.store.spans, monitor.name, drawing.keep, pass_over=drawing.pass_over
    )
    return IngestSummary(
        file=path,
        planned=sum(kept) + reading.broken,
        ingested=kept.new,
        twice=kept.twice,
        late=kept.late,
        beyond=kept.beyond,
        broken=reading.broken,
        traces=_gathered(gatherer, seen),
        noted=tuple(BadLine(*one) for one in sorted(reading.noted, key=lambda one: one.line)),
    )


def _gathered(gatherer: TraceAssembler, seen: set[bytes]) -> dict[str, int]:
    traces: dict[str, int] = {}
    while seen:
        some = sorted(seen.pop().hex() for _ in range(min(BATCH, len(seen))))
        for what, n in gatherer.gather(some, time.time()).items():
            traces[what] = traces.get(what, 0) + n
    return traces


class _Reading:
    """The spans of a file in batches, and what is wrong with its lines."""

    def __init__(self, path: str) -> None:
        self.path, self.broken, self.noted = path, 0, list[Broken]()

    def batches(self) -> Iterator[list[SpanRow]]:
        held: list[SpanRow] = []
        size = 0
        for line, spans in self._lines():
            found = make_span_rows(spans, time.time())
            if found.rejected:
                self._note(Broken(line, found.message), found.rejected)
            held += found.rows
            size += sum(len(row.body) for row in found.rows)
            if size > BATCH:
                yield held
                held, size = [], 0
        if held:
            yield held

    def _lines(self) -> Iterator[tuple[int, list[Span]]]:
        for line, document in self._documents():
            try:
                if not is_spans(document):
                    raise DataError("expected resourceSpans, or a span with context and attributes")
                yield line, list(spans_of_document(document))
            except DataError as error:
                self._note(Broken(line, error.message, error.field))

    def _documents(self) -> Iterator[tuple[int, Any]]:
        try:
            stream = Path(self.path).open("rb")  # noqa: SIM115 - only opening may fail as bad input
        except OSError as error:
            raise DataError(error.strerror or "cannot be opened", file=self.path) from None
        with stream:
            if _is_list(stream):
                yield from self._listed(stream)
                return
            batches: Batches[dict[str, Any]] = Batches(stream, dict[str, Any], skip=True)
            yield from batches.numbered()
            self.broken += batches.broken
            self.noted = [*self.noted, *batches.noted][:NOTED]

    def _listed(self, stream: BinaryIO) -> Iterator[tuple[int, Any]]:
        """One list of spans: its lines cannot be told apart any more, its items can."""
        try:
            value, _ = decode(stream.read())
        except DataError as error:
            raise DataError(error.message, file=self.path, line=1) from None
        yield from ((number, item) for number, item in enumerate(value, 1))

    def _note(self, broken: Broken, n: int = 1) -> None:
        self.broken += n
        if len(self.noted) < NOTED:
            self.noted.append(broken)


def _is_list(stream: BinaryIO) -> bool:
    head = stream.read(4096).lstrip(b"\xef\xbb\xbf \t\r\n")
    stream.seek(0)
    return head[:1] == b"["
