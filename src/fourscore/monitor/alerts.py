"""Alerts: changes of status, and the notices of them that sinks receive.

A change of status is stored as an alert. Each sink gets one notice of it, repeated notices while
the alert is open (see `Policy`), and one when it is over. An alert that a later change has replaced
is not sent any more: a sink that was down gets the present status, not the history.
"""

import time
from hashlib import sha256
from typing import Literal, NamedTuple

import msgspec

from fourscore.core.numbers import check_finite
from fourscore.stats.rate_alarm import AlarmStatus, Method
from fourscore.stores.errors import decode_stored
from fourscore.stores.monitor_alerts import Alert, Claim, Outbox

HOUR, DAY = 3600.0, 86_400.0
#: A stored delivery error with this prefix is not an error: the alert did not have to be sent.
SKIPPED = "not told: "
#: Earlier alerts that are read to find when the problem began.
MAX_EARLIER = 500

Severity = Literal["warning", "critical"]


ChangeKind = Literal["raised", "eased", "resolved"]
_RANK = {"insufficient_data": 0, "healthy": 0, "warning": 1, "critical": 2}


class StatusChange(msgspec.Struct, frozen=True, kw_only=True):
    """One stream's change of status, as it is stored.

    `estimate` (a pass rate), its interval `low` to `high` and `n` describe the samples from `since`
    on, which caused the change. `sure` is the chance that a healthy service has no false alarm of
    this stream in a whole horizon; None in simple mode and when an alarm ends, where nothing is
    guaranteed. `evidence` has up to ten ids of interactions, the worst first.
    """

    stream: str
    before: AlarmStatus
    after: AlarmStatus
    at: float
    since: float
    estimate: float | None
    low: float | None
    high: float | None
    n: int
    method: Method
    sure: float | None
    evidence: tuple[str, ...] = ()
    detail: str = ""

    @property
    def kind(self) -> ChangeKind:
        """`raised`, `resolved`, or `eased` (from critical to warning)."""
        if _RANK[self.after] > _RANK[self.before]:
            return "raised"
        return "eased" if _RANK[self.after] else "resolved"


class Policy(msgspec.Struct, frozen=True, kw_only=True):
    """Which alerts a sink gets: severity `least` and above.

    An open alert is sent again every `repeat` seconds; None: never.
    """

    repeat: float | None = 4 * HOUR
    least: Severity = "warning"

    def __post_init__(self) -> None:
        if self.repeat is not None:
            check_finite("repeat", self.repeat, low=1)

    def includes(self, status: AlarmStatus) -> bool:
        """Return whether a status is severe enough to be sent."""
        return status == "critical" or (status == "warning" and self.least == "warning")


class CurrentRate(msgspec.Struct, frozen=True, kw_only=True):
    """The pass rate of a stream's current block, for an alert that is sent again."""

    pass_rate: float
    low: float
    high: float
    n: int


class Notice(msgspec.Struct, frozen=True, kw_only=True):
    """An alert as a sink gets it. `id` is the same for every attempt to send it.

    `since` is when the problem began; `at` is when it, or its end, was detected. `estimate` with
    its interval `low` to `high` is the pass rate of the `n` samples that caused the alert; for
    drift it is the distance. `sure` is the chance that a healthy service has no false alarm of this
    stream in a whole horizon. `evidence` has ids of interactions, the worst first.
    """

    id: str
    monitor: str
    stream: str
    state: Literal["firing", "resolved"]
    status: AlarmStatus
    before: AlarmStatus
    severity: Severity
    since: float
    at: float
    repetition: int
    estimate: float | None
    low: float | None
    high: float | None
    n: int
    method: Method
    sure: float | None
    evidence: tuple[str, ...] = ()
    detail: str = ""
    lately: CurrentRate | None = None

    @property
    def kind(self) -> str:
        """`overall`, `dimension`, `tag`, `judge` or `drift`."""
        return self.stream.partition(":")[0]

    @property
    def name(self) -> str:
        """The name of the dimension, tag or aspect. Tags come with the traffic: untrusted text."""
        return self.stream.partition(":")[2]


class PriorAlerts(NamedTuple):
    """What earlier alerts say: when the problem began, and whether a sink was notified."""

    since: float | None
    severity: Severity | None
    is_notified: bool


def make_notice(
    outbox: Outbox, monitor: str, claim: Claim, policy: Policy, now: float
) -> Notice | str:
    """Return the notice to send, or the reason why the alert need not be sent any more."""
    alert, change = claim.alert, read_change(claim.alert.body)
    firing = policy.includes(change.after)
    if change.kind != "resolved" and not alert.open:
        return f"{SKIPPED}the status of {alert.stream} has changed since"
    before = _read_prior_alerts(outbox, monitor, claim, policy)
    if not firing:
        if before.severity is None:
            return f"{SKIPPED}{change.after} is below {policy.least}"
        if not before.is_notified and now - alert.at > DAY:
            return f"{SKIPPED}it was over before this sink was notified"
        if change.kind == "resolved" and _is_open_again(outbox, monitor, alert):
            return f"{SKIPPED}{alert.stream} has failed again since"
    return _build_notice(
        monitor,
        change,
        id_=_make_id(monitor, claim),
        severity=(_as_severity(change.after) if firing else before.severity) or "warning",
        since=change.since if before.since is None else before.since,
        repetition=claim.repetition,
        firing=firing,
    )


def make_local_notice(monitor: str, alert: Alert) -> Notice:
    """Return the notice of an alert for display, which is not sent to any sink."""
    change = read_change(alert.body)
    return _build_notice(
        monitor,
        change,
        id_=str(alert.number),
        severity=_as_severity(change.after) or _as_severity(change.before) or "warning",
        since=change.since,
        repetition=0,
        firing=change.kind != "resolved",
    )


def _build_notice(
    monitor: str,
    change: StatusChange,
    *,
    id_: str,
    severity: Severity,
    since: float,
    repetition: int,
    firing: bool,
) -> Notice:
    return Notice(
        id=id_,
        monitor=monitor,
        stream=change.stream,
        state="firing" if firing else "resolved",
        status=change.after,
        before=change.before,
        severity=severity,
        since=since,
        at=change.at,
        repetition=repetition,
        estimate=change.estimate,
        low=change.low,
        high=change.high,
        n=change.n,
        method=change.method,
        sure=change.sure,
        evidence=change.evidence,
        detail=change.detail,
    )


def read_change(body: bytes) -> StatusChange:
    """Decode the stored body of an alert."""
    return decode_stored(body, StatusChange, "alert")


def _read_prior_alerts(outbox: Outbox, monitor: str, claim: Claim, policy: Policy) -> PriorAlerts:
    """Read earlier alerts of the stream, back to the first one after it was healthy."""
    since: float | None = None
    severity: Severity | None = None
    is_notified = False
    for former in outbox.alerts(monitor, before=claim.alert.number, limit=MAX_EARLIER):
        if former.stream != claim.alert.stream:
            continue
        change = read_change(former.body)
        if not policy.includes(change.after):
            break
        since, severity = change.since, severity or _as_severity(change.after)
        is_notified = is_notified or _was_notified(outbox, former, claim.sink)
    return PriorAlerts(since, severity, is_notified)


def _was_notified(outbox: Outbox, alert: Alert, sink: str) -> bool:
    """Return whether a sink may have got an alert: even a failed attempt may have arrived."""
    _, sent, attempts, error = outbox.deliveries(alert.number).get(sink, ("", 0, 0, ""))
    return bool(sent) or (attempts > 0 and not error.startswith(SKIPPED))


def _is_open_again(outbox: Outbox, monitor: str, alert: Alert) -> bool:
    is_open = outbox.alerts(monitor, only_open=True, limit=MAX_EARLIER)
    return any(one.stream == alert.stream and one.number > alert.number for one in is_open)


def _as_severity(word: AlarmStatus) -> Severity | None:
    return word if word in ("warning", "critical") else None


def _make_id(monitor: str, claim: Claim) -> str:
    """Return an id for this alert, sink and repetition that is unique among all stores."""
    key = f"{monitor}\n{claim.key}\n".encode("utf-8", "surrogatepass")
    return f"alert_{sha256(key + claim.alert.body).hexdigest()[:32]}"


def format_time(at: float) -> str:
    """Return a time as text, in UTC."""
    return time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime(at))
