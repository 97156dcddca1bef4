"""Alerts on their way out: each is written with the samples that caused it, and sent from here.

A sender claims what is due for its sink, sends it, and says how that went. Among all processes one
has the claim, until its lease is over; so an alert is sent once, and once more only where a sender
died between sending and saying so. `Claim.key` stays the same then, for receivers that compare.
"""

from secrets import token_hex
from typing import NamedTuple

from fourscore.stores.monitor_file import MonitorFile

DUE = """SELECT number, stream, alerts.at, open, ended, body,
    coalesce(attempts, 0), coalesce(sent, 0)
    FROM alerts LEFT JOIN deliveries ON alert = number AND sink = ?
    WHERE monitor = ? AND alerts.at >= ? AND (
        state IS NULL OR (state IN ('due', 'claimed') AND next <= ?)
        OR (state = 'sent' AND open AND next <= ?))
    ORDER BY number LIMIT ?"""
CLAIM = """INSERT INTO deliveries (alert, sink, state, attempts, sent, next, claim, error)
    VALUES (?, ?, 'claimed', 1, 0, ?, ?, '') ON CONFLICT (alert, sink) DO UPDATE SET
    attempts = attempts + 1, state = 'claimed', next = excluded.next, claim = excluded.claim"""
MARK = """UPDATE deliveries SET state = ?1, next = ?2, error = ?3, claim = NULL,
    attempts = CASE WHEN ?1 = 'sent' THEN 0 ELSE attempts END, sent = sent + (?1 = 'sent')
    WHERE alert = ?4 AND sink = ?5 AND claim = ?6"""
SHOWN = "SELECT number, stream, at, open, ended, body FROM alerts WHERE monitor = ?"


class Alert(NamedTuple):
    """One change of status. `open` until the next change of its stream, which sets `ended`."""

    number: int
    stream: str
    at: float
    open: bool
    ended: float | None
    body: bytes


class Claim(NamedTuple):
    """An alert that is ours to send. `attempt` counts from 1, anew for each `repetition`."""

    alert: Alert
    sink: str
    attempt: int
    repetition: int
    token: str

    @property
    def key(self) -> str:
        """What a receiver may compare to know it has seen this one."""
        return f"{self.alert.number}-{self.sink}-{self.repetition}"


class Outbox:
    """The alerts of one monitor file."""

    def __init__(self, file: MonitorFile) -> None:
        self._file = file

    def claim(
        self,
        monitor: str,
        sink: str,
        now: float,
        *,
        lease: float = 60.0,
        since: float = 0.0,
        limit: int = 20,
    ) -> list[Claim]:
        """What is due for this sink, oldest first, ours for the length of the lease.

        A sink that is new is not told of alerts from before `since`.
        """
        asked = (sink, monitor, since, now, now, limit)
        if not self._file.rows(DUE, asked):  # mostly: without a transaction
            return []
        token, claims = token_hex(8), []
        with self._file.transaction() as connection:
            for *alert, attempts, sent in connection.execute(DUE, asked).fetchall():
                connection.execute(CLAIM, (alert[0], sink, now + lease, token))
                claims.append(Claim(_alert(alert), sink, attempts + 1, sent, token))
        return claims

    def sent(self, claim: Claim, *, again: float | None = None) -> bool:
        """It was sent; while it is open it is due once more at `again`. False: no longer ours."""
        return self._mark(claim, "sent", again, "")

    def failed(self, claim: Claim, error: str, *, next: float | None) -> bool:  # noqa: A002
        """It was not sent; to be tried again at `next`, or given up where that is None."""
        return self._mark(claim, "given up" if next is None else "due", next, error)

    def _mark(self, claim: Claim, state: str, at: float | None, error: str) -> bool:
        with self._file.transaction() as connection:
            key = (claim.alert.number, claim.sink, claim.token)
            return connection.execute(MARK, (state, at, error[:2000], *key)).rowcount == 1

    def alerts(
        self, monitor: str, *, only_open: bool = False, before: int | None = None, limit: int = 100
    ) -> list[Alert]:
        """The newest first; `before` is the number of the last one of the former page."""
        query = SHOWN + (" AND open" if only_open else "") + (" AND number < ?" if before else "")
        values = (monitor, before, limit) if before else (monitor, limit)
        return list(map(_alert, self._file.rows(f"{query} ORDER BY number DESC LIMIT ?", values)))

    def deliveries(self, alert: int) -> dict[str, tuple[str, int, int, str]]:
        """What became of an alert at each sink: state, times sent, attempts since, last error."""
        query = "SELECT sink, state, sent, attempts, error FROM deliveries WHERE alert = ?"
        return {sink: tuple(rest) for sink, *rest in self._file.rows(query, (alert,))}


def _alert(row: "list[object] | tuple[object, ...]") -> Alert:
    number, stream, at, is_open, ended, body = row
    return Alert(number, stream, at, bool(is_open), ended, body)  # type: ignore[arg-type]
