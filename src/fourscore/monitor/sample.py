"""One sampled interaction after it was scored: what the judgement folds and the store keeps."""

from math import isfinite

import msgspec

from fourscore.core import Status, Usage
from fourscore.core.numbers import check_finite, check_whole


class Sample(msgspec.Struct, frozen=True, kw_only=True):
    """`id` is unique: the same interaction observed twice is one sample.

    `scored`, `agent_error` and `timeout` count in the rates; the other statuses are shown apart.
    `weight` is 1 / the probability that it was sampled. `query` and `preview` are the redacted
    beginnings of what was asked and answered, and `reason` says why it did not pass.
    """

    id: str
    at: float
    status: Status
    passed: bool | None
    value: float | None
    dimensions: dict[str, float]
    tags: tuple[str, ...] = ()
    weight: float = 1.0
    length: int = 0
    tool_calls: int = 0
    tool_errors: int = 0
    query: str = ""
    preview: str = ""
    reason: str = ""
    cost: Usage = Usage()

    def __post_init__(self) -> None:
        if not isfinite(self.at):
            raise ValueError(f"at: {self.at} is not a finite number")
        if self.status.measured != (self.passed is not None):
            raise ValueError(f"passed: {self.passed} for a sample that is {self.status}")
        if self.value is not None:
            check_finite("value", self.value, low=0, high=1)
        for name, value in self.dimensions.items():
            check_finite(f"dimensions.{name}", value, low=0, high=1)
        check_finite("weight", self.weight, low=1, high=1e15)
        for field in ("length", "tool_calls", "tool_errors"):
            check_whole(field, getattr(self, field), low=0)
        if self.tool_errors > self.tool_calls:
            raise ValueError(f"tool_errors: {self.tool_errors} of {self.tool_calls} calls")
