"""What is said of an alert, to whom, and when again.

A change of status is an alert of the store. Each sink is told of it once, told again by its policy
while it is open, and told when it is over. What a later change has overtaken is not told any more:
who was away hears how things stand, not how they came to that.
"""

import time
from hashlib import sha256
from typing import Literal, NamedTuple

import msgspec

from fourscore.core.numbers import check_finite
from fourscore.stats.rate_alarm import Method, Word
from fourscore.stores.monitor_alerts import Alert, Claim, Outbox

HOUR, DAY = 3600.0, 86_400.0
#: An error of a delivery that begins like this is none: there was nothing to say any more.
SKIPPED = "not told: "
#: Alerts looked at for what came before one.
LOOKED_AT = 500

Severity = Literal["warning", "critical"]


Kind = Literal["raised", "eased", "resolved"]
_RANK = {"insufficient_data": 0, "healthy": 0, "warning": 1, "critical": 2}


class StatusChange(msgspec.Struct, frozen=True, kw_only=True):
    """Which stream went from what to what.

    `estimate`, `low`, `high` and `n` are of the stretch that showed it, since `since`. `sure` is
    the chance that a good service goes through a whole horizon without this stream's alarm; None
    where nothing like it is promised: the literal rule, and an alarm that is over. `evidence` has
    up to ten ids of interactions, the worst first.
    """

    stream: str
    before: Word
    after: Word
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
    def kind(self) -> Kind:
        """`eased` is from critical to warning."""
        if _RANK[self.after] > _RANK[self.before]:
            return "raised"
        return "eased" if _RANK[self.after] else "resolved"


class Policy(msgspec.Struct, frozen=True, kw_only=True):
    """`repeat` are the seconds until an open alert is told again, None is never.

    `least` is the severity below which a sink is not told.
    """

    repeat: float | None = 4 * HOUR
    least: Severity = "warning"

    def __post_init__(self) -> None:
        if self.repeat is not None:
            check_finite("repeat", self.repeat, low=1)

    def counts(self, status: Word) -> bool:
        """Whether a status is one to tell of."""
        return status == "critical" or (status == "warning" and self.least == "warning")


class CurrentRate(msgspec.Struct, frozen=True, kw_only=True):
    """How a stream does now, where an alert of it is told again."""

    pass_rate: float
    low: float
    high: float
    n: int


class Notice(msgspec.Struct, frozen=True, kw_only=True):
    """One alert as a sink is told. `id` is the same however often it has to be tried.

    `since` is when the trouble began, `at` when it was known, or known to be over. `estimate` with
    `low` and `high` is the share of good samples among the `n` that showed it; for drift it is the
    distance. `sure` is the chance that a good service runs for a whole horizon without this alarm.
    `evidence` are ids of interactions, the worst first.
    """

    id: str
    monitor: str
    stream: str
    state: Literal["firing", "resolved"]
    status: Word
    before: Word
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
        """Of the dimension, tag or aspect. Tags come with the traffic: foreign text."""
        return self.stream.partition(":")[2]


class PriorAlerts(NamedTuple):
    """What came before a change: since when there is trouble, and whether a sink knows of it."""

    since: float | None
    severity: Severity | None
    told: bool


def make_notice(
    outbox: Outbox, monitor: str, claim: Claim, policy: Policy, now: float
) -> Notice | str:
    """What to tell, or why there is nothing to tell any more."""
    alert, change = claim.alert, read_change(claim.alert.body)
    firing = policy.counts(change.after)
    if change.kind != "resolved" and not alert.open:
        return f"{SKIPPED}the status of {alert.stream} has changed since"
    before = _before(outbox, monitor, claim, policy)
    if not firing:
        if before.severity is None:
            return f"{SKIPPED}{change.after} is below {policy.least}"
        if not before.told and now - alert.at > DAY:
            return f"{SKIPPED}it was over before this sink heard of it"
        if change.kind == "resolved" and _open_again(outbox, monitor, alert):
            return f"{SKIPPED}{alert.stream} has failed again since"
    return _notice(
        monitor,
        change,
        id_=_id(monitor, claim),
        severity=(_severity(change.after) if firing else before.severity) or "warning",
        since=change.since if before.since is None else before.since,
        repetition=claim.repetition,
        firing=firing,
    )


def make_local_notice(monitor: str, alert: Alert) -> Notice:
    """An alert for whoever looks at it here, told to nobody."""
    change = read_change(alert.body)
    return _notice(
        monitor,
        change,
        id_=str(alert.number),
        severity=_severity(change.after) or _severity(change.before) or "warning",
        since=change.since,
        repetition=0,
        firing=change.kind != "resolved",
    )


def _notice(
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
    return msgspec.json.decode(body, type=StatusChange)


def _before(outbox: Outbox, monitor: str, claim: Claim, policy: Policy) -> PriorAlerts:
    """Back to where the trouble began: the last alert before which all was well."""
    since: float | None = None
    severity: Severity | None = None
    told = False
    for former in outbox.alerts(monitor, before=claim.alert.number, limit=LOOKED_AT):
        if former.stream != claim.alert.stream:
            continue
        change = read_change(former.body)
        if not policy.counts(change.after):
            break
        since, severity = change.since, severity or _severity(change.after)
        told = told or _was_told(outbox, former, claim.sink)
    return PriorAlerts(since, severity, told)


def _was_told(outbox: Outbox, alert: Alert, sink: str) -> bool:
    """Perhaps, at least: an attempt that failed may have arrived all the same."""
    _, sent, attempts, error = outbox.deliveries(alert.number).get(sink, ("", 0, 0, ""))
    return bool(sent) or (attempts > 0 and not error.startswith(SKIPPED))


def _open_again(outbox: Outbox, monitor: str, alert: Alert) -> bool:
    is_open = outbox.alerts(monitor, only_open=True, limit=LOOKED_AT)
    return any(one.stream == alert.stream and one.number > alert.number for one in is_open)


def _severity(word: Word) -> Severity | None:
    return word if word in ("warning", "critical") else None


def _id(monitor: str, claim: Claim) -> str:
    """Of this alert, sink and repetition, and of no other file's."""
    words = f"{monitor}\n{claim.key}\n".encode("utf-8", "surrogatepass")
    return f"alert_{sha256(words + claim.alert.body).hexdigest()[:32]}"


def moment(at: float) -> str:
    """A time as everybody reads it."""
    return time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime(at))
