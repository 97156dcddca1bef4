"""`RateAlarm`: the status of a monitored pass rate (healthy, warning, critical) and its changes.

Two tests share the allowed chance of a false alarm. A confidence sequence, restarted for each block
of samples, shows that the rate is below a threshold; a CUSUM (`cusum.py`) detects a drop soon,
however long the rate was good before. An alarm ends when there were clearly more passes since then
than the threshold requires (`CLEAR`). docs/alarms.md lists what is guaranteed and simulated.
"""

from fractions import Fraction
from functools import lru_cache
from math import ceil, exp, log
from typing import Literal

import msgspec

from fourscore.stats.confidence_sequence import anytime_interval, is_below, tune_concentration
from fourscore.stats.cusum import CusumSteps, choose_steps

AlarmStatus = Literal["insufficient_data", "healthy", "warning", "critical"]
Method = Literal["sequence", "cusum", "simple", "drift"]

#: An alarm at a rate ends at CLEAR · rate · (1 − rate) more passes than the rate requires: chance
#: needs as long for that at every rate. CLEAR · rate passes in a row are enough.
CLEAR = 60
#: A good rate is this much above its threshold: telling 0.851 from 0.849 would take too long.
MARGIN = 0.03
#: A bad rate is at least this much below a good one, in log-odds: for example 0.55 and 0.73.
FALL = 0.8
#: Trials after which a sequence is narrowest.
TUNED = 500
#: A horizon overlaps at most this many sequences: two blocks, and one started by an alarm.
BLOCKS = 3


class Threshold(msgspec.Struct, frozen=True, kw_only=True):
    """A threshold: the CUSUM steps that raise its alarm, and the surplus of passes that ends it."""

    rate: float
    fall: CusumSteps
    gain: int
    loss: int
    clear: int


class AlarmPlan(msgspec.Struct, frozen=True, kw_only=True):
    """How a rate is monitored. `bar` is log(1/alpha) of one block, `c` the sequence's tuning."""

    warning: Threshold
    critical: Threshold
    bar: float
    c: float
    block: int
    min_samples: int
    alpha: float
    simple: bool = False


@lru_cache(maxsize=64)
def make_alarm_plan(
    warning: float,
    critical: float,
    *,
    alpha: float,
    horizon: int,
    min_samples: int,
    simple: bool = False,
) -> AlarmPlan:
    """Make the plan for a chance of alpha of a false alarm in any `horizon` samples."""
    if not 0.001 <= critical < warning <= 0.999:
        raise ValueError(
            f"expected 0.001 ≤ critical < warning ≤ 0.999, got {critical} and {warning}"
        )
    return AlarmPlan(
        warning=_bound(warning, critical, alpha / 2, horizon),
        critical=_bound(critical, critical, alpha / 2, horizon),
        bar=log(BLOCKS / (alpha / 2)),
        c=tune_concentration(TUNED),
        block=horizon,
        min_samples=min_samples,
        alpha=alpha,
        simple=simple,
    )


def _bound(rate: float, bad: float, alpha: float, horizon: int) -> Threshold:
    share = Fraction(rate).limit_denominator(1000)
    good = min(rate + MARGIN, (1 + rate) / 2)
    bad = min(bad, 1 / (1 + exp(FALL) * (1 - good) / good))
    return Threshold(
        rate=rate,
        fall=choose_steps(good, bad, alpha, horizon),
        gain=share.denominator - share.numerator,
        loss=share.numerator,
        clear=ceil(CLEAR * share * (1 - share) * share.denominator),
    )


class ThresholdState(msgspec.Struct, omit_defaults=True, kw_only=True):
    """The sums of one threshold: `score` while there is no alarm, `surplus` while there is one.

    `onset`, `n` and `passed` are counted since the score was last 0; while an alarm is on, `onset`
    is its start.
    """

    on: bool = False
    score: int = 0
    surplus: int = 0
    onset: float = 0.0
    n: int = 0
    passed: int = 0

    def step(self, passed: bool, at: float, bound: Threshold) -> bool:
        """Add a verdict; return whether it raises the alarm, or ends it while it is on."""
        if self.on:
            self.surplus = max(0, self.surplus + (bound.gain if passed else -bound.loss))
            return self.surplus >= bound.clear
        if passed:
            if self.score:
                self.score = max(0, self.score - bound.fall.down)
                self.n += 1
                self.passed += 1
            return False
        if not self.score:
            self.onset, self.n, self.passed = at, 0, 0
        self.n += 1
        self.score += bound.fall.up
        return self.score >= bound.fall.limit

    def turn(self, on: bool, since: float) -> None:
        self.on, self.onset, self.score, self.surplus = on, since, 0, 0


class AlarmChange(msgspec.Struct, frozen=True, kw_only=True):
    """A change of status: the method that found it, its start, and the counts since then.

    For a CUSUM the counts start where the sum was last 0; for a sequence they are its block's.
    """

    before: AlarmStatus
    after: AlarmStatus
    method: Method
    since: float
    passed: int
    n: int


class RateAlarm(msgspec.Struct, omit_defaults=True, kw_only=True):
    """The state of a monitored rate: a few numbers that can be saved as JSON without loss."""

    n: int = 0
    passed: int = 0
    status: AlarmStatus = "insufficient_data"
    since: float = 0.0
    block_n: int = 0
    block_passed: int = 0
    block_at: float = 0.0
    warning: ThresholdState = msgspec.field(default_factory=ThresholdState)
    critical: ThresholdState = msgspec.field(default_factory=ThresholdState)

    def fold(self, passed: bool, at: float, plan: AlarmPlan) -> AlarmChange | None:
        """Add one verdict; return the change of status, if there is one."""
        self.n += 1
        self.passed += passed
        if self.block_n >= plan.block and not plan.simple:
            self.block_n = self.block_passed = 0
        if not self.block_n:
            self.block_at = at
        self.block_n += 1
        self.block_passed += passed
        found = None if plan.simple else self._update_thresholds(passed, at, plan)
        if found is None and not plan.simple and self.status != "insufficient_data":
            return None
        before, after = self.status, self._find_status(plan)
        if before == after:
            return None
        method, since, of, n = found or (
            "simple" if plan.simple else "sequence",
            self.block_at,
            self.block_passed,
            self.block_n,
        )
        self.status, self.since = after, self.warning.onset if after == "warning" else since
        if not plan.simple and before != "insufficient_data":
            self.block_n = self.block_passed = 0
        return AlarmChange(before=before, after=after, method=method, since=since, passed=of, n=n)

    def renew(self) -> None:
        """Restart the sums after a change of thresholds or rule; the status is kept."""
        on = self.status in ("warning", "critical")
        self.warning.turn(on, self.warning.onset if self.warning.on else self.since)
        self.critical.turn(self.status == "critical", self.since)

    def interval(self, alpha: float = 0.05) -> tuple[float, float]:
        """Return the confidence sequence's interval of the rate in the current block."""
        return anytime_interval(self.block_passed, self.block_n, alpha=alpha, tuned_for=TUNED)

    def _update_thresholds(
        self, passed: bool, at: float, plan: AlarmPlan
    ) -> tuple[Method, float, int, int] | None:
        """Update both thresholds; return method, start, passes and n of the last that switched."""
        found: tuple[Method, float, int, int] | None = None
        if passed and self.status == "healthy" and not (self.warning.score or self.critical.score):
            return None
        for level, bound in ((self.warning, plan.warning), (self.critical, plan.critical)):
            reached = level.step(passed, at, bound)
            if level.on:
                if reached:
                    level.turn(False, at)
                    found = "cusum", at, self.block_passed, self.block_n
            elif self.n >= plan.min_samples and not passed:
                if reached:
                    found = "cusum", level.onset, level.passed, level.n
                    level.turn(True, level.onset)
                elif is_below(self.block_passed, self.block_n, bound.rate, plan.c, plan.bar):
                    found = "sequence", self.block_at, self.block_passed, self.block_n
                    level.turn(True, self.block_at)
        if self.critical.on and not self.warning.on:
            self.warning.turn(True, self.critical.onset)
        return found

    def _find_status(self, plan: AlarmPlan) -> AlarmStatus:
        if plan.simple:
            rate = self.passed / self.n
            if rate < plan.critical.rate:
                return "critical"
            return "warning" if rate < plan.warning.rate else "healthy"
        if self.n < plan.min_samples:
            return "insufficient_data"
        if self.critical.on:
            return "critical"
        return "warning" if self.warning.on else "healthy"
