"""Functions as judges, and what a judge may return."""

import asyncio
import pickle
from collections.abc import Sequence
from fractions import Fraction
from math import inf, nan
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fourscore.core import (
    Case,
    Fault,
    FunctionJudge,
    JudgeError,
    Score,
    Signal,
    Status,
    Trace,
    interpret_result,
    judge,
)
from fourscore.core.judge import get_runs, is_ranker, safe_repr, signal_names
from fourscore.core.numbers import clamp

steady = settings(deadline=None)
CASE, TRACE = Case(input="q"), Trace(output="see http://example.org")


@judge
def cites(case: Case, trace: Trace, *, mark: str = "http") -> bool:
    """Does the answer cite anything?"""
    return mark in trace.answer


@judge(name="patience")
async def waits(case: Case, trace: Trace) -> float:
    await asyncio.sleep(0)
    return 0.5


class Judges:
    @judge
    @staticmethod
    def inner(case: Case, trace: Trace) -> float:
        return 0.25


def signal_of(one: FunctionJudge) -> Signal:
    (signal,) = asyncio.run(one.judge(CASE, TRACE))
    return signal


def test_decorated_function_keeps_its_name_and_docstring() -> None:
    assert cites.names == ("cites",)
    assert cites.__doc__ == "Does the answer cite anything?"
    assert cites.runs == "thread"  # it may block
    assert signal_of(cites) == Signal(name="cites", value=1.0, passed=True)


def test_an_async_function_runs_on_the_loop_under_the_name_it_was_given() -> None:
    assert waits.names == ("patience",)
    assert waits.runs == "loop"
    assert signal_of(waits) == Signal(name="patience", value=0.5, reward=0.5)


def test_a_judge_can_still_be_called_as_the_function() -> None:
    assert cites(CASE, TRACE) is True
    assert cites(CASE, TRACE, mark="ftp") is False
    assert cites.with_options({"mark": "ftp"})(CASE, TRACE) is False


def test_options_reach_the_function() -> None:
    strict = cites.with_options({"mark": "doi"})
    assert signal_of(strict).passed is False
    assert strict.names == cites.names
    assert signal_of(cites).passed is True


def test_an_option_that_the_function_does_not_take_is_refused_at_once() -> None:
    called = r"judge 'cites' is called with \(case, trace, mrk\): "
    with pytest.raises(JudgeError, match=called + "got an unexpected keyword argument 'mrk'"):
        cites.with_options({"mrk": "doi"})
    with pytest.raises(JudgeError, match="multiple values for argument 'case'"):
        cites.with_options({"case": "doi"})


def test_options_are_frozen() -> None:
    with pytest.raises(TypeError, match="frozen"):
        cites.with_options({"mark": "doi"}).options["mark"] = "http"


def test_fingerprint_changes_with_source_and_options() -> None:
    plain, strict = cites.fingerprint, cites.with_options({"mark": "doi"}).fingerprint
    assert plain == FunctionJudge(cites.function).fingerprint
    assert len({plain, strict, waits.fingerprint}) == 3


def test_a_function_without_source_has_a_fingerprint_too() -> None:
    space: dict[str, Any] = {"__name__": "typed"}
    exec("def one(case, trace): return 1.0\ndef two(case, trace): return 1.0", space)
    one, two = FunctionJudge(space["one"]), FunctionJudge(space["two"])
    assert one.fingerprint == one.fingerprint
    assert one.fingerprint != two.fingerprint


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
@pytest.mark.parametrize("one", [cites, waits], ids=["plain", "async"])
def test_a_decorated_function_pickles_by_reference(one: FunctionJudge, protocol: int) -> None:
    assert pickle.loads(pickle.dumps(one, protocol)) is one


def test_a_judge_inside_a_class_pickles_too() -> None:
    one: FunctionJudge = Judges.inner
    assert one.names == ("inner",)
    assert pickle.loads(pickle.dumps(one)) is one


@judge(isolate="process")
def crashes(case: Case, trace: Trace, *, often: bool = False) -> float:
    return 0.0


def test_judge_can_declare_process_isolation() -> None:
    assert get_runs(crashes) == "process"
    assert get_runs(crashes.with_options({"often": True})) == "process"


class Several:
    names = ("a", "b")

    async def judge(self, case: Case, trace: Trace) -> Sequence[Signal]:
        raise NotImplementedError


class Ranks:
    name = "rank"

    async def rank(self, case: Case, traces: Sequence[Trace]) -> Sequence[Signal]:
        raise NotImplementedError


def test_judge_without_runs_defaults_to_loop() -> None:
    assert (get_runs(Several()), get_runs(Ranks()), get_runs(cites)) == ("loop", "loop", "thread")


def test_is_ranker_distinguishes_judges_and_rankers() -> None:
    assert (is_ranker(Several()), is_ranker(cites), is_ranker(Ranks())) == (False, False, True)
    assert signal_names(Several()) == ("a", "b")
    assert signal_names(Ranks()) == ("rank",)


class float32:  # named as numpy's
    def __init__(self, value: float) -> None:
        self.value = value

    def __float__(self) -> float:
        return self.value

    def item(self) -> float:
        return self.value


class bool_:  # named as numpy's
    def __init__(self, value: bool) -> None:
        self.value = value

    def item(self) -> bool:
        return self.value


SIGNAL = Signal(name="own", value=0.3, reason="because")
SCORE = Score(status=Status.SCORED, value=0.4, passed=True, reward=1.5, coverage=1.0)


@pytest.mark.parametrize(
    ("returned", "signals"),
    [
        (1.0, [Signal(name="x", value=1.0, reward=1.0)]),
        (0, [Signal(name="x", value=0.0, reward=0.0)]),
        (1.5, [Signal(name="x", value=1.0, reward=1.5)]),
        (-2, [Signal(name="x", value=0.0, reward=-2.0)]),
        (Fraction(1, 4), [Signal(name="x", value=0.25, reward=0.25)]),
        (float32(0.5), [Signal(name="x", value=0.5, reward=0.5)]),
        (True, [Signal(name="x", value=1.0, passed=True)]),
        (False, [Signal(name="x", value=0.0, passed=False)]),
        (bool_(True), [Signal(name="x", value=1.0, passed=True)]),
        ((0.2, True), [Signal(name="x", value=0.2, reward=0.2, passed=True)]),
        ((1.5, False), [Signal(name="x", value=1.0, reward=1.5, passed=False)]),
        ((float32(0.5), bool_(False)), [Signal(name="x", value=0.5, reward=0.5, passed=False)]),
        (SIGNAL, [SIGNAL]),
        ((SIGNAL, SIGNAL), [SIGNAL, SIGNAL]),
        ([SIGNAL], [SIGNAL]),
        (SCORE, [Signal(name="x", value=0.4, passed=True, reward=1.5)]),
        (
            Score(status=Status.REFUSED),
            [Signal(name="x", fault=Fault("refused", "the inner score is refused"))],
        ),
        (
            Score(status=Status.JUDGE_ERROR),
            [Signal(name="x", fault=Fault("error", "the inner score is judge_error"))],
        ),
    ],
)
def test_interprets_every_allowed_return_value(returned: Any, signals: list[Signal]) -> None:
    assert list(interpret_result("x", returned)) == signals


class Shy:
    def __repr__(self) -> str:
        raise RuntimeError("no picture")


@pytest.mark.parametrize(
    "returned",
    [
        None,
        "1.0",
        b"1",
        nan,
        inf,
        float32(nan),
        (),
        [],
        (1.0,),
        (1.0, True, "why"),
        (True, True),
        (1.0, 1),
        (1.0, None),
        (nan, True),
        ("1.0", True),
        [1.0, True],
        [SIGNAL, 1.0],
        (SIGNAL, 1.0),
        {"reward": 1.0},
        1j,
        object(),
        Shy(),
        Signal,
    ],
    ids=lambda value: type(value).__name__,
)
def test_refuses_other_return_values_and_names_the_judge(returned: Any) -> None:
    with pytest.raises(JudgeError, match=r"^judge 'x' returned .*: expected \(reward, success\)"):
        interpret_result("x", returned)


@steady
@given(st.floats(allow_nan=False, allow_infinity=False), st.booleans())
def test_the_value_is_the_reward_clamped(reward: float, success: bool) -> None:
    (signal,) = interpret_result("x", (reward, success))
    assert (signal.reward, signal.passed) == (reward, success)
    assert signal.value == clamp(reward) == min(max(reward, 0), 1)


def test_safe_repr_is_short_even_where_repr_raises() -> None:
    assert safe_repr("a") == "'a'"
    assert safe_repr(Shy()) == "an object of type Shy"
    assert len(safe_repr("x" * 10_000)) == 80
