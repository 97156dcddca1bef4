"""The most that a run may cost, told beforehand."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from fourscore.agents.model import ModelAgent
from fourscore.core import Case, Dimension, Rubric, Signal, Trace, Usage
from fourscore.models.budget import Budget, Cost
from fourscore.models.max_cost import estimate_max_cost, warning, words
from fourscore.models.model_pool import ModelPool


class Asks:
    def __init__(self, name: str, *models: str) -> None:
        self.names, self.models = (name,), models

    def most(self, case: Case) -> Usage:
        return Usage(calls=2, input_tokens=len(case.input), output_tokens=10)

    async def judge(self, case: Case, trace: Trace) -> Sequence[Signal]:
        raise AssertionError("nobody is asked")


class Member(NamedTuple):
    judge: Asks


class Panel(Asks):
    def __init__(self, *members: Asks) -> None:
        super().__init__("panel", *(model for one in members for model in one.models))
        self.loaded_members = tuple(map(Member, members))


class Ranks(Asks):
    name = "ranks"

    async def rank(self, case: Case, traces: Sequence[Trace]) -> Sequence[Signal]:
        raise AssertionError("nobody is asked")


def rubric(*judges: Any) -> Rubric:
    lines = (Dimension(name=getattr(one, "name", one.names[0]), judge=one) for one in judges)
    return Rubric(name="r", dimensions=tuple(lines))


CASES = [Case(input="x" * n) for n in (100, 200, 300)]


def test_each_model_by_itself() -> None:
    panel = Panel(Asks("a", "gpt-4o"), Asks("b", "mystery"))
    judges = rubric(panel, Asks("c", "gpt-4o"), Ranks("d", "gpt-5"), Asks("plain"))
    pool = ModelPool(prices={"gpt-4o": {"input": 1000, "output": 0}})
    count, lines = estimate_max_cost(iter(CASES), judges, None, pool)
    assert count == 3
    assert [line["model"] for line in lines] == ["gpt-4o", "mystery"]
    first, second = lines
    assert (first["calls"], first["input_tokens"], first["output_tokens"]) == (12, 1200, 60)
    assert first["dollars"] == 1.2
    assert words(first) == "gpt-4o: at most 12 calls, 1,260 tokens, $1.20"
    assert words(second) == "mystery: at most 6 calls, 630 tokens, no price known for mystery"
    assert warning(lines, pool) == ""


def test_the_agent_counts_too_and_what_is_spent_already() -> None:
    _, lines = estimate_max_cost(
        CASES, rubric(Asks("c", "gpt-4o")), ModelAgent("openai:m"), ModelPool()
    )
    assert [(line["model"], line["calls"]) for line in lines] == [("m", 3), ("gpt-4o", 6)]
    assert warning(lines, ModelPool(budget=Budget(calls=9))) == ""
    spent = ModelPool(budget=Budget(calls=9, spent=Cost(calls=1)))
    assert warning(lines, spent) == "this may take more than the budget of 9 calls"


def test_nobody_is_asked() -> None:
    assert estimate_max_cost(CASES, rubric(Asks("plain")), None, ModelPool()) == (3, [])
