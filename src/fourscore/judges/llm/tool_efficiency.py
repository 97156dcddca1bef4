"""Tool efficiency by a model: did this call add something that the task needed?

The rules decide which tools were expected and how many calls were allowed. They also judge all
calls after the first thirty: of those only plain repeats and failures count as waste.
"""

from collections.abc import Mapping, Sequence

from fourscore.core import Case, Signal, ToolCall, Trace, Usage
from fourscore.core.numbers import check_whole
from fourscore.core.trace import as_text
from fourscore.judges.dimensions.signals import make_signal
from fourscore.judges.dimensions.tool_efficiency import (
    FREE,
    MAX_NAMED,
    NAME,
    Limits,
    combine,
    find_unexpected,
    format_call,
    judge_no_calls,
    quote_calls,
    read_limits,
)
from fourscore.judges.dimensions.wasted_calls import Call, find_wasted, read_calls
from fourscore.judges.failures import find_call_failure
from fourscore.judges.llm.item_questions import (
    fence_numbered,
    gather_asks,
    rate_confidence,
    set_usage,
)
from fourscore.judges.llm.model_judge import ModelJudge
from fourscore.judges.llm.verdicts import ModelVerdict

#: Maximum number of calls that are asked about; minimum number of characters shown of each.
ASKED, LEAST = 30, 200


class ToolEfficiency(ModelJudge, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The lowest of economy (share of calls that were needed), selection and budget.

    `max_calls`: calls allowed. `free`: tools whose calls do not count. `writes`: tools that change
    something.
    """

    max_calls: int | None = None
    free: tuple[str, ...] = FREE
    writes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        check_whole("max_calls", self.max_calls, low=0)

    @property
    def names(self) -> tuple[str, ...]:
        return (NAME,)

    @property
    def prompts(self) -> Mapping[str, str]:
        return self.read_versions("call")

    def most(self, case: Case) -> Usage:
        return self.ceiling("call", case, ASKED, other_bytes=ASKED * (3 * LEAST + 64))

    async def judge(self, case: Case, trace: Trace) -> Sequence[Signal]:
        limits = read_limits(case, self.max_calls)
        calls = read_calls(trace, self.free, self.writes)
        if not calls:
            return (judge_no_calls(limits),)
        asked = calls[:ASKED]
        limit = max(LEAST, self.max_chars // len(asked))
        texts = [_describe_call(trace, call, limit) for call in asked]
        own = {"question": as_text(case.input)}
        fenced = fence_numbered(self, own, "call", texts, "calls")
        verdicts = await gather_asks(
            [
                self.decide("call", fenced, text=text, call=str(at))
                for at, text in enumerate(texts, 1)
            ]
        )
        return (_signal(calls, limits, verdicts),)


def _signal(calls: Sequence[Call], limits: Limits, verdicts: Sequence[ModelVerdict]) -> Signal:
    needless = [
        call for call, verdict in zip(calls, verdicts, strict=False) if verdict.choice == "no"
    ]
    rest = {call.step for call in calls[ASKED:]}
    found = find_wasted(calls, find_unexpected(calls, limits.expected)) if rest else []
    waste = [each.call for each in found if each.call.step in rest]
    lost = sum(1 - verdict.get_probability("yes") for verdict in verdicts) + len(waste)
    described = _describe_needless(needless, len(verdicts))
    missing = sum(verdict.choice == "yes" and verdict.is_quotation_missing for verdict in verdicts)
    if missing:
        described += f"; {missing} of the model's quotations are not in the call"
    if rest:
        described += f"; the {len(rest)} calls after the first {ASKED} are judged by rules"
    value, reason = combine(calls, limits, 1 - lost / len(calls), described)
    evidence = quote_calls(needless + waste)
    signal = make_signal(NAME, value, reason, rate_confidence(verdicts, missing), evidence)
    return set_usage(signal, verdicts)


def _describe_needless(needless: Sequence[Call], asked: int) -> str:
    text = f"{asked - len(needless)} of {asked} calls added something that was needed"
    if not needless:
        return text
    named = "; ".join(f"step {call.step}: {format_call(call)}" for call in needless[:MAX_NAMED])
    more = f" and {len(needless) - MAX_NAMED} more" if len(needless) > MAX_NAMED else ""
    return f"{text}; not needed: {named}{more}"


def _describe_call(trace: Trace, call: Call, limit: int) -> str:
    """Return a call and its result in `limit` characters, the call in at most half of them."""
    made = trace.steps[call.step]
    if not isinstance(made, ToolCall):
        return ""
    request = _cut(f"{made.name}({as_text(made.arguments)})", limit // 2)
    result = as_text(made.result)
    if made.result is None or made.error:
        failure = find_call_failure(made)
        result = f"error: {failure.text}" if failure else result
    return f"{request}\n→ {_cut(result, limit - len(request))}"


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[:most]} […{len(text) - most}]"
