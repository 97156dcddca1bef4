"""What is known of a service, sample by sample: a pure fold, with no clock and no input or output.

The whole state is one value that survives JSON unchanged, so it can be kept in a row of a store and
folded on by any process. It is bounded: at most 16 dimensions and 64 tags are watched, those seen
first; samples with other tags are counted.

Rates count what was measured (scored, or failed by the agent itself). A judge that fails is another
matter: `judge` watches how often that happens. docs/alarms.md tells how an alarm is decided.
"""

from typing import Any

import msgspec

from fourscore.core import Status, Usage
from fourscore.monitor.change import Change
from fourscore.monitor.drifting import Aspect, Drift
from fourscore.monitor.sample import Sample
from fourscore.monitor.stream import Stream
from fourscore.monitor.thresholds import MOST, Mode, Thresholds
from fourscore.stats.confusion import Confusion
from fourscore.stats.rate_alarm import Plan, Turn
from fourscore.stats.sequence import interval

__all__ = ["Change", "Judgement", "Thresholds"]

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
        from fourscore.monitor.document import told

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
