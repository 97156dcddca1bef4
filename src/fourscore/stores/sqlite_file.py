"""Opens and creates store files, and defines the tables of a store of runs.

A file has a `Layout`: its tables, and the numbers that distinguish it from files of another kind.

A trace is a row, appended in the order of arrival, so that its bytes are written once; only the
unique index over run, case and repeat scatters ids without an order (digests). A score refers to
its trace, which makes its key run × case × repeat × judge, keeps writes in order, and refuses a
score without a trace. Small columns come first: SQLite then reads them without the pages of a large
trace behind them.

A file is created in a folder of its own and linked into place with its tables in it. So a process
that dies cannot leave an empty store, and an empty file is refused, as are foreign, newer and
truncated ones. What it leaves is that folder, which the next process removes: its lock is free.

Nothing here opens the database file except SQLite: closing a second descriptor of it would drop
the locks that SQLite holds for this process.
"""

import fcntl
import glob
import os
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from secrets import token_hex
from typing import NamedTuple

from fourscore.stores.errors import READ_ERRORS, StoreError, explain_sqlite_error

APPLICATION = 0x52554252  # "RUBR"
VERSION = 1
#: Seconds to wait for another process that writes into the same file.
MAX_WAIT = 60.0
#: Pages in the log after which it is merged into the file.
CHECKPOINT_PAGES = 8000
#: Bytes to which a log is truncated that grew behind a slow reader.
LOG_BYTES = 64 << 20

#: How the name of a draft's folder ends.
DRAFT = ".fourscore-draft"

#: Bytes of the headers of a write-ahead log and of its frames.
WAL_HEADER = 32
WAL_FRAME_HEADER = 24

TABLES = {
    "runs": """CREATE TABLE runs (
        number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, info TEXT NOT NULL,
        finished REAL, summary TEXT)""",
    "traces": """CREATE TABLE traces (
        number INTEGER PRIMARY KEY, run INTEGER NOT NULL REFERENCES runs, case_id TEXT NOT NULL,
        repeat INTEGER NOT NULL, position INTEGER NOT NULL, attempt INTEGER NOT NULL, seconds REAL,
        "case" TEXT NOT NULL, trace TEXT NOT NULL)""",
    "traces_key": "CREATE UNIQUE INDEX traces_key ON traces (run, case_id, repeat)",
    "traces_order": "CREATE INDEX traces_order ON traces (run, position, repeat)",
    "scores": """CREATE TABLE scores (
        trace INTEGER NOT NULL REFERENCES traces, judge TEXT NOT NULL, status TEXT NOT NULL,
        value REAL, passed INTEGER, reward REAL, score TEXT NOT NULL,
        PRIMARY KEY (trace, judge)) WITHOUT ROWID""",
    "labels": """CREATE TABLE labels (
        trace INTEGER NOT NULL REFERENCES traces, who TEXT NOT NULL, attempt INTEGER NOT NULL,
        verdict TEXT NOT NULL, note TEXT NOT NULL, created REAL NOT NULL,
        PRIMARY KEY (trace, who)) WITHOUT ROWID""",
    # For people with the sqlite3 command line: ids instead of numbers.
    "results": """CREATE VIEW results AS
        SELECT runs.id AS run, case_id, repeat, position, attempt, seconds, judge, status, value,
            passed, reward, "case", traces.trace, score
        FROM traces JOIN runs ON runs.number = traces.run
        LEFT JOIN scores ON scores.trace = traces.number""",
}


class Layout(NamedTuple):
    """The tables of one kind of file; `name` is used in messages. Other versions are refused."""

    name: str
    application: int
    version: int
    tables: dict[str, str]


RUNS = Layout("runs", APPLICATION, VERSION, TABLES)
#: The kinds of files by their application id, for messages.
KINDS = {APPLICATION: "runs", 0x5255424D: "a monitor"}  # "RUBM"


def connect(path: Path, layout: Layout = RUNS) -> sqlite3.Connection:
    """Open and check an existing store; one that cannot be written is opened for reading."""
    if not path.exists():
        raise StoreError("there is no such store", file=str(path))
    if not path.is_file():
        raise StoreError("this is not a file", file=str(path))
    if path.stat().st_size == 0:
        raise StoreError(
            "the file is empty, so it is no store; delete it to create a new one", file=str(path)
        )
    remove_dead_drafts(path)
    try:
        return _connect(path, "mode=rw", layout)
    except sqlite3.OperationalError as error:
        # In a read-only folder SQLite cannot share the log. Without a log the file is complete;
        # with one, ignoring it would lose what it holds.
        log = _log_path(path)
        if error.sqlite_errorcode & 0xFF in (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY):
            if not (log.exists() and log.stat().st_size):
                try:
                    return _connect(path, "mode=ro&immutable=1", layout)
                except READ_ERRORS as again:
                    raise explain_sqlite_error(path, again) from again
            message = (
                "its log (-wal) cannot be read in a read-only folder: copy both to another folder"
            )
            raise StoreError(f"{message} ({error})", file=str(path)) from error
        raise explain_sqlite_error(path, error) from error
    except READ_ERRORS as error:
        raise explain_sqlite_error(path, error) from error


def _connect(path: Path, mode: str, layout: Layout) -> sqlite3.Connection:
    connection = sqlite3.connect(
        f"{path.as_uri()}?{mode}",
        uri=True,
        timeout=MAX_WAIT,
        isolation_level=None,  # transactions are begun and ended explicitly
        check_same_thread=False,
    )
    try:
        connection.execute("PRAGMA trusted_schema = OFF")  # a file may be untrusted
        _check(connection, path, layout)
        if "immutable" not in mode:  # another program may have turned it off
            connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA fullfsync = ON")  # macOS: through the disk's own cache
        connection.execute("PRAGMA cache_size = -16000")
        connection.execute(f"PRAGMA wal_autocheckpoint = {CHECKPOINT_PAGES}")
        connection.execute(f"PRAGMA journal_size_limit = {LOG_BYTES}")
    except BaseException:
        connection.close()
        raise
    return connection


def _check(connection: sqlite3.Connection, path: Path, layout: Layout) -> None:
    """Refuse what this version of fourscore did not write, before anything is written."""
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    if application != layout.application:
        if application in KINDS:
            message = f"this is a store of {KINDS[application]}; expected a store of {layout.name}"
            raise StoreError(message, file=str(path))
        raise StoreError("this is a SQLite file, but not a store of fourscore", file=str(path))
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if version > layout.version:
        known = f"version {version}, this one reads {layout.version}"
        message = f"a newer fourscore wrote this store ({known})"
        raise StoreError(f"{message}; update fourscore", file=str(path))
    found = dict(connection.execute("SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL"))
    odd = [name for name, sql in layout.tables.items() if found.get(name) != sql]
    odd += [name for name, sql in found.items() if sql.upper().startswith("CREATE TRIGGER")]
    if odd or version < layout.version:
        message = f"its tables are not those of a store of fourscore: {', '.join(odd)}"
        raise StoreError(message, file=str(path))
    _check_complete(connection, path)


def _check_complete(connection: sqlite3.Connection, path: Path) -> None:
    """Check that every page is in the file or in its log.

    SQLite notices a file that is too short only where there is no log. With one, which every
    killed process leaves, missing pages would show much later, or become zeros when the log is
    merged. The order matters while others write: read the number of pages, then the log, then the
    file, into which a log is merged before it starts again.
    """
    (pages,) = connection.execute("PRAGMA page_count").fetchone()
    (size,) = connection.execute("PRAGMA page_size").fetchone()
    if path.stat().st_size // size >= pages:
        return
    logged = wal_pages(_log_path(path), size)
    present = path.stat().st_size // size
    lost = sum(page not in logged for page in range(present + 1, pages + 1))
    if lost:
        raise StoreError(
            f"the file is truncated: {lost} of {pages} pages are missing", file=str(path)
        )


def _log_path(path: Path) -> Path:
    return path.with_name(path.name + "-wal")


def create(path: Path, layout: Layout = RUNS) -> None:
    """Create an empty store; one that another process has just created is left as it is."""
    log = _log_path(path)
    if log.exists() and log.stat().st_size:
        message = f"the store is missing, but its log {log.name} exists: restore both, or delete it"
        raise StoreError(message, file=str(path))
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        remove_dead_drafts(path)
        with _make_draft_folder(path) as folder:
            draft = folder / path.name
            _create_tables(draft, path, layout)
            try:
                os.link(draft, path)  # unlike a rename, it never replaces another store
            except OSError:
                if path.exists():
                    return
                draft.replace(path)  # a disk without hard links
        _sync_folder(path.parent)
    except sqlite3.Error as error:
        raise explain_sqlite_error(path, error) from error
    except OSError as error:
        raise StoreError(
            f"the store cannot be created: {error.strerror}", file=str(path)
        ) from error


def _create_tables(draft: Path, path: Path, layout: Layout) -> None:
    # Answers are nobody else's to read; SQLite gives its log the mode of the file.
    os.close(os.open(draft, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
    with closing(sqlite3.connect(draft, isolation_level=None)) as connection:
        connection.execute("PRAGMA synchronous = FULL")
        (mode,) = connection.execute("PRAGMA journal_mode = WAL").fetchone()
        if mode != "wal":
            message = f"a store needs a disk with write-ahead logs; this one has {mode}"
            raise StoreError(message, file=str(path))
        connection.execute(f"PRAGMA application_id = {layout.application}")
        connection.execute(f"PRAGMA user_version = {layout.version}")
        for sql in layout.tables.values():
            connection.execute(sql)


@contextmanager
def _make_draft_folder(path: Path) -> Iterator[Path]:
    """Make a folder for a draft and what SQLite puts beside it, locked until it is removed."""
    while True:
        folder = path.with_name(f".{path.name}.{token_hex(4)}{DRAFT}")
        folder.mkdir()
        with suppress(FileNotFoundError):  # removed by another process before it was locked
            descriptor = os.open(folder, os.O_RDONLY)
            with suppress(OSError):  # a disk without locks
                fcntl.flock(descriptor, fcntl.LOCK_EX)
            if folder.exists():
                break
            os.close(descriptor)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        os.close(descriptor)


def remove_dead_drafts(path: Path) -> None:
    """Remove the drafts of this store that killed processes left: the kernel unlocked them."""
    for folder in path.parent.glob(f".{glob.escape(path.name)}.*{DRAFT}"):
        with suppress(OSError):  # locked: a process is creating the store
            descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(folder, ignore_errors=True)
            finally:
                os.close(descriptor)


def _sync_folder(folder: Path) -> None:
    """Sync a folder: the name of a new file is durable only then."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def wal_pages(path: Path, page_size: int) -> set[int]:
    """Return the numbers of the pages in the write-ahead log, without those of older rounds.

    https://www.sqlite.org/fileformat2.html#the_write_ahead_log
    Reading the log beside SQLite is safe, as its locks are on another file.
    """
    pages: set[int] = set()
    try:
        log = path.open("rb")
    except FileNotFoundError:
        return pages
    with log:
        salts = log.read(WAL_HEADER)[16:24]
        while len(frame := log.read(WAL_FRAME_HEADER)) == WAL_FRAME_HEADER and frame[8:16] == salts:
            pages.add(int.from_bytes(frame[:4], "big"))
            log.seek(page_size, 1)
    return pages
