"""`efficiency`: how much of the allowed time, or of the allowed tool calls, was left."""

from collections.abc import Sequence
from typing import Literal

import msgspec

from fourscore.core import Case, Signal, Trace
from fourscore.core.frozen import EMPTY
from fourscore.core.numbers import check_finite, check_whole
from fourscore.judges.fitness.execution import (
    Execution,
    count_execution,
    format_count,
    make_inapplicable,
    make_signal,
)

NAME = "efficiency"
By = Literal["known", "time", "tools", "mean", "min"]


class Limit(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The maximum number of seconds and tool calls for a task of one complexity."""

    time: float = 120.0
    tools: int = 15

    def __post_init__(self) -> None:
        check_finite("time", self.time, low=0)
        check_whole("tools", self.tools, low=0)
        if not self.time or not self.tools:
            raise ValueError("time: expected time and tools above 0")


LIMITS = {
    "simple": Limit(time=30.0, tools=5),
    "medium": Limit(time=120.0, tools=15),
    "complex": Limit(time=300.0, tools=30),
    "very_complex": Limit(time=300.0, tools=30),
}


class Efficiency(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """1 minus the used share of the limit: of the time limit if the time is known, else of tools.

    efficiency: `known` (default), `time`, `tools`, their `mean` or their `min`
    limits: the limits by complexity; a complexity without limits gets those of `medium`
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
        """Return the limits: the rubric's own, else those of the log, else the default ones."""
        word = execution.complexity or "medium"
        own = self.limits.get(word)
        if own is not None:
            return own
        usual = LIMITS.get(word) or self.limits.get("medium") or LIMITS["medium"]
        if execution.limits is None:
            return usual
        time, tools = execution.limits
        return Limit(time=time or usual.time, tools=tools or usual.tools)

    def compute_value(self, execution: Execution) -> float | None:
        """Return the unused share of the time, the tool calls or both; None if it is unknown."""
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
        value = self.compute_value(execution)
        if value is None:
            missing = {"time": "no time was recorded", "tools": "no tool was called"}
            unknown = "no time and no tool call was recorded"
            return make_inapplicable(NAME, missing.get(self.efficiency, unknown))
        limit, word = self.limit(execution), execution.complexity or "medium"
        parts = []
        if execution.seconds is not None and self.efficiency != "tools":
            parts.append(f"{execution.seconds:g} s of {limit.time:g} s")
        if execution.calls and (not parts or self.efficiency in ("mean", "min")):
            parts.append(f"{execution.calls} of {format_count(limit.tools, 'tool call')}")
        return make_signal(NAME, value, f"{' and '.join(parts)} for a {word} task")

    async def judge(self, case: Case, trace: Trace) -> Sequence[Signal]:
        return (self.measure(count_execution(case, trace)),)
