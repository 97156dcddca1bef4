"""The file of a monitor as its store uses it: one connection that writes, one that reads.

They are apart so that who asks for the metrics never waits behind a commit. A forked process opens
its own; the ones it inherited are neither used nor closed there, as SQLite asks.
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

from fourscore.stores import schema
from fourscore.stores.errors import StoreError, explain_sqlite_errors
from fourscore.stores.schema import Layout, connect, create

#: What a store in memory is called in messages.
MEMORY = ":memory:"

#: Seconds that a fork waits for other threads to leave the file.
FORK_WAIT = 2.0

_open: "weakref.WeakSet[MonitorFile]" = weakref.WeakSet()
_held = threading.local()
_inherited: list[sqlite3.Connection] = []


class MonitorFile:
    """Usable from any thread. Without a path it is kept in memory, and a fork begins a new one."""

    _writer: sqlite3.Connection | None = None
    _reader: sqlite3.Connection | None = None

    def __init__(self, path: str | Path | None, *, make: bool = True) -> None:
        self.path = None if path is None else Path(path).resolve()
        self._prepare()
        if self.path is not None and make and not self.path.exists():
            create(self.path, MONITOR)
        self._connected()  # what is wrong with the file shows here
        _open.add(self)

    @property
    def name(self) -> str:
        return MEMORY if self.path is None else str(self.path)

    def _prepare(self) -> None:
        self._closed = False
        self._patience: float | None = None  # None is as long as any store waits
        self._told: float | None = None  # what the connection knows of it
        self._writer = self._reader = None
        self._writing = threading.Lock()
        # In memory there is one connection, and so one lock.
        self._reading = self._writing if self.path is None else threading.Lock()

    def _connected(self) -> tuple[sqlite3.Connection, sqlite3.Connection]:
        if self._closed:
            raise StoreError("the store is closed", file=self.name)
        if self._writer is None or self._reader is None:
            if self.path is None:
                self._writer = self._reader = _in_memory()
            else:
                self._writer = connect(self.path, MONITOR)
                self._reader = connect(self.path, MONITOR)
        return self._writer, self._reader

    def rows(self, query: str, values: tuple[object, ...] = ()) -> list[Any]:
        """All that a query finds, as of the last commit."""
        with self._reading, explain_sqlite_errors(self.name):
            _, reader = self._connected()
            return reader.execute(query, values).fetchall()

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """All of it or nothing, on the disk when the block has ended."""
        with self._turn(), explain_sqlite_errors(self.name):
            writer, _ = self._connected()
            if self._patience != self._told:
                seconds = schema.PATIENCE if self._patience is None else self._patience
                writer.execute(f"PRAGMA busy_timeout = {int(seconds * 1000)}")
                self._told = self._patience
            writer.execute("BEGIN IMMEDIATE")
            try:
                yield writer
                writer.execute("COMMIT")
            except BaseException:
                writer.rollback()
                raise

    @contextmanager
    def _turn(self) -> Iterator[None]:
        if not self._writing.acquire(timeout=-1 if self._patience is None else self._patience):
            raise StoreError("another thread has kept the file busy for too long", file=self.name)
        try:
            yield
        finally:
            self._writing.release()

    @contextmanager
    def limit_wait(self, seconds: float) -> Iterator[None]:
        """While the block lasts, nobody waits longer than this for others who write."""
        before, self._patience = self._patience, seconds
        try:
            yield
        finally:
            self._patience = before

    def close(self) -> None:
        with self._writing:
            self._closed = True
            for connection in {self._writer, self._reader} - {None}:
                connection.close()  # type: ignore[union-attr]
            self._writer = self._reader = None

    def __del__(self) -> None:
        """For those who never close it, as most do with one in memory."""
        for connection in (self._writer, self._reader):
            if connection is not None:
                connection.close()

    def _forked(self) -> None:
        closed = self._closed
        _inherited.extend(one for one in (self._writer, self._reader) if one is not None)
        self._prepare()
        self._closed = closed


def _in_memory() -> sqlite3.Connection:
    connection = sqlite3.connect(MEMORY, isolation_level=None, check_same_thread=False)
    for sql in MONITOR.tables.values():
        connection.execute(sql)
    return connection


def _before_fork() -> None:
    """Wait until no thread is inside SQLite: what it has locked would stay so in the child.

    Not for ever, as another process may keep a transaction waiting.
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
        file._forked()


os.register_at_fork(
    before=_before_fork, after_in_parent=_after_fork_in_parent, after_in_child=_after_fork
)


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
