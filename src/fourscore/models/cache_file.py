"""Replies in a SQLite file that several processes share.

The write-ahead log is synced at checkpoints only: a crash of the machine may lose the last replies,
which costs only money. Nothing that happens to the file stops a run: a broken file is renamed and a
new one begun, and without a file that can be written there is no cache, each with a warning.

Prompts are not stored, only their digests. Replies are, so other users may not read the file.
"""

import fcntl
import os
import sqlite3
import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple, TypeVar

Result = TypeVar("Result")

TABLE = """CREATE TABLE IF NOT EXISTS replies (
    key TEXT PRIMARY KEY, reply BLOB NOT NULL, size INTEGER NOT NULL, used REAL NOT NULL
)"""
#: With the size in it, choosing what to drop never reads the replies.
INDEX = "CREATE INDEX IF NOT EXISTS replies_by_use ON replies (used, size)"
GET = "SELECT reply, used FROM replies WHERE key = ?"
TOUCH = "UPDATE replies SET used = ? WHERE key = ?"
PUT = "INSERT OR REPLACE INTO replies (key, reply, size, used) VALUES (?, ?, ?, ?)"
OLDEST = "SELECT rowid, size FROM replies ORDER BY used"
#: "RubC", the application id of SQLite files that are such a cache.
APPLICATION_ID = 0x52756243
#: Bytes of a row beside its reply.
ROW_BYTES = 150
#: Seconds to wait for another process that writes.
WRITE_TIMEOUT = 10.0
#: Seconds before the use of a reply is recorded again: reading alone writes little.
TOUCH_SECONDS = 60.0
#: Eviction shrinks the file to this share, so that it does not run for every reply.
EVICT_TO = 0.9


@contextmanager
def _transaction(connection: sqlite3.Connection) -> Iterator[None]:
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        with suppress(sqlite3.Error):
            connection.execute("ROLLBACK")
        raise


def _mark_as_cache(connection: sqlite3.Connection) -> None:
    """Make an empty file a cache; refuse any other database, untouched."""
    with _transaction(connection):
        (mark,) = connection.execute("PRAGMA application_id").fetchone()
        (tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
        if mark != APPLICATION_ID and (mark or tables):
            raise OSError("this SQLite file is not a cache of fourscore")
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        connection.execute(TABLE)
        connection.execute(INDEX)


def _count_used_bytes(connection: sqlite3.Connection) -> int:
    """Return the bytes in use. Free pages are filled before the file grows, so this bounds it."""
    pages, free, size = (
        connection.execute(f"PRAGMA {name}").fetchone()[0]
        for name in ("page_count", "freelist_count", "page_size")
    )
    return int((pages - free) * size)


class StoredReply(NamedTuple):
    reply: bytes
    needs_touch: bool


class CacheFile:
    """One connection to the cache file, for one thread at a time; opened on first use."""

    def __init__(self, path: Path, max_bytes: int, timeout: float = WRITE_TIMEOUT) -> None:
        self.path, self.max_bytes, self._timeout = path, max_bytes, timeout
        self._connection: sqlite3.Connection | None = None
        self._opened: tuple[int, int] = (0, 0)
        self._added = 0
        self.disabled = False

    def get(self, key: str, now: float | None = None) -> StoredReply | None:
        """Return a reply, and whether its use should be recorded again."""

        def read(connection: sqlite3.Connection) -> StoredReply | None:
            row = connection.execute(GET, (key,)).fetchone()
            if row is None:
                return None
            moment = time.time() if now is None else now
            return StoredReply(bytes(row[0]), abs(moment - row[1]) > TOUCH_SECONDS)

        return self._run_safely(read)

    def put(
        self,
        replies: Iterable[tuple[str, bytes]],
        touched: Iterable[str] = (),
        now: float | None = None,
    ) -> None:
        """Write replies, and the use of others, in one transaction."""
        moment = time.time() if now is None else now
        rows = [
            (key, reply, len(reply) + ROW_BYTES, moment)
            for key, reply in replies
            if len(reply) + ROW_BYTES <= self.max_bytes
        ]

        def write(connection: sqlite3.Connection) -> None:
            with _transaction(connection):
                connection.executemany(TOUCH, [(moment, key) for key in touched])
                connection.executemany(PUT, rows)
                self._added += sum(row[2] for row in rows)
                if self._added >= self.max_bytes // 32:
                    self._evict(connection)

        self._run_safely(write)

    def close(self) -> None:
        if self._connection is not None:
            with suppress(sqlite3.Error):
                self._connection.close()
        self._connection = None

    def _evict(self, connection: sqlite3.Connection) -> None:
        self._added = 0
        total = _count_used_bytes(connection)
        # Checked again after a 32nd more, in each of the processes that write.
        if total <= self.max_bytes - self.max_bytes // 16:
            return
        gone = []
        for row, size in connection.execute(OLDEST):
            if total <= self.max_bytes * EVICT_TO:
                break
            gone.append((row,))
            total -= size
        connection.executemany("DELETE FROM replies WHERE rowid = ?", gone)

    def _run_safely(self, work: Callable[[sqlite3.Connection], Result]) -> Result | None:
        """Return the result of `work`; None where the file cannot be used."""
        for is_first_try in (True, False):
            if self.disabled:
                return None
            try:
                return work(self._open())
            except (sqlite3.DatabaseError, UnicodeDecodeError) as error:
                code = getattr(error, "sqlite_errorcode", None) or 0
                broken = code & 0xFF in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
                broken = broken or isinstance(error, UnicodeDecodeError)  # text of changed bytes
                # Foreign tables have no error code of their own, but are just as useless.
                broken = broken or (code & 0xFF == sqlite3.SQLITE_ERROR and is_first_try)
                if broken and is_first_try:
                    self._rename_broken(str(error))
                elif code & 0xFF in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
                    return None  # other processes write: this one reply is not cached
                else:
                    self._disable(str(error))
            except OSError as error:
                self._disable(error.strerror or str(error))
        return None

    def _open(self) -> sqlite3.Connection:
        if self._connection is not None:
            return self._connection
        self.path.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            found = os.fstat(descriptor)
            self._opened = (found.st_dev, found.st_ino)
        finally:
            os.close(descriptor)
        connection = sqlite3.connect(
            self.path, timeout=self._timeout, isolation_level=None, check_same_thread=False
        )
        try:
            connection.execute("PRAGMA trusted_schema = OFF")
            _mark_as_cache(connection)
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = NORMAL")
            connection.execute(f"PRAGMA journal_size_limit = {8 << 20}")
        except BaseException:
            connection.close()
            raise
        self._connection = connection
        return connection

    def _rename_broken(self, why: str) -> None:
        """Rename the broken file, unless another process already did."""
        self.close()
        with self.path.with_name(f"{self.path.name}.lock").open("a") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            with suppress(FileNotFoundError):
                found = self.path.stat()
                if (found.st_dev, found.st_ino) != self._opened:
                    return
                renamed = self.path.with_name(f"{self.path.name}.broken-{time.time_ns()}")
                self.path.rename(renamed)
                for end in ("-wal", "-shm"):
                    self.path.with_name(self.path.name + end).unlink(missing_ok=True)
                message = f"{self.path}: the cache is broken ({why}); it is now {renamed.name}"
                warnings.warn(message, RuntimeWarning, stacklevel=2)

    def _disable(self, why: str) -> None:
        self.close()
        self.disabled = True
        warnings.warn(f"{self.path}: no replies are cached: {why}", RuntimeWarning, stacklevel=2)
