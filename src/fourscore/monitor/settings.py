"""Settings of a `ProductionMonitor`: alarm thresholds, sampling, judging, privacy, the rubric."""

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import msgspec
from msgspec.structs import replace

from fourscore.core import ConfigError, Judge, Rubric, suggest_known
from fourscore.core.numbers import check_whole, to_finite_float
from fourscore.stats.classification import Confusion
from fourscore.stats.rate_alarm import AlarmPlan, make_alarm_plan
from fourscore.stores.monitor import DAY

if TYPE_CHECKING:
    from fourscore.monitor.interaction import Observation

Mode = Literal["sequential", "simple"]
SamplingMethod = Literal["hash", "random"]
#: 2.50 (dollars), "500calls", "200000tokens", or several of them.
BudgetSpec = str | float | Iterable[str | float]
RubricSource = Rubric | Judge | Mapping[str, Any] | str | Path

#: Rules by name; a rule of your own is a function of the observation.
RULES = ("errors", "thumbs_down")
#: Share of alpha for each kind of stream, divided equally among the streams of that kind.
SHARES = {"overall": 0.4, "dimension": 0.2, "tag": 0.2, "judge": 0.1, "drift": 0.1}
#: Streams of each kind that are watched at most: the state stays small and the shares are fixed.
MAX_STREAMS = {"overall": 1, "dimension": 16, "tag": 64, "judge": 1, "drift": 4}


class Thresholds(msgspec.Struct, frozen=True, kw_only=True):
    """When a status changes. The chance of any false alarm in `horizon` samples is at most alpha.

    Judge errors have their own thresholds, as shares of samples with an error. For drift, each
    window of `drift_window` samples is compared with the reference, which is as long.
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
        """Return the part of alpha for one stream of this kind."""
        return self.alpha * SHARES[kind] / MAX_STREAMS[kind]

    def plan(self, kind: str, mode: Mode) -> AlarmPlan:
        """Return the alarm plan for streams of this kind."""
        warning, critical = self.pass_rate_warning, self.pass_rate_critical
        if kind == "judge":
            warning, critical = 1 - self.judge_error_warning, 1 - self.judge_error_critical
        simple = mode == "simple" and kind != "judge"
        return make_alarm_plan(
            warning,
            critical,
            alpha=self.share(kind),
            horizon=self.horizon,
            min_samples=self.min_samples,
            simple=simple,
        )


class SamplingSettings(msgspec.Struct, frozen=True, kw_only=True):
    """Which interactions are sampled, beyond the general rate.

    `rates` are the rates of single tags. `always` has rules: "errors", "thumbs_down", or functions
    of the observation; what a rule wants is sampled but does not count in the pass rates. `seed`
    makes the random generator repeatable, which decides without an id or with method "random".
    """

    method: SamplingMethod = "hash"
    rates: Mapping[str, float] = {}
    always: "str | Iterable[str | Callable[[Observation], bool]]" = RULES
    seed: int | None = None

    def __post_init__(self) -> None:
        if self.method not in ("hash", "random"):
            raise ConfigError(f"{self.method!r}: expected hash or random", field="sampling")


class JudgingSettings(msgspec.Struct, frozen=True, kw_only=True):
    """How sampled interactions are scored in the background.

    At most `queue` interactions wait for `workers` threads; each is judged within `deadline`
    seconds. `budget` limits the cost per clock hour. At its end, also by SIGTERM, the process waits
    up to `exit_wait` seconds for queued interactions; 0 leaves SIGTERM alone. `calibration` has the
    judge's errors, for a corrected pass rate.
    """

    queue: int = 1000
    workers: int = 4
    deadline: float = 30.0
    exit_wait: float = 5.0
    budget: BudgetSpec | None = None
    calibration: Confusion | None = None

    def __post_init__(self) -> None:
        for field in ("queue", "workers", "deadline"):
            _check_positive(getattr(self, field), field)


class PrivacySettings(msgspec.Struct, frozen=True, kw_only=True):
    """What is stored of an interaction's text.

    `redact` is a function applied after the built-in patterns. The full redacted text is kept for
    `keep_text` seconds; None: not at all.
    """

    redact: Callable[[str], str] | None = None
    keep_text: float | None = 7 * DAY

    def __post_init__(self) -> None:
        if self.keep_text is not None:
            _check_positive(self.keep_text, "keep_text")


def _check_positive(value: object, field: str) -> None:
    number = to_finite_float(value)
    if number is None or number <= 0:
        raise ConfigError(f"{value!r}: expected a number above 0", field=field)


def read_thresholds(given: Thresholds | Mapping[str, Any] | None) -> Thresholds:
    """Return `Thresholds` from a mapping; raise a `ConfigError` that names an invalid one."""
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


def make_rubric(source: RubricSource | None) -> Rubric:
    """Return the rubric from a file, a mapping of dimensions or one judge; None: the default one.

    Live traffic has no reference answers, so most dimensions of the default rubric do not apply to
    it. With `min_coverage=0` the others count, however few they are.
    """
    if source is None:
        from fourscore.judges.dimensions.research_rubric import read_research_rubric

        return replace(read_research_rubric(), min_coverage=0.0)
    if isinstance(source, Rubric):
        return source
    if isinstance(source, str | Path):
        from fourscore.judges.rubric_file import read_rubric

        return read_rubric(str(source))
    if isinstance(source, Mapping):
        from fourscore.judges.rubric_file import rubric_from_mapping

        return rubric_from_mapping(source)
    if hasattr(source, "judge"):
        return Rubric.from_judge(source)
    message = f"expected a rubric, its file, a mapping or a judge, got {type(source).__name__}"
    raise ConfigError(message, field="rubric")
