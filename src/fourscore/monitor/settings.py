"""What counts as an alarm, and how the budget of false ones is shared among what is watched."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

import msgspec
from msgspec.structs import replace

from fourscore.core import ConfigError, Judge, Rubric
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


def rubric_of(given: "Rubric | Judge | Mapping[str, Any] | str | Path | None") -> Rubric:
    """A rubric, a file of one, a mapping of dimensions, a judge alone; None is the default one.

    Live traffic comes without reference answers, so most of the default rubric's dimensions do not
    apply to it. It counts what does, however little: nothing would ever be measured otherwise.
    """
    if given is None:
        from fourscore.judges.dimensions.research_rubric import research

        return replace(research(), min_coverage=0.0)
    if isinstance(given, Rubric):
        return given
    if isinstance(given, str | Path):
        from fourscore.judges.rubric_file import read_rubric

        return read_rubric(str(given))
    if isinstance(given, Mapping):
        from fourscore.judges.rubric_file import rubric_from_mapping

        return rubric_from_mapping(given)
    if hasattr(given, "judge"):
        return Rubric.from_judge(given)
    message = f"expected a rubric, a file or a mapping of one, got {type(given).__name__}"
    raise ConfigError(message, field="rubric")
