"""How much went wrong on the way (`error_rate`; its value is 1 less the rate)."""

from collections.abc import Sequence
from typing import Literal

import msgspec

from fourscore.core import Case, Signal, Trace
from fourscore.core.numbers import check_whole
from fourscore.judges.fitness.execution import (
    Execution,
    counted,
    execution_of,
    inapplicable,
    measured,
    several,
)

NAME = "error_rate"
#: What a log may call the failures of its tools.
FAILED = ("tool_fail", "tool_failure", "tool_error")


class ErrorRate(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Failed calls, retries and corrections by the user, each once; `most` of them make 0.

    `errors: literal` counts a failure once for each place where it is seen.
    """

    errors: Literal["once", "literal"] = "once"
    missing_exit: Literal["leave", "fail"] = "leave"
    most: int = 10

    def __post_init__(self) -> None:
        check_whole("most", self.most, low=1)

    @property
    def names(self) -> tuple[str, ...]:
        return (NAME,)

    @property
    def runs(self) -> Literal["inline"]:
        return "inline"

    def kinds(self, execution: Execution) -> dict[str, int]:
        """How many errors of each kind."""
        told = execution.told
        failed = execution.bad_exits if self.errors == "literal" else execution.failed
        patterns = execution.patterns if self.errors == "literal" else 0
        failed += self._left(execution)
        failed = max(failed, sum(told.get(word, 0) for word in FAILED))
        others = {word: n for word, n in told.items() if word not in FAILED}
        kinds = {
            "failed call": failed,
            "error in an output": patterns,
            "retry": execution.retries + others.pop("retry", 0),
            "user correction": execution.corrections + others.pop("user_correction", 0),
        }
        for word, n in others.items():
            kinds[word] = kinds.get(word, 0) + n
        return {kind: n for kind, n in kinds.items() if n}

    def count(self, execution: Execution) -> int:
        if execution.told:
            return sum(self.kinds(execution).values())
        failed = execution.calls - execution.succeeded - execution.unknown
        if self.errors == "literal":
            failed = execution.bad_exits + execution.patterns
        if execution.unknown:
            failed += self._left(execution)
        return failed + execution.retries + execution.corrections

    def _left(self, execution: Execution) -> int:
        """Calls without an exit code that are errors all the same."""
        if self.missing_exit == "fail":
            shown = execution.unrated if self.errors == "literal" else 0
            return execution.unknown - shown  # those are among the patterns already
        return 0 if self.errors == "literal" else execution.unrated

    def value_of(self, execution: Execution) -> float | None:
        if not execution.recorded:
            return None
        return max(0.0, (self.most - self.count(execution)) / self.most)

    def measure(self, execution: Execution) -> Signal:
        value = self.value_of(execution)
        if value is None:
            return inapplicable(NAME, "nothing was recorded of how it went")
        kinds = self.kinds(execution)
        if not kinds:
            return measured(NAME, value, "no errors")
        n = sum(kinds.values())
        reason = f"{several(n, 'error')}, {self.most} make 0: {counted(kinds)}"
        if execution.failures:
            reason += f"; {counted(execution.failures)}"
        return measured(NAME, value, reason)

    async def judge(self, case: Case, trace: Trace) -> Sequence[Signal]:
        return (self.measure(execution_of(case, trace)),)
