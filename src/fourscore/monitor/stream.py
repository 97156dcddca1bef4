"""One thing that is watched: its verdicts, its weighted estimates, its newest failures.

Estimates weigh each sample back by 1 / its chance of being sampled. Tests take plain verdicts that
all had the same chance: where weights differ, a sample enters with the chance of its weight over
the heaviest of late, drawn from a hash of its id, and what is left out is counted.
"""

from hashlib import blake2b

import msgspec

from fourscore.stats.confidence_sequence import interval
from fourscore.stats.rate_alarm import TUNED, Plan, Turn, Vigil

#: Newest failures kept of a stream; a change names the worst of them.
KEPT, NAMED = 20, 10
#: The heaviest weight is that of so many samples, and of as many before: rates of sampling change.
LATE = 1000


class Stream(msgspec.Struct, omit_defaults=True):
    """`weight` and `passed` are sums of weights, `square` of their squares."""

    vigil: Vigil = msgspec.field(default_factory=Vigil)
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
        self, name: str, at: float, weight: float, passed: bool, value: float | None, plan: Plan
    ) -> Turn | None:
        self.n += 1
        self.weight += weight
        self.square += weight * weight
        if passed:
            self.passed += weight
        else:
            self.failures.append((name, 0.0 if value is None else value))
            if len(self.failures) > KEPT:
                del self.failures[0]
        if value is not None:
            self.valued += weight
            self.value += weight * value
        if self.n % LATE == 1:
            self.earlier, self.heaviest = self.heaviest, weight
        elif weight > self.heaviest:
            self.heaviest = weight
        if not plan.simple and not self.takes(name, weight):
            self.left_out += 1
            return None
        return self.vigil.fold(passed, at, plan)

    def takes(self, name: str, weight: float) -> bool:
        """Whether a sample enters the tests."""
        most = max(self.heaviest, self.earlier)
        return weight >= most or drawn(name) * most < weight

    def evidence(self) -> tuple[str, ...]:
        """The worst of the newest failures, of equals the newest first."""
        newest = self.failures[::-1]
        newest.sort(key=_value)
        return tuple(name for name, _ in newest[:NAMED])

    def rate(self) -> float | None:
        return self.passed / self.weight if self.weight else None

    def average(self) -> float | None:
        return self.value / self.valued if self.valued else None

    def alike(self) -> float:
        """How many samples of one weight would say as much (Kish)."""
        return self.weight * self.weight / self.square if self.square else 0.0

    def interval(self, alpha: float = 0.05) -> tuple[float, float] | None:
        """Of the rate over the whole life."""
        rate = self.rate()
        if rate is None:
            return None
        n = max(1, round(self.alike()))
        low, high = interval(round(rate * n), n, alpha=alpha, tuned_for=TUNED)
        return min(low, rate), max(high, rate)

    def document(self) -> dict[str, object]:
        vigil = self.vigil
        low, high = vigil.interval()
        ends = self.interval()
        return {
            "status": vigil.status,
            "since": vigil.since if vigil.status not in ("insufficient_data", "healthy") else None,
            "n": self.n,
            "pass_rate": self.rate(),
            "pass_rate_interval": None if ends is None else list(ends),
            "average_score": self.average(),
            "left_out": self.left_out,
            "current": {
                "n": vigil.block_n,
                "pass_rate": vigil.block_passed / vigil.block_n if vigil.block_n else None,
                "pass_rate_interval": [low, high],
                "since": vigil.block_at if vigil.block_n else None,
            },
            "worst": list(self.evidence()),
        }


def drawn(name: str) -> float:
    """A number in [0, 1) that belongs to an interaction's id, and is another than the sampler's."""
    seen = blake2b(name.encode("utf-8", "surrogatepass"), digest_size=7, person=b"judgement")
    return int.from_bytes(seen.digest(), "big") / (1 << 56)


def _value(failure: tuple[str, float]) -> float:
    return failure[1]
