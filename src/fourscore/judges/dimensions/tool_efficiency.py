"""Tool efficiency: did the agent call the right tools, and none of them needlessly?"""

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import islice
from typing import Any, Literal, NamedTuple

import msgspec

from fourscore.core import Case, CaseError, Evidence, Signal, Trace
from fourscore.core.numbers import check_whole
from fourscore.judges.dimensions.case_fields import read_expected
from fourscore.judges.dimensions.signals import (
    MAX_EVIDENCE,
    Confidence,
    make_signal,
    not_applicable,
)
from fourscore.judges.dimensions.wasted_calls import (
    Call,
    WastedCall,
    canonical,
    find_wasted,
    read_calls,
)

NAME = "tool_efficiency"
FREE = ("think", "reflect", "scratchpad", "final_answer", "思考")
#: Most wasted calls and missing tools that a reason names, and most characters of one call.
MAX_NAMED, MAX_SHOWN = 4, 70

#: Why a step was wasted, as the reason says it.
REASONS = {
    "unexpected": "step {step} uses a tool that is not expected",
    "repeat": "step {step} repeats step {of}",
    "retry": "step {step} retries step {of} unchanged",
    "mistake": "step {step} failed by its arguments",
}
#: The server before a tool's name, and the characters between its words.
_SPELLING = re.compile(r"^.*(?:__|::|[./])|[_ -]", re.DOTALL)


class ToolEfficiency(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The least of economy, selection and budget.

    - *economy*: the share of the calls that were not wasted. A call is wasted if it repeats one
      whose result is still valid (same tool, same arguments, nothing changed in between), retries
      a failing call for the second time, fails because of its own arguments, or uses a tool that
      is not among the expected ones.
    - *selection*: the share of the expected tools that were called with success.
    - *budget*: the allowed calls over the calls made, if more were made.

    max_calls: the budget of cases that set none
    free: tools that never count
    writes: tools that change state, whatever their name; after them a call may be repeated
    """

    max_calls: int | None = None
    free: tuple[str, ...] = FREE
    writes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        check_whole("max_calls", self.max_calls, low=0)

    @property
    def names(self) -> tuple[str, ...]:
        return (NAME,)

    @property
    def runs(self) -> Literal["inline"]:
        return "inline"

    async def judge(self, case: Case, trace: Trace) -> Sequence[Signal]:
        limits = read_limits(case, self.max_calls)
        calls = read_calls(trace, self.free, self.writes)
        if not calls:
            return (judge_no_calls(limits),)
        wasted = find_wasted(calls, find_unexpected(calls, limits.expected))
        economy = 1 - len(wasted) / len(calls)
        value, reason = combine(calls, limits, economy, _explain(wasted, len(calls)))
        # What the case expects is certain; whether a call itself caused an error is a guess.
        confidence: Confidence = "high" if limits.expected else "medium"
        evidence = quote_calls([each.call for each in wasted])
        return (make_signal(NAME, value, reason, confidence, evidence),)


class ExpectedTool(NamedTuple):
    """A tool that the agent should call, and the arguments that it must have, if any."""

    name: str
    arguments: Mapping[str, object]

    def is_met_by(self, call: Call) -> bool:
        """Whether a call succeeded and has the expected name and arguments."""
        if call.failure is not None or bare_name(call.name) != bare_name(self.name):
            return False
        given = call.arguments if isinstance(call.arguments, dict) else {}
        return all(given.get(key) == value for key, value in self.arguments.items())


class Limits(NamedTuple):
    """The tools that a case expects, and the number of calls that it allows."""

    expected: Sequence[ExpectedTool]
    budget: int | None


def read_limits(case: Case, max_calls: int | None) -> Limits:
    """Read the limits of a case; `max_calls` is the budget if the case sets none."""
    tools = read_expected(case).tools
    if tools is None:
        return Limits((), max_calls)
    expected = [_read_expected(case, place, tool) for place, tool in enumerate(tools.expected)]
    return Limits(expected, max_calls if tools.max_calls is None else tools.max_calls)


def _read_expected(case: Case, place: int, tool: str | Mapping[str, Any]) -> ExpectedTool:
    field = f"expected.tools.expected[{place}]"
    given = {"name": tool} if isinstance(tool, str) else tool
    name, arguments = given.get("name"), given.get("arguments") or {}
    if not isinstance(name, str) or not name.strip():
        raise CaseError(case.id, field, "expected the name of a tool, or an object with one")
    if not isinstance(arguments, dict):
        raise CaseError(case.id, f"{field}.arguments", "expected an object")
    return ExpectedTool(name.strip(), canonical(arguments))


@lru_cache(maxsize=1024)
def bare_name(name: str) -> str:
    """Return a tool's name without server, case and separators: `mcp__shop__getPrice`: getprice."""
    return _SPELLING.sub("", name[:200].casefold())


def find_unexpected(calls: Sequence[Call], expected: Sequence[ExpectedTool]) -> set[int]:
    """Return the indices of calls to unexpected tools; none if the case expects no tools."""
    names = {bare_name(tool.name) for tool in expected}
    return {i for i, call in enumerate(calls) if names and bare_name(call.name) not in names}


def judge_no_calls(limits: Limits) -> Signal:
    """Return the signal of a trace without tool calls."""
    if limits.expected:
        names = _join([tool.name for tool in limits.expected])
        return make_signal(NAME, 0.0, f"no tool was called; expected {names}", "high")
    if limits.budget == 0:
        return make_signal(NAME, 1.0, "no tool was called, as asked", "high")
    return not_applicable(NAME, "no tool was called and none is expected")


def combine(
    calls: Sequence[Call], limits: Limits, economy: float, explained: str
) -> tuple[float, str]:
    """Return the least of economy, selection and budget, and the reason for it."""
    values, reasons = [economy], [explained]
    missed = [tool.name for tool in limits.expected if not any(map(tool.is_met_by, calls))]
    if missed:
        values.append(1 - len(missed) / len(limits.expected))
        reasons.insert(0, f"expected and not called with success: {_join(missed)}")
    if limits.budget is not None and len(calls) > limits.budget:
        values.append(limits.budget / len(calls))
        reasons.append(f"{len(calls)} calls where {limits.budget} were allowed")
    return min(values), "; ".join(reasons)


def _explain(wasted: Sequence[WastedCall], total: int) -> str:
    if not wasted:
        return f"none of the {total} calls was wasted" if total > 1 else "the call was not wasted"
    reasons = []
    for call, kind, of in wasted[:MAX_NAMED]:
        error = f" gave '{shorten(call.failure.text, 60)}'" if call.failure else ""
        reasons.append(
            REASONS[kind].format(step=call.step, of=of) + f": {format_call(call)}{error}"
        )
    more = f"; and {len(wasted) - MAX_NAMED} more" if len(wasted) > MAX_NAMED else ""
    return f"{len(wasted)} of {total} calls wasted: {'; '.join(reasons)}{more}"


def format_call(call: Call) -> str:
    """Return a call as one line of text: `search(query=tides, page=2)`."""
    given = call.arguments
    if isinstance(given, Mapping):
        pairs = islice(given.items(), MAX_SHOWN)
        given = ", ".join(f"{shorten(k, 20)}={shorten(str(v), 30)}" for k, v in pairs)
    return (
        shorten(f"{shorten(call.name, 40)}({'' if given is None else given}", MAX_SHOWN - 1) + ")"
    )


def shorten(text: str, most: int) -> str:
    """Return a text cut to `most` characters, safe to print on a terminal."""
    cut = text if len(text) <= most else f"{text[: most - 1]}…"
    return cut if cut.isprintable() else repr(cut)[1:-1]


def quote_calls(calls: Sequence[Call]) -> list[Evidence]:
    """Return the calls as evidence."""
    shown = calls[:MAX_EVIDENCE]
    return [Evidence(text=format_call(call), field="steps", step=call.step) for call in shown]


def _join(names: Sequence[str]) -> str:
    cut = ", …" if len(names) > MAX_NAMED else ""
    return ", ".join(shorten(name, 40) for name in names[:MAX_NAMED]) + cut
