"""What becomes of a judge whose model does not answer."""

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

from fourscore.core import Case, Fault, Rubric, Signal, Status, Trace, Usage, score
from fourscore.models.budget import Budget
from fourscore.models.messages import ERROR_KINDS, ChatMessage, ErrorKind, ModelError, Request
from fourscore.models.model_pool import ModelPool, model_for
from fourscore.models.scripted import ScriptedModel

TOOK = Usage(calls=3, input_tokens=40, output_tokens=2, dollars=0.25)


class Asks:
    names = ("asked",)

    def __init__(self, model: Any) -> None:
        self.model = model

    async def judge(self, case: Case, trace: Trace) -> Sequence[Signal]:
        reply = await model_for(self.model).ask(
            Request(messages=(ChatMessage("user", trace.answer),))
        )
        return (Signal(name="asked", value=1.0, usage=reply.usage),)


@pytest.mark.parametrize("kind", ERROR_KINDS)
def test_each_error_kind_has_its_case_status(kind: ErrorKind) -> None:
    error = ModelError(kind, "in its own words", usage=TOOK)
    rubric = Rubric.from_judge(Asks(ScriptedModel([error])))
    (one,) = asyncio.run(score(rubric, Case(input="q"), [Trace(output="a")]))
    fault, status = {
        "refused": ("refused", Status.REFUSED),
        "timeout": ("timeout", Status.JUDGE_ERROR),
        "budget": ("cancelled", Status.CANCELLED),
        "connection": ("connection", Status.JUDGE_ERROR),
        "unreachable": ("connection", Status.JUDGE_ERROR),
    }.get(kind, ("error", Status.JUDGE_ERROR))
    assert one.signals[0].fault == Fault(fault, "in its own words")  # type: ignore[arg-type]
    assert one.status is status
    assert one.cost == TOOK
    assert not one.status.measured


def test_unknown_usage_stays_unknown() -> None:
    rubric = Rubric.from_judge(Asks(ScriptedModel([ModelError("timeout", "too late")])))
    (one,) = asyncio.run(score(rubric, Case(input="q"), [Trace(output="a")]))
    assert one.signals[0].usage is None


def test_spent_budget_cancels_remaining_cases() -> None:
    async def run() -> list[Status]:
        async with ModelPool(budget=Budget(calls=2)):
            rubric = Rubric.from_judge(Asks("scripted:x"))
            traces = [Trace(output=str(n)) for n in range(4)]
            return [one.status for one in await score(rubric, Case(input="q"), traces)]

    expected = [Status.SCORED, Status.SCORED, Status.CANCELLED, Status.CANCELLED]
    assert asyncio.run(run()) == expected
