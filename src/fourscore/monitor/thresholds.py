"""What counts as an alarm, and how the budget of false ones is shared among what is watched."""

from typing import Literal

import msgspec

from fourscore.core.numbers import check_whole
from fourscore.stats.rate_alarm import Plan, plan

Mode = Literal["sequential", "simple"]

#: Of alpha, for each kind of stream; what a kind has is shared equally among its streams.
SHARES = {"overall": 0.4, "dimension": 0.2, "tag": 0.2, "judge": 0.1, "drift": 0.1}
#: At most so many streams of a kind are watched: the state stays small and the shares are fixed.
MOST = {"overall": 1, "dimension": 16, "tag": 64, "judge": 1, "drift": 4}


class Thresholds(msgspec.Struct, frozen=True, kw_only=True):
    """The chance of any false alarm in `horizon` samples in a row is at most alpha.

    Judge errors have thresholds of their own, as shares of errors. `drift_window` samples are
    compared with as many of the reference at a time.
    """

    pass_rate_warning: float = 0.85
    pass_rate_critical: float = 0.70
    min_samples: int = 20
    alpha: float = 0.05
    horizon: int = 5000
    judge_error_warning: float = 0.05
    judge_error_critical: float = 0.20
    drift_window: int = 500

    def __post_init__(self) -> None:
        for field in ("min_samples", "horizon"):
            check_whole(field, getattr(self, field), low=1)
        check_whole("drift_window", self.drift_window, low=20)
        if not 0 < self.alpha < 1:
            raise ValueError(f"alpha: {self.alpha} is not between 0 and 1")
        for low, high in (
            ("pass_rate_critical", "pass_rate_warning"),
            ("judge_error_warning", "judge_error_critical"),
        ):
            if not 0.001 <= getattr(self, low) < getattr(self, high) <= 0.999:
                raise ValueError(
                    f"expected 0.001 ≤ {low} < {high} ≤ 0.999, "
                    f"got {getattr(self, low)} and {getattr(self, high)}"
                )

    def share(self, kind: str) -> float:
        """The part of alpha that one stream of a kind has."""
        return self.alpha * SHARES[kind] / MOST[kind]

    def plan(self, kind: str, mode: Mode) -> Plan:
        """How a stream of a kind is watched."""
        warning, critical = self.pass_rate_warning, self.pass_rate_critical
        if kind == "judge":
            warning, critical = 1 - self.judge_error_warning, 1 - self.judge_error_critical
        simple = mode == "simple" and kind != "judge"
        return plan(warning, critical, self.share(kind), self.horizon, self.min_samples, simple)
