"""What is in a cache file, and how to empty it: `fourscore cache`.

Unlike a run, which goes on without its cache, these functions refuse a file that they cannot read.
"""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

import msgspec

from fourscore.core import ConfigError
from fourscore.models.cache_file import APPLICATION_ID, WRITE_TIMEOUT

COUNT = """SELECT count(*), coalesce(sum(length(reply)), 0),
    min(CAST(used AS REAL)), max(CAST(used AS REAL)) FROM replies"""


class CacheInfo(msgspec.Struct, frozen=True, kw_only=True):
    """The content of a cache file. `file_bytes`: with its log. `first_used` and `last_used`: when
    the least and the most recently used reply was used, in seconds since 1970."""

    path: str
    exists: bool
    replies: int = 0
    reply_bytes: int = 0
    file_bytes: int = 0
    first_used: float | None = None
    last_used: float | None = None


def read_cache_info(path: Path) -> CacheInfo:
    """Return what is in the file; a missing file has no replies."""
    if not path.exists():
        return CacheInfo(path=str(path), exists=False)
    with _open_cache(path) as connection:
        replies, size, first, last = connection.execute(COUNT).fetchone()
    return CacheInfo(
        path=str(path),
        exists=True,
        replies=replies,
        reply_bytes=size,
        file_bytes=_measure_files(path),
        first_used=first,
        last_used=last,
    )


def clear_cache(path: Path) -> CacheInfo:
    """Remove all replies, and return what was in the file; runs may use it meanwhile."""
    before = read_cache_info(path)
    if before.exists:
        with _open_cache(path) as connection:
            removed = connection.execute("DELETE FROM replies").rowcount
            before = msgspec.structs.replace(before, replies=removed)
            with suppress(sqlite3.OperationalError):  # a run is reading: it shrinks the next time
                connection.execute("VACUUM")
                connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return before


@contextmanager
def _open_cache(path: Path) -> Iterator[sqlite3.Connection]:
    """Open an existing cache; `ConfigError` for any other file, which is not changed."""
    try:
        address = f"{path.resolve().as_uri()}?mode=rw"
        with closing(
            sqlite3.connect(address, uri=True, timeout=WRITE_TIMEOUT, isolation_level=None)
        ) as connection:
            connection.execute("PRAGMA trusted_schema = OFF")
            if connection.execute("PRAGMA application_id").fetchone()[0] != APPLICATION_ID:
                raise ConfigError("this SQLite file is not a cache of fourscore", file=str(path))
            yield connection
    except sqlite3.Error as error:
        message = f"it cannot be used as a cache of fourscore: {error}"
        raise ConfigError(message, file=str(path)) from None


def _measure_files(path: Path) -> int:
    files = (path, path.with_name(f"{path.name}-wal"))
    return sum(file.stat().st_size for file in files if file.exists())
