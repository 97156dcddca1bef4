"""How little of the time, or of the tool calls, was needed that such a task may take."""

from collections.abc import Sequence
from typing import Literal

import msgspec

from fourscore.core import Case, Signal, Trace
from fourscore.core.frozen import EMPTY
from fourscore.core.numbers import check_finite, check_whole
from fourscore.judges.fitness.execution import (
    Execution,
    execution_of,
    inapplicable,
    measured,
    several,
)

NAME = "efficiency"
By = Literal["known", "time", "tools", "mean", "min"]


class Limit(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The most that a task of some complexity may take."""

    time: float = 120.0
    tools: int = 15

    def __post_init__(self) -> None:
        check_finite("time", self.time, low=0)
        check_whole("tools", self.tools, low=0)
        if not self.time or not self.tools:
            raise ValueError("time: expected more than 0, and of tools too")


LIMITS = {
    "simple": Limit(time=30.0, tools=5),
    "medium": Limit(time=120.0, tools=15),
    "complex": Limit(time=300.0, tools=30),
    "very_complex": Limit(time=300.0, tools=30),
}


class Efficiency(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """1 less the share that was used, by time where it is known, else by tools.

    `efficiency` names one of the two, their `mean` or their `min`. `limits` has the most for a
    complexity; one without limits has those of `medium`.
    """

    efficiency: By = "known"
    limits: dict[str, Limit] = EMPTY

    @property
    def names(self) -> tuple[str, ...]:
        return (NAME,)

    @property
    def runs(self) -> Literal["inline"]:
        return "inline"

    def limit(self, execution: Execution) -> Limit:
        """The rubric's own limits go first, then those of the log."""
        word = execution.complexity or "medium"
        own = self.limits.get(word)
        if own is not None:
            return own
        usual = LIMITS.get(word) or self.limits.get("medium") or LIMITS["medium"]
        if execution.limits is None:
            return usual
        time, tools = execution.limits
        return Limit(time=time or usual.time, tools=tools or usual.tools)

    def value_of(self, execution: Execution) -> float | None:
        """What is left of the time, of the tools or of both; None where that is not known."""
        by, limit = self.efficiency, self.limit(execution)
        seconds, calls = execution.seconds, execution.calls
        time = None if seconds is None else max(0.0, 1 - seconds / limit.time)
        if by == "time" or (by == "known" and time is not None):
            return time
        tools = max(0.0, (limit.tools - calls) / limit.tools) if calls else None
        if by == "tools" or time is None:
            return tools
        if tools is None:
            return time
        return (time + tools) / 2 if by == "mean" else min(time, tools)

    def measure(self, execution: Execution) -> Signal:
        value = self.value_of(execution)
        if value is None:
            missing = {"time": "its time is not known", "tools": "no tool was called"}
            unknown = "neither its time nor a tool call is known"
            return inapplicable(NAME, missing.get(self.efficiency, unknown))
        limit, word = self.limit(execution), execution.complexity or "medium"
        told = []
        if execution.seconds is not None and self.efficiency != "tools":
            told.append(f"{execution.seconds:g} s of {limit.time:g} s")
        if execution.calls and (not told or self.efficiency in ("mean", "min")):
            told.append(f"{execution.calls} of {several(limit.tools, 'tool call')}")
        return measured(NAME, value, f"{' and '.join(told)} for a {word} task")

    async def judge(self, case: Case, trace: Trace) -> Sequence[Signal]:
        return (self.measure(execution_of(case, trace)),)
