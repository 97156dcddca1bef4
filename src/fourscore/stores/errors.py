"""What can go wrong with a store, in words a person can act on."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from fourscore.core import InputError

#: By SQLite's primary result code, which is the low byte of the extended one.
WORDS = {
    sqlite3.SQLITE_FULL: "the disk is full; free some space and resume",
    sqlite3.SQLITE_READONLY: "it cannot be written: the file or its folder is read-only",
    sqlite3.SQLITE_CANTOPEN: "it cannot be opened: check the folder and its permissions",
    sqlite3.SQLITE_PERM: "it cannot be opened: check its permissions",
    sqlite3.SQLITE_BUSY: "another process has kept the file busy for too long; try again",
    sqlite3.SQLITE_NOTADB: "this is not a store of fourscore: no SQLite file, or a truncated one",
    sqlite3.SQLITE_CORRUPT: "the file is damaged or truncated; restore a copy, or start a new one",
    sqlite3.SQLITE_IOERR: "the disk failed, or the file reached the largest size allowed",
}


class StoreError(InputError):
    """A store that cannot be used as asked; `file` says which one."""


def explain_sqlite_error(path: Path | str, error: sqlite3.Error) -> StoreError:
    """SQLite's failure as ours, with its own words kept behind."""
    code = getattr(error, "sqlite_errorcode", None)
    words = WORDS.get(code & 0xFF) if code is not None else None
    return StoreError(f"{words} ({error})" if words else f"SQLite says: {error}", file=str(path))


@contextmanager
def explain_sqlite_errors(path: Path | str) -> Iterator[None]:
    try:
        yield
    except sqlite3.Error as error:
        raise explain_sqlite_error(path, error) from error
