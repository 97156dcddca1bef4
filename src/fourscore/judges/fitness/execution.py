"""One execution in numbers: what its tool calls came to, how long it took, what it put out.

A trace is counted here. The one pass over a log of records (`counters.py`) counts without traces,
into the same value, and the signals are computed from nothing else.
"""

from collections.abc import Mapping
from math import isfinite
from typing import Any, NamedTuple

import msgspec

from fourscore.core import Case, Signal, ToolCall, Trace
from fourscore.core.levels import find_level
from fourscore.core.trace import as_text
from fourscore.judges.failures import result_failure

#: Kinds of failures that an execution remembers by name, and characters of one.
KINDS, SHOWN = 50, 80


class Execution(msgspec.Struct, kw_only=True):
    """Counts of one execution, or of many added up.

    `bad_exits` and `patterns` say where failures were seen; a call with both has failed once.
    `unrated` calls have no exit code and leave the rate, but say that they failed. `told` has
    errors that the log states as a number, by type. `recorded` is False where nothing is known of
    how it went.
    """

    calls: int = 0
    succeeded: int = 0
    unknown: int = 0
    bad_exits: int = 0
    patterns: int = 0
    unrated: int = 0
    retries: int = 0
    corrections: int = 0
    told: dict[str, int] = msgspec.field(default_factory=dict)
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

    def fail(self, label: str, times: int = 1) -> None:
        """Remember what failed; of too many kinds the first."""
        if label in self.failures or len(self.failures) < KINDS:
            self.failures[label] = self.failures.get(label, 0) + times


class Outcome(NamedTuple):
    """What came of one call. `ok` is None where nothing tells."""

    ok: bool | None
    bad_exit: bool
    said: str | None


def outcome_of(exit_code: int | None, said: str | None) -> Outcome:
    """A call succeeded where it ended with 0 and said nothing of an error.

    Without an exit code nothing tells, whatever it said.
    """
    if exit_code is None:
        return Outcome(None, False, said)
    return Outcome(exit_code == 0 and not said, exit_code != 0, said)


def _outcome(call: ToolCall, coded: bool) -> Outcome:
    """Where a log knows no exit codes, what came back tells: without an error it has worked."""
    found = None if call.error else result_failure(call.result)
    said = call.error or (found.text if found else None)
    if coded or call.exit_code is not None:
        return outcome_of(call.exit_code, said)
    return Outcome(False if said else True if call.result is not None else None, False, said)


def label_of(tool: str, exit_code: int | None, said: str | None) -> str:
    """A failed call in a few words, the same for all that failed alike."""
    if exit_code:
        return f"{tool} exit {exit_code}"[:SHOWN]
    words = " ".join((said or "failed")[:200].split())
    return f"{tool}: {words}"[:SHOWN]


def execution_of(case: Case, trace: Trace) -> Execution:
    """The trace, counted."""
    meta = trace.metadata
    told = _told(meta.get("errors"))
    answer = trace.answer
    found = Execution(
        retries=_count(meta.get("retries")),
        corrections=_count(meta.get("user_corrections")),
        told=told,
        seconds=trace.seconds,
        recorded=bool(trace.steps or told or trace.seconds is not None),
        output=answer if answer or trace.output is not None else None,
        request=_asked(case.input),
        task_type=case.task_type or _word(meta.get("task_type")),
        complexity=case.complexity or _word(meta.get("complexity")),
        limits=_limits(meta.get("max_expected")),
    )
    retried: set[str] = set()
    coded = meta.get("exit_codes") is True
    for call in trace.steps:
        if isinstance(call, ToolCall):
            _add(found, call, _outcome(call, coded), retried)
    return found


def _add(found: Execution, call: ToolCall, came: Outcome, failed: set[str]) -> None:
    found.calls += 1
    if call.arguments is not None:
        asked = f"{call.name}\0{as_text(call.arguments)}"
        if asked in failed:
            found.retries += 1
            failed.discard(asked)
        if came.ok is False:
            failed.add(asked)
    if came.ok:
        found.succeeded += 1
        return
    found.bad_exits += came.bad_exit
    found.patterns += came.said is not None
    if came.ok is None:
        found.unknown += 1
        found.unrated += came.said is not None
    if came.ok is False or came.said is not None:
        found.fail(label_of(call.name, call.exit_code, came.said))


def _asked(given: Any) -> str:
    """The request: a text, or what the user said last in a list of messages."""
    if isinstance(given, str):
        return given
    for turn in reversed(given) if isinstance(given, list | tuple) else ():
        if isinstance(turn, Mapping) and turn.get("role") == "user":
            return as_text(turn.get("content"))
    return ""


def _told(given: Any) -> dict[str, int]:
    if not isinstance(given, Mapping):
        return {}
    return {str(kind): _count(count) for kind, count in given.items()}


def _count(given: Any) -> int:
    return given if type(given) is int and given > 0 else 0


def _word(given: Any) -> str | None:
    return given if isinstance(given, str) and given else None


def _limits(given: Any) -> tuple[float | None, int | None] | None:
    """What the log itself expects at most: seconds and tools."""
    if not isinstance(given, Mapping):
        return None
    time, tools = given.get("time"), given.get("tools")
    seconds = float(time) if isinstance(time, int | float) and isfinite(time) else None
    return seconds, tools if type(tools) is int else None


#: Kinds of failures that a reason names.
NAMED = 4


def measured(name: str, value: float, reason: str) -> Signal:
    value = min(1.0, max(0.0, value))
    return Signal(name=name, value=value, level=find_level(value), reason=reason)


def inapplicable(name: str, reason: str) -> Signal:
    return Signal(name=name, reason=reason)


def counted(kinds: Mapping[str, int]) -> str:
    """The most frequent kinds, with their numbers: `Bash exit 1 (3 times), Read: …`."""
    ranked = sorted(kinds.items(), key=lambda kind: (-kind[1], kind[0]))
    said = [f"{kind} ({n} times)" if n > 1 else kind for kind, n in ranked[:NAMED]]
    if len(ranked) > NAMED:
        said.append(f"and {len(ranked) - NAMED} more kinds")
    return ", ".join(said)


def several(n: int, one: str, more: str = "") -> str:
    """`1 call`, `2 calls`."""
    return f"{n} {one if n == 1 else more or one + 's'}"
