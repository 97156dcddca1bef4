"""Replies in a SQLite file that several processes share.

The log is written ahead (WAL) and synced at checkpoints only: a crash of the machine may lose the
last replies, which is no loss but of money. Nothing that happens to the file stops a run: one that
is broken is set aside under another name and a new one begun, and one that cannot be written is
done without, each with a warning.

Prompts are not in it, only their digests. Replies are, so others may not read the file.
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
#: With the size in it, to find what goes never touches the replies.
INDEX = "CREATE INDEX IF NOT EXISTS replies_by_use ON replies (used, size)"
GET = "SELECT reply, used FROM replies WHERE key = ?"
TOUCH = "UPDATE replies SET used = ? WHERE key = ?"
PUT = "INSERT OR REPLACE INTO replies (key, reply, size, used) VALUES (?, ?, ?, ?)"
OLDEST = "SELECT rowid, size FROM replies ORDER BY used"
#: "RubC" at the place where SQLite files say whose they are.
APPLICATION = 0x52756243
#: What a row takes beside its reply.
ROW = 150
#: Seconds to wait for another process that is writing.
PATIENCE = 10.0
#: Seconds before a use is written down again: a cache that is only read writes little.
TOUCHED = 60.0
#: Eviction goes down to this share, so that it does not come with every reply.
KEPT = 0.9


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


def _claim(connection: sqlite3.Connection) -> None:
    """Make an empty file a cache; somebody's other database is refused, untouched."""
    with _transaction(connection):
        (mark,) = connection.execute("PRAGMA application_id").fetchone()
        (tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
        if mark != APPLICATION and (mark or tables):
            raise OSError("this is a SQLite file, but not a cache of fourscore")
        connection.execute(f"PRAGMA application_id = {APPLICATION}")
        connection.execute(TABLE)
        connection.execute(INDEX)


def _pages(connection: sqlite3.Connection) -> int:
    """Bytes of the file in use. Free pages are filled before it grows, so this bounds it."""
    pages, free, size = (
        connection.execute(f"PRAGMA {name}").fetchone()[0]
        for name in ("page_count", "freelist_count", "page_size")
    )
    return int((pages - free) * size)


class Found(NamedTuple):
    reply: bytes
    stale: bool


class CacheFile:
    """Not for two threads at once. Opened when it is first used."""

    def __init__(self, path: Path, max_bytes: int, patience: float = PATIENCE) -> None:
        self.path, self.max_bytes, self._patience = path, max_bytes, patience
        self._connection: sqlite3.Connection | None = None
        self._opened: tuple[int, int] = (0, 0)
        self._added = 0
        self.off = False

    def get(self, key: str, now: float | None = None) -> Found | None:
        """A reply, and whether its use should be written down again."""

        def read(connection: sqlite3.Connection) -> Found | None:
            row = connection.execute(GET, (key,)).fetchone()
            if row is None:
                return None
            moment = time.time() if now is None else now
            return Found(bytes(row[0]), abs(moment - row[1]) > TOUCHED)

        return self._safely(read)

    def put(
        self,
        replies: Iterable[tuple[str, bytes]],
        touched: Iterable[str] = (),
        now: float | None = None,
    ) -> None:
        """Write replies, and that others were used, in one transaction."""
        moment = time.time() if now is None else now
        rows = [
            (key, reply, len(reply) + ROW, moment)
            for key, reply in replies
            if len(reply) + ROW <= self.max_bytes
        ]

        def write(connection: sqlite3.Connection) -> None:
            with _transaction(connection):
                connection.executemany(TOUCH, [(moment, key) for key in touched])
                connection.executemany(PUT, rows)
                self._added += sum(row[2] for row in rows)
                if self._added >= self.max_bytes // 32:
                    self._evict(connection)

        self._safely(write)

    def close(self) -> None:
        if self._connection is not None:
            with suppress(sqlite3.Error):
                self._connection.close()
        self._connection = None

    def _evict(self, connection: sqlite3.Connection) -> None:
        self._added = 0
        total = _pages(connection)
        # The next look comes after a 32nd more, in each of the processes that write.
        if total <= self.max_bytes - self.max_bytes // 16:
            return
        gone = []
        for row, size in connection.execute(OLDEST):
            if total <= self.max_bytes * KEPT:
                break
            gone.append((row,))
            total -= size
        connection.executemany("DELETE FROM replies WHERE rowid = ?", gone)

    def _safely(self, work: Callable[[sqlite3.Connection], Result]) -> Result | None:
        """The work done; None where the file does not allow it."""
        for again in (True, False):
            if self.off:
                return None
            try:
                return work(self._open())
            except sqlite3.DatabaseError as error:
                code = getattr(error, "sqlite_errorcode", None) or 0
                broken = code & 0xFF in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
                # Tables that are not ours are no SQLite error code, but just as useless.
                broken = broken or (code & 0xFF == sqlite3.SQLITE_ERROR and again)
                if broken and again:
                    self._set_aside(str(error))
                elif code & 0xFF in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
                    return None  # the others write a lot; this one reply is done without
                else:
                    self._give_up(str(error))
            except OSError as error:
                self._give_up(error.strerror or str(error))
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
            self.path, timeout=self._patience, isolation_level=None, check_same_thread=False
        )
        try:
            connection.execute("PRAGMA trusted_schema = OFF")
            _claim(connection)
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = NORMAL")
            connection.execute(f"PRAGMA journal_size_limit = {8 << 20}")
        except BaseException:
            connection.close()
            raise
        self._connection = connection
        return connection

    def _set_aside(self, why: str) -> None:
        """Rename the broken file, unless another process already did and began anew."""
        self.close()
        with self.path.with_name(f"{self.path.name}.lock").open("a") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            with suppress(FileNotFoundError):
                found = self.path.stat()
                if (found.st_dev, found.st_ino) != self._opened:
                    return
                aside = self.path.with_name(f"{self.path.name}.broken-{time.time_ns()}")
                self.path.rename(aside)
                for end in ("-wal", "-shm"):
                    self.path.with_name(self.path.name + end).unlink(missing_ok=True)
                message = f"{self.path}: the cache is broken ({why}); it is now {aside.name}"
                warnings.warn(message, RuntimeWarning, stacklevel=2)

    def _give_up(self, why: str) -> None:
        self.close()
        self.off = True
        warnings.warn(f"{self.path}: no replies are cached: {why}", RuntimeWarning, stacklevel=2)
