"""`Signal`: one measurement by one judge, with its evidence."""

import msgspec
from msgspec.structs import force_setattr

from fourscore.core.frozen import check_tuple, clean_fields, replace_surrogates
from fourscore.core.numbers import check_finite, check_whole, clamp
from fourscore.core.trace import Fault, Usage

#: The default field of evidence.
_OUTPUT = "output"
#: Positions up to this are valid without a further check.
_FAR = 2**40


class Evidence(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """A part of the judged text, exact enough to highlight: `text` is `field[start:end]`."""

    text: str
    field: str = _OUTPUT
    start: int | None = None
    end: int | None = None
    step: int | None = None

    def __post_init__(self) -> None:
        # Fast path: there are many pieces of evidence, and nearly all are valid.
        text, start, end = self.text, self.start, self.end
        if type(text) is not str or not (text.isascii() or replace_surrogates(text) is text):
            clean_fields(self, "text")
        if self.field is not _OUTPUT:
            clean_fields(self, "field")
        if type(start) is type(end) is int and 0 <= start <= end <= _FAR and self.step is None:
            return
        for field in ("start", "end", "step"):
            check_whole(field, getattr(self, field), low=0)


class Canary(msgspec.Struct, frozen=True):
    """A judge's verdict on an answer that is known to be bad; `passed` means it was fooled."""

    kind: str
    passed: bool

    def __post_init__(self) -> None:
        clean_fields(self, "kind")
        if type(self.passed) is not bool:
            raise ValueError(f"passed: expected a bool, got {type(self.passed).__name__}")


class Signal(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One measurement: a value in [0, 1], or None.

    None with a fault was not measured; None without one is not applicable. `passed` is set where
    the judge itself decides success, `reward` where a trainer's scale is not [0, 1]; a reward
    without a value gives the value, clamped. `relative` marks a ranking, which means nothing
    outside its group. `level` is the name of the value, where levels are named. `canary` is the
    verdict on another answer, which is known to be bad.
    """

    name: str
    value: float | None = None
    level: str = ""
    passed: bool | None = None
    reward: float | None = None
    reason: str = ""
    evidence: tuple[Evidence, ...] = ()
    step: int | None = None
    relative: bool = False
    fault: Fault | None = None
    usage: Usage | None = None
    canary: Canary | None = None

    def __post_init__(self) -> None:
        # The first test of each pair is the fast path for valid values.
        if type(self.name) is not str or not self.name:
            raise ValueError("name: expected a text that is not empty")
        value, reward = self.value, self.reward
        if value is not None and not (type(value) is float and 0.0 <= value <= 1.0):
            check_finite("value", value, low=0, high=1)
        if reward is not None and not (type(reward) is float and 0.0 <= reward <= 1.0):
            check_finite("reward", reward)
        if self.passed is not None and type(self.passed) is not bool:
            raise ValueError(f"passed: expected a bool, got {type(self.passed).__name__}")
        if self.fault is not None and (value is not None or reward is not None):
            raise ValueError("a signal with a fault has no value: it was not measured")
        if reward is not None and value is None:
            force_setattr(self, "value", clamp(reward))
        if type(self.reason) is not str or not (self.reason.isascii() and self.name.isascii()):
            clean_fields(self, "reason", "name")
        level = self.level
        if level and not (type(level) is str and level.isascii()):
            clean_fields(self, "level")
        if self.evidence != ():
            check_tuple(self, "evidence", Evidence)
        if self.step is not None:
            check_whole("step", self.step, low=0)
        if self.fault is not None and type(self.fault) is not Fault:
            raise ValueError("fault: expected a Fault")
        if self.usage is not None and type(self.usage) is not Usage:
            raise ValueError("usage: expected a Usage")
        if self.canary is not None and type(self.canary) is not Canary:
            raise ValueError("canary: expected a Canary")
