"""The SQLite file of a monitor: its tables, one connection that writes and one that reads.

With two connections, reading the metrics never waits for a commit. A forked process opens its own;
those it inherited are neither used nor closed, as SQLite requires.

A sample is a row under the monitor's name and the interaction's id, so an interaction is one sample
however many processes saw it. Its text is in `texts`, since it expires after a week while the
sample stays. `states` has the state folded from all samples, written in the transaction that adds
them; the alerts of that transaction are in `alerts`, their deliveries in `deliveries`. Spans wait
in `spans` until their trace is complete.
"""

import os
import sqlite3
import threading
import time
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from fourscore.stores import sqlite_file
from fourscore.stores.errors import StoreError, check_rows, explain_sqlite_errors
from fourscore.stores.sqlite_file import Layout, connect, create

TABLES = {
    "samples": """CREATE TABLE samples (
        number INTEGER PRIMARY KEY, monitor TEXT NOT NULL, id TEXT NOT NULL, at REAL NOT NULL,
        drawn INTEGER NOT NULL, status TEXT NOT NULL, passed INTEGER, value REAL,
        body BLOB NOT NULL)""",
    "samples_key": "CREATE UNIQUE INDEX samples_key ON samples (monitor, id)",
    "samples_order": "CREATE INDEX samples_order ON samples (monitor, number)",
    "samples_age": "CREATE INDEX samples_age ON samples (at)",
    "texts": """CREATE TABLE texts (
        sample INTEGER PRIMARY KEY REFERENCES samples, expires REAL NOT NULL,
        body BLOB NOT NULL)""",
    "texts_age": "CREATE INDEX texts_age ON texts (expires)",
    "states": """CREATE TABLE states (
        monitor TEXT PRIMARY KEY, updated REAL NOT NULL, body BLOB NOT NULL) WITHOUT ROWID""",
    "counts": """CREATE TABLE counts (
        monitor TEXT NOT NULL, what TEXT NOT NULL, n INTEGER NOT NULL,
        PRIMARY KEY (monitor, what)) WITHOUT ROWID""",
    "spent": """CREATE TABLE spent (
        monitor TEXT NOT NULL, hour INTEGER NOT NULL, calls INTEGER NOT NULL,
        tokens INTEGER NOT NULL, dollars REAL NOT NULL,
        PRIMARY KEY (monitor, hour)) WITHOUT ROWID""",
    "alerts": """CREATE TABLE alerts (
        number INTEGER PRIMARY KEY, monitor TEXT NOT NULL, stream TEXT NOT NULL,
        at REAL NOT NULL, open INTEGER NOT NULL, ended REAL, body BLOB NOT NULL)""",
    "alerts_order": "CREATE INDEX alerts_order ON alerts (monitor, number)",
    "alerts_open": "CREATE INDEX alerts_open ON alerts (monitor, stream) WHERE open",
    "deliveries": """CREATE TABLE deliveries (
        alert INTEGER NOT NULL REFERENCES alerts, sink TEXT NOT NULL, state TEXT NOT NULL,
        attempts INTEGER NOT NULL, sent INTEGER NOT NULL, next REAL, claim TEXT,
        error TEXT NOT NULL,
        PRIMARY KEY (alert, sink)) WITHOUT ROWID""",
    "spans": """CREATE TABLE spans (
        trace_id TEXT NOT NULL, span_id TEXT NOT NULL, at REAL NOT NULL, body BLOB NOT NULL,
        PRIMARY KEY (trace_id, span_id))""",
    "otel_traces": """CREATE TABLE otel_traces (
        trace_id TEXT PRIMARY KEY, first_seen REAL NOT NULL, last_seen REAL NOT NULL,
        rooted INTEGER NOT NULL, spans INTEGER NOT NULL, bytes INTEGER NOT NULL,
        claimed REAL NOT NULL, done REAL) WITHOUT ROWID""",
    "otel_open": "CREATE INDEX otel_open ON otel_traces (first_seen) WHERE done IS NULL",
    "otel_whole": """CREATE INDEX otel_whole ON otel_traces (last_seen)
        WHERE done IS NULL AND rooted""",
    "otel_done": "CREATE INDEX otel_done ON otel_traces (done) WHERE done IS NOT NULL",
}

MONITOR = Layout("a monitor", 0x5255424D, 1, TABLES)  # "RUBM"

#: What a store in memory is called in messages.
MEMORY = ":memory:"

#: Seconds that a fork waits for other threads to leave the file.
FORK_WAIT = 2.0

_open: "weakref.WeakSet[MonitorFile]" = weakref.WeakSet()
_held = threading.local()
_inherited: list[sqlite3.Connection] = []


class MonitorFile:
    """Usable from any thread. Without a path it is in memory, and a forked child has a new one."""

    _writer: sqlite3.Connection | None = None
    _reader: sqlite3.Connection | None = None

    def __init__(self, path: str | Path | None, *, make: bool = True) -> None:
        self.path = None if path is None else Path(path).resolve()
        self._reset()
        if self.path is not None and make and not self.path.exists():
            create(self.path, MONITOR)
        self._connect()  # a bad file is refused here
        _open.add(self)

    @property
    def name(self) -> str:
        return MEMORY if self.path is None else str(self.path)

    def _reset(self) -> None:
        self._closed = False
        self._max_wait: float | None = None  # None is as long as any store waits
        self._set_wait: float | None = None  # the value that the connection has
        self._writer = self._reader = None
        self._writing = threading.Lock()
        # In memory there is one connection, and so one lock.
        self._reading = self._writing if self.path is None else threading.Lock()

    def _connect(self) -> tuple[sqlite3.Connection, sqlite3.Connection]:
        if self._closed:
            raise StoreError("the store is closed", file=self.name)
        if self._writer is None or self._reader is None:
            if self.path is None:
                self._writer = self._reader = _open_in_memory()
            else:
                self._writer = connect(self.path, MONITOR)
                self._reader = connect(self.path, MONITOR)
        return self._writer, self._reader

    def rows(
        self, query: str, values: tuple[object, ...] = (), kind: Any = tuple[Any, ...]
    ) -> list[Any]:
        """Return all rows of a query, each of the type `kind`, as of the last commit."""
        with self._reading, explain_sqlite_errors(self.name):
            _, reader = self._connect()
            found = reader.execute(query, values).fetchall()
        return check_rows(self.name, found, kind)

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """Run the block as one transaction, on the disk when it has ended."""
        with self._lock_writer(), explain_sqlite_errors(self.name):
            writer, _ = self._connect()
            if self._max_wait != self._set_wait:
                seconds = sqlite_file.MAX_WAIT if self._max_wait is None else self._max_wait
                writer.execute(f"PRAGMA busy_timeout = {int(seconds * 1000)}")
                self._set_wait = self._max_wait
            writer.execute("BEGIN IMMEDIATE")
            try:
                yield writer
                writer.execute("COMMIT")
            except BaseException:
                writer.rollback()
                raise

    @contextmanager
    def _lock_writer(self) -> Iterator[None]:
        if not self._writing.acquire(timeout=-1 if self._max_wait is None else self._max_wait):
            raise StoreError("another thread has locked the file for too long", file=self.name)
        try:
            yield
        finally:
            self._writing.release()

    @contextmanager
    def limit_wait(self, seconds: float) -> Iterator[None]:
        """Limit how long a write waits for other writers, inside the block."""
        before, self._max_wait = self._max_wait, seconds
        try:
            yield
        finally:
            self._max_wait = before

    def close(self) -> None:
        with self._writing:
            self._closed = True
            for connection in {self._writer, self._reader} - {None}:
                connection.close()  # type: ignore[union-attr]
            self._writer = self._reader = None

    def __del__(self) -> None:
        """Close the connections of a store that nobody closed, as is usual for one in memory."""
        for connection in (self._writer, self._reader):
            if connection is not None:
                connection.close()

    def _reset_after_fork(self) -> None:
        closed = self._closed
        _inherited.extend(one for one in (self._writer, self._reader) if one is not None)
        self._reset()
        self._closed = closed


def _open_in_memory() -> sqlite3.Connection:
    connection = sqlite3.connect(MEMORY, isolation_level=None, check_same_thread=False)
    for sql in MONITOR.tables.values():
        connection.execute(sql)
    return connection


def _before_fork() -> None:
    """Wait until no thread is inside SQLite: its locks would stay locked in the child.

    The wait is limited, as another process may keep a transaction waiting.
    """
    _held.locks = []
    until = time.monotonic() + FORK_WAIT
    for file in list(_open):
        for lock in dict.fromkeys((file._writing, file._reading)):
            if lock.acquire(timeout=max(0.0, until - time.monotonic())):
                _held.locks.append(lock)


def _after_fork_in_parent() -> None:
    for lock in _held.locks:
        lock.release()
    _held.locks = []


def _after_fork() -> None:
    _held.locks = []
    for file in list(_open):
        file._reset_after_fork()


os.register_at_fork(
    before=_before_fork, after_in_parent=_after_fork_in_parent, after_in_child=_after_fork
)
