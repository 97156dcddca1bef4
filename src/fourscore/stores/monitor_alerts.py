"""The outbox of alerts: stored with the samples that caused them, and claimed to be sent.

A sender claims what is due for its sink, sends it, and reports the result. Among all processes one
has the claim until its lease is over. So an alert is sent once, and again only where a sender died
between sending and reporting; `Claim.key` is the same then, for receivers that compare it.
"""

from collections.abc import Sequence
from secrets import token_hex
from typing import Any

import msgspec

from fourscore.core.secrets import hide_secrets
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
#: The types of a row of `SHOWN` and of `DUE`.
ALERT = tuple[int, str, float, int, float | None, bytes]
CLAIMED = tuple[int, str, float, int, float | None, bytes, int, int]
SHOWN = "SELECT number, stream, at, open, ended, body FROM alerts WHERE monitor = ?"


class Alert(msgspec.Struct, frozen=True, kw_only=True):
    """A stored change of status, `open` until the next one of its stream, which sets `ended`."""

    number: int
    stream: str
    at: float
    open: bool
    ended: float | None
    body: bytes


class Claim(msgspec.Struct, frozen=True, kw_only=True):
    """An alert that this process may send. `attempt` counts from 1, anew for each `repetition`."""

    alert: Alert
    sink: str
    attempt: int
    repetition: int
    token: str

    @property
    def key(self) -> str:
        """The same for every attempt, so that a receiver can recognize a repetition."""
        return f"{self.alert.number}-{self.sink}-{self.repetition}"


class Outbox:
    """The alerts of one monitor file and their deliveries."""

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
        """Claim the alerts that are due for a sink, oldest first, for `lease` seconds.

        Alerts from before `since` are not sent to a new sink.
        """
        values = (sink, monitor, since, now, now, limit)
        if not self._file.rows(DUE, values, CLAIMED):  # the usual case needs no transaction
            return []
        token, claims = token_hex(8), []
        with self._file.transaction() as connection:
            for *alert, attempts, sent in connection.execute(DUE, values).fetchall():
                connection.execute(CLAIM, (alert[0], sink, now + lease, token))
                claim = Claim(
                    alert=_make_alert(alert),
                    sink=sink,
                    attempt=attempts + 1,
                    repetition=sent,
                    token=token,
                )
                claims.append(claim)
        return claims

    def sent(self, claim: Claim, *, again: float | None = None) -> bool:
        """Mark an alert as sent, due again at `again` while open; False if the claim was lost."""
        return self._mark(claim, "sent", again, "")

    def failed(self, claim: Claim, error: str, *, next: float | None) -> bool:  # noqa: A002
        """Mark a delivery as failed: due again at `next`, or never again where that is None."""
        return self._mark(claim, "given up" if next is None else "due", next, error)

    def _mark(self, claim: Claim, state: str, at: float | None, error: str) -> bool:
        with self._file.transaction() as connection:
            key = (claim.alert.number, claim.sink, claim.token)
            return (
                connection.execute(MARK, (state, at, hide_secrets(error)[:2000], *key)).rowcount
                == 1
            )

    def alerts(
        self, monitor: str, *, only_open: bool = False, before: int | None = None, limit: int = 100
    ) -> list[Alert]:
        """Return alerts, newest first; `before` is the last number of the previous page."""
        query = SHOWN + (" AND open" if only_open else "") + (" AND number < ?" if before else "")
        values = (monitor, before, limit) if before else (monitor, limit)
        found = self._file.rows(f"{query} ORDER BY number DESC LIMIT ?", values, ALERT)
        return [_make_alert(row) for row in found]

    def deliveries(self, alert: int) -> dict[str, tuple[str, int, int, str]]:
        """Return state, times sent, attempts since and last error of an alert, by sink."""
        query = "SELECT sink, state, sent, attempts, error FROM deliveries WHERE alert = ?"
        found = self._file.rows(query, (alert,), tuple[str, str, int, int, str])
        return {sink: tuple(rest) for sink, *rest in found}


def _make_alert(row: Sequence[Any]) -> Alert:
    number, stream, at, is_open, ended, body = row
    return Alert(number=number, stream=stream, at=at, open=bool(is_open), ended=ended, body=body)
