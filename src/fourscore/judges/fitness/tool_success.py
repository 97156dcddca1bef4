"""`tool_success_rate`: the share of tool calls that succeeded."""

from collections.abc import Sequence
from typing import Literal

import msgspec

from fourscore.core import Case, Signal, Trace
from fourscore.judges.fitness.execution import (
    Execution,
    count_execution,
    format_count,
    format_counts,
    make_inapplicable,
    make_signal,
)

NAME = "tool_success_rate"


class ToolSuccessRate(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The share of tool calls that succeeded, of all calls whose outcome is known.

    `missing_exit: fail` counts a call without an exit code as failed.
    """

    missing_exit: Literal["leave", "fail"] = "leave"

    @property
    def names(self) -> tuple[str, ...]:
        return (NAME,)

    @property
    def runs(self) -> Literal["inline"]:
        return "inline"

    def compute_value(self, execution: Execution) -> float | None:
        known = self._known(execution)
        return execution.succeeded / known if known else None

    def _known(self, execution: Execution) -> int:
        left = 0 if self.missing_exit == "fail" else execution.unknown
        return execution.calls - left

    def measure(self, execution: Execution) -> Signal:
        value, known = self.compute_value(execution), self._known(execution)
        unknown = execution.unknown
        if value is None:
            if not execution.calls:
                return make_inapplicable(NAME, "no tool was called")
            calls = format_count(execution.calls, "call")
            return make_inapplicable(NAME, f"{calls} without an exit code: the outcome is unknown")
        failed = known - execution.succeeded
        if not failed:
            reason = f"{'all ' if known > 1 else ''}{format_count(known, 'call')} succeeded"
        else:
            reason = f"{failed} of {format_count(known, 'call')} failed"
            if execution.failures:
                reason += f": {format_counts(execution.failures)}"
        if unknown:
            counts = "count as failed" if self.missing_exit == "fail" else "are left out"
            reason += f"; {unknown} without an exit code {counts}"
        return make_signal(NAME, value, reason)

    async def judge(self, case: Case, trace: Trace) -> Sequence[Signal]:
        return (self.measure(count_execution(case, trace)),)
