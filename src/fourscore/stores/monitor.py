"""The store of monitors: samples, the state folded from them, and the alerts that followed.

    with MonitorStore("monitor.db") as store:
        new = store.commit("default", rows, fold)

`commit` adds new samples, folds them into the state, and writes the alerts that follow, in one
transaction. So the state always matches the samples, whatever dies and however many processes
write. The store does not know how to judge: the caller's `fold` gets the state before and the new
samples, and returns the state after and the alerts.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from sqlite3 import Connection
from types import TracebackType
from typing import Any, Self

from fourscore.stores.monitor_alerts import Outbox
from fourscore.stores.monitor_file import MonitorFile
from fourscore.stores.monitor_rows import Fold, NewAlert, SampleRow, Spending, StoredSample
from fourscore.stores.received_spans import SpanTable

DAY = 86_400.0
#: Seconds that samples are kept, without their text.
KEPT = 90 * DAY
#: Samples and texts kept in a store in memory.
KEPT_IN_MEMORY = 10_000
TEXTS_IN_MEMORY = 200
#: Rows that may expire with one commit, beyond twice the rows that it adds.
EXPIRE = 64
#: Newest samples among which `worst` searches.
RECENT = 500

ADD = """INSERT INTO samples (monitor, id, at, drawn, status, passed, value, body)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (monitor, id) DO NOTHING"""
SAVE = """INSERT INTO states (monitor, updated, body) VALUES (?, ?, ?)
    ON CONFLICT (monitor) DO UPDATE SET updated = excluded.updated, body = excluded.body"""
COUNT = """INSERT INTO counts (monitor, what, n) VALUES (?, ?, ?)
    ON CONFLICT (monitor, what) DO UPDATE SET n = n + excluded.n"""
SPEND = """INSERT INTO spent (monitor, hour, calls, tokens, dollars) VALUES (?, ?, ?, ?, ?)
    ON CONFLICT (monitor, hour) DO UPDATE SET calls = calls + excluded.calls,
    tokens = tokens + excluded.tokens, dollars = dollars + excluded.dollars"""
HOUR = "SELECT calls, tokens, dollars FROM spent WHERE monitor = ? AND hour = ?"
END = "UPDATE alerts SET open = 0, ended = ? WHERE monitor = ? AND stream = ? AND open"
ALERT = "INSERT INTO alerts (monitor, stream, at, open, body) VALUES (?, ?, ?, ?, ?)"
OLD_TEXTS = """DELETE FROM texts WHERE sample IN (
    SELECT sample FROM texts WHERE expires <= ? ORDER BY expires LIMIT ?)"""
OLD_SAMPLES = "SELECT number FROM samples WHERE at < ? ORDER BY at LIMIT ?"
FIRST_SAMPLES = """SELECT number FROM samples ORDER BY number
    LIMIT max(0, min(?, (SELECT count(*) FROM samples) - ?))"""
FIRST_TEXTS = """DELETE FROM texts WHERE sample IN (SELECT sample FROM texts ORDER BY sample
    LIMIT max(0, (SELECT count(*) FROM texts) - ?))"""
NEWEST = """SELECT number, id, drawn, body FROM samples WHERE monitor = ? AND number < ?
    ORDER BY number DESC LIMIT ?"""
WORST = """SELECT number, id, drawn, body FROM (
        SELECT * FROM samples WHERE monitor = ? ORDER BY number DESC LIMIT ?)
    WHERE passed IS NOT NULL ORDER BY passed, value, number DESC LIMIT ?"""
ONE = """SELECT samples.number, id, drawn, samples.body, texts.body FROM samples
    LEFT JOIN texts ON sample = samples.number AND expires > ? WHERE monitor = ? AND id = ?"""
LAST = (1 << 63) - 1
#: The types of a row of `NEWEST` and `WORST`.
SAMPLE = tuple[int, str, int, bytes]


class MonitorStore:
    """One file for any number of monitors, processes and threads; in memory without a path."""

    def __init__(self, path: str | Path | None, *, make: bool = True) -> None:
        self._file = MonitorFile(path, make=make)
        self.path = self._file.path
        self.spans = SpanTable(self._file)
        self.outbox = Outbox(self._file)

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
        self._file.close()

    def limit_wait(self, seconds: float) -> AbstractContextManager[None]:
        """Limit how long a commit waits for other processes, inside the block."""
        return self._file.limit_wait(seconds)

    # Writing

    def commit(
        self,
        monitor: str,
        rows: Sequence[SampleRow],
        fold: Fold,
        *,
        counts: Mapping[str, int] | None = None,
        spent: Mapping[int, Spending] | None = None,
        keep_text: float | None = 7 * DAY,
        now: float | None = None,
    ) -> list[SampleRow]:
        """Store new samples with the state and alerts that follow, and return those that were new.

        `counts` are added to those of the monitor, `spent` to the costs of its hours.
        """
        at = time.time() if now is None else now
        with self._file.transaction() as connection:
            expires = None if keep_text is None else at + keep_text
            fresh = [row for row in rows if _add(connection, monitor, row, expires)]
            drawn = [row for row in fresh if row.drawn]
            if drawn:
                state, raised = fold(_read_state(connection, monitor), drawn)
                connection.execute(SAVE, (monitor, at, state))
                for alert in raised:
                    _write_alert(connection, monitor, alert)
            for what, n in (counts or {}).items():
                connection.execute(COUNT, (monitor, what, n))
            for hour, cost in (spent or {}).items():
                connection.execute(SPEND, (monitor, hour, *cost))
            self._expire(connection, at, 2 * len(rows) + EXPIRE)
        return fresh

    def reserve(
        self, monitor: str, hour: int, most: Spending, fits: Callable[[Spending], bool]
    ) -> bool:
        """Reserve `most` of an hour's budget if the hour still `fits`; return whether it does."""
        if not fits(self.spent(monitor, hour).plus(most)):  # the usual refusal: no transaction
            return False
        with self._file.transaction() as connection:
            spent = _make_spending(connection.execute(HOUR, (monitor, hour)).fetchone())
            if not fits(spent.plus(most)):
                return False
            connection.execute(SPEND, (monitor, hour, *most))
            connection.execute("DELETE FROM spent WHERE hour < ?", (hour - 24 * 31,))
        return True

    def _expire(self, connection: Connection, now: float, most: int) -> None:
        connection.execute(OLD_TEXTS, (now, most))
        if self.path is None:
            connection.execute(FIRST_TEXTS, (TEXTS_IN_MEMORY,))
            old = connection.execute(FIRST_SAMPLES, (most, KEPT_IN_MEMORY)).fetchall()
        else:
            old = connection.execute(OLD_SAMPLES, (now - KEPT, most)).fetchall()
        connection.executemany("DELETE FROM texts WHERE sample = ?", old)
        connection.executemany("DELETE FROM samples WHERE number = ?", old)

    # Reading

    def monitors(self) -> list[str]:
        """Return the names of the monitors in the store."""
        query = "SELECT monitor FROM states UNION SELECT monitor FROM counts ORDER BY 1"
        return [row[0] for row in self._file.rows(query, (), tuple[str])]

    def state(self, monitor: str) -> bytes | None:
        """Return the monitor's state as the last `fold` returned it; None before the first."""
        query = "SELECT body FROM states WHERE monitor = ?"
        found = self._file.rows(query, (monitor,), tuple[bytes])
        return found[0][0] if found else None

    def counts(self, monitor: str) -> dict[str, int]:
        """Return the counters of a monitor."""
        query = "SELECT what, n FROM counts WHERE monitor = ?"
        return dict(self._file.rows(query, (monitor,), tuple[str, int]))

    def spent(self, monitor: str, hour: int) -> Spending:
        """Return the cost of an hour (counted since 1970), with what is reserved."""
        found = self._file.rows(HOUR, (monitor, hour), Spending)
        return _make_spending(found[0] if found else None)

    def samples(self, monitor: str, *, before: int = LAST, limit: int = 100) -> list[StoredSample]:
        """Return samples, newest first; `before` is the last number of the previous page."""
        found = self._file.rows(NEWEST, (monitor, before, limit), SAMPLE)
        return [_make_sample(*row) for row in found]

    def worst(self, monitor: str, *, limit: int = 10) -> list[StoredSample]:
        """Return the measured samples with the worst scores among the newest 500."""
        found = self._file.rows(WORST, (monitor, RECENT, limit), SAMPLE)
        return [_make_sample(*row) for row in found]

    def has(self, monitor: str, id: str) -> bool:  # noqa: A002
        """Return whether a sample of this id is stored."""
        query = "SELECT 1 FROM samples WHERE monitor = ? AND id = ?"
        return bool(self._file.rows(query, (monitor, id)))

    def sample(self, monitor: str, id: str, *, now: float | None = None) -> StoredSample | None:  # noqa: A002
        """Return one sample, with its text if that is still kept."""
        values = (time.time() if now is None else now, monitor, id)
        found = self._file.rows(ONE, values, tuple[int, str, int, bytes, bytes | None])
        return _make_sample(*found[0]) if found else None


def _add(connection: Connection, monitor: str, row: SampleRow, expires: float | None) -> bool:
    """Add a sample, and return whether it is new."""
    values = (row.id, row.at, row.drawn, row.status, row.passed, row.value, row.body)
    added = connection.execute(ADD, (monitor, *values))
    if added.rowcount != 1:
        return False
    if row.text is not None and expires is not None:
        connection.execute(
            "INSERT INTO texts VALUES (?, ?, ?)", (added.lastrowid, expires, row.text)
        )
    return True


def _write_alert(connection: Connection, monitor: str, alert: NewAlert) -> None:
    connection.execute(END, (alert.at, monitor, alert.stream))
    values = (monitor, alert.stream, alert.at, alert.open, alert.body)
    connection.execute(ALERT, values)


def _read_state(connection: Connection, monitor: str) -> bytes | None:
    query = "SELECT body FROM states WHERE monitor = ?"
    found = connection.execute(query, (monitor,)).fetchone()
    return None if found is None else found[0]


def _make_spending(row: Any) -> Spending:
    return Spending() if row is None else Spending(*row)


def _make_sample(
    number: int, id_: str, drawn: int, body: bytes, text: bytes | None = None
) -> StoredSample:
    return StoredSample(number=number, id=id_, drawn=bool(drawn), body=body, text=text)
