"""Writes one row of a run as SQL: a trace, a score, or both."""

import asyncio
import sqlite3
from pathlib import Path
from typing import NamedTuple

import msgspec

from fourscore.core import Case, Score, Trace
from fourscore.core.secrets import hide_in_json
from fourscore.stores.errors import StoreError

#: SQLite's own limit for one value.
MAX_BYTES = 1_000_000_000

FIND = "SELECT number FROM traces WHERE run = ? AND case_id = ? AND repeat = ?"
ADD_TRACE = """INSERT INTO traces (run, case_id, repeat, position, attempt, seconds, "case", trace)
    VALUES (?, ?, ?, ?, 1, ?, ?, ?) ON CONFLICT (run, case_id, repeat) DO NOTHING"""
REPLACE_TRACE = """UPDATE traces SET position = ?, attempt = attempt + 1, seconds = ?, "case" = ?,
    trace = ? WHERE number = ?"""
FORGET_SCORES = "DELETE FROM scores WHERE trace = ?"
PUT_SCORE = """INSERT OR REPLACE INTO scores (trace, judge, status, value, passed, reward, score)
    SELECT number, ?, ?, ?, ?, ?, ? FROM traces WHERE run = ? AND case_id = ? AND repeat = ?"""


class TraceRow(NamedTuple):
    """A trace to be stored, with its case."""

    position: int
    case: Case
    trace: Trace


class ScoreRow(NamedTuple):
    """A score to be stored; `judge` is the fingerprint of the rubric."""

    judge: str
    score: Score


class PendingRow:
    """A row to be stored, and the future of the task that awaits it."""

    __slots__ = ("case_id", "done", "error", "repeat", "score", "trace")

    def __init__(
        self, case_id: str, repeat: int, *, trace: TraceRow | None, score: ScoreRow | None
    ) -> None:
        self.case_id, self.repeat, self.trace, self.score = case_id, repeat, trace, score
        self.done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.error: StoreError | None = None


class RowWriter:
    """Writes rows of one run inside the open transaction."""

    def __init__(
        self, connection: sqlite3.Connection, path: Path, *, run_id: str, number: int
    ) -> None:
        self._connection, self._path = connection, path
        self._run_id, self._number = run_id, number

    def write(self, row: PendingRow) -> int:
        """Write a row and return its bytes; an error of the row alone is put into `row.error`."""
        trace, score = row.trace, row.score
        row.trace = row.score = None  # free their memory as soon as the task lets go
        key = (self._number, row.case_id, row.repeat)
        size = 0
        try:
            if trace is not None:
                size += self._write_trace(key, trace)
            if score is not None:
                size += self._write_score(key, score)
        except (ValueError, OverflowError, TypeError) as error:
            row.error = self._make_error(row, str(error))
        return size

    def _write_trace(self, key: tuple[int, str, int], row: TraceRow) -> int:
        case, trace = _encode(row.case), _encode(row.trace)
        rest = (row.position, row.trace.seconds, case, trace)
        if self._connection.execute(ADD_TRACE, (*key, *rest)).rowcount != 1:
            number = self._connection.execute(FIND, key).fetchone()[0]
            self._connection.execute(REPLACE_TRACE, (*rest, number))
            self._connection.execute(FORGET_SCORES, (number,))
        return len(case) + len(trace)

    def _write_score(self, key: tuple[int, str, int], row: ScoreRow) -> int:
        """Write a score in one statement: between two, another thread may run for a while."""
        score, text = row.score, _encode(row.score)
        numbers = (score.status.value, score.value, score.passed, score.reward)
        put = self._connection.execute(PUT_SCORE, (row.judge, *numbers, text, *key))
        if put.rowcount == 0:
            raise ValueError("a score needs a stored trace, and there is none")
        return len(text)

    def _make_error(self, row: PendingRow, message: str) -> StoreError:
        where = f"run {self._run_id}, case {row.case_id!r}, repeat {row.repeat}"
        return StoreError(message, file=str(self._path), field=where)


def _encode(value: msgspec.Struct) -> str:
    text = msgspec.json.encode(value)
    if len(text) >= MAX_BYTES:
        raise ValueError(f"{type(value).__name__.lower()}: larger than a store can hold (1 GB)")
    return hide_in_json(text.decode())
