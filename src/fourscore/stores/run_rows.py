"""One row of a run, from values to SQL: a trace, a score, or both."""

import asyncio
import sqlite3
from pathlib import Path
from typing import NamedTuple

import msgspec

from fourscore.core import Case, Score, Trace
from fourscore.stores.errors import StoreError

#: SQLite's own limit for one value.
LARGEST = 1_000_000_000

FIND = "SELECT number FROM traces WHERE run = ? AND case_id = ? AND repeat = ?"
ADD_TRACE = """INSERT INTO traces (run, case_id, repeat, position, attempt, seconds, "case", trace)
    VALUES (?, ?, ?, ?, 1, ?, ?, ?) ON CONFLICT (run, case_id, repeat) DO NOTHING"""
REPLACE_TRACE = """UPDATE traces SET position = ?, attempt = attempt + 1, seconds = ?, "case" = ?,
    trace = ? WHERE number = ?"""
FORGET_SCORES = "DELETE FROM scores WHERE trace = ?"
PUT_SCORE = """INSERT OR REPLACE INTO scores (trace, judge, status, value, passed, reward, score)
    SELECT number, ?, ?, ?, ?, ?, ? FROM traces WHERE run = ? AND case_id = ? AND repeat = ?"""


class TraceRow(NamedTuple):
    position: int
    case: Case
    trace: Trace


class ScoreRow(NamedTuple):
    judge: str
    score: Score


class PendingRow:
    """A row on its way, and who waits for it."""

    __slots__ = ("attempt", "case_id", "done", "error", "repeat", "verdict")

    def __init__(
        self, case_id: str, repeat: int, attempt: TraceRow | None, verdict: ScoreRow | None
    ) -> None:
        self.case_id, self.repeat, self.attempt, self.verdict = case_id, repeat, attempt, verdict
        self.done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.error: StoreError | None = None


class RowWriter:
    """Writes rows of one run, inside whatever transaction is open."""

    def __init__(
        self, connection: sqlite3.Connection, path: Path, run_id: str, number: int
    ) -> None:
        self._connection, self._path = connection, path
        self._run_id, self._number = run_id, number

    def write(self, entry: PendingRow) -> int:
        """Write a row; what is wrong with the row alone is noted on it. Returns its bytes."""
        attempt, verdict = entry.attempt, entry.verdict
        entry.attempt = entry.verdict = None  # its memory goes as soon as its task lets go
        key = (self._number, entry.case_id, entry.repeat)
        size = 0
        try:
            if attempt is not None:
                size += self._write_trace(key, attempt)
            if verdict is not None:
                size += self._write_score(key, verdict)
        except (ValueError, OverflowError, TypeError) as error:
            entry.error = self._odd(entry, str(error))
        return size

    def _write_trace(self, key: tuple[int, str, int], attempt: TraceRow) -> int:
        case, trace = _json(attempt.case), _json(attempt.trace)
        rest = (attempt.position, attempt.trace.seconds, case, trace)
        if self._connection.execute(ADD_TRACE, (*key, *rest)).rowcount != 1:
            number = self._connection.execute(FIND, key).fetchone()[0]
            self._connection.execute(REPLACE_TRACE, (*rest, number))
            self._connection.execute(FORGET_SCORES, (number,))
        return len(case) + len(trace)

    def _write_score(self, key: tuple[int, str, int], verdict: ScoreRow) -> int:
        """In one statement: between two another thread may have the interpreter for a while."""
        score, text = verdict.score, _json(verdict.score)
        numbers = (score.status.value, score.value, score.passed, score.reward)
        put = self._connection.execute(PUT_SCORE, (verdict.judge, *numbers, text, *key))
        if put.rowcount == 0:
            raise ValueError("a score needs a stored trace, and there is none")
        return len(text)

    def _odd(self, entry: PendingRow, message: str) -> StoreError:
        where = f"run {self._run_id}, case {entry.case_id!r}, repeat {entry.repeat}"
        return StoreError(message, file=str(self._path), field=where)


def _json(value: msgspec.Struct) -> str:
    text = msgspec.json.encode(value)
    if len(text) >= LARGEST:
        raise ValueError(f"{type(value).__name__.lower()}: larger than a store can hold (1 GB)")
    return text.decode()
