"""Rows that are on the disk when the coroutine returns.

A disk does a few hundred syncs a second, so rows share them. Whatever the tasks of one turn of the
event loop put goes to one thread in one parcel, and the thread commits all it finds waiting in one
transaction: the slower the disk, the larger the batch. Each row is turned into JSON in that thread
just before it is written, so that of a batch of large rows one at a time exists twice, and a
transaction ends early when its rows are large.

A row that cannot be written (its score has no trace) fails alone. When a transaction fails, each
of its rows does, and the writer takes no more: after a failed sync nobody knows what the disk
holds, and a runner should stop. What was acknowledged before stays.
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
from fourscore.stores.schema import connect

#: Rows on their way to the disk; past this a task waits before its row is taken.
ROOM = 1024
#: A transaction ends after this many rows or bytes.
BATCH_ROWS = 1024
BATCH_BYTES = 8 << 20


class Writer:
    """The one writer of a run, used from one event loop, as a context manager.

    A trace that is put again replaces the former one, whose scores go with it: they were of
    something else. A score that is put again replaces its former self.
    """

    def __init__(self, path: Path, run_id: str, number: int) -> None:
        self.run_id, self._path = run_id, path
        self._under_way = 0
        self._line: deque[asyncio.Future[None]] = deque()
        self._outbox: list[PendingRow] = []
        self._inbox: queue.SimpleQueue[list[PendingRow] | None] = queue.SimpleQueue()
        self._waiting: deque[PendingRow] = deque()
        self._failure: str | None = None  # why nothing more is taken
        self._broken: BaseException | None = None
        self._lock = RunLock(path, run_id)
        try:
            self._connection = connect(path)
            self._check_writable()
        except BaseException:
            self._lock.release()
            raise
        self._ledger = RowWriter(self._connection, path, run_id, number)
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
        """Before the first agent is called, not after."""
        try:
            self._connection.execute("DELETE FROM runs WHERE 0")  # BEGIN alone would not say
        except sqlite3.Error as error:
            self._connection.close()
            raise explain_sqlite_error(self._path, error) from error

    def close(self) -> None:
        """Commit what was put, and let the run go. Tasks that wait are told by the event loop."""
        if self._failure is None:
            self._failure = "the writer of this run is closed"
        self._hand_over()
        self._inbox.put(None)
        self._thread.join()
        self._lock.release()

    def put_trace(
        self, position: int, case: Case, repeat: int, trace: Trace
    ) -> "asyncio.Future[None]":
        """Done once the trace is on the disk."""
        return self._put(case.id, repeat, TraceRow(position, case, trace), None)

    def put_score(
        self, case_id: str, repeat: int, judge: str, score: Score
    ) -> "asyncio.Future[None]":
        """Done once the score of a stored trace is on the disk."""
        return self._put(case_id, repeat, None, ScoreRow(judge, score))

    def put_both(
        self, position: int, case: Case, repeat: int, trace: Trace, judge: str, score: Score
    ) -> "asyncio.Future[None]":
        """A trace and its score in one transaction."""
        attempt, verdict = TraceRow(position, case, trace), ScoreRow(judge, score)
        return self._put(case.id, repeat, attempt, verdict)

    def _put(
        self, case_id: str, repeat: int, attempt: TraceRow | None, verdict: ScoreRow | None
    ) -> "asyncio.Future[None]":
        entry = PendingRow(case_id, repeat, attempt, verdict)
        if self._under_way < ROOM and not self._line:
            self._take(entry)
            return entry.done
        return asyncio.ensure_future(self._later(entry))

    async def _later(self, entry: PendingRow) -> None:
        """Wait for room: whoever waits for the row waits for this too, and makes no more rows."""
        place: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._line.append(place)
        await place
        self._take(entry)
        await entry.done

    def _take(self, entry: PendingRow) -> None:
        if self._failure is not None:
            entry.done.set_exception(StoreError(self._failure, file=str(self._path)))
            return
        self._under_way += 1
        self._outbox.append(entry)
        if len(self._outbox) == 1:
            entry.done.get_loop().call_soon(self._hand_over)

    def _delivered(self, told: "list[tuple[asyncio.Future[None], StoreError | None]]") -> None:
        """Wake the tasks, all of them in one go, and let in as many as there is room for."""
        self._under_way -= len(told)
        for done, error in told:
            if not done.done():  # its task may have been cancelled
                if error is None:
                    done.set_result(None)
                else:
                    done.set_exception(error)
        free = ROOM - self._under_way
        while self._line and free > 0:
            place = self._line.popleft()
            if not place.done():
                place.set_result(None)
                free -= 1

    def _hand_over(self) -> None:
        if self._outbox:
            parcel, self._outbox = self._outbox, []
            self._inbox.put(parcel)

    # From here on, in the writer's own thread.

    def _serve(self) -> None:
        while self._collect():
            entries: list[PendingRow] = []
            try:
                self._commit(entries)
            except BaseException as error:  # a MemoryError must not leave tasks waiting for ever
                self._fail(entries, error)
            self._tell(entries)
            entries.clear()
        self._connection.close()

    def _collect(self) -> bool:
        """Take in all that has been handed over; wait where nothing has. False at the end."""
        while True:
            try:
                parcel = self._inbox.get(block=not self._waiting)
            except queue.Empty:
                return True
            if parcel is None:
                if not self._waiting:
                    return False
                self._inbox.put(None)  # once more, after what waits
                return True
            self._waiting.extend(parcel)

    def _commit(self, entries: list[PendingRow]) -> None:
        """One transaction of what waits. What it takes in is in `entries`, however it ends."""
        if self._broken is not None:  # a parcel that was on its way
            raise self._broken
        size = 0
        self._connection.execute("BEGIN IMMEDIATE")
        while self._waiting and size < BATCH_BYTES and len(entries) < BATCH_ROWS:
            entry = self._waiting.popleft()
            entries.append(entry)
            size += self._ledger.write(entry)
        self._connection.execute("COMMIT")

    def _tell(self, entries: list[PendingRow]) -> None:
        if entries:
            told = [(entry.done, entry.error) for entry in entries]
            with suppress(RuntimeError):  # the loop is closed: nobody waits any more
                told[0][0].get_loop().call_soon_threadsafe(self._delivered, told)

    def _fail(self, entries: list[PendingRow], error: BaseException) -> None:
        """Nothing of this transaction is kept, and nothing more is taken."""
        if self._broken is None:
            self._broken = error
            with suppress(sqlite3.Error):
                self._connection.rollback()
        if isinstance(error, sqlite3.Error):
            told = explain_sqlite_error(self._path, error).message
        else:
            told = f"the writer failed: {type(error).__name__}: {error}"
        self._failure = told
        entries.extend(self._waiting)
        self._waiting.clear()
        for entry in entries:
            entry.error = StoreError(told, file=str(self._path))
