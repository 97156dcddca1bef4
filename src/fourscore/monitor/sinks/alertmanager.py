"""Sends alerts to Prometheus' Alertmanager, API v2.

Alertmanager resolves an alert that is not sent again before its `endsAt`, so an open alert is
repeated. Alertmanager identifies an alert by its labels. The severity is one of them, for routing,
so when an alert becomes critical, the same request ends the alert with severity warning.
"""

import time
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import msgspec

from fourscore.monitor.alert_text import facts, headline, one_line
from fourscore.monitor.alerts import Notice, Policy, Severity
from fourscore.monitor.sinks.http import Address
from fourscore.monitor.sinks.secrets import Secret

#: Seconds until an open alert is sent again, as Prometheus does.
RESEND = 60.0
#: `endsAt` is this many repeat intervals away, so that one late repetition does not end the alert.
INTERVALS_TO_END = 5
PATH = "/api/v2/alerts"
NAMES = {"judge": "FourscoreJudgeFailing", "drift": "FourscoreDrift"}


class Alertmanager:
    """A sink for Alertmanager. `url` is its web interface; `labels` are added to every alert."""

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
        lifetime = INTERVALS_TO_END * (self.policy.repeat or 24 * 3600.0)
        now = time.time()
        alerts = [
            alert
            for notice in notices
            for alert in make_alerts(notice, now, lifetime, self._labels)
        ]
        headers = {"content-type": "application/json", "user-agent": "fourscore"}
        if self._token is not None:
            headers["authorization"] = f"Bearer {self._token.reveal()}"
        self._address.post(msgspec.json.encode(alerts), headers)


def make_alerts(
    notice: Notice, now: float, lifetime: float, labels: Mapping[str, str]
) -> list[dict[str, Any]]:
    """Return the alert once with each severity; at most one of the two is active."""
    severities: tuple[Severity, ...] = ("warning", "critical")
    return [
        _make_alert(
            notice, severity, now, now + lifetime if _is_active(notice, severity) else now, labels
        )
        for severity in severities
    ]


def _is_active(notice: Notice, severity: Severity) -> bool:
    return notice.state == "firing" and notice.status == severity


def _make_alert(
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
        "startsAt": _format_instant(min(notice.since, now)),
        "endsAt": _format_instant(ends),
    }


def _format_instant(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).isoformat(timespec="milliseconds")
