"""One row of a run, from values to SQL: a trace, a score, or both."""

import asyncio
import sqlite3
from pathlib import Path
from typing import NamedTuple

import msgspec

from rubrica.core import Case, Score, Trace
from rubrica.stores.errors import StoreError

#: SQLite's own limit for one value.
LARGEST = 1_000_000_000

FIND = "SELECT number FROM traces WHERE run = ? AND case_id = ? AND repeat = ?"
ADD_TRACE = """INSERT INTO traces (run, case_id, repeat, position, attempt, seconds, "case", trace)
    VALUES (?, ?, ?, ?, 1, ?, ?, ?) ON CONFLICT (run, case_id, repeat) DO NOTHING"""
REPLACE_TRACE = """UPDATE traces SET position = ?, attempt = attempt + 1, seconds = ?, "case" = ?,
    trace = ? WHERE number = ?"""
FORGET_SCORES = "DELETE FROM scores WHERE trace = ?"
PUT_SCORE = """INSERT OR REPLACE INTO scores (trace, judge, status, value, passed, reward, score)
    VALUES (?, ?, ?, ?, ?, ?, ?)"""


class Attempt(NamedTuple):
    position: int
    case: Case
    trace: Trace


class Verdict(NamedTuple):
    judge: str
    score: Score


class Entry:
    """A row on its way, and who waits for it."""

    __slots__ = ("attempt", "case_id", "done", "error", "repeat", "verdict")

    def __init__(
        self, case_id: str, repeat: int, attempt: Attempt | None, verdict: Verdict | None
    ) -> None:
        self.case_id, self.repeat, self.attempt, self.verdict = case_id, repeat, attempt, verdict
        self.done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.error: StoreError | None = None


class Ledger:
    """Writes rows of one run, inside whatever transaction is open."""

    def __init__(
        self, connection: sqlite3.Connection, path: Path, run_id: str, number: int
    ) -> None:
        self._connection, self._path = connection, path
        self._run_id, self._number = run_id, number

    def write(self, entry: Entry) -> int:
        """Write a row; what is wrong with the row alone is noted on it. Returns its bytes."""
        attempt, verdict = entry.attempt, entry.verdict
        entry.attempt = entry.verdict = None  # its memory goes as soon as its task lets go
        try:
            case = trace = score = ""
            if attempt is not None:
                case, trace = _json(attempt.case), _json(attempt.trace)
            if verdict is not None:
                score = _json(verdict.score)
            number = None if attempt else self._find(entry)
        except (ValueError, OverflowError, TypeError) as error:
            entry.error = self._odd(entry, str(error))
            return 0
        if attempt is not None:
            key = (self._number, entry.case_id, entry.repeat)
            rest = (attempt.position, attempt.trace.seconds, case, trace)
            number = self._write_trace(entry, key, rest)
        if verdict is not None and number is not None:
            self._write_score(number, verdict, score)
        elif number is None:
            entry.error = self._odd(entry, "a score needs a stored trace, and there is none")
        return len(case) + len(trace) + len(score)

    def _write_trace(
        self, entry: Entry, key: tuple[int, str, int], rest: tuple[int, float | None, str, str]
    ) -> int | None:
        added = self._connection.execute(ADD_TRACE, (*key, *rest))
        if added.rowcount == 1:
            return added.lastrowid
        number = self._find(entry)
        self._connection.execute(REPLACE_TRACE, (*rest, number))
        self._connection.execute(FORGET_SCORES, (number,))
        return number

    def _write_score(self, number: int, verdict: Verdict, text: str) -> None:
        score = verdict.score
        numbers = (score.status.value, score.value, score.passed, score.reward)
        self._connection.execute(PUT_SCORE, (number, verdict.judge, *numbers, text))

    def _find(self, entry: Entry) -> int | None:
        key = (self._number, entry.case_id, entry.repeat)
        found = self._connection.execute(FIND, key).fetchone()
        return None if found is None else int(found[0])

    def _odd(self, entry: Entry, message: str) -> StoreError:
        where = f"run {self._run_id}, case {entry.case_id!r}, repeat {entry.repeat}"
        return StoreError(message, file=str(self._path), field=where)


def _json(value: msgspec.Struct) -> str:
    text = msgspec.json.encode(value)
    if len(text) >= LARGEST:
        raise ValueError(f"{type(value).__name__.lower()}: larger than a store can hold (1 GB)")
    return text.decode()
