"""Alerts for Prometheus' Alertmanager, by its API v2.

Alertmanager takes an alert for over when it has not heard of it for a while, so an open one is sent
again and again, and says itself until when it holds. Its identity are its labels. The severity is
one of them, for routing, so an alert that became critical ends as a warning in the same request.
"""

import time
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import msgspec

from fourscore.monitor.alert_text import facts, headline, one_line
from fourscore.monitor.alerts import Notice, Policy, Severity
from fourscore.monitor.sinks.posting import Address
from fourscore.monitor.sinks.secret import Secret

#: Seconds between two, as Prometheus does it.
RESEND = 60.0
#: An alert holds for so many of them, so that one that is late does not end it.
HOLDS = 5
PATH = "/api/v2/alerts"
NAMES = {"judge": "FourscoreJudgeFailing", "drift": "FourscoreDrift"}


class Alertmanager:
    """`url` is that of its web interface; `labels` are added to those of every alert."""

    together = 20

    def __init__(
        self,
        url: str | Secret,
        name: str = "alertmanager",
        *,
        token: Secret | None = None,
        labels: Mapping[str, str] | None = None,
        policy: Policy | None = None,
    ) -> None:
        self.name, self.policy = name, policy or Policy(repeat=RESEND)
        self._address, self._token = Address(url, PATH), token
        self._labels = dict(labels or {})

    def send(self, notices: Sequence[Notice]) -> None:
        holds = HOLDS * (self.policy.repeat or 24 * 3600.0)
        now = time.time()
        alerts = [
            alert for notice in notices for alert in postable(notice, now, holds, self._labels)
        ]
        headers = {"content-type": "application/json", "user-agent": "fourscore"}
        if self._token is not None:
            headers["authorization"] = f"Bearer {self._token.reveal()}"
        self._address.post(msgspec.json.encode(alerts), headers)


def postable(
    notice: Notice, now: float, holds: float, labels: Mapping[str, str]
) -> list[dict[str, Any]]:
    """The alert under either severity: one of them holds, or neither."""
    severities: tuple[Severity, ...] = ("warning", "critical")
    return [
        _postable(notice, severity, now, now + holds if _holds(notice, severity) else now, labels)
        for severity in severities
    ]


def _holds(notice: Notice, severity: Severity) -> bool:
    return notice.state == "firing" and notice.status == severity


def _postable(
    notice: Notice, severity: Severity, now: float, ends: float, labels: Mapping[str, str]
) -> dict[str, Any]:
    names = {
        "alertname": NAMES.get(notice.kind, "FourscorePassRate"),
        "monitor": one_line(notice.monitor),
        "kind": notice.kind,
        "stream": one_line(notice.stream),
        "severity": severity,
    }
    described = "\n".join(f"{key}: {value}" for key, value in facts(notice, one_line).items())
    return {
        "labels": {**labels, **names},
        "annotations": {"summary": headline(notice, one_line), "description": described},
        "startsAt": _instant(min(notice.since, now)),
        "endsAt": _instant(ends),
    }


def _instant(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).isoformat(timespec="milliseconds")
