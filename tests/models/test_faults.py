"""What becomes of a judge whose model does not answer."""

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

from fourscore.core import Case, ConfigError, Fault, Rubric, Signal, Status, Trace, Usage, score
from fourscore.models.budget import Cost, Limits, Purse, limits_of
from fourscore.models.messages import KINDS, Ask, Kind, ModelError, Turn
from fourscore.models.model_pool import House, model_for
from fourscore.models.scripted import Scripted

TOOK = Usage(calls=3, input_tokens=40, output_tokens=2, dollars=0.25)


class Asks:
    names = ("asked",)

    def __init__(self, model: Any) -> None:
        self.model = model

    async def judge(self, case: Case, trace: Trace) -> Sequence[Signal]:
        reply = await model_for(self.model).ask(Ask(messages=(Turn("user", trace.answer),)))
        return (Signal(name="asked", value=1.0, usage=reply.usage),)


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_has_its_status(kind: Kind) -> None:
    error = ModelError(kind, "in its own words", usage=TOOK)
    rubric = Rubric.from_judge(Asks(Scripted([error])))
    (one,) = asyncio.run(score(rubric, Case(input="q"), [Trace(output="a")]))
    fault, status = {
        "refused": ("refused", Status.REFUSED),
        "timeout": ("timeout", Status.JUDGE_ERROR),
        "budget": ("cancelled", Status.CANCELLED),
    }.get(kind, ("error", Status.JUDGE_ERROR))
    assert one.signals[0].fault == Fault(fault, "in its own words")  # type: ignore[arg-type]
    assert one.status is status
    assert one.cost == TOOK
    assert not one.status.measured


def test_what_nobody_knows_is_not_made_up() -> None:
    rubric = Rubric.from_judge(Asks(Scripted([ModelError("timeout", "too late")])))
    (one,) = asyncio.run(score(rubric, Case(input="q"), [Trace(output="a")]))
    assert one.signals[0].usage is None


def test_a_spent_budget_leaves_cases_unmeasured() -> None:
    async def run() -> list[Status]:
        async with House(budget=Purse(calls=2)):
            rubric = Rubric.from_judge(Asks("scripted:x"))
            traces = [Trace(output=str(n)) for n in range(4)]
            return [one.status for one in await score(rubric, Case(input="q"), traces)]

    expected = [Status.SCORED, Status.SCORED, Status.CANCELLED, Status.CANCELLED]
    assert asyncio.run(run()) == expected


@pytest.mark.parametrize(
    ("written", "limits"),
    [
        ([], Limits()),
        (["2.50"], Limits(dollars=2.5)),
        ([2], Limits(dollars=2.0)),
        (["$.5", "500 calls"], Limits(dollars=0.5, calls=500)),
        (["200_000tokens", "0calls"], Limits(tokens=200_000, calls=0)),
    ],
)
def test_limits_as_people_write_them(written: list[Any], limits: Limits) -> None:
    assert limits_of(written) == limits


@pytest.mark.parametrize(
    "written",
    [["-1"], ["1e9"], ["nan"], ["inf"], ["1,5"], ["5 apples"], ["٣"], ["1", "$2"], [True]],
)
def test_limits_that_are_none(written: list[Any]) -> None:
    with pytest.raises(ConfigError, match="budget"):
        limits_of(written)


def test_what_was_spent_before_counts() -> None:
    purse = Purse(calls=5, spent=Cost(calls=5))
    assert purse.empty
    with pytest.raises(ModelError, match="the budget of 5 calls is spent"):
        asyncio.run(purse.set_aside(Cost(1), "m"))
    assert purse.over == "5 calls"
