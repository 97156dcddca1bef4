"""`error_rate`: failed calls, retries and user corrections; its value is 1 minus the rate."""

from collections.abc import Sequence
from typing import Literal

import msgspec

from fourscore.core import Case, Signal, Trace
from fourscore.core.numbers import check_whole
from fourscore.judges.fitness.execution import (
    Execution,
    count_execution,
    format_count,
    format_counts,
    make_inapplicable,
    make_signal,
)

NAME = "error_rate"
#: Names for failed tool calls in the error counts of a log.
FAILED = ("tool_fail", "tool_failure", "tool_error")


class ErrorRate(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """1 minus errors / `most`, at least 0. Failed calls, retries and user corrections are errors.

    errors: `once` (default) counts a failed call once; `literal` its exit code and output apart
    missing_exit: `fail` counts every call without an exit code as an error
    most: this many errors, or more, give 0
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
        """Return the number of errors of each kind."""
        stated_errors = execution.stated_errors
        failed = execution.bad_exits if self.errors == "literal" else execution.failed
        patterns = execution.patterns if self.errors == "literal" else 0
        failed += self._count_without_exit(execution)
        failed = max(failed, sum(stated_errors.get(word, 0) for word in FAILED))
        others = {word: n for word, n in stated_errors.items() if word not in FAILED}
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
        if execution.stated_errors:
            return sum(self.kinds(execution).values())
        failed = execution.calls - execution.succeeded - execution.unknown
        if self.errors == "literal":
            failed = execution.bad_exits + execution.patterns
        if execution.unknown:
            failed += self._count_without_exit(execution)
        return failed + execution.retries + execution.corrections

    def _count_without_exit(self, execution: Execution) -> int:
        """Return how many calls without an exit code count as errors."""
        if self.missing_exit == "fail":
            counted = execution.unrated if self.errors == "literal" else 0  # in `patterns`
            return execution.unknown - counted
        return 0 if self.errors == "literal" else execution.unrated

    def compute_value(self, execution: Execution) -> float | None:
        if not execution.recorded:
            return None
        return max(0.0, (self.most - self.count(execution)) / self.most)

    def measure(self, execution: Execution) -> Signal:
        value = self.compute_value(execution)
        if value is None:
            return make_inapplicable(NAME, "no steps, errors or time were recorded")
        kinds = self.kinds(execution)
        if not kinds:
            return make_signal(NAME, value, "no errors")
        n = sum(kinds.values())
        reason = f"{format_count(n, 'error')} ({self.most} give 0): {format_counts(kinds)}"
        if execution.failures:
            reason += f"; {format_counts(execution.failures)}"
        return make_signal(NAME, value, reason)

    async def judge(self, case: Case, trace: Trace) -> Sequence[Signal]:
        return (self.measure(count_execution(case, trace)),)
