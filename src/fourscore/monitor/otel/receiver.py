"""Spans that are on the disk when the coroutine returns.

A sender may forget what was acknowledged, so the reply waits for the disk. A disk does a few
hundred syncs a second, so requests share them: one thread decodes all that waits, keeps it in one
transaction, and then wakes everybody. Decoding happens there too, away from the event loop: a large
body takes a tenth of a second.

A body that cannot be read fails alone. When a transaction fails, its senders are told to try again,
and so does this.
"""

import asyncio
import queue
import threading
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import NamedTuple

from fourscore.core import DataError, FourscoreError
from fourscore.formats.otlp.span import Span, packed
from fourscore.stores.monitor_spans import ReceivedCounts, SpanRow, SpanTable

#: Bytes of bodies that may wait for the disk.
ROOM = 64 << 20
#: A transaction ends after this many bytes as they are kept.
BATCH = 8 << 20

Decode = Callable[[], Iterable[Span]]


class QueueFullError(FourscoreError):
    """More waits for the disk than memory should hold; the sender should try again."""


class Receipt(NamedTuple):
    """What became of a request; `rejected` spans will never be kept, and `message` says why."""

    kept: ReceivedCounts
    rejected: int = 0
    message: str = ""


class Rows(NamedTuple):
    """Spans that can be kept, and how many cannot."""

    rows: list[SpanRow]
    rejected: int
    message: str


def make_span_rows(spans: Iterable[Span], at: float) -> Rows:
    """The spans as rows; what is wrong with one of them alone does not cost the others."""
    rows: list[SpanRow] = []
    rejected, message = 0, ""
    for number, span in enumerate(spans):
        try:
            trace_id, span_id, root, body = packed(span)
        except DataError as error:
            rejected += 1
            message = message or f"span {number + 1}: {error}"
        else:
            rows.append(SpanRow(trace_id, span_id, at, body, root))
    return Rows(rows, rejected, message)


class _Request:
    """A body on its way, and who waits for it."""

    __slots__ = ("decode", "done", "error", "receipt", "rows", "size")

    def __init__(self, size: int, decode: Decode) -> None:
        self.size, self.decode = size, decode
        self.done: asyncio.Future[Receipt] = asyncio.get_running_loop().create_future()
        self.rows = Rows([], 0, "")
        self.receipt = Receipt(ReceivedCounts())
        self.error: Exception | None = None


class SpanReceiver:
    """Keeps what one event loop is sent. `close` keeps what is still on its way."""

    def __init__(self, spans: SpanTable, monitor: str, room: int = ROOM) -> None:
        self._spans, self._monitor, self._room = spans, monitor, room
        self._held = 0
        self._inbox: queue.SimpleQueue[_Request | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._serve, daemon=True, name="fourscore-receiving")
        self._thread.start()

    async def put(self, size: int, decode: Decode) -> Receipt:
        """Returns once the spans are on the disk; raises what `decode` or the store raised."""
        if self._held and self._held + size > self._room:
            raise QueueFullError(f"{self._held} bytes wait for the disk; try again")
        request = _Request(size, decode)
        self._held += size
        try:
            self._inbox.put(request)
            return await request.done
        finally:
            self._held -= size

    def close(self) -> None:
        self._inbox.put(None)
        self._thread.join()

    # From here on, in the receiver's own thread.

    def _serve(self) -> None:
        open_ = True
        while open_:
            batch: list[_Request] = []
            open_ = self._collect(batch)
            try:
                self._keep(batch)
            except Exception as error:  # nothing of it is kept, and every sender is told
                for request in batch:
                    request.error = request.error or error
            _deliver(batch)

    def _collect(self, batch: list[_Request]) -> bool:
        """Decode what waits, up to a batch; wait where nothing does. False at the end."""
        size = 0
        while size < BATCH:
            try:
                request = self._inbox.get(block=not batch)
            except queue.Empty:
                return True
            if request is None:
                return False
            batch.append(request)
            try:
                request.rows = make_span_rows(request.decode(), time.time())
            except Exception as error:  # a bug in decoding must not end the thread
                request.error = error
            size += sum(len(row.body) for row in request.rows.rows)
        return True

    def _keep(self, batch: list[_Request]) -> None:
        good = [request for request in batch if request.error is None]
        kept = self._spans.receive([one.rows.rows for one in good], monitor=self._monitor)
        for request, received in zip(good, kept, strict=True):
            request.receipt = Receipt(received, request.rows.rejected, request.rows.message)


def _deliver(batch: list[_Request]) -> None:
    """Wake the senders, all of them in one go."""
    if not batch:
        return

    def deliver() -> None:
        for request in batch:
            if request.done.done():  # its sender has gone
                continue
            if request.error is None:
                request.done.set_result(request.receipt)
            else:
                request.done.set_exception(request.error)

    with suppress(RuntimeError):  # the loop is closed: nobody waits any more
        batch[0].done.get_loop().call_soon_threadsafe(deliver)
