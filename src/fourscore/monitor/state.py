"""The state of a monitored service, folded from its samples without a clock or I/O.

The whole state is one value that JSON stores exactly, so any process can read it from the store
and fold the next samples into it. Its size is bounded: at most 16 dimensions and 64 tags are
watched, those seen first; samples with other tags are counted.

Pass rates include measured samples: scored ones, and failures of the agent itself. The stream
`judge` watches how often the judge fails. docs/alarms.md explains how an alarm is decided.
"""

from collections.abc import Iterator, Sequence
from typing import Any, Literal

import msgspec

from fourscore.core import ConfigError, Rubric, Status, Usage
from fourscore.monitor.alerts import CurrentRate, StatusChange
from fourscore.monitor.drift import Aspect, Drift
from fourscore.monitor.sample import Sample
from fourscore.monitor.settings import MAX_STREAMS, Mode, Thresholds, read_thresholds
from fourscore.monitor.stream import Stream
from fourscore.stats.classification import Confusion
from fourscore.stats.confidence_sequence import anytime_interval
from fourscore.stats.rate_alarm import AlarmChange, AlarmPlan
from fourscore.stores.errors import decode_stored
from fourscore.stores.monitor_rows import NewAlert

Language = Literal["zh"] | None

#: Chinese labels of the original specification, which `language="zh"` adds.
LABELS = {
    "healthy": "healthy (健康)",
    "warning": "warning (警告)",
    "critical": "critical (紧急)",
    "insufficient_data": "数据不足",
}
#: The thresholds that users may edit in `alert_thresholds`.
ALERT_THRESHOLDS = ("pass_rate_warning", "pass_rate_critical")
#: Characters of a dimension's or a tag's name.
MAX_NAME = 80
#: Intervals of alerts are tuned for this n: a fall is found after some dozens of samples.
TYPICAL_N = 50


class MonitorState(msgspec.Struct, omit_defaults=True, kw_only=True):
    """The stored state. `scored` is the total weight of the samples that a judge has scored."""

    thresholds: Thresholds = Thresholds()
    mode: Mode = "sequential"
    pass_threshold: float = 0.7
    samples: int = 0
    statuses: dict[str, int] = msgspec.field(default_factory=dict)
    overall: Stream = msgspec.field(default_factory=Stream)
    dimensions: dict[str, Stream] = msgspec.field(default_factory=dict)
    tags: dict[str, Stream] = msgspec.field(default_factory=dict)
    unwatched: int = 0
    judge: Stream = msgspec.field(default_factory=Stream)
    drift: Drift = msgspec.field(default_factory=Drift)
    scored: float = 0.0
    cost: Usage = Usage()
    first: float | None = None
    last: float | None = None
    plans: dict[str, AlarmPlan] = msgspec.field(default_factory=dict)

    def apply_rules(
        self, thresholds: Thresholds, mode: Mode, pass_threshold: float
    ) -> "MonitorState":
        """Use these rules for the next samples; sums computed with other rules restart."""
        if (self.thresholds, self.mode, self.pass_threshold) == (thresholds, mode, pass_threshold):
            return self
        self.thresholds, self.mode, self.pass_threshold = thresholds, mode, pass_threshold
        self.plans = {}
        for stream in (self.overall, *self.dimensions.values(), *self.tags.values(), self.judge):
            stream.alarm.renew()
        return self

    def fold(self, sample: Sample) -> list[StatusChange]:
        """Add one sample, and return the changes of status that it causes."""
        self.samples += 1
        self.statuses[sample.status] = self.statuses.get(sample.status, 0) + 1
        self.first = sample.at if self.first is None else min(self.first, sample.at)
        self.last = sample.at if self.last is None else max(self.last, sample.at)
        self.cost += sample.cost
        changes: list[StatusChange] = []
        if sample.status.measured:
            if sample.status is Status.SCORED:  # a crashed agent says nothing about the judge
                self.scored += sample.weight
                changes += self._add("judge", self.judge, sample, passed=True)
            changes += self._add_measured(sample)
        elif sample.status in (Status.JUDGE_ERROR, Status.REFUSED):
            changes += self._add("judge", self.judge, sample, passed=False)
        changes += self._add_dimensions(sample)
        return changes

    def document(self, errors: Confusion | None = None) -> dict[str, Any]:
        """Return the state as one JSON document; with a judge's errors, the corrected rate too."""
        from fourscore.monitor.status import state_document

        return state_document(self, errors)

    def _add_measured(self, sample: Sample) -> Iterator[StatusChange]:
        passed, value = bool(sample.passed), sample.value
        yield from self._add("overall", self.overall, sample, passed=passed, value=value)
        tags = tuple(dict.fromkeys(tag[:MAX_NAME] for tag in sample.tags))
        is_outside = False
        for tag in tags:
            stream = self._find_stream("tag", self.tags, tag)
            if stream is None:
                is_outside = True
            else:
                yield from self._add(f"tag:{tag}", stream, sample, passed=passed, value=value)
        self.unwatched += is_outside
        yield from self._add_to_drift(sample, tags)

    def _add_dimensions(self, sample: Sample) -> Iterator[StatusChange]:
        """Add the dimensions that were measured, even if the judge of another one failed."""
        for name, reached in sample.dimensions.items():
            stream = self._find_stream("dimension", self.dimensions, name[:MAX_NAME])
            if stream is not None:
                key, is_good = f"dimension:{name[:MAX_NAME]}", reached >= self.pass_threshold - 1e-9
                yield from self._add(key, stream, sample, passed=is_good, value=reached)

    def _find_stream(self, kind: str, streams: dict[str, Stream], name: str) -> Stream | None:
        if name not in streams and len(streams) < MAX_STREAMS[kind]:
            streams[name] = Stream()
        return streams.get(name)

    def _add(
        self,
        name: str,
        stream: Stream,
        sample: Sample,
        *,
        passed: bool,
        value: float | None = None,
    ) -> Iterator[StatusChange]:
        kind = name.partition(":")[0]
        plan = self.plans.get(kind)
        if plan is None:
            plan = self.plans[kind] = self.thresholds.plan(kind, self.mode)
        change = stream.fold(sample, passed=passed, value=value, plan=plan)
        if change is not None and not (
            change.before == "insufficient_data" and change.after == "healthy"
        ):
            yield _make_change(name, stream, change, sample.at, plan)

    def _add_to_drift(self, sample: Sample, tags: tuple[str, ...]) -> Iterator[StatusChange]:
        if not self.overall.is_tested(sample.id, sample.weight):
            return
        rules = self.thresholds
        level = rules.share("drift") / (rules.horizon // rules.drift_window + 1)
        for aspect in self.drift.fold(sample, tags, rules.drift_window, level):
            yield self._make_drift_change(aspect, sample.at, 1 - rules.share("drift"))

    def _make_drift_change(self, aspect: Aspect, at: float, sure: float) -> StatusChange:
        mark = self.drift.marks[aspect]
        return StatusChange(
            stream=f"drift:{aspect}",
            before="healthy" if mark.on else "warning",
            after="warning" if mark.on else "healthy",
            at=at,
            since=mark.since,
            estimate=mark.distance,
            low=None,
            high=None,
            n=self.drift.reference.n,
            method="drift",
            sure=sure if mark.on else None,
            evidence=tuple(reversed(mark.unusual)) if mark.on else (),
            detail=mark.detail,
        )


def _make_change(
    name: str, stream: Stream, turn: AlarmChange, at: float, plan: AlarmPlan
) -> StatusChange:
    low, high = anytime_interval(turn.passed, turn.n, tuned_for=TYPICAL_N)
    change = StatusChange(
        stream=name,
        before=turn.before,
        after=turn.after,
        at=at,
        since=turn.since,
        estimate=turn.passed / turn.n,
        low=low,
        high=high,
        n=turn.n,
        method=turn.method,
        sure=None if plan.simple else 1 - plan.alpha,
        evidence=stream.evidence(),
    )
    if change.kind == "raised":
        return change
    return msgspec.structs.replace(change, sure=None, evidence=())


class StateUpdater:
    """Folds samples into the stored state by the rules of one monitor.

    The rules come from the monitor, the history from the store: a monitor that starts with other
    thresholds keeps the history and uses its own thresholds from then on.
    """

    def __init__(
        self,
        rubric: Rubric,
        *,
        mode: Mode,
        thresholds: Thresholds,
        language: Language,
        calibration: Confusion | None = None,
    ) -> None:
        if mode not in ("sequential", "simple"):
            raise ConfigError(f"{mode!r}: expected sequential or simple", field="mode")
        if language not in (None, "zh"):
            raise ConfigError(f"{language!r}: expected zh, or nothing", field="language")
        self.mode, self.language, self.calibration = mode, language, calibration
        self.pass_threshold = rubric.pass_threshold
        self._given = thresholds
        #: May be edited; a new value applies from the next sample on.
        self.alert_thresholds = {name: getattr(thresholds, name) for name in ALERT_THRESHOLDS}

    @property
    def thresholds(self) -> Thresholds:
        """The thresholds in force, with edits of `alert_thresholds`."""
        given = {name: getattr(self._given, name) for name in ALERT_THRESHOLDS}
        if given == self.alert_thresholds:
            return self._given
        return read_thresholds({**msgspec.structs.asdict(self._given), **self.alert_thresholds})

    def fold(
        self, state: bytes | None, samples: Sequence[Sample]
    ) -> tuple[bytes, Sequence[NewAlert]]:
        """Return the state after these samples, and an alert for each change of status."""
        current = self._read(state)
        changes = [change for sample in samples for change in current.fold(sample)]
        alerts = [
            NewAlert(
                stream=change.stream,
                at=change.at,
                open=change.kind != "resolved",
                body=msgspec.json.encode(change),
            )
            for change in changes
        ]
        return msgspec.json.encode(current), alerts

    def document(self, state: bytes | None) -> dict[str, Any]:
        """Return the metrics; with `language="zh"`, the label of the status too."""
        document = self._read(state).document(self.calibration)
        if self.language == "zh":
            document["label"] = LABELS.get(document["status"], document["status"])
        return document

    def _read(self, state: bytes | None) -> MonitorState:
        return read_state(state).apply_rules(self.thresholds, self.mode, self.pass_threshold)


def read_state(state: bytes | None) -> MonitorState:
    """Decode the stored state; return a new one for None."""
    return MonitorState() if state is None else decode_stored(state, MonitorState, "state")


def read_current_rate(state: bytes | None, stream: str) -> CurrentRate | None:
    """Return the pass rate of a stream's current block; None without samples in it."""
    kind, _, name = stream.partition(":")
    if state is None or kind not in ("overall", "dimension", "tag"):
        return None
    known = read_state(state)
    streams = {"dimension": known.dimensions, "tag": known.tags}.get(kind, {"": known.overall})
    alarm = streams[name].alarm if name in streams else None
    if alarm is None or not alarm.block_n:
        return None
    low, high = alarm.interval()
    return CurrentRate(
        pass_rate=alarm.block_passed / alarm.block_n, low=low, high=high, n=alarm.block_n
    )
