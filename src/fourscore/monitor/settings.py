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
#: Share of alpha for each kind of stream; the streams of a kind share it equally.
SHARES = {"overall": 0.4, "dimension": 0.2, "tag": 0.2, "judge": 0.1, "drift": 0.1}
#: The most streams of a kind that are watched: the state stays small and the shares are fixed.
MOST = {"overall": 1, "dimension": 16, "tag": 64, "judge": 1, "drift": 4}


class Thresholds(msgspec.Struct, frozen=True, kw_only=True):
    """The limits of a status. The chance of any false alarm in `horizon` samples is at most alpha.

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
        """Return the part of alpha that one stream of a kind has."""
        return self.alpha * SHARES[kind] / MOST[kind]

    def plan(self, kind: str, mode: Mode) -> AlarmPlan:
        """Return the plan by which a stream of a kind is watched."""
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

    `rates` are the rates of single tags. `always` names rules ("errors", "thumbs_down") or is
    functions of the observation: what they want is sampled but does not count in the rates.
    `seed` makes the generator repeatable that decides without an id, or with the method "random".
    """

    method: SamplingMethod = "hash"
    rates: Mapping[str, float] = {}
    always: "str | Iterable[str | Callable[[Observation], bool]]" = RULES
    seed: int | None = None

    def __post_init__(self) -> None:
        if self.method not in ("hash", "random"):
            raise ConfigError(f"{self.method!r}: expected hash or random", field="sampling")


class JudgingSettings(msgspec.Struct, frozen=True, kw_only=True):
    """How sampled interactions are scored behind the application.

    `queue` interactions wait for `workers` threads at most; each is judged within `deadline`
    seconds. `budget` limits an hour of the clock. `exit_wait` are the seconds that the end of the
    process waits for what is queued. `calibration` has the judge's errors, for a corrected rate.
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

    `redact` is a function applied after the built-in patterns. `keep_text` are the seconds that
    the full redacted text is kept, None is not at all.
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
    """Return the thresholds of a mapping, or raise a `ConfigError` that names the wrong one."""
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
    """Return the rubric of a file, a mapping of dimensions or one judge; None is the default one.

    Live traffic comes without reference answers, so most of the default rubric's dimensions do not
    apply to it. With `min_coverage=0` those that do apply count, however few they are.
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
    message = f"expected a rubric, a file or a mapping of one, got {type(source).__name__}"
    raise ConfigError(message, field="rubric")
