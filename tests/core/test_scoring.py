"""`score()`: weights, gates, coverage, and judges that misbehave."""

import asyncio
import sys
from collections.abc import Callable, Sequence
from typing import Any, Literal, Never

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fourscore import judge
from fourscore.core import (
    Call,
    Canary,
    Case,
    CaseError,
    ConfigError,
    Dimension,
    Fault,
    FourscoreError,
    FunctionJudge,
    JudgeError,
    Rubric,
    Score,
    Signal,
    Status,
    Trace,
    Usage,
    call_judge,
    score,
)

steady = settings(deadline=None)
units = st.floats(0, 1)
weights = st.floats(0.01, 100)
CASE = Case(id="c", input="q", metadata={"answer": "4", "list": [1]})
TRACE = Trace(output="four", metadata={"list": [1]})


class Says:
    """A judge that gives what it was told to, whatever it is."""

    def __init__(self, given: Any, *names: str) -> None:
        self.given = given
        self.names = names or ("says",)

    async def judge(self, case: Case, trace: Trace) -> Any:
        return self.given


class Ranks:
    name = "rank"

    def __init__(self, given: Any) -> None:
        self.given = given

    async def rank(self, case: Case, traces: Sequence[Trace]) -> Any:
        if isinstance(self.given, Exception):
            raise self.given
        return self.given


def signal(value: float | None, **fields: Any) -> Signal:
    return Signal(name="says", value=value, **fields)


def line(name: str, given: Any, **fields: Any) -> Dimension:
    """A dimension whose judge gives one signal, or a value."""
    one = given if isinstance(given, Signal) else signal(given)
    return Dimension(name=name, judge=Says((one,)), **fields)


def rubric(*lines: Dimension, **fields: Any) -> Rubric:
    return Rubric(name="r", dimensions=lines, **fields)


def scored(one: Rubric, *traces: Trace) -> list[Score]:
    return asyncio.run(score(one, CASE, traces))


def single(one: Rubric) -> Score:
    (only,) = scored(one, TRACE)
    return only


def by_name(one: Score) -> dict[str, Signal]:
    return {signal.name: signal for signal in one.signals}


# The mean, and what leaves it.


@steady
@given(st.lists(st.tuples(weights, st.none() | units), min_size=1, max_size=6))
def test_weights_are_shared_out_among_what_applies(lines: list[tuple[float, float | None]]) -> None:
    dimensions = [line(f"d{i}", value, weight=w) for i, (w, value) in enumerate(lines)]
    one = single(rubric(*dimensions, min_coverage=0))
    applies = [(w, value) for w, value in lines if value is not None]
    planned = sum(w for w, _ in lines)
    measured = sum(w for w, _ in applies)
    assert one.coverage == pytest.approx(measured / planned)
    if not applies:
        assert (one.status, one.value, one.reward) == (Status.SKIPPED, None, None)
        assert one.reason == "nothing applicable"
    else:
        mean = sum(w * value for w, value in applies) / measured
        assert one.status is Status.SCORED
        assert one.value == pytest.approx(mean)
        assert one.reward == one.value
        assert one.value is not None
        assert one.passed == (one.value >= 0.7 - 1e-9)


@steady
@given(st.lists(st.tuples(weights, units), min_size=1, max_size=5), st.floats(0.1, 10))
def test_only_the_proportion_of_weights_matters(
    lines: list[tuple[float, float]], factor: float
) -> None:
    def mean(scale: float) -> float | None:
        dims = [line(f"d{i}", value, weight=w * scale) for i, (w, value) in enumerate(lines)]
        return single(rubric(*dims)).value

    assert mean(factor) == pytest.approx(mean(1))


def test_a_weight_of_zero_is_shown_and_does_not_count() -> None:
    one = single(rubric(line("a", 1.0, weight=1), line("b", 0.0, weight=0)))
    assert (one.value, one.coverage) == (1.0, 1.0)
    assert by_name(one)["b"].value == 0.0


@pytest.mark.parametrize(
    ("min_coverage", "status", "reason"),
    [
        (0.25, Status.SCORED, ""),
        (
            0.5,
            Status.SKIPPED,
            "only 25% of the weight applies, min_coverage is 50%; not applicable: b",
        ),
    ],
)
def test_too_little_coverage_skips_the_case(
    min_coverage: float, status: Status, reason: str
) -> None:
    lines = line("a", 1.0, weight=1), line("b", None, weight=3)
    one = single(rubric(*lines, min_coverage=min_coverage))
    assert (one.status, one.reason, one.coverage) == (status, reason, 0.25)
    assert len(one.signals) == 2


def test_coverage_meets_its_minimum_in_floating_point() -> None:
    lines = [line(name, 1.0, weight=0.1) for name in "abc"] + [line("d", None, weight=0.3)]
    assert single(rubric(*lines, min_coverage=0.5)).status is Status.SCORED


def test_inapplicable_zero_counts_as_zero() -> None:
    lines = line("a", 1.0, weight=1), line("b", None, weight=3)
    one = single(rubric(*lines, inapplicable="zero"))
    assert (one.status, one.value, one.coverage) == (Status.SCORED, 0.25, 1.0)


# Passing.


@pytest.mark.parametrize(
    ("value", "passed"),
    [(0.7, True), (0.7 - 1e-10, True), (0.7 - 1e-8, False), (0.71, True), (0.0, False)],
)
def test_pass_threshold_has_floating_point_tolerance(value: float, passed: bool) -> None:
    assert single(rubric(line("a", value, weight=1))).passed is passed


def test_a_mean_that_is_the_threshold_but_for_rounding_passes() -> None:
    values = [0.1, 0.2, 0.3, 0.4]  # their mean is 0.25, or a little less
    one = single(rubric(*[line(f"{v}", v, weight=0.1) for v in values], pass_threshold=0.25))
    assert one.passed is True


@pytest.mark.parametrize(
    ("value", "passed"), [(0.5, True), (0.5 - 1e-10, True), (0.49, False), (None, True)]
)
def test_a_gate_fails_the_case_by_itself(value: float | None, passed: bool) -> None:
    lines = line("a", 1.0, weight=9), line("house_style", value, weight=1, gate=0.5)
    one = single(rubric(*lines))
    assert (one.status, one.passed) == (Status.SCORED, passed)
    assert one.value == pytest.approx(1.0 if value is None else 0.9 + value / 10)
    if passed:
        assert (one.reward, one.reason) == (one.value, "")
    else:
        assert (one.reward, one.reason) == (0.0, "house_style is 0.49, below its gate of 0.5")


def test_gate_works_without_weight_and_first_failed_gate_is_the_reason() -> None:
    lines = line("a", 1.0), line("b", 0.1, weight=0, gate=0.5), line("c", 0.0, gate=1)
    one = single(rubric(*lines))
    assert (one.passed, one.reason) == (False, "b is 0.1, below its gate of 0.5")


def test_gate_fails_inapplicable_dimension_with_inapplicable_zero() -> None:
    lines = line("a", 1.0), line("b", None, gate=0.5)
    assert single(rubric(*lines, inapplicable="zero")).passed is False


# One judge by itself.


@pytest.mark.parametrize(
    ("given_signal", "reward", "passed"),
    [
        (signal(1.0, reward=1.5, passed=False), 1.5, False),
        (signal(0.0, reward=-2.0, passed=True), -2.0, True),
        (signal(1.0, reward=1.5), 1.5, True),
        (signal(0.9), 0.9, False),
        (signal(1.0), 1.0, True),
        (signal(0.5, reward=0.5, passed=True), 0.5, True),
    ],
)
def test_one_unweighted_judge_keeps_its_reward_and_its_verdict(
    given_signal: Signal, reward: float, passed: bool
) -> None:
    one = single(Rubric.from_judge(Says((given_signal,))))
    assert (one.reward, one.passed, one.value) == (reward, passed, given_signal.value)


def test_one_unweighted_judge_keeps_its_reason() -> None:
    one = single(Rubric.from_judge(Says((signal(0.0, reason="off by one"),))))
    assert one.reason == "off by one"


def test_failed_gate_sets_reward_of_a_single_judge_to_zero() -> None:
    one = single(rubric(line("a", signal(0.4, reward=1.5, passed=True), gate=0.5)))
    assert (one.reward, one.passed) == (0.0, False)
    assert one.reason == "a is 0.4, below its gate of 0.5"


def test_single_judge_with_weight_uses_the_mean_and_threshold() -> None:
    one = single(rubric(line("a", signal(0.4, reward=1.5, passed=True), weight=1)))
    assert (one.reward, one.passed) == (0.4, False)


# Names.


def test_a_judge_with_one_signal_takes_the_name_of_its_dimension() -> None:
    judge = Says((signal(0.5, reason="why"),))
    one = single(
        rubric(Dimension(name="first", judge=judge), Dimension(name="second", judge=judge))
    )
    assert [(s.name, s.value, s.reason) for s in one.signals] == [
        ("first", 0.5, "why"),
        ("second", 0.5, "why"),
    ]


def test_signals_that_no_dimension_reads_are_kept_and_do_not_count() -> None:
    given_signals = [Signal(name="b", value=0.0), Signal(name="a", value=1.0)]
    one = single(rubric(Dimension(name="a", judge=Says(given_signals, "a", "b"))))
    assert (one.value, one.coverage) == (1.0, 1.0)
    assert set(by_name(one)) == {"a", "b"}


# Costs and provenance.


def test_costs_add_up_over_the_signals() -> None:
    costs = [Usage(calls=1, dollars=0.5), None, Usage(calls=2, input_tokens=7)]
    lines = [line(f"d{i}", signal(1.0, usage=cost)) for i, cost in enumerate(costs)]
    assert single(rubric(*lines)).cost == Usage(calls=3, input_tokens=7, dollars=0.5)


def test_every_score_has_provenance() -> None:
    one = rubric(line("a", 1.0))
    faulty = Trace(fault=Fault("error", "crashed"))
    assert {s.provenance.rubric for s in scored(one, TRACE, faulty)} == {one.provenance.rubric}


# The agent's own failures.


@pytest.mark.parametrize(
    ("kind", "status"),
    [("timeout", Status.TIMEOUT), ("error", Status.AGENT_ERROR), ("refused", Status.AGENT_ERROR)],
)
def test_a_trace_with_a_fault_is_not_judged_and_has_failed(
    kind: Literal["timeout", "error", "refused"], status: Status
) -> None:
    asked: list[Any] = []

    def watch(case: Case, trace: Trace) -> float:
        asked.append(trace.output)
        return 1.0

    traces = Trace(output="a"), Trace(output="b", fault=Fault(kind, "crashed")), Trace(output="c")
    first, failed, last = scored(Rubric.from_judge(FunctionJudge(watch)), *traces)
    assert asked == ["a", "c"]
    assert (first.status, last.status) == (Status.SCORED, Status.SCORED)
    assert (failed.status, failed.value, failed.passed) == (status, 0.0, False)
    assert (failed.reward, failed.reason, failed.signals) == (0.0, "crashed", ())


def test_a_trace_without_a_connection_is_not_measured() -> None:
    lost = Trace(fault=Fault("connection", "connection lost: refused"))
    (one,) = scored(Rubric.from_judge(FunctionJudge(lambda *_: 1.0, name="never")), lost)
    assert (one.status, one.reason) == (Status.CANCELLED, "connection lost: refused")
    assert (one.value, one.reward, one.passed, one.signals) == (None, None, None, ())


def test_no_traces_no_scores() -> None:
    assert scored(rubric(line("a", 1.0))) == []


# Rankings.


def ranking(*values: float) -> list[Signal]:
    return [Signal(name="rank", value=value, relative=True) for value in values]


@steady
@given(units, units, weights)
def test_a_ranking_gives_reward_and_never_enters_the_value(
    measured: float, ranked: float, weight: float
) -> None:
    lines = (
        line("quality", measured, weight=1),
        Dimension(name="rank", judge=Ranks(ranking(ranked, 1 - ranked)), weight=weight),
    )
    one, _ = scored(rubric(*lines), TRACE, TRACE)
    assert one.value == pytest.approx(measured)
    assert one.reward == pytest.approx((measured + weight * ranked) / (1 + weight))
    assert one.passed == (measured >= 0.7 - 1e-9)


def test_a_ranking_alone_has_a_reward_and_no_value() -> None:
    best, worst = scored(Rubric.from_judge(Ranks(ranking(1.0, 0.0))), TRACE, TRACE)
    assert (best.value, best.reward, best.passed) == (None, 1.0, True)
    assert (worst.value, worst.reward, worst.passed) == (None, 0.0, False)


def test_ranker_may_define_the_value_of_a_single_trace() -> None:
    ranker = Ranks(ranking(1.0, 0.0))
    ranker.alone = 1.0  # type: ignore[attr-defined]
    (one,) = scored(Rubric.from_judge(ranker), TRACE)
    assert (one.reward, one.passed, one.value) == (1.0, True, None)
    assert one.signals[0].relative


def test_one_trace_has_no_rank() -> None:
    traces = TRACE, Trace(fault=Fault("error"))
    one, failed = scored(Rubric.from_judge(Ranks(JudgeError("never asked"))), *traces)
    assert (one.status, one.reason) == (
        Status.SKIPPED,
        "nothing applicable: rank: a single trace has no rank",
    )
    assert failed.status is Status.AGENT_ERROR


@pytest.mark.parametrize(
    ("given_ranking", "message"),
    [
        (ranking(1.0), "judge 'rank' returned [Signal("),
        (None, "judge 'rank' returned None where signals were expected"),
        (ValueError("no order"), "ValueError: no order"),
    ],
)
def test_a_ranking_that_went_wrong_is_a_fault_on_every_trace(
    given_ranking: Any, message: str
) -> None:
    for one in scored(Rubric.from_judge(Ranks(given_ranking)), TRACE, TRACE):
        assert one.status is Status.JUDGE_ERROR
        assert one.signals[0].fault is not None
        assert one.signals[0].fault.message.startswith(message)


def test_ranking_signal_must_be_relative() -> None:
    absolute = [*ranking(1.0), Signal(name="rank", value=0.0)]
    one, other = scored(Rubric.from_judge(Ranks(absolute)), TRACE, TRACE)
    assert (one.status, other.status) == (Status.SCORED, Status.JUDGE_ERROR)


# Judges that misbehave.


class Mute(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no words")


class Shy:
    def __repr__(self) -> str:
        raise RuntimeError("no picture")


def raises(error: BaseException) -> Callable[[Case, Trace], Never]:
    def broken(case: Case, trace: Trace) -> Never:
        raise error

    return broken


def writes_on_the_case(case: Case, trace: Trace) -> float:
    case.metadata["answer"] = "mine"
    return 1.0


def writes_deep_in_the_trace(case: Case, trace: Trace) -> float:
    trace.metadata["list"].append(2)
    return 1.0


def rebinds(case: Case, trace: Trace) -> float:
    case.metadata = {}  # type: ignore[misc]
    return 1.0


def forgets_to_return(case: Case, trace: Trace) -> None:
    """As a judge in a hurry does."""


BROKEN: dict[str, tuple[Callable[..., Any], str]] = {
    "raises": (raises(ZeroDivisionError("by zero")), "ZeroDivisionError: by zero"),
    "raises mutely": (raises(Mute()), "Mute: (its message cannot be shown)"),
    "lacks data": (raises(CaseError("c", "answer", "gone")), "task 'c': answer: gone"),
    "runs out of time": (raises(TimeoutError()), "the deadline passed"),
    "exits": (lambda case, trace: sys.exit(3), "the judge raised SystemExit(3)"),
    "exits in words": (lambda case, trace: sys.exit("bye"), "the judge raised SystemExit('bye')"),
    "recurses": (raises(RecursionError("too deep")), "RecursionError: too deep"),
    "returns None": (forgets_to_return, "judge 'broken' returned None: expected"),
    "returns NaN": (lambda case, trace: float("nan"), "judge 'broken' returned nan: expected"),
    "returns text": (lambda case, trace: "1.0", "judge 'broken' returned '1.0': expected"),
    "returns the shy": (lambda case, trace: Shy(), "judge 'broken' returned an object of type Shy"),
    "returns several": (
        lambda case, trace: [signal(1.0), signal(1.0)],
        "judge 'broken' declares the signals broken but returned says, says",
    ),
    "writes on the case": (writes_on_the_case, "TypeError: this value is frozen"),
    "writes deep in the trace": (writes_deep_in_the_trace, "TypeError: this value is frozen"),
    "rebinds": (rebinds, "AttributeError: "),
    "makes a wrong signal": (lambda case, trace: signal(2.0), "ValueError: value: 2.0 is outside"),
}


def neighbour(case: Case, trace: Trace) -> Signal:
    seen = msgspec.json.encode([case, trace]).decode()
    return Signal(name="neighbour", value=0.8, reason=seen)


@pytest.mark.parametrize("broken", BROKEN)
@pytest.mark.parametrize("order", [1, -1], ids=["before", "after"])
def test_broken_judge_does_not_affect_other_judges(broken: str, order: int) -> None:
    function, message = BROKEN[broken]
    good = Dimension(name="neighbour", judge=FunctionJudge(neighbour))
    bad = Dimension(name="broken", judge=FunctionJudge(function, name="broken"))
    alone = by_name(single(rubric(good)))["neighbour"]
    one = single(rubric(*(good, bad)[::order]))
    assert by_name(one)["neighbour"] == alone
    fault = by_name(one)["broken"].fault
    assert fault is not None
    assert fault.message.startswith(message)
    assert (one.status, one.reward, one.value) == (Status.JUDGE_ERROR, None, None)
    assert one.reason == f"broken: {fault.message}"


@pytest.mark.parametrize(
    "result",
    [None, 1.0, "signals", {"a": 1}, Shy(), (1.0,), [Shy()], (), (signal(1.0), Shy())],
    ids=lambda value: type(value).__name__,
)
def test_invalid_result_of_custom_judge_is_a_fault_with_its_name(result: Any) -> None:
    good = Dimension(name="neighbour", judge=FunctionJudge(neighbour))
    one = single(rubric(good, Dimension(name="a", judge=Says(result))))
    assert by_name(one)["neighbour"].value == 0.8
    fault = by_name(one)["a"].fault
    assert fault is not None
    assert fault.kind == "error"
    assert "judge 'says'" in fault.message


@pytest.mark.parametrize(
    ("given_names", "expected"),
    [(["a"], "a"), (["a", "c"], "a, c"), (["a", "a"], "a, a"), (["a", "b", "b"], "a, b, b")],
)
def test_judge_must_return_the_signals_it_declares(given_names: list[str], expected: str) -> None:
    given_signals = [Signal(name=name, value=1.0) for name in given_names]
    one = single(rubric(Dimension(name="a", judge=Says(given_signals, "a", "b"))))
    fault = Fault("error", f"judge 'a' declares the signals a, b but returned {expected}")
    assert [(s.name, s.fault) for s in one.signals] == [("a", fault), ("b", fault)]


@pytest.mark.parametrize(
    ("kind", "status"),
    [
        ("error", Status.JUDGE_ERROR),
        ("timeout", Status.JUDGE_ERROR),
        ("data", Status.JUDGE_ERROR),
        ("refused", Status.REFUSED),
        ("cancelled", Status.CANCELLED),
    ],
)
def test_a_fault_leaves_the_case_unmeasured(kind: Any, status: Status) -> None:
    broken = signal(None, fault=Fault(kind, "sorry"))
    one = single(rubric(line("a", 1.0), line("b", broken), line("c", broken)))
    assert (one.status, one.reward, one.passed) == (status, None, None)
    assert one.reason == "b: sorry"
    assert one.coverage == pytest.approx(1 / 3)


def test_a_fault_without_weight_or_gate_does_not_matter() -> None:
    broken = signal(None, fault=Fault("error", "sorry"))
    assert single(rubric(line("a", 1.0), line("b", broken, weight=0))).status is Status.SCORED
    gated = single(rubric(line("a", 1.0), line("b", broken, weight=0, gate=0.5)))
    assert gated.status is Status.JUDGE_ERROR


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (CaseError("c", "k", "m"), "data"),
        (TimeoutError("after 3 s"), "timeout"),
        (JudgeError("j"), "error"),
        (ConfigError("c"), "error"),
    ],
)
def test_each_error_is_a_kind_of_fault(error: Exception, kind: str) -> None:
    one = single(Rubric.from_judge(FunctionJudge(raises(error), name="broken")))
    assert one.signals[0].fault is not None
    assert one.signals[0].fault.kind == kind
    assert str(error) in one.signals[0].fault.message


class Paid(FourscoreError):
    """Says what it is, or something else altogether."""

    def __init__(self, kind: Any, usage: Any = None) -> None:
        self.fault_kind, self.usage = kind, usage
        super().__init__("told")


class Crooked(FourscoreError):
    @property
    def fault_kind(self) -> Never:  # type: ignore[override]
        raise OSError("no")


@pytest.mark.parametrize(
    ("error", "fault", "status"),
    [
        (Paid("refused"), Fault("refused", "told"), Status.REFUSED),
        (Paid("cancelled"), Fault("cancelled", "told"), Status.CANCELLED),
        (Paid("connection"), Fault("connection", "told"), Status.JUDGE_ERROR),
        (Paid("timeout"), Fault("timeout", "told"), Status.JUDGE_ERROR),
        (Paid("error"), Fault("error", "told"), Status.JUDGE_ERROR),
        (Paid("nonsense"), Fault("error", "Paid: told"), Status.JUDGE_ERROR),
        (Paid(["error"]), Fault("error", "Paid: told"), Status.JUDGE_ERROR),
        (Crooked("?"), Fault("error", "Crooked: ?"), Status.JUDGE_ERROR),
    ],
)
def test_fourscore_error_sets_the_kind_of_fault(
    error: Exception, fault: Fault, status: Status
) -> None:
    one = single(Rubric.from_judge(FunctionJudge(raises(error), name="broken")))
    assert (one.signals[0].fault, one.status) == (fault, status)
    assert one.cost == Usage()


def test_usage_of_a_failed_call_is_counted_once() -> None:
    took = Usage(calls=2, input_tokens=5)
    several = Says(Paid("refused", took), "a", "b")
    one = single(rubric(*(Dimension(name=name, judge=several) for name in "ab")))
    assert [signal.usage for signal in one.signals] == [took, None]
    assert one.cost == took
    ranked = scored(Rubric.from_judge(Ranks(Paid("error", took))), TRACE, TRACE, TRACE)
    assert [one.cost for one in ranked] == [took, Usage(), Usage()]
    assert {one.reason for one in ranked} == {"rank: told"}
    assert (
        single(Rubric.from_judge(FunctionJudge(raises(Paid("error", 7)), name="broken"))).cost
        == Usage()
    )


def test_judge_read_by_two_dimensions_costs_once() -> None:
    took = Usage(calls=1, dollars=0.5)
    judge = Says((signal(1.0, usage=took),))
    one = single(rubric(*(Dimension(name=name, judge=judge) for name in "ab")))
    assert [signal.value for signal in one.signals] == [1.0, 1.0]
    assert one.cost == took
    canary = Canary("off topic", True)
    judge = Says((signal(1.0, canary=canary),))
    one = single(rubric(*(Dimension(name=name, judge=judge) for name in "ab")))
    assert [signal.canary for signal in one.signals] == [canary, None]


def test_keyboard_interrupt_passes_through() -> None:
    with pytest.raises(KeyboardInterrupt):
        single(Rubric.from_judge(FunctionJudge(raises(KeyboardInterrupt()), name="broken")))


# Executors.


class Backwards:
    """Runs the calls in another order, and gives the results in the one it was asked in."""

    def __init__(self) -> None:
        self.asked: list[Call] = []

    async def run(self, calls: Sequence[Call]) -> Sequence[Sequence[Signal] | Exception]:
        self.asked += calls
        return [await call_judge(call) for call in reversed(calls)][::-1]


def test_executor_receives_all_calls_at_once() -> None:
    def says_output(case: Case, trace: Trace) -> Signal:
        return Signal(name="a", value=1.0, reason=str(trace.output))

    executor = Backwards()
    one = rubric(
        Dimension(name="a", judge=FunctionJudge(says_output)),
        Dimension(name="rank", judge=Ranks(ranking(1.0, 0.0))),
    )
    traces = Trace(output="first"), Trace(output="second")
    first, second = asyncio.run(score(one, CASE, traces, executor=executor))
    assert [by_name(s)["a"].reason for s in (first, second)] == ["first", "second"]
    assert [by_name(s)["rank"].value for s in (first, second)] == [1.0, 0.0]
    assert [call.traces for call in executor.asked] == [traces[:1], traces[1:], traces]


def test_an_optional_dimension_that_does_not_apply_leaves_the_coverage() -> None:
    @judge
    def only_sometimes(case: Case, trace: Trace) -> Signal:
        value = 1.0 if "check" in case.metadata else None
        return Signal(name="only_sometimes", value=value)

    lines = (
        Dimension(name="always", judge=judge(lambda case, trace: 0.5), weight=0.1),
        Dimension(name="only_sometimes", judge=only_sometimes, weight=1.0, optional=True),
    )
    rubric = Rubric(name="r", dimensions=lines)
    (without,) = asyncio.run(score(rubric, Case(input="?"), [Trace(output="x")]))
    assert (without.value, without.coverage) == (0.5, 1.0)
    checked = Case(input="?", metadata={"check": True})
    (with_it,) = asyncio.run(score(rubric, checked, [Trace(output="x")]))
    assert with_it.value == pytest.approx((0.05 + 1) / 1.1)
    alone = Rubric(name="r", dimensions=lines[1:])
    (skipped,) = asyncio.run(score(alone, Case(input="?"), [Trace(output="x")]))
    assert (skipped.status, skipped.coverage) == ("skipped", 0.0)
