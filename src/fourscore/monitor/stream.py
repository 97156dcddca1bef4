"""One watched stream of pass/fail results: its alarm, weighted estimates and newest failures.

Estimates weigh each sample by 1 / its chance of being sampled. The alarm's tests need results that
all had the same chance: where weights differ, a sample is tested with probability weight / heaviest
recent weight, decided by a hash of its id; the others are counted as `left_out`.
"""

from hashlib import blake2b

import msgspec

from fourscore.monitor.sample import Sample
from fourscore.stats.confidence_sequence import anytime_interval
from fourscore.stats.rate_alarm import TUNED, AlarmChange, AlarmPlan, RateAlarm

#: Newest failures that a stream keeps, and how many of the worst an alert names.
KEPT, NAMED = 20, 10
#: Sampling rates change, so the heaviest weight is that of the last 1000 to 2000 samples.
RECENT = 1000


class Stream(msgspec.Struct, omit_defaults=True, kw_only=True):
    """The counts of one stream. `weight` and `passed` are sums of weights, `square` of squares."""

    alarm: RateAlarm = msgspec.field(name="vigil", default_factory=RateAlarm)  # its stored name
    n: int = 0
    weight: float = 0.0
    square: float = 0.0
    passed: float = 0.0
    valued: float = 0.0
    value: float = 0.0
    heaviest: float = 0.0
    earlier: float = 0.0
    left_out: int = 0
    failures: list[tuple[str, float]] = msgspec.field(default_factory=list)

    def fold(
        self, sample: Sample, *, passed: bool, value: float | None, plan: AlarmPlan
    ) -> AlarmChange | None:
        """Add one result; return the change of status that it causes, if any."""
        weight = sample.weight
        self.n += 1
        self.weight += weight
        self.square += weight * weight
        if passed:
            self.passed += weight
        else:
            self.failures.append((sample.id, 0.0 if value is None else value))
            if len(self.failures) > KEPT:
                del self.failures[0]
        if value is not None:
            self.valued += weight
            self.value += weight * value
        if self.n % RECENT == 1:
            self.earlier, self.heaviest = self.heaviest, weight
        elif weight > self.heaviest:
            self.heaviest = weight
        if not plan.simple and not self.is_tested(sample.id, weight):
            self.left_out += 1
            return None
        return self.alarm.fold(passed, sample.at, plan)

    def is_tested(self, sample_id: str, weight: float) -> bool:
        """Return whether the alarm's tests use a sample."""
        most = max(self.heaviest, self.earlier)
        return weight >= most or hash_to_unit(sample_id) * most < weight

    def evidence(self) -> tuple[str, ...]:
        """Return the ids of the worst recent failures: the worst first, then the newest."""
        newest = self.failures[::-1]
        newest.sort(key=_value)
        return tuple(name for name, _ in newest[:NAMED])

    def rate(self) -> float | None:
        """Return the weighted pass rate."""
        return self.passed / self.weight if self.weight else None

    def average(self) -> float | None:
        """Return the weighted mean score."""
        return self.value / self.valued if self.valued else None

    def effective_n(self) -> float:
        """Return Kish's effective sample size: the number of equally weighted samples."""
        return self.weight * self.weight / self.square if self.square else 0.0

    def interval(self, alpha: float = 0.05) -> tuple[float, float] | None:
        """Return the confidence interval of the pass rate over all samples."""
        rate = self.rate()
        if rate is None:
            return None
        n = max(1, round(self.effective_n()))
        low, high = anytime_interval(round(rate * n), n, alpha=alpha, tuned_for=TUNED)
        return min(low, rate), max(high, rate)

    def document(self) -> dict[str, object]:
        """Return the stream as a JSON document."""
        alarm = self.alarm
        low, high = alarm.interval()
        ends = self.interval()
        return {
            "status": alarm.status,
            "since": alarm.since if alarm.status not in ("insufficient_data", "healthy") else None,
            "n": self.n,
            "pass_rate": self.rate(),
            "pass_rate_interval": None if ends is None else list(ends),
            "average_score": self.average(),
            "left_out": self.left_out,
            "current": {
                "n": alarm.block_n,
                "pass_rate": alarm.block_passed / alarm.block_n if alarm.block_n else None,
                "pass_rate_interval": [low, high],
                "since": alarm.block_at if alarm.block_n else None,
            },
            "worst": list(self.evidence()),
        }


def hash_to_unit(name: str) -> float:
    """Return a number in [0, 1) for an interaction's id, independent of `sampling.digest`."""
    seen = blake2b(name.encode("utf-8", "surrogatepass"), digest_size=7, person=b"judgement")
    return int.from_bytes(seen.digest(), "big") / (1 << 56)


def _value(failure: tuple[str, float]) -> float:
    return failure[1]
