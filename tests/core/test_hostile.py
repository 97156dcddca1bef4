"""Values and judges that try to get past the door."""

import asyncio
import math
import pickle
import sys
from collections.abc import Callable, Iterator
from typing import Any

import msgspec
import pytest

from fourscore.core import (
    Case,
    Dimension,
    Evidence,
    Fault,
    FunctionJudge,
    Message,
    Rubric,
    Score,
    Signal,
    Status,
    ToolCall,
    Trace,
    Usage,
    interpret_result,
    judge,
    score,
)
from fourscore.core.errors import ConfigError
from fourscore.core.frozen import FrozenDict, FrozenList

CASE, TRACE = Case(id="c", input="q"), Trace(output="a")


@judge
def cites(case: Case, trace: Trace, *, mark: str = "http") -> bool:
    return mark in trace.answer


def plain(case: Case, trace: Trace) -> float:
    return 1.0


class Says:
    """A judge that gives or raises what it is told to."""

    names = ("says",)

    def __init__(self, given: Any) -> None:
        self.given = given

    async def judge(self, case: Case, trace: Trace) -> Any:
        if isinstance(self.given, BaseException):
            raise self.given
        return self.given


def beside_a_good_one(given: Any) -> Score:
    lines = (
        Dimension(name="good", judge=FunctionJudge(plain, name="good")),
        Dimension(name="bad", judge=Says(given)),
    )
    (scored,) = asyncio.run(score(Rubric(name="r", dimensions=lines), CASE, [TRACE]))
    return scored


class Shy:
    def __repr__(self) -> str:
        raise RuntimeError("no picture")


class ExitsInWords(Exception):
    def __str__(self) -> str:
        sys.exit(3)


class Lists(list[Any]):
    def __iter__(self) -> Iterator[Any]:
        raise RuntimeError("no")


class Panic(BaseException):
    """What compiled extensions raise."""


class Surrogate:
    def __repr__(self) -> str:
        return "\ud800"


@pytest.mark.parametrize(
    "given",
    [
        SystemExit(Shy()),
        ExitsInWords(),
        Panic("in Rust"),
        asyncio.CancelledError(),
        Lists([1]),
        ValueError("\ud800"),
        [Surrogate()],
        [Shy()],
        None,
    ],
    ids=lambda given: type(given).__name__,
)
def test_hostile_judge_does_not_affect_other_judges(given: Any) -> None:
    scored = beside_a_good_one(given)
    assert scored.status is Status.JUDGE_ERROR
    good, bad = scored.signals
    assert (good.value, bad.value) == (1.0, None)
    assert bad.fault is not None
    assert msgspec.json.decode(msgspec.json.encode(scored), type=Score) == scored


@pytest.mark.parametrize("stop", [KeyboardInterrupt(), GeneratorExit()])
def test_control_flow_exceptions_pass_through(stop: BaseException) -> None:
    with pytest.raises(type(stop)):
        beside_a_good_one(stop)


def test_a_cancelled_task_is_cancelled_and_no_judge_error() -> None:
    class Waits:
        names = ("waits",)

        async def judge(self, case: Case, trace: Trace) -> Any:
            await asyncio.sleep(3600)

    async def main() -> None:
        task = asyncio.ensure_future(score(Rubric.from_judge(Waits()), CASE, [TRACE]))
        await asyncio.sleep(0)
        task.cancel()
        await task

    with pytest.raises(asyncio.CancelledError):
        asyncio.run(main())


@pytest.mark.parametrize(
    "make",
    [
        lambda: Signal(name="x", step=math.nan),  # type: ignore[arg-type]
        lambda: Signal(name="x", fault="oops"),  # type: ignore[arg-type]
        lambda: Signal(name="x", usage=5),  # type: ignore[arg-type]
        lambda: Signal(name="x", evidence=(object(),)),  # type: ignore[arg-type]
        lambda: Signal(name="x", evidence="text"),  # type: ignore[arg-type]
        lambda: Signal(name="x", reward=10**400),
        lambda: Signal(name="x", reason=7),  # type: ignore[arg-type]
        lambda: Evidence(text="x", start=math.nan),  # type: ignore[arg-type]
        lambda: ToolCall(name="x", exit_code=math.nan),  # type: ignore[arg-type]
        lambda: Case(input="q", complexity=math.nan),  # type: ignore[arg-type]
        lambda: Case(input="q", id=None),  # type: ignore[arg-type]
        lambda: Usage(calls=1.5),  # type: ignore[arg-type]
        lambda: Usage(dollars=None),  # type: ignore[arg-type]
        lambda: Fault("weird"),  # type: ignore[arg-type]
        lambda: Trace(fault="oops"),  # type: ignore[arg-type]
        lambda: Trace(usage=5),  # type: ignore[arg-type]
        lambda: Score(status=Status.SKIPPED, passed=True),
        lambda: Score(status=Status.SKIPPED, value=0.5),
        lambda: Score(status=Status.SCORED, reward=1.0, passed=1),  # type: ignore[arg-type]
        lambda: Dimension(name="a", judge=cites, weight=1e308),
    ],
)
def test_a_value_that_is_none_is_refused(make: Callable[[], Any]) -> None:
    with pytest.raises(ValueError, match=r":|a score"):
        make()


@pytest.mark.parametrize(
    "fields", [{"inapplicable": "zer"}, {"pass_threshold": None}, {"min_coverage": None}]
)
def test_a_typo_in_a_rubric_fails_at_once(fields: dict[str, Any]) -> None:
    with pytest.raises(ConfigError):
        Rubric(name="r", dimensions=(Dimension(name="a", judge=cites),), **fields)


@pytest.mark.parametrize(
    "make",
    [
        lambda text: Case(input="q", id=text),
        lambda text: Case(input="q", tags=(text,)),
        lambda text: Case(input="q", complexity=text, task_type=text),
        lambda text: Trace(fault=Fault("error", text)),
        lambda text: Trace(steps=(ToolCall(name=text, error=text), Message(role=text))),
        lambda text: Signal(name=text, reason=text),
        lambda text: Signal(name="x", evidence=(Evidence(text=text),)),
        lambda text: Score(status=Status.SKIPPED, reason=text),
    ],
)
def test_a_lone_surrogate_becomes_a_replacement(make: Callable[[str], Any]) -> None:
    value = make("a\ud800")
    assert "a\ufffd" in repr(value)
    assert msgspec.json.decode(msgspec.json.encode(value), type=type(value)) == value


class Word(str):
    __slots__ = ()


def test_subclass_of_str_becomes_str() -> None:
    assert type(Case(input="q", id=Word("a")).id) is str


def test_lists_become_tuples() -> None:
    assert type(Trace(steps=[Message(role="user")]).steps) is tuple  # type: ignore[arg-type]
    assert type(Case(input="q", tags=["a"]).tags) is tuple  # type: ignore[arg-type]
    scored = Score(status=Status.SKIPPED, signals=[Signal(name="x")])  # type: ignore[arg-type]
    assert type(scored.signals) is tuple
    lines = [Dimension(name="a", judge=cites)]
    assert type(Rubric(name="r", dimensions=lines).dimensions) is tuple  # type: ignore[arg-type]


def test_provenance_is_shared_and_frozen() -> None:
    scored = beside_a_good_one([Signal(name="x", value=1.0)])
    assert isinstance(hash(scored), int)
    with pytest.raises(TypeError, match="frozen"):
        scored.provenance.judges["good"] = "other"


def test_equal_values_have_equal_hashes() -> None:
    assert hash(FrozenDict(a=1, b=FrozenList([2]))) == hash(FrozenDict(b=FrozenList([2.0]), a=1.0))


def test_reward_without_value_sets_the_value() -> None:
    rubric = Rubric.from_judge(Says([Signal(name="says", reward=1.5, passed=True)]))
    (scored,) = asyncio.run(score(rubric, CASE, [TRACE]))
    assert (scored.status, scored.value, scored.reward) == (Status.SCORED, 1.0, 1.5)


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (Status.SKIPPED, None),
        (Status.CANCELLED, "cancelled"),
        (Status.REFUSED, "refused"),
        (Status.JUDGE_ERROR, "error"),
    ],
)
def test_an_inner_score_keeps_its_meaning(status: Status, kind: str | None) -> None:
    (signal,) = interpret_result("x", Score(status=status, reason="so"))
    assert (signal.fault.kind if signal.fault else None) == kind
    assert signal.value is None


def test_an_inner_score_of_an_agent_that_failed_is_a_zero() -> None:
    (signal,) = interpret_result(
        "x", Score(status=Status.TIMEOUT, value=0.0, reward=0.0, passed=False)
    )
    assert (signal.value, signal.passed) == (0.0, False)


def test_judges_pickle_with_their_options() -> None:
    again = pickle.loads(pickle.dumps(cites.with_options({"mark": "doi"})))
    assert (again.options, again.names) == ({"mark": "doi"}, ("cites",))
    assert pickle.loads(pickle.dumps(FunctionJudge(plain, name="other"))).names == ("other",)
    assert pickle.loads(pickle.dumps(cites)) is cites


def test_pickling_a_judge_that_cannot_be_imported_names_it() -> None:
    with pytest.raises(pickle.PicklingError, match="judge '<lambda>' cannot be pickled"):
        pickle.dumps(FunctionJudge(lambda case, trace: 1.0))


def test_a_fingerprint_without_source_is_the_same_everywhere() -> None:
    spaces: list[dict[str, Any]] = [{"__name__": "typed"}, {"__name__": "typed"}]
    for space in spaces:
        exec("def one(case, trace): return 1.0", space)
    first, second = (FunctionJudge(space["one"]).fingerprint for space in spaces)
    assert first == second
