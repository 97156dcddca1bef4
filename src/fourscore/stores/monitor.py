"""What a monitor knows: samples, what they amount to, and the alerts that came of them.

    with MonitorStore("monitor.db") as store:
        fresh = store.commit("default", entries, fold)

`commit` does everything at once: samples that are new are added, folded into the state, and the
alerts that come of it are written, in one transaction. So the state always is that of the samples,
whatever dies and however many processes write. This room does not know how to judge: `fold` is
given the state as it was and the new samples, and gives back the state as it is and the alerts.
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
from fourscore.stores.monitor_spans import SpanTable

DAY = 86_400.0
#: Seconds that samples are kept, without their text.
KEPT = 90 * DAY
#: Samples and texts kept where they are in memory.
KEPT_IN_MEMORY = 10_000
TEXTS_IN_MEMORY = 200
#: Rows that may expire with one commit, beyond twice the rows that it adds.
EXPIRE = 64
#: Samples among which the worst recent ones are looked for.
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
        """While the block lasts, no commit waits longer than this for other processes."""
        return self._file.limit_wait(seconds)

    # Writing

    def commit(
        self,
        monitor: str,
        entries: Sequence[SampleRow],
        fold: Fold,
        *,
        counts: Mapping[str, int] | None = None,
        spent: Mapping[int, Spending] | None = None,
        keep_text: float | None = 7 * DAY,
        now: float | None = None,
    ) -> list[SampleRow]:
        """Keep what is new of these, with all that follows from it; what was new is returned.

        `counts` are added to those of the monitor, `spent` to what its hours have cost.
        """
        at = time.time() if now is None else now
        with self._file.transaction() as connection:
            expires = None if keep_text is None else at + keep_text
            fresh = [one for one in entries if _add(connection, monitor, one, expires)]
            drawn = [entry for entry in fresh if entry.drawn]
            if drawn:
                state, raised = fold(_state(connection, monitor), drawn)
                connection.execute(SAVE, (monitor, at, state))
                for alert in raised:
                    _raise(connection, monitor, alert)
            for what, n in (counts or {}).items():
                connection.execute(COUNT, (monitor, what, n))
            for hour, cost in (spent or {}).items():
                connection.execute(SPEND, (monitor, hour, *cost))
            self._expire(connection, at, 2 * len(entries) + EXPIRE)
        return fresh

    def reserve(
        self, monitor: str, hour: int, most: Spending, fits: Callable[[Spending], bool]
    ) -> bool:
        """Set `most` aside from an hour's budget, if with it the hour still `fits`."""
        if not fits(self.spent(monitor, hour).plus(most)):  # the usual refusal: no transaction
            return False
        with self._file.transaction() as connection:
            spent = _spent(connection.execute(HOUR, (monitor, hour)).fetchone())
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
        """The names under which something is kept."""
        query = "SELECT monitor FROM states UNION SELECT monitor FROM counts ORDER BY 1"
        return [row[0] for row in self._file.rows(query)]

    def state(self, monitor: str) -> bytes | None:
        """What the samples so far amount to, as the last fold gave it."""
        found = self._file.rows("SELECT body FROM states WHERE monitor = ?", (monitor,))
        return found[0][0] if found else None

    def counts(self, monitor: str) -> dict[str, int]:
        return dict(self._file.rows("SELECT what, n FROM counts WHERE monitor = ?", (monitor,)))

    def spent(self, monitor: str, hour: int) -> Spending:
        """What an hour (since 1970) has cost, with what is set aside."""
        found = self._file.rows(HOUR, (monitor, hour))
        return _spent(found[0] if found else None)

    def samples(self, monitor: str, *, before: int = LAST, limit: int = 100) -> list[StoredSample]:
        """The newest first; `before` is the number of the last one of the former page."""
        return [_kept(row) for row in self._file.rows(NEWEST, (monitor, before, limit))]

    def worst(self, monitor: str, *, limit: int = 10) -> list[StoredSample]:
        """The worst of the last 500 samples that were measured."""
        return [_kept(row) for row in self._file.rows(WORST, (monitor, RECENT, limit))]

    def has(self, monitor: str, id: str) -> bool:  # noqa: A002
        query = "SELECT 1 FROM samples WHERE monitor = ? AND id = ?"
        return bool(self._file.rows(query, (monitor, id)))

    def sample(self, monitor: str, id: str, *, now: float | None = None) -> StoredSample | None:  # noqa: A002
        """One sample with its text, if that is still kept."""
        found = self._file.rows(ONE, (time.time() if now is None else now, monitor, id))
        return _kept(found[0]) if found else None


def _add(connection: Connection, monitor: str, entry: SampleRow, expires: float | None) -> bool:
    """Whether the sample is new."""
    *columns, text = entry
    added = connection.execute(ADD, (monitor, *columns))
    if added.rowcount != 1:
        return False
    if text is not None and expires is not None:
        connection.execute("INSERT INTO texts VALUES (?, ?, ?)", (added.lastrowid, expires, text))
    return True


def _raise(connection: Connection, monitor: str, alert: NewAlert) -> None:
    connection.execute(END, (alert.at, monitor, alert.stream))
    values = (monitor, alert.stream, alert.at, alert.open, alert.body)
    connection.execute(ALERT, values)


def _state(connection: Connection, monitor: str) -> bytes | None:
    query = "SELECT body FROM states WHERE monitor = ?"
    found = connection.execute(query, (monitor,)).fetchone()
    return None if found is None else found[0]


def _spent(row: Any) -> Spending:
    return Spending() if row is None else Spending(*row)


def _kept(row: Any) -> StoredSample:
    number, id_, drawn, *rest = row
    return StoredSample(number, id_, bool(drawn), *rest)
