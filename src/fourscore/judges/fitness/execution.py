"""`Execution`: the outcomes of an execution's tool calls, its duration and its output.

All fitness signals are computed from it. Here it is counted from a trace; `counters.py` counts it
from the records of a log, without traces.
"""

from collections.abc import Mapping
from math import isfinite
from typing import Any, NamedTuple

import msgspec

from fourscore.core import Case, Signal, ToolCall, Trace
from fourscore.core.levels import find_level
from fourscore.core.trace import as_text
from fourscore.judges.failures import find_result_failure

#: Maximum number of failure labels that an execution keeps, and of characters in a label.
KINDS, SHOWN = 50, 80


class Execution(msgspec.Struct, kw_only=True):
    """Counts of one execution, or the sum of several.

    `bad_exits`: calls with an exit code other than 0. `patterns`: calls with an error message. A
    call with both failed once. `unrated`: calls without an exit code that report an error; their
    outcome is unknown. `stated_errors`: numbers of errors by type, if the log has them. `recorded`:
    False if nothing is known about the execution.
    """

    calls: int = 0
    succeeded: int = 0
    unknown: int = 0
    bad_exits: int = 0
    patterns: int = 0
    unrated: int = 0
    retries: int = 0
    corrections: int = 0
    stated_errors: dict[str, int] = msgspec.field(default_factory=dict)
    failures: dict[str, int] = msgspec.field(default_factory=dict)
    seconds: float | None = None
    recorded: bool = True
    output: str | None = None
    request: str = ""
    task_type: str | None = None
    complexity: str | None = None
    limits: tuple[float | None, int | None] | None = None

    @property
    def failed(self) -> int:
        return self.calls - self.succeeded - self.unknown

    def add_failure(self, label: str, times: int = 1) -> None:
        """Count a failure by its label; at most `KINDS` labels are kept."""
        if label in self.failures or len(self.failures) < KINDS:
            self.failures[label] = self.failures.get(label, 0) + times


class Outcome(NamedTuple):
    """The outcome of one tool call; `ok` is None if it is unknown."""

    ok: bool | None
    bad_exit: bool
    error: str | None


def classify_outcome(exit_code: int | None, error: str | None) -> Outcome:
    """Return the outcome of a call: it succeeded if its exit code is 0 and it has no error.

    Without an exit code the outcome is unknown, even with an error.
    """
    if exit_code is None:
        return Outcome(None, False, error)
    return Outcome(exit_code == 0 and not error, exit_code != 0, error)


def _read_outcome(call: ToolCall, has_exit_codes: bool) -> Outcome:
    """Return the outcome of a call; if the log has no exit codes, the result decides."""
    found = None if call.error else find_result_failure(call.result)
    error = call.error or (found.text if found else None)
    if has_exit_codes or call.exit_code is not None:
        return classify_outcome(call.exit_code, error)
    return Outcome(False if error else True if call.result is not None else None, False, error)


def label_failure(tool: str, exit_code: int | None, error: str | None) -> str:
    """Return a short label of a failed call: the tool and its exit code or error message."""
    if exit_code:
        return f"{tool} exit {exit_code}"[:SHOWN]
    words = " ".join((error or "failed")[:200].split())
    return f"{tool}: {words}"[:SHOWN]


def count_execution(case: Case, trace: Trace) -> Execution:
    """Return the counts of a trace."""
    meta = trace.metadata
    stated_errors = _read_stated_errors(meta.get("errors"))
    answer = trace.answer
    found = Execution(
        retries=_count(meta.get("retries")),
        corrections=_count(meta.get("user_corrections")),
        stated_errors=stated_errors,
        seconds=trace.seconds,
        recorded=bool(trace.steps or stated_errors or trace.seconds is not None),
        output=answer if answer or trace.output is not None else None,
        request=_find_request(case.input),
        task_type=case.task_type or _word(meta.get("task_type")),
        complexity=case.complexity or _word(meta.get("complexity")),
        limits=_limits(meta.get("max_expected")),
    )
    failed: set[str] = set()
    has_exit_codes = meta.get("exit_codes") is True
    for call in trace.steps:
        if isinstance(call, ToolCall):
            _add_call(found, call, _read_outcome(call, has_exit_codes), failed)
    return found


def _add_call(found: Execution, call: ToolCall, outcome: Outcome, failed: set[str]) -> None:
    """Add a call to the counts; a repeat of a call in `failed` is a retry."""
    found.calls += 1
    if call.arguments is not None:
        asked = f"{call.name}\0{as_text(call.arguments)}"
        if asked in failed:
            found.retries += 1
            failed.discard(asked)
        if outcome.ok is False:
            failed.add(asked)
    if outcome.ok:
        found.succeeded += 1
        return
    found.bad_exits += outcome.bad_exit
    found.patterns += outcome.error is not None
    if outcome.ok is None:
        found.unknown += 1
        found.unrated += outcome.error is not None
    if outcome.ok is False or outcome.error is not None:
        found.add_failure(label_failure(call.name, call.exit_code, outcome.error))


def _find_request(given: Any) -> str:
    """Return the user's request: the input if it is a text, or the last user message in a list."""
    if isinstance(given, str):
        return given
    for turn in reversed(given) if isinstance(given, list | tuple) else ():
        if isinstance(turn, Mapping) and turn.get("role") == "user":
            return as_text(turn.get("content"))
    return ""


def _read_stated_errors(given: Any) -> dict[str, int]:
    if not isinstance(given, Mapping):
        return {}
    return {str(kind): _count(count) for kind, count in given.items()}


def _count(given: Any) -> int:
    return given if type(given) is int and given > 0 else 0


def _word(given: Any) -> str | None:
    return given if isinstance(given, str) and given else None


def _limits(given: Any) -> tuple[float | None, int | None] | None:
    """Return the maximum seconds and tool calls from the log's `max_expected`."""
    if not isinstance(given, Mapping):
        return None
    time, tools = given.get("time"), given.get("tools")
    seconds = float(time) if isinstance(time, int | float) and isfinite(time) else None
    return seconds, tools if type(tools) is int else None


#: Maximum number of failure kinds that a reason names.
NAMED = 4


def make_signal(name: str, value: float, reason: str) -> Signal:
    """Return a signal with its level; the value is clipped to 0 to 1."""
    value = min(1.0, max(0.0, value))
    return Signal(name=name, value=value, level=find_level(value), reason=reason)


def make_inapplicable(name: str, reason: str) -> Signal:
    """Return a signal that does not apply, with the reason."""
    return Signal(name=name, reason=reason)


def format_counts(kinds: Mapping[str, int]) -> str:
    """Return the most frequent kinds with their counts: `Bash exit 1 (3 times), Read: …`."""
    ranked = sorted(kinds.items(), key=lambda kind: (-kind[1], kind[0]))
    parts = [f"{kind} ({n} times)" if n > 1 else kind for kind, n in ranked[:NAMED]]
    if len(ranked) > NAMED:
        parts.append(f"and {len(ranked) - NAMED} more kinds")
    return ", ".join(parts)


def format_count(n: int, one: str, more: str = "") -> str:
    """Return a number with its noun: `1 call`, `2 calls`."""
    return f"{n} {one if n == 1 else more or one + 's'}"
