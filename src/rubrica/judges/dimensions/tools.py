"""Did the agent use its tools with economy: the right ones, and none of them in vain?"""

from collections.abc import Mapping, Sequence
from itertools import islice, pairwise
from typing import Any, Literal, NamedTuple

import msgspec

from rubrica.core import Case, Evidence, Signal, ToolCall, Trace
from rubrica.core.numbers import whole
from rubrica.judges.dimensions.calling.calls import Call, call_of
from rubrica.judges.dimensions.calling.failures import error_text
from rubrica.judges.dimensions.calling.loops import Kind, Waste, wasted
from rubrica.judges.dimensions.calling.wanted import (
    Wanted,
    named,
    selection_of,
    short,
    unasked,
    wanted_of,
)
from rubrica.judges.dimensions.expected import expected_of
from rubrica.judges.dimensions.finding import MOST, Sure, finding, inapplicable

NAME = "tool_efficiency"
#: Share of the calls that are wasted -> value, straight lines in between; nothing wasted is 1.
ECONOMY = ((0.0, 0.89), (0.29, 0.7), (0.5, 0.5), (0.75, 0.24), (1.0, 0.0))
#: Calls beyond the budget as a share of it -> value; within the budget is 1.
BUDGET = ((0.0, 0.89), (0.34, 0.7), (0.9, 0.5), (3.0, 0.24), (8.0, 0.0))
#: Wasted calls that the reason names, and characters of one.
NAMED, SHOWN = 4, 70

#: What is said of one such step, and of several.
_SAID: Mapping[Kind, tuple[str, str]] = {
    "needless": ("uses a tool that is not expected", "use a tool that is not expected"),
    "repeat": ("repeats step {of}", "repeat step {of}"),
    "loop": ("is step {of} again, in a loop", "are step {of} again, in a loop"),
    "retry": ("retries step {of} unchanged", "retry step {of} unchanged"),
    "reworded": (
        "puts step {of} in other words and learns nothing new",
        "put step {of} in other words and learn nothing new",
    ),
    "error": ("failed", "failed"),
    "mistake": ("failed by its arguments", "failed by their arguments"),
}


class ToolEfficiency(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The value is the least of three:

    - *economy*: 1 where no call is wasted; else by the share of wasted calls, on a line through
      0.89 (one of very many), 0.7 (nearly a third), 0.5 (half), 0.24 (three quarters) and 0 (all).
      Wasted is a call that repeats one whose answer stands, goes round in a loop, puts a search
      in other words for the second time without new results, uses a tool that is not expected, or
      fails by its own arguments. An error that is nobody's mistake, and the first mistake that is
      put right, cost half a call. One retry of what may pass costs nothing.
    - *selection*: 0 where none of the expected tools is called; from 0.25 to 0.49, by the share of
      them that succeeded, where one is not called or fails every time.
    - *budget*: by the calls beyond `max_calls`: 0.89 (just over), 0.7 (a third over), 0.5
      (nine tenths over), 0.24 (four times the budget).

    Steps are counted as in `trace.steps`, from 0. `max_calls` is for cases that name none; tools
    in `free` never count; those in `writes` change state, whatever their name.
    """

    max_calls: int | None = None
    free: tuple[str, ...] = ("think", "reflect", "scratchpad", "final_answer", "思考")
    writes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        whole("max_calls", self.max_calls, low=0)

    @property
    def names(self) -> tuple[str, ...]:
        return (NAME,)

    @property
    def runs(self) -> Literal["inline"]:
        return "inline"

    async def judge(self, case: Case, trace: Trace) -> Sequence[Signal]:
        limits = limits_of(case, self.max_calls)
        calls = calls_of(trace, self.free, self.writes)
        if not calls:
            return (unused(limits),)
        waste = wasted(calls, unasked(calls, limits.wanted))
        cost = sum(each.cost for each in waste)
        economy = _on(ECONOMY, cost / len(calls)) if waste else 1.0
        value, parts = lowest(
            calls, limits, economy, _economy_reason(waste, cost, len(calls), trace)
        )
        sure = _sure(calls, limits.wanted, waste)
        return (
            finding(NAME, value, parts, sure, evidence_of(trace, [each.step for each in waste])),
        )


class Limits(NamedTuple):
    """What a good run does with its tools."""

    wanted: Sequence[Wanted]
    budget: int | None


def limits_of(case: Case, max_calls: int | None) -> Limits:
    """What the case says; `max_calls` where it names no budget."""
    tools = expected_of(case).tools
    if tools is None:
        return Limits((), max_calls)
    budget = max_calls if tools.max_calls is None else tools.max_calls
    return Limits(wanted_of(case, tools.expected), budget)


def calls_of(trace: Trace, free: Sequence[str], writes: Sequence[str]) -> list[Call]:
    """The calls that count."""
    leave_out, change = frozenset(free), frozenset(writes)
    return [
        call_of(step, call, change)
        for step, call in enumerate(trace.steps)
        if isinstance(call, ToolCall) and call.name not in leave_out
    ]


def unused(limits: Limits) -> Signal:
    """What a run without calls is worth."""
    if limits.wanted:
        return finding(NAME, 0.0, f"no tool was called; expected {named(limits.wanted)}", "high")
    if limits.budget == 0:
        return finding(NAME, 1.0, "no tool was called, as asked", "high")
    return inapplicable(NAME, "no tool was called and none is expected")


def lowest(calls: Sequence[Call], limits: Limits, economy: float, told: str) -> tuple[float, str]:
    """The lowest of economy, selection and budget, and why."""
    selection, missing = selection_of(calls, limits.wanted)
    budget = limits.budget
    over = 0 if budget is None else max(0, len(calls) - budget)
    kept = _on(BUDGET, over / max(1, budget or 0)) if over else 1.0
    parts = [missing, told] if missing else [told]
    if over:
        parts.append(f"{len(calls)} calls where {budget} were allowed")
    return min(economy, selection, kept), "; ".join(parts)


def _on(line: Sequence[tuple[float, float]], x: float) -> float:
    for (x0, y0), (x1, y1) in pairwise(line):
        if x <= x1:
            return y0 + (y1 - y0) * (x - x0) / (x1 - x0)
    return line[-1][1]


def _economy_reason(waste: Sequence[Waste], cost: float, total: int, trace: Trace) -> str:
    if not waste:
        return f"none of the {total} calls was wasted" if total > 1 else "the call was not wasted"
    groups: dict[tuple[Kind, int | None, str], list[int]] = {}
    for each in waste:
        name = getattr(trace.steps[each.step], "name", "")
        groups.setdefault((each.kind, each.of, name), []).append(each.step)
    said = [
        f"{_steps(steps)} {_SAID[kind][len(steps) > 1].format(of=of)}: {_told(trace, steps[0])}"
        for (kind, of, _), steps in islice(groups.items(), NAMED)
    ]
    if len(groups) > NAMED:
        said.append(f"and {len(groups) - NAMED} more")
    return f"{cost:g} of {total} calls wasted: " + "; ".join(said)


def _steps(steps: Sequence[int]) -> str:
    if len(steps) == 1:
        return f"step {steps[0]}"
    named = ", ".join(map(str, steps[:NAMED]))
    return f"steps {named}" + (f" and {len(steps) - NAMED} more" if len(steps) > NAMED else "")


def _told(trace: Trace, step: int) -> str:
    """A call, and what went wrong with it."""
    call = trace.steps[step]
    said = error_text(call) if isinstance(call, ToolCall) else None
    return shown(trace, step) + (
        f" gave '{short(' '.join(said[:200].split()), 60)}'" if said else ""
    )


def shown(trace: Trace, step: int) -> str:
    """A call, fit for a line on a terminal."""
    call = trace.steps[step]
    if not isinstance(call, ToolCall):
        return ""
    given = call.arguments
    if isinstance(given, Mapping):
        pairs = list(given.items())[:4]
        inner = ", ".join(f"{short(k, 20)}={_brief(v)}" for k, v in pairs)
        inner += ", …" if len(given) > len(pairs) else ""
    else:
        inner = "" if given is None else _brief(given)
    return short(f"{short(call.name, 40)}({inner}", SHOWN - 1) + ")"


def _brief(value: Any) -> str:
    if isinstance(value, dict | list):
        return "{…}" if isinstance(value, dict) else "[…]"
    return short(value if isinstance(value, str) else str(value), 30)


def evidence_of(trace: Trace, steps: Sequence[int]) -> list[Evidence]:
    """The calls at these steps."""
    return [Evidence(text=shown(trace, step), field="steps", step=step) for step in steps[:MOST]]


def _sure(calls: Sequence[Call], wanted: Sequence[Wanted], waste: Sequence[Waste]) -> Sure:
    """Exact repeats and expected tools are plain; what a call was for, without them, is a guess."""
    if sum([call.mute for call in calls]) * 2 > len(calls):
        return "medium" if wanted else "low"
    plain = sum([each.kind in ("repeat", "loop", "needless") for each in waste])
    if plain * 2 < len(waste):
        return "medium"
    return "high" if wanted or waste else "medium"
