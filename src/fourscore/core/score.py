"""`Score`: the signals of one trace, combined by a rubric."""

from enum import StrEnum

import msgspec
from msgspec.structs import force_setattr

from fourscore.core.frozen import check_tuple, clean_fields, freeze
from fourscore.core.numbers import check_finite
from fourscore.core.signal import Signal
from fourscore.core.trace import Usage


class Status(StrEnum):
    """How one attempt at a case ended. Every attempt has one status; summaries count them all."""

    SCORED = "scored"
    AGENT_ERROR = "agent_error"
    TIMEOUT = "timeout"
    JUDGE_ERROR = "judge_error"
    REFUSED = "refused"
    CANCELLED = "cancelled"
    SKIPPED = "skipped"

    @property
    def measured(self) -> bool:
        """Whether this status counts in a pass rate: scored, or the agent itself failed."""
        return self is Status.SCORED or self is Status.AGENT_ERROR or self is Status.TIMEOUT


class Provenance(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Which rubric, judges, models, prompts and files of fitted weights gave a score.

    Judges, prompts and weights map a name to its version.
    """

    rubric: str = ""
    judges: dict[str, str] = msgspec.field(default_factory=dict)
    models: tuple[str, ...] = ()
    prompts: dict[str, str] = msgspec.field(default_factory=dict)
    weights: dict[str, str] = msgspec.field(default_factory=dict)

    def __post_init__(self) -> None:
        for field in ("judges", "prompts", "weights"):
            force_setattr(self, field, freeze(getattr(self, field)))


class Score(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The score of one trace.

    `value`, `passed` and `reward` are None unless the status counts as measured. Where only
    rankings were measured, `value` is None and the reward is comparable only within its group.
    """

    status: Status
    value: float | None = None
    passed: bool | None = None
    reward: float | None = None
    coverage: float = 0.0
    signals: tuple[Signal, ...] = ()
    reason: str = ""
    cost: Usage = Usage()
    provenance: Provenance = Provenance()

    def __post_init__(self) -> None:
        value, reward = self.value, self.reward
        if value is not None and not (type(value) is float and 0.0 <= value <= 1.0):
            check_finite("value", value, low=0, high=1)
        if reward is not None and not (type(reward) is float and 0.0 <= reward <= 1.0):
            check_finite("reward", reward)
        if not 0.0 <= self.coverage <= 1.0:
            check_finite("coverage", self.coverage, low=0, high=1)
        if type(self.passed) is not bool and self.passed is not None:
            raise ValueError(f"passed: expected a bool, got {type(self.passed).__name__}")
        if self.status.measured:
            if reward is None or self.passed is None:
                raise ValueError(f"a score that is {self.status} needs a reward and a verdict")
        elif not (reward is None and value is None and self.passed is None):
            raise ValueError(f"a score that is {self.status} has no value, reward or verdict")
        if type(self.reason) is not str or not self.reason.isascii():
            clean_fields(self, "reason")
        if type(self.signals) is not tuple:
            check_tuple(self, "signals", Signal)
