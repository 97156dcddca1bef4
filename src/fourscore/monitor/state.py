"""What is known of a service, sample by sample: a pure fold, with no clock and no input or output.

The whole state is one value that survives JSON unchanged, so it can be kept in a row of a store and
folded on by any process. It is bounded: at most 16 dimensions and 64 tags are watched, those seen
first; samples with other tags are counted.

Rates count what was measured (scored, or failed by the agent itself). A judge that fails is another
matter: `judge` watches how often that happens. docs/alarms.md tells how an alarm is decided.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import msgspec

from fourscore.core import ConfigError, Rubric, Status, Usage, suggest_known
from fourscore.monitor.alerts import Change, Lately
from fourscore.monitor.drift import Aspect, Drift
from fourscore.monitor.sample import Sample
from fourscore.monitor.settings import MOST, Mode, Thresholds
from fourscore.monitor.stream import Stream
from fourscore.stats.classification import Confusion
from fourscore.stats.confidence_sequence import interval
from fourscore.stats.rate_alarm import Plan, Turn
from fourscore.stores.monitor_rows import Raised

#: A dimension's or a tag's name is cut here.
NAME = 80
#: A fall is found after some dozens of samples: their interval is made for that.
STRETCH = 50


class Judgement(msgspec.Struct, omit_defaults=True):
    """The state. `scored` is the weight of what a judge has seen, for the corrected rate."""

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
    plans: dict[str, Plan] = msgspec.field(default_factory=dict)

    def under(self, thresholds: Thresholds, mode: Mode, pass_threshold: float) -> "Judgement":
        """The same history judged by these rules from now on; sums made for others start anew."""
        if (self.thresholds, self.mode, self.pass_threshold) == (thresholds, mode, pass_threshold):
            return self
        self.thresholds, self.mode, self.pass_threshold = thresholds, mode, pass_threshold
        self.plans = {}
        for stream in (self.overall, *self.dimensions.values(), *self.tags.values(), self.judge):
            stream.vigil.renew()
        return self

    def fold(self, sample: Sample) -> list[Change]:
        """Take one more sample; the statuses that changed by it."""
        self.samples += 1
        self.statuses[sample.status] = self.statuses.get(sample.status, 0) + 1
        self.first = sample.at if self.first is None else min(self.first, sample.at)
        self.last = sample.at if self.last is None else max(self.last, sample.at)
        self.cost += sample.cost
        changes: list[Change] = []
        if sample.status.measured:
            self._judged(sample, changes)
            self._passed(sample, changes)
        elif sample.status in (Status.JUDGE_ERROR, Status.REFUSED):
            self._watch("judge", "judge", self.judge, sample, False, None, changes)
        return changes

    def document(self, errors: Confusion | None = None) -> dict[str, Any]:
        """All of it for people and programs; with a judge's errors, the corrected rate too."""
        from fourscore.monitor.status import told

        return told(self, errors)

    def _judged(self, sample: Sample, changes: list[Change]) -> None:
        if sample.status is Status.SCORED:  # an agent that crashed says nothing of the judge
            self.scored += sample.weight
            self._watch("judge", "judge", self.judge, sample, True, None, changes)

    def _passed(self, sample: Sample, changes: list[Change]) -> None:
        passed, value = bool(sample.passed), sample.value
        self._watch("overall", "overall", self.overall, sample, passed, value, changes)
        for name, reached in sample.dimensions.items():
            stream = self._stream("dimension", self.dimensions, name[:NAME])
            if stream is not None:
                good = reached >= self.pass_threshold - 1e-9
                key = f"dimension:{name[:NAME]}"
                self._watch("dimension", key, stream, sample, good, reached, changes)
        tags = tuple(dict.fromkeys(tag[:NAME] for tag in sample.tags))
        outside = False
        for tag in tags:
            stream = self._stream("tag", self.tags, tag)
            if stream is None:
                outside = True
            else:
                self._watch("tag", f"tag:{tag}", stream, sample, passed, value, changes)
        self.unwatched += outside
        self._drifted(sample, tags, changes)

    def _stream(self, kind: str, streams: dict[str, Stream], name: str) -> Stream | None:
        if name not in streams and len(streams) < MOST[kind]:
            streams[name] = Stream()
        return streams.get(name)

    def _watch(
        self,
        kind: str,
        name: str,
        stream: Stream,
        sample: Sample,
        passed: bool,
        value: float | None,
        changes: list[Change],
    ) -> None:
        plan = self.plans.get(kind)
        if plan is None:
            plan = self.plans[kind] = self.thresholds.plan(kind, self.mode)
        turn = stream.fold(sample.id, sample.at, sample.weight, passed, value, plan)
        if turn is not None and not (
            turn.before == "insufficient_data" and turn.after == "healthy"
        ):
            changes.append(_change(name, stream, turn, sample.at, plan))

    def _drifted(self, sample: Sample, tags: tuple[str, ...], changes: list[Change]) -> None:
        if not self.overall.takes(sample.id, sample.weight):
            return
        rules = self.thresholds
        level = rules.share("drift") / (rules.horizon // rules.drift_window + 1)
        turned = self.drift.fold(sample, tags, rules.drift_window, level)
        sure = 1 - rules.share("drift")
        changes.extend(self._drift_change(aspect, sample.at, sure) for aspect in turned)

    def _drift_change(self, aspect: Aspect, at: float, sure: float) -> Change:
        mark = self.drift.marks[aspect]
        return Change(
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


def _change(name: str, stream: Stream, turn: Turn, at: float, plan: Plan) -> Change:
    low, high = interval(turn.passed, turn.n, tuned_for=STRETCH)
    change = Change(
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


Language = Literal["zh"] | None

#: The original words for each status, for readers who compare them.
LABELS = {
    "healthy": "healthy (健康)",
    "warning": "warning (警告)",
    "critical": "critical (紧急)",
    "insufficient_data": "数据不足",
}
#: The two that have always been a dictionary.
LEVELS = ("pass_rate_warning", "pass_rate_critical")


class Knowing:
    """Folds samples into the state of a monitor, and says what the state means."""

    def __init__(
        self,
        rubric: Rubric,
        mode: Mode,
        thresholds: Thresholds | Mapping[str, Any] | None,
        language: Language,
        calibration: Confusion | None = None,
    ) -> None:
        if mode not in ("sequential", "simple"):
            raise ConfigError(f"{mode!r}: expected sequential or simple", field="mode")
        if language not in (None, "zh"):
            raise ConfigError(f"{language!r}: expected zh, or nothing", field="language")
        self.mode, self.language, self.calibration = mode, language, calibration
        self.pass_threshold = rubric.pass_threshold
        self.given = _thresholds(thresholds)
        #: May be edited; what is written there holds from the next sample on.
        self.levels = {name: getattr(self.given, name) for name in LEVELS}

    @property
    def thresholds(self) -> Thresholds:
        kept = {name: getattr(self.given, name) for name in LEVELS}
        if kept == self.levels:
            return self.given
        return _thresholds({**msgspec.structs.asdict(self.given), **self.levels})

    def fold(
        self, state: bytes | None, samples: Sequence[Sample]
    ) -> tuple[bytes, Sequence[Raised]]:
        """The state after these samples, and an alert for each change of a status."""
        judgement = self._judgement(state)
        changes = [change for sample in samples for change in judgement.fold(sample)]
        alerts = [
            Raised(
                stream=change.stream,
                at=change.at,
                open=change.kind != "resolved",
                body=msgspec.json.encode(change),
            )
            for change in changes
        ]
        return msgspec.json.encode(judgement), alerts

    def document(self, state: bytes | None) -> dict[str, Any]:
        """The metrics, with the original labels beside the words where asked."""
        document = self._judgement(state).document(self.calibration)
        if self.language == "zh":
            document["label"] = LABELS.get(document["status"], document["status"])
        return document

    def _judgement(self, state: bytes | None) -> Judgement:
        known = Judgement() if state is None else msgspec.json.decode(state, type=Judgement)
        return known.under(self.thresholds, self.mode, self.pass_threshold)


def _thresholds(given: Thresholds | Mapping[str, Any] | None) -> Thresholds:
    if isinstance(given, Thresholds):
        return given
    fields = dict(given or {})
    for name in fields:
        if name not in Thresholds.__struct_fields__:
            known = suggest_known(str(name), Thresholds.__struct_fields__)
            raise ConfigError(f"no such threshold; {known}", field=f"thresholds.{name}")
    try:
        return Thresholds(**fields)
    except (ValueError, TypeError) as error:
        raise ConfigError(str(error), field="thresholds") from None


def lately(state: bytes | None, stream: str) -> Lately | None:
    """The current block of a pass rate, by the state of its monitor."""
    kind, _, name = stream.partition(":")
    if state is None or kind not in ("overall", "dimension", "tag"):
        return None
    known = msgspec.json.decode(state, type=Judgement)
    streams = {"dimension": known.dimensions, "tag": known.tags}.get(kind, {"": known.overall})
    vigil = streams[name].vigil if name in streams else None
    if vigil is None or not vigil.block_n:
        return None
    return Lately(vigil.block_passed / vigil.block_n, *vigil.interval(), vigil.block_n)
