"""`fourscore monitor ingest FILE`: score the traces in a file of spans.

It reads OTLP as JSON, one request a line, as the collector's file exporter writes it, and spans as
SDKs print them, one after the other or in a list. A trace's spans may be anywhere in the file; its
traces are scored when the whole file was read. Ingesting the same file again adds nothing.
"""

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

import msgspec

from fourscore.core import DataError
from fourscore.formats.case_records import decode_json
from fourscore.formats.logs.json_objects import NOTED, BrokenLine, ObjectBatches
from fourscore.formats.otlp.json_spans import is_spans, read_json_spans
from fourscore.formats.otlp.span import Span
from fourscore.monitor.monitor import ProductionMonitor
from fourscore.monitor.otel.receiver import make_span_rows
from fourscore.monitor.otel.trace_scoring import BATCH, TraceAssembler, TraceSampler
from fourscore.stores.received_spans import ReceivedCounts, SpanRow


class BadLine(msgspec.Struct, frozen=True):
    """What is wrong with a line of the file."""

    line: int
    message: str
    field: str | None = None


class IngestSummary(msgspec.Struct, frozen=True, kw_only=True):
    """Counts of one ingested file: spans, and `traces` by outcome.

    `planned` is the sum of the five that follow: `ingested` are new, `twice` were stored already,
    `late` belong to a trace that has been scored, `beyond` to a trace that is full. `broken` are
    lines that are not JSON or not spans, and spans without an id; `noted` has the first of them.
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
    """Read a file of spans, then sample, score and save its traces; return the counts."""
    file = _SpanFile(path)
    kept = ReceivedCounts()
    seen: set[bytes] = set()
    for rows in file.read_batches():
        seen.update(bytes.fromhex(row.trace_id) for row in rows)
        kept += monitor.store.spans.receive([rows], monitor=monitor.name)[0]
    sampler = TraceSampler(monitor)
    assembler = TraceAssembler(
        monitor.store.spans, monitor.name, sampler.score, can_skip=sampler.can_skip
    )
    return IngestSummary(
        file=path,
        planned=sum(kept) + file.broken,
        ingested=kept.new,
        twice=kept.twice,
        late=kept.late,
        beyond=kept.beyond,
        broken=file.broken,
        traces=_score_all(assembler, seen),
        noted=tuple(BadLine(*one) for one in sorted(file.noted, key=lambda one: one.line)),
    )


def _score_all(assembler: TraceAssembler, seen: set[bytes]) -> dict[str, int]:
    traces: dict[str, int] = {}
    while seen:
        some = sorted(seen.pop().hex() for _ in range(min(BATCH, len(seen))))
        for what, n in assembler.score_traces(some, time.time()).items():
            traces[what] = traces.get(what, 0) + n
    return traces


class _SpanFile:
    """Reads the spans of a file in batches, and keeps the errors of broken lines."""

    def __init__(self, path: str) -> None:
        self.path, self.broken, self.noted = path, 0, list[BrokenLine]()

    def read_batches(self) -> Iterator[list[SpanRow]]:
        held: list[SpanRow] = []
        size = 0
        for line, spans in self._read_lines():
            found = make_span_rows(spans, time.time())
            if found.rejected:
                self._note(BrokenLine(line, found.message), found.rejected)
            held += found.rows
            size += sum(len(row.body) for row in found.rows)
            if size > BATCH:
                yield held
                held, size = [], 0
        if held:
            yield held

    def _read_lines(self) -> Iterator[tuple[int, list[Span]]]:
        for line, document in self._read_documents():
            try:
                if not is_spans(document):
                    raise DataError("expected resourceSpans, or a span with context and attributes")
                yield line, list(read_json_spans(document))
            except DataError as error:
                self._note(BrokenLine(line, error.message, error.field))

    def _read_documents(self) -> Iterator[tuple[int, Any]]:
        try:
            stream = Path(self.path).open("rb")  # noqa: SIM115 - only opening may fail as bad input
        except OSError as error:
            raise DataError(error.strerror or "cannot be opened", file=self.path) from None
        with stream:
            if _is_list(stream):
                yield from self._read_list(stream)
                return
            batches: ObjectBatches[dict[str, Any]] = ObjectBatches(
                stream, dict[str, Any], skip=True
            )
            yield from batches.numbered()
            self.broken += batches.broken
            self.noted = [*self.noted, *batches.noted][:NOTED]

    def _read_list(self, stream: BinaryIO) -> Iterator[tuple[int, Any]]:
        """Yield the items of one list of spans, numbered as lines."""
        try:
            value, _ = decode_json(stream.read())
        except DataError as error:
            raise DataError(error.message, file=self.path, line=1) from None
        yield from ((number, item) for number, item in enumerate(value, 1))

    def _note(self, broken: BrokenLine, n: int = 1) -> None:
        self.broken += n
        if len(self.noted) < NOTED:
            self.noted.append(broken)


def _is_list(stream: BinaryIO) -> bool:
    head = stream.read(4096).lstrip(b"\xef\xbb\xbf \t\r\n")
    stream.seek(0)
    return head[:1] == b"["
