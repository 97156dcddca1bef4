"""`score()`: one case, n traces, n scores. Every phase comes through here.

This is the one boundary where a judge's failure becomes a signal with a fault: whatever a judge
raises or returns, its neighbours' signals are untouched.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple, Protocol

from msgspec.structs import replace

from rubrica.core.case import Case
from rubrica.core.errors import CaseError, JudgeError
from rubrica.core.judge import Judge, Ranker, is_ranker, shown, signal_names
from rubrica.core.rubric import SLACK, Dimension, Rubric
from rubrica.core.score import Score, Status
from rubrica.core.signal import Signal
from rubrica.core.trace import Fault, Trace, Usage


class Call(NamedTuple):
    """One judge asked once: about one trace, or a ranker about the whole group."""

    judge: Judge | Ranker
    case: Case
    traces: tuple[Trace, ...]

    async def __call__(self) -> Sequence[Signal]:
        try:
            if is_ranker(self.judge):
                return await self.judge.rank(self.case, self.traces)
            return await self.judge.judge(self.case, self.traces[0])  # type: ignore[union-attr]
        except SystemExit as error:  # would end the process, and every neighbour with it
            raise JudgeError(f"the judge called exit({error.code!r})") from None


class Executor(Protocol):
    """Decides where calls run and for how long; an exception is a result like any other."""

    async def run(self, calls: Sequence[Call]) -> Sequence[Sequence[Signal] | Exception]: ...


class Inline:
    """Here and now, one after the other, with no deadline: for judges bounded by size."""

    async def run(self, calls: Sequence[Call]) -> list[Sequence[Signal] | Exception]:
        results: list[Sequence[Signal] | Exception] = []
        for call in calls:
            try:
                results.append(await call())
            except Exception as error:
                results.append(error)
        return results


INLINE: Executor = Inline()
FREE = Usage()


async def score(
    rubric: Rubric, case: Case, traces: Sequence[Trace], *, executor: Executor = INLINE
) -> list[Score]:
    """Score the traces of one case. A trace whose agent failed is not judged: it has failed."""
    alive = tuple(trace for trace in traces if trace.fault is None)
    calls = [call for judge in rubric.judges for call in _calls(judge, case, alive)]
    results = iter(await executor.run(calls))
    answers = {id(judge): _answers(judge, results, len(alive)) for judge in rubric.judges}
    places = iter(range(len(alive)))
    return [
        fold(rubric, _signals(rubric, answers, next(places)))
        if trace.fault is None
        else _failed(rubric, trace.fault)
        for trace in traces
    ]


#: What one judge said of one trace, by name.
Said = dict[str, Signal]


def _calls(judge: Judge | Ranker, case: Case, traces: tuple[Trace, ...]) -> list[Call]:
    if is_ranker(judge):
        return [Call(judge, case, traces)] if len(traces) > 1 else []
    return [Call(judge, case, (trace,)) for trace in traces]


def _answers(
    judge: Judge | Ranker, results: Iterator[Sequence[Signal] | Exception], n: int
) -> list[Said]:
    """What a judge said of each of n traces."""
    names = signal_names(judge)
    if not is_ranker(judge):
        return [_received(names, next(results)) for _ in range(n)]
    if n == 1:
        return [{names[0]: Signal(name=names[0], reason="one trace has no rank")}]
    return _ranked(names[0], next(results), n) if n else []


def _signals(rubric: Rubric, answers: dict[int, list[Said]], place: int) -> Said:
    """All signals of one trace, each under its dimension's name, else under its own."""
    signals: Said = {}
    for dimension in rubric.dimensions:
        said = answers[id(dimension.judge)][place]
        if len(said) > 1:
            signals.update(said)
            continue
        (signal,) = said.values()
        if signal.name != dimension.name:
            signal = replace(signal, name=dimension.name)
        signals[dimension.name] = signal
    return signals


def fold(rubric: Rubric, signals: dict[str, Signal]) -> Score:
    """The signals of one trace, keyed by dimension (and by name for the rest), as one score."""
    folded = _Fold()
    for dimension in rubric.dimensions:
        folded.add(dimension, signals[dimension.name], rubric.inapplicable == "zero")
    everything = tuple(signals.values())
    cost = FREE
    for signal in everything:
        if signal.usage is not None:
            cost += signal.usage
    coverage = folded.measured / folded.planned

    unmeasured = _unmeasured(rubric, folded, coverage)
    if unmeasured is not None:
        return Score(
            status=unmeasured[0],
            reason=unmeasured[1],
            coverage=coverage,
            signals=everything,
            cost=cost,
            provenance=rubric.provenance,
        )
    value = folded.total / folded.weight if folded.weight else None
    reward = folded.reward / folded.measured
    passed = (reward if value is None else value) >= rubric.pass_threshold - SLACK
    reason = folded.gate
    if len(rubric.dimensions) == 1 and rubric.dimensions[0].weight is None:
        only = signals[rubric.dimensions[0].name]
        reason = reason or only.reason
        if only.reward is not None:
            reward = only.reward
        passed = reward >= rubric.pass_threshold - SLACK if only.passed is None else only.passed
    if folded.gate:
        passed, reward = False, 0.0
    return Score(
        status=Status.SCORED,
        value=value,
        passed=passed,
        reward=reward,
        coverage=coverage,
        signals=everything,
        reason=reason,
        cost=cost,
        provenance=rubric.provenance,
    )


def _unmeasured(rubric: Rubric, folded: "_Fold", coverage: float) -> tuple[Status, str] | None:
    """Why there is no score, if there is none."""
    if folded.fault is not None:
        name, fault = folded.fault
        return _FAULT_STATUS[fault.kind], f"{name}: {fault.message}"
    if not folded.measured:
        return Status.SKIPPED, "nothing applicable"
    if coverage < rubric.min_coverage - SLACK:
        return Status.SKIPPED, f"only {coverage:.0%} of the weight applies"
    return None


class _Fold:
    """Sums on the way through the dimensions."""

    __slots__ = ("fault", "gate", "measured", "planned", "reward", "total", "weight")

    def __init__(self) -> None:
        self.planned = self.measured = self.reward = 0.0  # every signal, rankings too
        self.weight = self.total = 0.0  # without the rankings
        self.gate = ""
        self.fault: tuple[str, Fault] | None = None

    def add(self, dimension: Dimension, signal: Signal, zero: bool) -> None:
        share, value = dimension.share, signal.value
        self.planned += share
        if signal.fault is not None:
            if (share or dimension.gate is not None) and self.fault is None:
                self.fault = (dimension.name, signal.fault)
            return
        if value is None:
            if not zero:
                return
            value = 0.0
        self.measured += share
        self.reward += share * value
        if not signal.relative:
            self.weight += share
            self.total += share * value
        if dimension.gate is not None and value < dimension.gate - SLACK and not self.gate:
            self.gate = f"{dimension.name} is {value:.3g}, below its gate of {dimension.gate:.3g}"


_FAULT_STATUS = {
    "error": Status.JUDGE_ERROR,
    "timeout": Status.JUDGE_ERROR,
    "data": Status.JUDGE_ERROR,
    "refused": Status.REFUSED,
    "cancelled": Status.CANCELLED,
}


def _failed(rubric: Rubric, fault: Fault) -> Score:
    """The agent's own failure counts as a zero, or crashing on hard cases would pay."""
    return Score(
        status=Status.TIMEOUT if fault.kind == "timeout" else Status.AGENT_ERROR,
        value=0.0,
        passed=False,
        reward=0.0,
        reason=fault.message,
        provenance=rubric.provenance,
    )


def _received(names: tuple[str, ...], result: object) -> Said:
    """What one call of a judge gave; every name it promised is there, if only with a fault."""
    if isinstance(result, Exception):
        return _faults(names, result)
    said: Said = {}
    if isinstance(result, tuple | list):
        for signal in result:
            if not isinstance(signal, Signal):
                return _faults(names, _rubbish(names[0], signal))
            said[names[0] if len(names) == 1 else signal.name] = signal
        if len(said) == len(result) == len(names) and said.keys() == set(names):
            return said
        given = ", ".join(signal.name for signal in result) or "nothing"
        wrong = JudgeError(f"judge {names[0]!r} promised {', '.join(names)} and gave {given}")
        return _faults(names, wrong)
    return _faults(names, _rubbish(names[0], result))


def _ranked(name: str, result: object, n: int) -> list[Said]:
    if isinstance(result, Exception):
        return [_faults((name,), result)] * n
    if (
        isinstance(result, list | tuple)
        and len(result) == n
        and all(isinstance(signal, Signal) and signal.relative for signal in result)
    ):
        return [{name: signal} for signal in result]
    return [_faults((name,), _rubbish(name, result))] * n


def _faults(names: tuple[str, ...], error: Exception) -> Said:
    fault = _fault(error)
    return {name: Signal(name=name, fault=fault) for name in names}


def _fault(error: Exception) -> Fault:
    try:
        words = str(error)
    except Exception:
        words = "(its message cannot be shown)"
    if isinstance(error, CaseError):
        return Fault("data", words)
    if isinstance(error, TimeoutError):
        return Fault("timeout", words or "the deadline passed")
    if isinstance(error, JudgeError):
        return Fault("error", words)
    return Fault("error", f"{type(error).__name__}: {words}")


def _rubbish(name: str, value: object) -> JudgeError:
    return JudgeError(f"judge {name!r} returned {shown(value)} where signals were expected")
