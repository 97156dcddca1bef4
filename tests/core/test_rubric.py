"""Weights, gates, thresholds, and who is asked."""

import pickle
from collections.abc import Sequence
from math import inf, nan
from typing import Any

import msgspec
import pytest

from fourscore.core import (
    Case,
    ConfigError,
    Dimension,
    Judge,
    Rubric,
    Signal,
    Trace,
    fingerprint,
    judge,
)


@judge
def short(case: Case, trace: Trace) -> bool:
    return len(trace.answer) < 10


@judge
def polite(case: Case, trace: Trace) -> bool:
    return "please" in trace.answer


class Pair:
    """Two signals from one look."""

    def __init__(self, *names: str) -> None:
        self.names = names or ("left", "right")

    async def judge(self, case: Case, trace: Trace) -> Sequence[Signal]:
        return [Signal(name=name, value=1.0) for name in self.names]


class Order:
    name = "order"

    async def rank(self, case: Case, traces: Sequence[Trace]) -> Sequence[Signal]:
        return [Signal(name="order", value=1.0, relative=True) for _ in traces]


def line(name: str = "short", one: Any = short, **fields: Any) -> Dimension:
    return Dimension(name=name, judge=one, **fields)


def rubric(*lines: Dimension, **fields: Any) -> Rubric:
    return Rubric(name="r", dimensions=lines, **fields)


@pytest.mark.parametrize("field", ["weight", "gate"])
@pytest.mark.parametrize("number", [nan, inf, -0.1, True, "1"])
def test_a_dimension_refuses_wrong_numbers(field: str, number: Any) -> None:
    with pytest.raises(ValueError, match=f"^{field}: "):
        line(**{field: number})


def test_a_gate_is_at_most_one_and_a_weight_is_not() -> None:
    assert line(weight=3).share == 3.0
    assert line().share == 1.0
    with pytest.raises(ValueError, match=r"^gate: 1.5 is outside \[0, 1\]$"):
        line(gate=1.5)


def test_two_levels_do_not_share_a_value() -> None:
    with pytest.raises(ValueError, match=r"^levels\.fair: 1.0 is already the level good$"):
        line(levels={"good": 1, "fair": 1.0})


def test_a_mean_lies_between_0_and_1_and_so_does_its_threshold() -> None:
    assert rubric(line(), pass_threshold=70).keeps_reward  # on its judge's own scale
    for lines in ((line(weight=1),), (line(), line("other"))):
        for threshold in (70, -0.1):
            with pytest.raises(ConfigError, match=r"^pass_threshold: .* is outside \[0, 1\]"):
                rubric(*lines, pass_threshold=threshold)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"pass_threshold": nan}, "pass_threshold: nan is not a finite number"),
        ({"min_coverage": 1.1}, r"min_coverage: 1.1 is outside \[0, 1\]"),
    ],
)
def test_a_rubric_refuses_wrong_numbers(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=f"^{message}$"):
        rubric(line(), **fields)


BOTH = Pair()


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ((), "dimensions: a rubric needs at least one dimension"),
        ((line(weight=0),), "dimensions: every weight is 0: set one above 0"),
        ((line(), line()), "dimensions: two dimensions have the same name"),
        ((line(), line(one=polite)), "dimensions.short: two judges give a signal named 'short'"),
        (
            (line("other", BOTH),),
            "dimensions.other: its judge gives several signals; use one of these: left, right",
        ),
        (
            (line("left", BOTH), line("right", polite)),
            "dimensions.right: two judges give a signal named 'right'",
        ),
        (
            (line("left", BOTH), line("right", Pair())),
            "dimensions.right: two judges give a signal named 'left'",
        ),
    ],
)
def test_a_wrong_rubric_fails_before_the_first_case(
    lines: tuple[Dimension, ...], message: str
) -> None:
    with pytest.raises(ConfigError, match=f"^{message}$"):
        rubric(*lines)


def test_each_judge_has_one_slot_even_for_several_dimensions() -> None:
    order = Order()
    slots = rubric(
        line("left", BOTH), line("brief", short), line("right", BOTH), line("rank", order)
    ).slots
    assert [(slot.judge, slot.is_ranker) for slot in slots] == [
        (BOTH, False),
        (short, False),
        (order, True),
    ]
    assert [slot.names for slot in slots] == [("left", "right"), ("short",), ("order",)]
    assert [slot.kept for slot in slots] == [("left", "right"), ("brief",), ("rank",)]


class Bounded(Pair):
    runs = "inline"


def test_a_rubric_is_bounded_when_all_of_its_judges_are() -> None:
    assert rubric(line("left", Bounded())).is_bounded
    assert not rubric(line("left", Bounded()), line()).is_bounded


def test_rubric_from_judge_keeps_name_and_passes_at_full_reward() -> None:
    alone = Rubric.from_judge(Order())
    assert (alone.name, alone.pass_threshold) == ("order", 1.0)
    assert [(line.name, line.weight) for line in alone.dimensions] == [("order", None)]


def test_provenance_changes_with_everything_that_changes_a_score() -> None:
    base = rubric(line(), line("kind", polite))
    same = rubric(line(description="in other words"), line("kind", polite))
    assert same.provenance == base.provenance
    assert base.provenance.judges == {"short": short.fingerprint, "kind": polite.fingerprint}
    others = [
        rubric(line(), line("kind", polite), pass_threshold=0.8),
        rubric(line(), line("kind", polite), min_coverage=0.6),
        rubric(line(), line("kind", polite), inapplicable="zero"),
        rubric(line(weight=2), line("kind", polite)),
        rubric(line(gate=0.5), line("kind", polite)),
        rubric(line(), line("polite", polite)),
        rubric(line(), line("kind", BOTH.__class__("kind"))),
        Rubric(name="other", dimensions=base.dimensions),
    ]
    digests = {one.provenance.rubric for one in [base, *others]}
    assert len(digests) == len(others) + 1


class Asks:
    """A judge that says which models it asks, and how."""

    def __init__(self, name: str, models: Any, prompts: Any) -> None:
        self.names, self.models, self.prompts = (name,), models, prompts
        self.fingerprint = name

    async def judge(self, case: Case, trace: Trace) -> Sequence[Signal]:
        return (Signal(name=self.names[0], value=1.0),)


def test_provenance_names_models_and_prompts() -> None:
    one = Asks("one", ("m", "n"), {"check": "v1", "ask": "v7"})
    two = Asks("two", ["n", "o"], {"check": "v2", "ask": "v7"})
    odd = Asks("odd", {"m": object()}, ["check"])
    worse = Asks("worse", (object(),), None)
    given = rubric(*(line(judge.names[0], judge) for judge in (one, two, odd, worse)), line())
    assert given.provenance.models == ("m", "n", "o")
    prompts = {"check": "v1", "ask": "v7", "two: check": "v2"}
    assert given.provenance.prompts == prompts
    with pytest.raises(TypeError):
        given.provenance.prompts["check"] = "v3"
    assert msgspec.json.decode(msgspec.json.encode(given.provenance))["prompts"] == prompts
    assert rubric(line()).provenance.models == ()


class Settings(msgspec.Struct):
    depth: int = 1


class Client:
    """What stands in for a connection: no two are alike, and none has a plain value."""


class Tuned:
    names = ("tuned",)

    def __init__(self, **settings: Any) -> None:
        self.settings = settings
        self.client = Client()

    async def judge(self, case: Case, trace: Trace) -> Sequence[Signal]:
        return [Signal(name="tuned", value=1.0)]


class Named(Tuned):
    @property
    def fingerprint(self) -> str:
        return "my own word"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (Tuned(a=1), Tuned(a=2)),
        (Tuned(a=[1]), Tuned(a=[1, 2])),
        (Tuned(a={"b": None}), Tuned(a={"b": "c"})),
        (Tuned(a=Settings()), Tuned(a=Settings(depth=2))),
        (Tuned(), Named()),
    ],
)
def test_fingerprint_changes_with_the_settings(one: Judge, other: Judge) -> None:
    assert fingerprint(one) != fingerprint(other)


def test_a_fingerprint_does_not_depend_on_the_object_it_was_taken_from() -> None:
    assert fingerprint(Tuned(a=1, b=Settings())) == fingerprint(Tuned(b=Settings(), a=1))
    assert fingerprint(Named()) == "my own word"


def test_a_rubric_pickles_with_its_judges() -> None:
    base = rubric(line("left", Pair(), weight=1), line("brief", short, gate=0.5), min_coverage=0.2)
    assert base.slots  # computed before and after
    again = pickle.loads(pickle.dumps(base))
    assert again.provenance == base.provenance
    assert again.dimensions[1] == base.dimensions[1]
    assert [slot.kept for slot in again.slots] == [slot.kept for slot in base.slots]


def test_a_judge_read_twice_is_still_one_after_pickling() -> None:
    pair = Pair()
    again = pickle.loads(pickle.dumps(rubric(line("left", pair), line("right", pair))))
    assert len(again.slots) == 1
