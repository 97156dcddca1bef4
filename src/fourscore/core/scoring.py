"""`score()`: return n scores for n traces of one case. Every phase scores with it.

This is the one boundary where a judge's failure becomes a signal with a fault: whatever a judge
raises or returns, the signals of other judges are not affected.
"""

import sys
from collections.abc import Iterator, Sequence
from typing import Any, Protocol

import msgspec
from msgspec.structs import replace

from fourscore.core.case import Case
from fourscore.core.errors import JudgeError
from fourscore.core.faults import make_fault_signals
from fourscore.core.judge import Judge, Ranker, is_ranker, safe_repr
from fourscore.core.levels import find_level
from fourscore.core.rubric import SLACK, Dimension, JudgeSlot, Rubric
from fourscore.core.score import Score, Status
from fourscore.core.signal import Signal
from fourscore.core.trace import Fault, Trace, Usage


class Call(msgspec.Struct, frozen=True, gc=False):
    """One call of a judge for one trace, or of a ranker for all traces of the case."""

    judge: Judge | Ranker
    case: Case
    traces: tuple[Trace, ...]


#: The result of a call: signals, or the exception that the judge raised.
Result = Sequence[Signal] | Exception


async def call_judge(call: Call) -> Result:
    """Call the judge and return its signals, or the exception that it raised."""
    judge: Any = call.judge
    try:
        if len(call.traces) > 1 or is_ranker(judge):
            ranked: Sequence[Signal] = await judge.rank(call.case, call.traces)
            return ranked
        signals: Sequence[Signal] = await judge.judge(call.case, call.traces[0])
        return signals
    except Exception as error:
        return error
    except BaseException as error:
        if _is_not_from_judge(error):
            raise
        # SystemExit or a panic of a compiled extension would end all other judges too.
        return JudgeError(f"the judge raised {safe_repr(error)}")


def _is_not_from_judge(error: BaseException) -> bool:
    """Whether an exception stops the whole scoring and is not a failure of the judge."""
    if isinstance(error, KeyboardInterrupt | GeneratorExit):
        return True
    asyncio = sys.modules.get("asyncio")  # if it is not loaded, nothing was cancelled
    if asyncio is not None and isinstance(error, asyncio.CancelledError):
        task = asyncio.current_task()
        return task is None or bool(task.cancelling())
    return isinstance(error, ControlFlow)


class ControlFlow(BaseException):
    """Raised through judges by the code that runs them; never a judge's failure."""


class Executor(Protocol):
    """Decides where calls run and for how long."""

    async def run(self, calls: Sequence[Call]) -> Sequence[Result]: ...


class Inline:
    """Runs calls at once, one after the other, without a deadline: for judges bounded by size."""

    async def run(self, calls: Sequence[Call]) -> list[Result]:
        return [await call_judge(call) for call in calls]


INLINE: Executor = Inline()
FREE = Usage()


#: The signals of one trace.
SignalsByName = dict[str, Signal]


async def score(
    rubric: Rubric, case: Case, traces: Sequence[Trace], *, executor: Executor = INLINE
) -> list[Score]:
    """Return one score per trace of a case. A trace with a fault is not judged."""
    to_judge = tuple([trace for trace in traces if trace.fault is None])
    calls: list[Call] = []
    for slot in rubric.slots:
        if not slot.is_ranker:
            calls += [Call(slot.judge, case, (trace,)) for trace in to_judge]
        elif len(to_judge) > 1:
            calls.append(Call(slot.judge, case, to_judge))
    results = iter(await executor.run(calls))
    signals_by_name: list[SignalsByName] = [{} for _ in to_judge]
    for slot in rubric.slots:
        of_slot = _split_ranking(slot, results, len(to_judge)) if slot.is_ranker else results
        for signals in signals_by_name:
            _add_signals(slot, next(of_slot), signals)
    if rubric.floors:
        for signals in signals_by_name:
            _name_levels(rubric, signals)
    scores = [fold(rubric, signals) for signals in signals_by_name]
    if len(scores) == len(traces):
        return scores
    judged = iter(scores)
    return [
        next(judged) if trace.fault is None else _make_failed_score(rubric, trace.fault)
        for trace in traces
    ]


def _split_ranking(slot: JudgeSlot, results: Iterator[Result], n: int) -> Iterator[Result]:
    """Yield the ranking of n traces as n results."""
    return iter(_rank_results(slot, next(results) if n > 1 else (), n))


def _rank_results(slot: JudgeSlot, ranking: Result, n: int) -> list[Result]:
    if n < 2:
        return [(_make_lone_signal(slot),)] * n
    if isinstance(ranking, Exception):
        first = make_fault_signals(slot.names, ranking)
        rest = (replace(first[0], usage=None),)  # one call: its usage counts once
        return [first, *[rest] * (n - 1)]
    if not isinstance(ranking, tuple | list) or len(ranking) != n:
        return [_make_result_error(slot, ranking)] * n
    return [
        (signal,)
        if isinstance(signal, Signal) and signal.relative
        else _make_result_error(slot, signal)
        for signal in ranking
    ]


def _make_lone_signal(slot: JudgeSlot) -> Signal:
    """Return the signal of a single trace: the ranker's value `alone`, else not applicable."""
    value = getattr(slot.judge, "alone", None)
    reason = "a single trace has no rank" if value is None else "this is the only trace"
    return Signal(name=slot.names[0], value=value, relative=value is not None, reason=reason)


def _add_signals(slot: JudgeSlot, result: object, signals: SignalsByName) -> None:
    """Add a judge's signals; a declared signal that cannot be used is added with a fault."""
    if type(result) is tuple and len(result) == 1 and len(slot.kept) == 1:  # fast path
        signal = result[0]
        if type(signal) is Signal and signal.name == slot.kept[0]:
            signals[signal.name] = signal
            return
    try:
        failure: Exception | None = _find_error(slot, result)
    except Exception as error:  # a list whose own methods raise
        failure = error
    if failure is not None:
        signals.update({signal.name: signal for signal in make_fault_signals(slot.kept, failure)})
        return
    given: Sequence[Signal] = result  # type: ignore[assignment]
    if len(slot.names) > 1:
        signals.update({signal.name: signal for signal in given})
        return
    one = given[0]
    for name in slot.kept:
        signals[name] = one if one.name == name else replace(one, name=name)
        if one.usage is not None or one.canary is not None:
            # The judge was called once, even where several dimensions read its signal.
            one = replace(one, usage=None, canary=None)


def _find_error(slot: JudgeSlot, result: object) -> Exception | None:
    """Return why a result cannot be used; None where it can."""
    if isinstance(result, Exception):
        return result
    if not isinstance(result, tuple | list):
        return _make_result_error(slot, result)
    for signal in result:
        if not isinstance(signal, Signal):
            return _make_result_error(slot, signal)
    if len(result) != len(slot.names) or (
        len(result) > 1 and {signal.name for signal in result} != set(slot.names)
    ):
        given = ", ".join(signal.name for signal in result) or "nothing"
        declared = ", ".join(slot.names)
        message = f"judge {slot.names[0]!r} declares the signals {declared} but returned {given}"
        return JudgeError(message)
    return None


def _name_levels(rubric: Rubric, signals: SignalsByName) -> None:
    """Set the level of each signal by the rubric's own levels."""
    for name, floors in rubric.floors.items():
        signal = signals[name]
        if signal.value is not None:
            level = find_level(signal.value, floors)
            if level != signal.level:
                signals[name] = replace(signal, level=level)


def fold(rubric: Rubric, signals: SignalsByName) -> Score:
    """Combine the signals of one trace into a score. Keys are dimensions, else signal names."""
    planned = measured = gained = 0.0  # of all signals, with rankings
    weight = total = 0.0  # of all signals except rankings
    gate, fault = "", None
    for dimension in rubric.dimensions:
        signal, share = signals[dimension.name], dimension.share
        value = signal.value
        if dimension.optional and value is None and signal.fault is None:
            continue
        planned += share
        if value is None:
            if signal.fault is not None:
                if fault is None and (share or dimension.gate is not None):
                    fault = signal
                continue
            if rubric.inapplicable == "leave":
                continue
            value = 0.0
        measured += share
        gained += share * value
        if not signal.relative:
            weight += share
            total += share * value
        if dimension.gate is not None and value < dimension.gate - SLACK:
            gate = gate or _gate_reason(dimension, value, signal.reason)
    coverage = measured / planned if planned else 0.0

    if fault is not None or not measured or coverage < rubric.min_coverage - SLACK:
        return _make_unmeasured_score(rubric, signals, coverage, fault)
    mean = total / weight if weight else None
    reward = gained / measured
    passed = (reward if mean is None else mean) >= rubric.pass_threshold - SLACK
    reason = gate
    if rubric.keeps_reward:
        reason = gate or signal.reason
        if signal.reward is not None:
            reward = signal.reward
        passed = reward >= rubric.pass_threshold - SLACK if signal.passed is None else signal.passed
    if gate:
        passed, reward = False, 0.0
    return Score(
        status=Status.SCORED,
        value=mean,
        passed=passed,
        reward=reward,
        coverage=coverage,
        signals=tuple(signals.values()),
        reason=reason,
        cost=_sum_usage(signals),
        provenance=rubric.provenance,
    )


def _make_unmeasured_score(
    rubric: Rubric, signals: SignalsByName, coverage: float, first: Signal | None
) -> Score:
    """Return a score without a value and its reason; `first` is the first signal with a fault."""
    if first is not None and first.fault is not None:
        status = _FAULT_STATUS[first.fault.kind]
        reason = f"{first.name}: {first.fault.message}"
    else:
        status, reason = Status.SKIPPED, _skip_reason(rubric, signals, coverage)
    return Score(
        status=status,
        reason=reason,
        coverage=coverage,
        signals=tuple(signals.values()),
        cost=_sum_usage(signals),
        provenance=rubric.provenance,
    )


def _skip_reason(rubric: Rubric, signals: SignalsByName, coverage: float) -> str:
    """Return which dimensions do not apply; where none applies, the judges' own reasons."""
    lines = [signals[line.name] for line in rubric.dimensions]
    out = [signal for signal in lines if signal.value is None and signal.fault is None]
    if coverage:
        names = ", ".join(signal.name for signal in out)
        least = f"min_coverage is {rubric.min_coverage:.0%}"
        return f"only {coverage:.0%} of the weight applies, {least}; not applicable: {names}"
    reasons = "; ".join(f"{signal.name}: {signal.reason}" for signal in out if signal.reason)
    return f"nothing applicable: {reasons}" if reasons else "nothing applicable"


def _gate_reason(dimension: Dimension, value: float, reason: str) -> str:
    """Return which gate failed, with the judge's own reason."""
    words = f"{dimension.name} is {value:.3g}, below its gate of {dimension.gate:.3g}"
    return f"{words}: {reason}" if reason else words


def _sum_usage(signals: SignalsByName) -> Usage:
    cost = FREE
    for signal in signals.values():
        if signal.usage is not None:
            cost += signal.usage
    return cost


_FAULT_STATUS = {
    "error": Status.JUDGE_ERROR,
    "timeout": Status.JUDGE_ERROR,
    "data": Status.JUDGE_ERROR,
    "refused": Status.REFUSED,
    "cancelled": Status.CANCELLED,
    "connection": Status.JUDGE_ERROR,
}


def _make_failed_score(rubric: Rubric, fault: Fault) -> Score:
    """Return the score of an agent's failure: 0, so that crashing on hard cases gains nothing.

    An agent that could not be reached has not failed: nothing was measured.
    """
    if fault.kind == "connection":
        return Score(status=Status.CANCELLED, reason=fault.message, provenance=rubric.provenance)
    return Score(
        status=Status.TIMEOUT if fault.kind == "timeout" else Status.AGENT_ERROR,
        value=0.0,
        passed=False,
        reward=0.0,
        reason=fault.message,
        provenance=rubric.provenance,
    )


def _make_result_error(slot: JudgeSlot, value: object) -> JudgeError:
    name = slot.names[0]
    return JudgeError(f"judge {name!r} returned {safe_repr(value)} where signals were expected")
