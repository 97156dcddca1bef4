"""Receives spans: when `put` returns, they are on the disk.

A sender may forget what was acknowledged, so the reply waits for the disk. A disk does a few
hundred syncs a second, so requests share them: one thread decodes all waiting bodies, stores them
in one transaction, and then wakes their senders. The thread decodes, and not the event loop, as a
large body takes a tenth of a second.

If one body cannot be decoded, only its request fails. If a transaction fails, all of its requests
fail and their senders try again.
"""

import asyncio
import logging
import queue
import threading
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import NamedTuple

from fourscore.core import DataError, FourscoreError
from fourscore.formats.otlp.span import Span, pack_span
from fourscore.stores.received_spans import ReceivedCounts, SpanRow, SpanTable

LOG = logging.getLogger("fourscore.monitor")
#: Bytes of request bodies that may wait for the disk.
MAX_WAITING_BYTES = 64 << 20
#: A transaction ends after this many stored bytes.
BATCH_BYTES = 8 << 20

Decode = Callable[[], Iterable[Span]]


class QueueFullError(FourscoreError):
    """Too many bytes wait for the disk; the sender should try again."""


class Receipt(NamedTuple):
    """The outcome of a request; `rejected` spans cannot be stored, and `message` says why."""

    kept: ReceivedCounts
    rejected: int = 0
    message: str = ""


class SpanRows(NamedTuple):
    """Spans that can be stored, and how many cannot."""

    rows: list[SpanRow]
    rejected: int
    message: str


def make_span_rows(spans: Iterable[Span], at: float) -> SpanRows:
    """Return the spans as rows; count and skip those that cannot be stored."""
    rows: list[SpanRow] = []
    rejected, message = 0, ""
    for number, span in enumerate(spans):
        try:
            packed = pack_span(span)
        except DataError as error:
            rejected += 1
            message = message or f"span {number + 1}: {error}"
        else:
            rows.append(SpanRow(packed.trace, packed.id, at, packed.body, packed.root))
    return SpanRows(rows, rejected, message)


class _Request:
    """A body to be stored, and the future that its sender awaits."""

    __slots__ = ("decode", "done", "error", "receipt", "rows", "size")

    def __init__(self, size: int, decode: Decode) -> None:
        self.size, self.decode = size, decode
        self.done: asyncio.Future[Receipt] = asyncio.get_running_loop().create_future()
        self.rows = SpanRows([], 0, "")
        self.receipt = Receipt(ReceivedCounts())
        self.error: Exception | None = None


class SpanReceiver:
    """Stores the spans that one event loop receives. `close` stores those still waiting."""

    def __init__(
        self, spans: SpanTable, monitor: str, max_waiting: int = MAX_WAITING_BYTES
    ) -> None:
        self._spans, self._monitor, self._max_waiting = spans, monitor, max_waiting
        self._waiting = 0
        self._inbox: queue.SimpleQueue[_Request | None] = queue.SimpleQueue()
        self._thread = threading.Thread(
            target=self._serve, daemon=True, name="fourscore-span-receiver"
        )
        self._thread.start()

    async def put(self, size: int, decode: Decode) -> Receipt:
        """Return when the spans are on the disk; raise what `decode` or the store raised."""
        if self._waiting and self._waiting + size > self._max_waiting:
            raise QueueFullError(f"{self._waiting} bytes wait for the disk; try again")
        request = _Request(size, decode)
        self._waiting += size
        try:
            self._inbox.put(request)
            return await request.done
        finally:
            self._waiting -= size

    def close(self) -> None:
        self._inbox.put(None)
        self._thread.join()

    # The methods below run in the receiver's own thread.

    def _serve(self) -> None:
        open_ = True
        while open_:
            batch: list[_Request] = []
            try:
                open_ = self._collect(batch)
                self._store(batch)
            except BaseException as error:  # nothing of the batch is stored: every request fails
                failure = error if isinstance(error, Exception) else RuntimeError(repr(error))
                if not isinstance(error, FourscoreError):
                    LOG.exception("spans cannot be stored")
                for request in batch:
                    request.error = request.error or failure
            _wake_senders(batch)

    def _collect(self, batch: list[_Request]) -> bool:
        """Wait for a request, and decode the waiting ones into `batch`. Return False on `close`."""
        size = 0
        while size < BATCH_BYTES:
            try:
                request = self._inbox.get(block=not batch)
            except queue.Empty:
                return True
            if request is None:
                return False
            batch.append(request)
            try:
                request.rows = make_span_rows(request.decode(), time.time())
            except Exception as error:  # a bug in decoding fails this request alone
                request.error = error
            size += sum(len(row.body) for row in request.rows.rows)
        return True

    def _store(self, batch: list[_Request]) -> None:
        good = [request for request in batch if request.error is None]
        kept = self._spans.receive(
            [one.rows.rows for one in good],
            monitor=self._monitor,
            rejected=sum(one.rows.rejected for one in good),
        )
        for request, received in zip(good, kept, strict=True):
            request.receipt = Receipt(received, request.rows.rejected, request.rows.message)


def _wake_senders(batch: list[_Request]) -> None:
    """Wake all senders in one callback of the event loop."""
    if not batch:
        return

    def deliver() -> None:
        for request in batch:
            if request.done.done():  # its sender has disconnected
                continue
            if request.error is None:
                request.done.set_result(request.receipt)
            else:
                request.done.set_exception(request.error)

    with suppress(RuntimeError):  # the loop is closed: nobody waits any more
        batch[0].done.get_loop().call_soon_threadsafe(deliver)
