"""Did the agent use its tools with economy: the right ones, and none of them in vain?"""

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
from fourscore.judges.dimensions.tool_calls import Call, Waste, canonical, find_waste, read_calls

NAME = "tool_efficiency"
FREE = ("think", "reflect", "scratchpad", "final_answer", "思考")
#: Wasted calls and missing tools that a reason names, and characters of one call.
NAMED, SHOWN = 4, 70

#: Why a step was wasted, in words.
REASONS = {
    "unexpected": "step {step} uses a tool that is not expected",
    "repeat": "step {step} repeats step {of}",
    "retry": "step {step} retries step {of} unchanged",
    "mistake": "step {step} failed by its arguments",
}
#: The server before a tool's name, and what is spelled in several ways.
_SPELLING = re.compile(r"^.*(?:__|::|[./])|[_ -]", re.DOTALL)


class ToolEfficiency(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The value is the least of three:

    - *economy*: the share of the calls that were not wasted. Wasted is a call that repeats one
      whose result still stands (same tool, same arguments, nothing changed in between), retries
      what keeps failing for the second time, fails by its own arguments, or uses a tool that is not
      among the expected ones.
    - *selection*: the share of the expected tools that were called with success.
    - *budget*: the calls that are allowed over the calls made, where there were more.

    Options:

    - `max_calls`: the budget of cases that name none.
    - `free`: tools that never count.
    - `writes`: tools that change state, whatever their name; after them a call may be repeated.
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
        waste = find_waste(calls, find_unexpected(calls, limits.expected))
        economy = 1 - len(waste) / len(calls)
        value, reason = combine(calls, limits, economy, _explain(waste, len(calls)))
        # What the case expects is plain; whose fault an error was is a guess.
        sure: Confidence = "high" if limits.expected else "medium"
        evidence = quote_calls([each.call for each in waste])
        return (make_signal(NAME, value, reason, sure, evidence),)


class ExpectedTool(NamedTuple):
    """A tool that a good run calls, with the arguments that matter, if any do."""

    name: str
    arguments: Mapping[str, Any]

    def is_met_by(self, call: Call) -> bool:
        """Whether a call did what is expected."""
        if call.failure is not None or bare_name(call.name) != bare_name(self.name):
            return False
        given = call.arguments if isinstance(call.arguments, dict) else {}
        return all(given.get(key) == value for key, value in self.arguments.items())


class Limits(NamedTuple):
    """What a case asks of the use of tools."""

    expected: Sequence[ExpectedTool]
    budget: int | None


def read_limits(case: Case, max_calls: int | None) -> Limits:
    """Return what the case asks; `max_calls` is the budget where it names none."""
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
    """Return a name without server and spelling: `mcp__shop__getPrice` is `getprice`."""
    return _SPELLING.sub("", name[:200].casefold())


def find_unexpected(calls: Sequence[Call], expected: Sequence[ExpectedTool]) -> set[int]:
    """Return the places of calls to tools that are not expected; none where nothing is."""
    names = {bare_name(tool.name) for tool in expected}
    return {i for i, call in enumerate(calls) if names and bare_name(call.name) not in names}


def judge_no_calls(limits: Limits) -> Signal:
    """Return the signal of a run without calls."""
    if limits.expected:
        names = _join([tool.name for tool in limits.expected])
        return make_signal(NAME, 0.0, f"no tool was called; expected {names}", "high")
    if limits.budget == 0:
        return make_signal(NAME, 1.0, "no tool was called, as asked", "high")
    return not_applicable(NAME, "no tool was called and none is expected")


def combine(
    calls: Sequence[Call], limits: Limits, economy: float, explained: str
) -> tuple[float, str]:
    """Return the least of economy, selection and budget, and the reasons."""
    values, reasons = [economy], [explained]
    missed = [tool.name for tool in limits.expected if not any(map(tool.is_met_by, calls))]
    if missed:
        values.append(1 - len(missed) / len(limits.expected))
        reasons.insert(0, f"expected and not called with success: {_join(missed)}")
    if limits.budget is not None and len(calls) > limits.budget:
        values.append(limits.budget / len(calls))
        reasons.append(f"{len(calls)} calls where {limits.budget} were allowed")
    return min(values), "; ".join(reasons)


def _explain(waste: Sequence[Waste], total: int) -> str:
    if not waste:
        return f"none of the {total} calls was wasted" if total > 1 else "the call was not wasted"
    reasons = []
    for call, kind, of in waste[:NAMED]:
        error = f" gave '{shorten(call.failure.text, 60)}'" if call.failure else ""
        reasons.append(
            REASONS[kind].format(step=call.step, of=of) + f": {format_call(call)}{error}"
        )
    more = f"; and {len(waste) - NAMED} more" if len(waste) > NAMED else ""
    return f"{len(waste)} of {total} calls wasted: {'; '.join(reasons)}{more}"


def format_call(call: Call) -> str:
    """Return a call in one line: `search(query=tides, page=2)`."""
    given = call.arguments
    if isinstance(given, Mapping):
        pairs = islice(given.items(), SHOWN)
        given = ", ".join(f"{shorten(k, 20)}={shorten(str(v), 30)}" for k, v in pairs)
    return shorten(f"{shorten(call.name, 40)}({'' if given is None else given}", SHOWN - 1) + ")"


def shorten(text: str, most: int) -> str:
    """Return a text that fits on a line of a terminal."""
    cut = text if len(text) <= most else f"{text[: most - 1]}…"
    return cut if cut.isprintable() else repr(cut)[1:-1]


def quote_calls(calls: Sequence[Call]) -> list[Evidence]:
    """Return the calls as evidence."""
    shown = calls[:MAX_EVIDENCE]
    return [Evidence(text=format_call(call), field="steps", step=call.step) for call in shown]


def _join(names: Sequence[str]) -> str:
    return ", ".join(shorten(name, 40) for name in names[:NAMED]) + ", …" * (len(names) > NAMED)
