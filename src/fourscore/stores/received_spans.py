"""Spans that wait until their trace is complete.

    spans.receive([SpanRow(trace_id, span_id, at, body, root), …])   # on the disk when it returns
    for trace_id in spans.claim_complete(now, quiet_seconds=30, limit=100):
        bodies = spans.read(trace_id)
        …
        spans.mark_done(trace_id)

A trace is complete when its root has arrived and no span has come for some seconds, or when it has
waited for the longest time allowed. A span that arrives twice is kept once, whichever copy came
first; one that arrives after its trace is done is counted and not kept. A claim is a lease: another
process gets the trace only when the lease has passed without `mark_done`.
"""

import time
from collections.abc import Mapping, Sequence
from sqlite3 import Connection
from typing import NamedTuple

from fourscore.stores.monitor_file import MonitorFile

#: Spans and bytes kept of one trace: an endless one is an attack or a bug.
MOST_SPANS = 10_000
MOST_BYTES = 64 << 20
#: Seconds that a trace is remembered as done, to recognize late spans.
REMEMBERED = 86_400.0
#: Traces forgotten at a time.
FORGET = 200

ADD = "INSERT INTO spans (trace_id, span_id, at, body) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING"
#: Of two copies that differ the longer one stays, so that the order of arrival does not matter.
REPLACE_SHORTER = """UPDATE spans SET body = ?4 WHERE trace_id = ?1 AND span_id = ?2
    AND (length(body), body) < (length(?4), ?4)"""
SEEN = """INSERT INTO otel_traces (trace_id, first_seen, last_seen, rooted, spans, bytes, claimed)
    VALUES (?, ?, ?, ?, ?, ?, 0) ON CONFLICT (trace_id) DO UPDATE
    SET last_seen = max(last_seen, excluded.last_seen), rooted = max(rooted, excluded.rooted),
    spans = spans + excluded.spans, bytes = bytes + excluded.bytes"""
STANDING = "SELECT done, spans >= ? OR bytes >= ? FROM otel_traces WHERE trace_id = ?"
COMPLETE = """SELECT trace_id FROM (
        SELECT trace_id, last_seen, claimed FROM otel_traces
        WHERE done IS NULL AND rooted AND last_seen <= ?
        UNION SELECT trace_id, last_seen, claimed FROM otel_traces
        WHERE done IS NULL AND first_seen <= ?)
    WHERE claimed <= ? ORDER BY last_seen, trace_id LIMIT ?"""
OLD = """DELETE FROM otel_traces WHERE trace_id IN (
    SELECT trace_id FROM otel_traces WHERE done IS NOT NULL AND done < ? LIMIT ?)"""
COUNT = """INSERT INTO counts (monitor, what, n) VALUES (?, ?, ?)
    ON CONFLICT (monitor, what) DO UPDATE SET n = n + excluded.n"""


class SpanRow(NamedTuple):
    """A received span. `at` is in unix seconds; `root` where it has no parent."""

    trace_id: str
    span_id: str
    at: float
    body: bytes
    root: bool = True


class ReceivedCounts(NamedTuple):
    """Outcomes of the spans of a batch; they sum to its length."""

    new: int = 0
    twice: int = 0
    late: int = 0
    beyond: int = 0  # of a trace that is full

    def __add__(self, other: "ReceivedCounts") -> "ReceivedCounts":  # type: ignore[override]
        return ReceivedCounts(*(a + b for a, b in zip(self, other, strict=True)))


class SpanTable:
    """The spans of one monitor file."""

    def __init__(self, file: MonitorFile) -> None:
        self._file = file

    def receive(
        self,
        batches: Sequence[Sequence[SpanRow]],
        *,
        monitor: str | None = None,
        rejected: int = 0,
    ) -> list[ReceivedCounts]:
        """Store some batches in one transaction, and count them under the monitor's name.

        `rejected` spans cannot be stored and are only counted.
        """
        if not any(batches) and not rejected:
            return [ReceivedCounts()] * len(batches)
        latest = max((row.at for batch in batches for row in batch), default=0.0)
        with self._file.transaction() as connection:
            found = [_receive(connection, batch) for batch in batches]
            connection.execute(OLD, (latest - REMEMBERED, FORGET))
            if monitor is not None:
                total = {**sum(found, ReceivedCounts())._asdict(), "rejected": rejected}
                _count(connection, monitor, {f"spans_{word}": n for word, n in total.items()})
        return found

    def claim_complete(
        self,
        now: float,
        quiet_seconds: float,
        limit: int,
        *,
        longest: float = 3600.0,
        lease: float = 300.0,
    ) -> list[str]:
        """Claim complete traces: with root and quiet for so long, or older than `longest`."""
        values = (now - quiet_seconds, now - longest, now, limit)
        if not self._file.rows(COMPLETE, values, tuple[str]):  # the usual case needs no transaction
            return []
        with self._file.transaction() as connection:
            found = [row[0] for row in connection.execute(COMPLETE, values)]
            claims = [(now + lease, trace_id) for trace_id in found]
            connection.executemany("UPDATE otel_traces SET claimed = ? WHERE trace_id = ?", claims)
        return found

    def read(self, trace_id: str) -> list[bytes]:
        """Return the spans of a trace, in the order of arrival; they stay until `mark_done`."""
        query = "SELECT body FROM spans WHERE trace_id = ? ORDER BY at, rowid"
        return [row[0] for row in self._file.rows(query, (trace_id,), tuple[bytes])]

    def mark_done(
        self,
        *trace_ids: str,
        now: float | None = None,
        monitor: str | None = None,
        counts: Mapping[str, int] | None = None,
    ) -> None:
        """Delete the spans, and remember for a day that these traces are done."""
        at = time.time() if now is None else now
        with self._file.transaction() as connection:
            # Spans are stored without redaction: overwrite them, not only delete.
            connection.execute("PRAGMA secure_delete = ON")
            for trace_id in trace_ids:
                connection.execute("DELETE FROM spans WHERE trace_id = ?", (trace_id,))
                update = "UPDATE otel_traces SET done = ? WHERE trace_id = ?"
                connection.execute(update, (at, trace_id))
            if monitor is not None:
                _count(connection, monitor, counts or {})

    def count_waiting(self) -> int:
        """Return how many traces are not done."""
        ((n,),) = self._file.rows("SELECT count(*) FROM otel_traces WHERE done IS NULL")
        return int(n)


class _BatchTrace:
    """The spans of one trace in a batch."""

    __slots__ = ("has_root", "size", "spans")

    def __init__(self) -> None:
        self.spans, self.size, self.has_root = 0, 0, False


def _receive(connection: Connection, batch: Sequence[SpanRow]) -> ReceivedCounts:
    seen: dict[str, _BatchTrace] = {}
    for row in batch:
        one = seen.get(row.trace_id) or seen.setdefault(row.trace_id, _BatchTrace())
        one.spans += 1
        one.size += len(row.body)
        one.has_root |= row.root
    late, beyond = 0, 0
    closed = set()
    for trace_id, one in seen.items():
        found = connection.execute(STANDING, (MOST_SPANS, MOST_BYTES, trace_id)).fetchone()
        if found is not None and (found[0] is not None or found[1]):
            closed.add(trace_id)
            late += one.spans if found[0] is not None else 0
            beyond += one.spans if found[0] is None else 0
    latest = max((row.at for row in batch), default=0.0)
    fresh = [row[:4] for row in batch if row.trace_id not in closed]
    before = connection.total_changes
    connection.executemany(ADD, fresh)
    new = connection.total_changes - before
    if new < len(fresh):
        connection.executemany(REPLACE_SHORTER, fresh)
    known = [
        (trace_id, latest, latest, one.has_root, one.spans, one.size)
        for trace_id, one in seen.items()
        if trace_id not in closed
    ]
    connection.executemany(SEEN, known)
    return ReceivedCounts(new, len(fresh) - new, late, beyond)


def _count(connection: Connection, monitor: str, counts: Mapping[str, int]) -> None:
    rows = [(monitor, what, n) for what, n in counts.items() if n]
    connection.executemany(COUNT, rows)
