"""Writes the rows of a run: they are on the disk when the coroutine returns.

A disk does a few hundred syncs a second, so rows share them. The rows of one turn of the event loop
go to one thread together, and the thread commits all waiting rows in one transaction: the slower
the disk, the larger the batch. Each row is encoded in that thread just before it is written, so
that only one row of a batch is in memory twice, and a transaction of large rows ends early.

A row that cannot be written (its score has no trace) fails alone. When a transaction fails, all of
its rows fail, and the writer accepts no more: after a failed sync nobody knows what the disk holds,
and a run should stop. What was acknowledged before stays.
"""

import asyncio
import queue
import sqlite3
import threading
from collections import deque
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Self

from fourscore.core import Case, Score, Trace
from fourscore.stores.errors import StoreError, explain_sqlite_error
from fourscore.stores.run_lock import RunLock
from fourscore.stores.run_rows import PendingRow, RowWriter, ScoreRow, TraceRow
from fourscore.stores.sqlite_file import connect

#: Rows that may wait for the disk; past this a task waits before its row is accepted.
MAX_PENDING = 1024
#: A transaction ends after this many rows or bytes.
BATCH_ROWS = 1024
BATCH_BYTES = 8 << 20


class Writer:
    """The only writer of a run, used from one event loop, as a context manager.

    A trace that is put again replaces the former one and deletes its scores. A score that is put
    again replaces the former one.
    """

    def __init__(self, path: Path, run_id: str, number: int) -> None:
        self.run_id, self._path = run_id, path
        self._pending = 0
        self._queue: deque[asyncio.Future[None]] = deque()
        self._outbox: list[PendingRow] = []
        self._inbox: queue.SimpleQueue[list[PendingRow] | None] = queue.SimpleQueue()
        self._waiting: deque[PendingRow] = deque()
        self._failure: str | None = None  # why no more rows are accepted
        self._broken: BaseException | None = None
        self._lock = RunLock(path, run_id)
        try:
            self._connection = connect(path)
            self._check_writable()
        except BaseException:
            self._lock.release()
            raise
        self._row_writer = RowWriter(self._connection, path, run_id=run_id, number=number)
        self._thread = threading.Thread(target=self._serve, daemon=True, name="fourscore-store")
        self._thread.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self.close()

    def _check_writable(self) -> None:
        """Fail before the first agent is called, not after."""
        try:
            self._connection.execute("DELETE FROM runs WHERE 0")  # BEGIN alone would not fail
        except sqlite3.Error as error:
            self._connection.close()
            raise explain_sqlite_error(self._path, error) from error

    def close(self) -> None:
        """Commit what was put, and release the run. Waiting tasks are woken by the event loop."""
        if self._failure is None:
            self._failure = "the writer of this run is closed"
        self._hand_over()
        self._inbox.put(None)
        self._thread.join()
        self._lock.release()

    def put_trace(
        self, position: int, case: Case, repeat: int, trace: Trace
    ) -> "asyncio.Future[None]":
        """Store a trace; the future is done once it is on the disk."""
        return self._put(case.id, repeat, TraceRow(position, case, trace), None)

    def put_score(
        self, case_id: str, repeat: int, judge: str, score: Score
    ) -> "asyncio.Future[None]":
        """Store the score of a stored trace; the future is done once it is on the disk."""
        return self._put(case_id, repeat, None, ScoreRow(judge, score))

    def put_both(
        self, position: int, case: Case, repeat: int, trace: Trace, *, judge: str, score: Score
    ) -> "asyncio.Future[None]":
        """Store a trace and its score in one transaction."""
        row = TraceRow(position, case, trace)
        return self._put(case.id, repeat, row, ScoreRow(judge, score))

    def _put(
        self, case_id: str, repeat: int, trace: TraceRow | None, score: ScoreRow | None
    ) -> "asyncio.Future[None]":
        row = PendingRow(case_id, repeat, trace=trace, score=score)
        if self._pending < MAX_PENDING and not self._queue:
            self._accept(row)
            return row.done
        return asyncio.ensure_future(self._accept_later(row))

    async def _accept_later(self, row: PendingRow) -> None:
        """Wait for room; the task that awaits the row waits too, and makes no more rows."""
        place: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._queue.append(place)
        await place
        self._accept(row)
        await row.done

    def _accept(self, row: PendingRow) -> None:
        if self._failure is not None:
            row.done.set_exception(StoreError(self._failure, file=str(self._path)))
            return
        self._pending += 1
        self._outbox.append(row)
        if len(self._outbox) == 1:
            row.done.get_loop().call_soon(self._hand_over)

    def _wake_tasks(self, results: "list[tuple[asyncio.Future[None], StoreError | None]]") -> None:
        """Wake the tasks of stored rows, and accept as many waiting rows as there is room for."""
        self._pending -= len(results)
        for done, error in results:
            if not done.done():  # its task may have been cancelled
                if error is None:
                    done.set_result(None)
                else:
                    done.set_exception(error)
        free = MAX_PENDING - self._pending
        while self._queue and free > 0:
            place = self._queue.popleft()
            if not place.done():
                place.set_result(None)
                free -= 1

    def _hand_over(self) -> None:
        if self._outbox:
            batch, self._outbox = self._outbox, []
            self._inbox.put(batch)

    # From here on in the writer's own thread.

    def _serve(self) -> None:
        while True:
            rows: list[PendingRow] = []
            try:
                if not self._collect():
                    break
                self._commit(rows)
            except BaseException as error:  # a MemoryError must not leave tasks waiting for ever
                self._fail(rows, error)
            self._report(rows)
            rows.clear()
        self._connection.close()

    def _collect(self) -> bool:
        """Collect all rows handed over, or wait for some. Return False at the end."""
        while True:
            try:
                batch = self._inbox.get(block=not self._waiting)
            except queue.Empty:
                return True
            if batch is None:
                if not self._waiting:
                    return False
                self._inbox.put(None)  # again, after the waiting rows
                return True
            self._waiting.extend(batch)

    def _commit(self, rows: list[PendingRow]) -> None:
        """Commit waiting rows in one transaction; `rows` has them however it ends."""
        if self._broken is not None:  # a batch handed over after the failure
            raise self._broken
        size = 0
        self._connection.execute("BEGIN IMMEDIATE")
        while self._waiting and size < BATCH_BYTES and len(rows) < BATCH_ROWS:
            row = self._waiting.popleft()
            rows.append(row)
            size += self._row_writer.write(row)
        self._connection.execute("COMMIT")

    def _report(self, rows: list[PendingRow]) -> None:
        if rows:
            results = [(row.done, row.error) for row in rows]
            with suppress(RuntimeError):  # the loop is closed: nobody waits any more
                results[0][0].get_loop().call_soon_threadsafe(self._wake_tasks, results)

    def _fail(self, rows: list[PendingRow], error: BaseException) -> None:
        """Roll back this transaction, and accept no more rows."""
        if self._broken is None:
            self._broken = error
            with suppress(sqlite3.Error):
                self._connection.rollback()
        if isinstance(error, sqlite3.Error):
            message = explain_sqlite_error(self._path, error).message
        else:
            message = f"the writer failed: {type(error).__name__}: {error}"
        self._failure = message
        rows.extend(self._waiting)
        self._waiting.clear()
        for row in rows:
            row.error = StoreError(message, file=str(self._path))
