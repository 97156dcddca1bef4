"""The store of runs: cases, traces, scores and the labels of people, in one SQLite file.

    with Store("runs.db") as store:
        run = store.start(RunInfo(name="nightly"))
        with store.writer(run.id) as writer:
            await writer.put_trace(0, case, 1, trace)

A `Writer` writes rows; everything else is here. Reading holds no lock: an iterator fetches a page
of keys and reads row by row, so memory does not depend on the size of a run, and a reader that
stops half-way does not keep a writer's log from being merged. It sees what is committed then.
"""

import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import msgspec

from fourscore.core import Case, Score, Status, Trace, suggest_known
from fourscore.stores import labels
from fourscore.stores.errors import StoreError, check_rows, explain_sqlite_errors
from fourscore.stores.labels import Label
from fourscore.stores.run import RunInfo, StoredRow, SummaryFields
from fourscore.stores.sqlite_file import connect, create
from fourscore.stores.writer import Writer

#: Keys fetched at a time.
PAGE = 512

STATES = """SELECT case_id, repeat, status FROM traces
    LEFT JOIN scores ON scores.trace = traces.number AND judge = ?
    WHERE run = ? AND (case_id, repeat) > (?, ?) ORDER BY case_id, repeat LIMIT ?"""
KEYS = """SELECT position, repeat, number FROM traces
    WHERE run = ? AND (position, repeat, number) > (?, ?, ?)
    ORDER BY position, repeat, number LIMIT ?"""
ROW = """SELECT position, repeat, attempt, "case", traces.trace, score FROM traces
    LEFT JOIN scores ON scores.trace = traces.number AND judge = ? WHERE number = ?"""
FIND = "SELECT number FROM traces WHERE run = ? AND case_id = ? AND repeat = ?"
JUDGES = """SELECT DISTINCT judge FROM scores JOIN traces ON traces.number = scores.trace
    WHERE run = ? ORDER BY judge"""

#: The store of runs where no other is named, below the working directory.
DEFAULT_STORE = ".fourscore/runs.db"


class Store:
    """Usable from any thread; a forked process opens its own. A read-only file can be read."""

    def __init__(self, path: str | Path, *, make: bool = True) -> None:
        self.path = Path(path).resolve()
        if make and not self.path.exists():
            create(self.path)
        self._connection = connect(self.path)
        self._lock = threading.Lock()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        with self._lock:
            self._connection.close()

    # Runs

    def start(self, info: RunInfo) -> RunInfo:
        """Add a run and return it; its id must be new."""
        text = msgspec.json.encode(info).decode()
        with self._transaction() as connection:
            if connection.execute("SELECT 1 FROM runs WHERE id = ?", (info.id,)).fetchone():
                raise self._error(f"run {info.id} exists already")
            connection.execute("INSERT INTO runs (id, info) VALUES (?, ?)", (info.id, text))
        return info

    def runs(self) -> list[RunInfo]:
        """Return all runs, the oldest first."""
        query = "SELECT info, finished FROM runs ORDER BY id"
        found = self._fetch_all(query, (), tuple[str, float | None])
        return [self._info(text, finished) for text, finished in found]

    def run(self, wanted: str) -> RunInfo:
        """Return the run with this id, or the only one whose id begins so."""
        kind = tuple[str, str, float | None]
        query = "SELECT id, info, finished FROM runs WHERE id = ?"
        found = self._fetch_all(query, (wanted,), kind)
        if not found:
            query = "SELECT id, info, finished FROM runs WHERE substr(id, 1, ?) = ? ORDER BY id"
            found = self._fetch_all(query, (len(wanted), wanted), kind)
        if len(found) == 1:
            return self._info(*found[0][1:])
        if found:
            several = ", ".join(row[0] for row in found[-5:])
            raise self._error(f"{len(found)} runs begin with {wanted!r}: {several}")
        newest = "SELECT id FROM runs ORDER BY id DESC LIMIT 10"
        known = [row[0] for row in self._fetch_all(newest, (), tuple[str])]
        hint = suggest_known(wanted, known) if known else "the store has none"
        raise self._error(f"there is no run {wanted!r}; {hint}")

    def finish(self, run_id: str, summary: Any) -> None:
        """Mark a run as complete, with its summary, a JSON value."""
        text = msgspec.json.encode(summary).decode()
        number = self._number(run_id)
        with self._transaction() as connection:
            update = "UPDATE runs SET finished = ?, summary = ? WHERE number = ?"
            connection.execute(update, (time.time(), text, number))

    def summary(self, run_id: str) -> Any:
        """Return the summary given to `finish`; None before."""
        query = "SELECT summary FROM runs WHERE number = ?"
        ((text,),) = self._fetch_all(query, self._key(run_id), tuple[str | None])
        if text is None:
            return None
        self._decode(text, SummaryFields, where := f"run {run_id}: summary")
        return self._decode(text, Any, where)

    def writer(self, run_id: str) -> Writer:
        """Return the only writer of a run; refused while another process or task has it."""
        return Writer(self.path, run_id, self._number(run_id))

    def judge(self, run_id: str, wanted: str) -> str:
        """Return the fingerprint of a rubric that scored the run, or the only one beginning so."""
        known = [row[0] for row in self._fetch_all(JUDGES, self._key(run_id), tuple[str])]
        found = [each for each in known if each.startswith(wanted)]
        if wanted in known or len(found) == 1:
            return wanted if wanted in known else found[0]
        count = f"{len(found)} rubrics {wanted}… have" if found else f"no rubric {wanted!r} has"
        raise self._error(f"{count} scored run {run_id}; known: {', '.join(known) or 'none'}")

    # Rows

    def done(self, run_id: str, judge: str) -> Iterator[tuple[str, int, Status]]:
        """Yield case id, repeat and status of all traces that this judge has scored, by id."""
        for case_id, repeat, status in self._states(run_id, judge):
            if status is not None:
                yield case_id, repeat, status

    def unjudged(self, run_id: str, judge: str) -> Iterator[tuple[str, int]]:
        """Yield case id and repeat of the traces that this judge has not scored, by id."""
        for case_id, repeat, status in self._states(run_id, judge):
            if status is None:
                yield case_id, repeat

    def statuses(self, run_id: str, case_id: str, judge: str) -> dict[int, Status | None]:
        """Return the status of each stored repeat of one case; None where it has no score.

        A runner that resumes asks case by case, so that it need not hold all keys in memory.
        """
        query = """SELECT repeat, status FROM traces
            LEFT JOIN scores ON scores.trace = traces.number AND judge = ?
            WHERE run = ? AND case_id = ? ORDER BY repeat"""
        values = (judge, self._number(run_id), case_id)
        return dict(self._fetch_all(query, values, tuple[int, Status | None]))

    def rows(self, run_id: str, judge: str | None = None) -> Iterator[StoredRow]:
        """Yield every row by position and repeat, scored by this judge or the run's rubric."""
        number, judge = self._number(run_id), self._judge(run_id, judge)
        last = (-1 << 63, 0, 0)
        while keys := self._fetch_all(KEYS, (number, *last, PAGE), tuple[int, int, int]):
            for key in keys:
                yield self._row(key[2], judge)
            last = self._advance(last, keys[-1])

    def row(
        self, run_id: str, case_id: str, repeat: int = 1, judge: str | None = None
    ) -> StoredRow | None:
        """Return one row, or None."""
        found = self._fetch_all(FIND, (self._number(run_id), case_id, repeat), tuple[int])
        return self._row(found[0][0], self._judge(run_id, judge)) if found else None

    # Labels

    def label(
        self, run_id: str, case_id: str, repeat: int, *, who: str, verdict: str, note: str = ""
    ) -> None:
        """Store a person's label of a stored output; it replaces that person's earlier one."""
        output = (self._number(run_id), case_id, repeat)
        with self._transaction() as connection:
            if not labels.write_label(connection, output, who, verdict, note):
                raise self._error(f"run {run_id} has no case {case_id!r}, repeat {repeat}")

    def labels(self, run_id: str) -> list[Label]:
        """Return all labels of a run, by position, repeat and person."""
        found = self._fetch_all(labels.READ, self._key(run_id), labels.ROW)
        return [labels.make_label(row) for row in found]

    # Internals

    def _states(self, run_id: str, judge: str) -> Iterator[tuple[str, int, Status | None]]:
        number = self._number(run_id)
        last: tuple[str, int] = ("", -1 << 63)
        kind = tuple[str, int, Status | None]
        while page := self._fetch_all(STATES, (judge, number, *last, PAGE), kind):
            yield from page
            last = self._advance(last, page[-1][:2])

    def _advance(self, last: Any, key: Any) -> Any:
        """Return the key of a page's last row; a damaged index could lead in a circle."""
        if key <= last:
            raise self._error("damaged: its rows are out of order; restore a copy")
        return key

    def _row(self, number: int, judge: str) -> StoredRow:
        found = self._fetch_all(ROW, (judge, number), tuple[int, int, int, str, str, str | None])
        if len(found) != 1:
            raise self._error(f"damaged: {len(found)} rows have the number {number}")
        position, repeat, attempt, case, trace, score = found[0]
        where = f"position {position}, repeat {repeat}"
        return StoredRow(
            position=position,
            repeat=repeat,
            attempt=attempt,
            case=self._decode(case, Case, f"{where}: case"),
            trace=self._decode(trace, Trace, f"{where}: trace"),
            score=None if score is None else self._decode(score, Score, f"{where}: score"),
        )

    def _judge(self, run_id: str, judge: str | None) -> str:
        return self.run(run_id).rubric_fingerprint if judge is None else judge

    def _number(self, run_id: str) -> int:
        return self._key(run_id)[0]

    def _key(self, run_id: str) -> tuple[int]:
        query = "SELECT number FROM runs WHERE id = ?"
        found = self._fetch_all(query, (run_id,), tuple[int])
        if not found:
            raise self._error(f"there is no run {run_id!r}")
        key: tuple[int] = found[0]
        return key

    def _info(self, text: str, finished: float | None) -> RunInfo:
        info: RunInfo = self._decode(text, RunInfo, "run")
        return msgspec.structs.replace(info, finished=finished)

    def _decode(self, text: str, kind: Any, where: str) -> Any:
        """Decode a column, which another program may have changed."""
        try:
            return msgspec.json.decode(text, type=kind)
        except (msgspec.MsgspecError, RecursionError) as error:
            raise StoreError(f"damaged: {error}", file=str(self.path), field=where) from error

    def _error(self, message: str) -> StoreError:
        return StoreError(message, file=str(self.path))

    def _fetch_all(self, query: str, values: tuple[object, ...], kind: Any) -> list[Any]:
        """Return the rows of a query, each of the type `kind`."""
        with self._lock, explain_sqlite_errors(self.path):
            rows = self._connection.execute(query, values).fetchall()
        return check_rows(self.path, rows, kind)

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        with self._lock, explain_sqlite_errors(self.path):
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield self._connection
                self._connection.execute("COMMIT")
            except BaseException:
                self._connection.rollback()
                raise
