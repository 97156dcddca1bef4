"""Checks of how the agent ran: latency, cost, tokens, steps, no_errors."""

from typing import ClassVar, Literal

from fourscore.core import Case, Signal, Trace
from fourscore.core.numbers import check_finite
from fourscore.judges.checks.check import Check, NotApplicable, shorten
from fourscore.judges.failures import find_call_failure


class _Limit(Check, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Base of checks that compare one number of a run with a limit."""

    main: ClassVar[str] = "max"
    max: float

    def __post_init__(self) -> None:
        check_finite("max", self.max, low=0)

    def compare(self, value: float | None, unit: str) -> Signal:
        """Return whether a number of the run is at most `max`."""
        if value is None:
            raise NotApplicable(f"the agent reported no {self.name}")
        words = f"{value:,.6g}{unit}"
        if value <= self.max + 1e-9:
            return self.decide(True, words)
        return self.decide(False, f"{words}, at most {self.max:,.6g}{unit} allowed")


class Latency(_Limit, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Passes if the agent answered in time.

    max: the most seconds

    Example: {latency: 2.5}
    """

    name: ClassVar[str] = "latency"

    def measure(self, case: Case, trace: Trace) -> Signal:
        return self.compare(trace.seconds, " s")


class CostCheck(_Limit, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Passes if the agent's model calls cost no more than this.

    max: the most dollars

    Example: {cost: 0.01}
    """

    name: ClassVar[str] = "cost"

    def measure(self, case: Case, trace: Trace) -> Signal:
        return self.compare(None if trace.usage is None else trace.usage.dollars, " dollars")


class Tokens(_Limit, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Passes if the agent used no more tokens than this.

    max: the most tokens
    count: `all` (default), `input` or `output`

    Example: {tokens: 4000}
    """

    name: ClassVar[str] = "tokens"
    count: Literal["all", "input", "output"] = "all"

    def measure(self, case: Case, trace: Trace) -> Signal:
        usage = trace.usage
        if usage is None:
            return self.compare(None, "")
        taken, written = usage.input_tokens, usage.output_tokens
        counts = {"all": taken + written, "input": taken, "output": written}
        return self.compare(counts[self.count], " tokens")


class Steps(_Limit, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Passes if the agent took no more steps than this.

    max: the most steps
    count: `tools` (default) counts tool calls, `all` messages too

    Example: {steps: 5}
    """

    name: ClassVar[str] = "steps"
    count: Literal["tools", "all"] = "tools"

    def measure(self, case: Case, trace: Trace) -> Signal:
        steps = trace.tool_calls if self.count == "tools" else trace.steps
        return self.compare(len(steps), " steps")


class NoErrors(Check, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Passes if none of the agent's tool calls failed.

    allowed: how many calls may fail (0)

    Example: {no_errors: true}
    """

    name: ClassVar[str] = "no_errors"
    allowed: int = 0

    def measure(self, case: Case, trace: Trace) -> Signal:
        calls = trace.tool_calls
        if not calls:
            raise NotApplicable("the agent called no tool")
        failed = [call for call in calls if find_call_failure(call) is not None]
        reason = f"{len(failed)} of {len(calls)} tool calls failed"
        if failed:
            reason += f", first {shorten(failed[0].name)}"
        return self.decide(len(failed) <= self.allowed, reason)
