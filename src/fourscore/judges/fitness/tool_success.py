"""How many tool calls did what they were called for (`tool_success_rate`)."""

from collections.abc import Sequence
from typing import Literal

import msgspec

from fourscore.core import Case, Signal, Trace
from fourscore.judges.fitness.execution import (
    Execution,
    counted,
    execution_of,
    inapplicable,
    measured,
    several,
)

NAME = "tool_success_rate"


class ToolSuccessRate(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Calls that succeeded, of those of which it is known.

    `missing_exit: fail` counts a call without an exit code as failed.
    """

    missing_exit: Literal["leave", "fail"] = "leave"

    @property
    def names(self) -> tuple[str, ...]:
        return (NAME,)

    @property
    def runs(self) -> Literal["inline"]:
        return "inline"

    def value_of(self, execution: Execution) -> float | None:
        known = self._known(execution)
        return execution.succeeded / known if known else None

    def _known(self, execution: Execution) -> int:
        left = 0 if self.missing_exit == "fail" else execution.unknown
        return execution.calls - left

    def measure(self, execution: Execution) -> Signal:
        value, known = self.value_of(execution), self._known(execution)
        unknown = execution.unknown
        if value is None:
            if not execution.calls:
                return inapplicable(NAME, "no tool was called")
            told = several(execution.calls, "call")
            return inapplicable(NAME, f"{told}, and nothing tells what came of them: no exit code")
        failed = known - execution.succeeded
        if not failed:
            reason = f"{'all ' if known > 1 else ''}{several(known, 'call')} succeeded"
        else:
            reason = f"{failed} of {several(known, 'call')} failed"
            if execution.failures:
                reason += f": {counted(execution.failures)}"
        if unknown:
            counts = "count as failed" if self.missing_exit == "fail" else "are left out"
            reason += f"; {unknown} without an exit code {counts}"
        return measured(NAME, value, reason)

    async def judge(self, case: Case, trace: Trace) -> Sequence[Signal]:
        return (self.measure(execution_of(case, trace)),)
