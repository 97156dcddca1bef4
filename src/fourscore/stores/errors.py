"""Errors of a store, with what to do about them."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from fourscore.core import InputError

Found = TypeVar("Found")

#: Messages by SQLite's primary result code, the low byte of the extended one.
MESSAGES = {
    sqlite3.SQLITE_FULL: "the disk is full; free some space and resume",
    sqlite3.SQLITE_READONLY: "the store cannot be written: the file or its folder is read-only",
    sqlite3.SQLITE_CANTOPEN: "the store cannot be opened: check the folder's permissions",
    sqlite3.SQLITE_PERM: "the store cannot be opened: check its permissions",
    sqlite3.SQLITE_BUSY: "another process has locked the file for too long; try again",
    sqlite3.SQLITE_NOTADB: "this is not a store of fourscore: no SQLite file, or a truncated one",
    sqlite3.SQLITE_CORRUPT: "the file is damaged or truncated; restore a copy, or start a new one",
    sqlite3.SQLITE_IOERR: "the disk failed, or the file reached the largest size allowed",
}


class StoreError(InputError):
    """A store that cannot be used; `file` says which one."""


#: What reading a damaged file raises: the last one for text that is not UTF-8.
READ_ERRORS = (sqlite3.Error, UnicodeDecodeError)


class DamagedError(StoreError):
    """A stored value that cannot be decoded, or that a later version of Fourscore wrote."""


def explain_sqlite_error(path: Path | str, error: sqlite3.Error | UnicodeDecodeError) -> StoreError:
    """Return a SQLite error as a `StoreError`, with SQLite's message in parentheses."""
    if isinstance(error, UnicodeDecodeError):
        return StoreError(f"{MESSAGES[sqlite3.SQLITE_CORRUPT]} ({error})", file=str(path))
    code = getattr(error, "sqlite_errorcode", None)
    message = MESSAGES.get(code & 0xFF) if code is not None else None
    text = f"{message} ({error})" if message else f"SQLite error: {error}"
    return StoreError(text, file=str(path))


@contextmanager
def explain_sqlite_errors(path: Path | str) -> Iterator[None]:
    """Raise SQLite errors of the block as a `StoreError`."""
    try:
        yield
    except READ_ERRORS as error:
        raise explain_sqlite_error(path, error) from error


def check_rows(path: Path | str, rows: list[Any], kind: Any) -> list[Any]:
    """Return rows of these types: SQLite keeps any type in any column, whatever its table says."""
    try:
        found: list[Any] = msgspec.convert(rows, list[kind])
    except msgspec.ValidationError as error:
        raise StoreError(f"damaged: a row of the wrong type: {error}", file=str(path)) from error
    return found


def decode_stored(body: bytes, kind: type[Found], what: str) -> Found:
    """Decode the JSON of a column; raise a `DamagedError` that says what is damaged."""
    try:
        return msgspec.json.decode(body, type=kind)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise DamagedError(f"damaged: {error}", field=what) from error
