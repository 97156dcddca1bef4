"""Limits, the budget that concurrent calls cannot exceed, and the highest cost of a run."""

import asyncio
import pickle
import threading
from collections.abc import Sequence
from typing import Any, NamedTuple

import pytest

from fourscore.agents.model import ModelAgent
from fourscore.core import Case, ConfigError, Dimension, Rubric, Signal, Trace, Usage
from fourscore.models.budget import (
    Budget,
    BudgetedModel,
    Cost,
    Limits,
    estimate_max_cost,
    get_max_usage,
    parse_limits,
    warn_of_max_cost,
)
from fourscore.models.messages import ChatMessage, ModelError, Request, Response
from fourscore.models.model_pool import ModelPool
from fourscore.models.prices import Prices
from fourscore.models.retry import RetryingModel
from fourscore.models.scripted import ScriptedModel

REQUEST = Request(messages=(ChatMessage("user", "hello " * 100),), max_tokens=100)


class SpendingModel:
    """Reports this usage, or fails like this, for every call."""

    name = fingerprint = "gpt-4o-mini"

    def __init__(self, usage: Usage | None, failure: ModelError | None = None) -> None:
        self.usage, self.failure = usage, failure
        self.calls = 0
        self.requests: list[Request] = []

    async def ask(self, request: Request) -> Response:
        self.calls += 1
        self.requests.append(request)
        await asyncio.sleep(0.001)
        if self.failure is not None:
            raise self.failure
        return Response(text="hi", usage=self.usage or Usage(calls=1))


USAGE = Usage(calls=1, input_tokens=150, output_tokens=20)


async def ask_many(model: Any, count: int) -> tuple[int, list[ModelError]]:
    results = await asyncio.gather(
        *(model.ask(REQUEST) for _ in range(count)), return_exceptions=True
    )
    errors = [result for result in results if isinstance(result, ModelError)]
    assert len(errors) + sum(isinstance(result, Response) for result in results) == count
    return count - len(errors), errors


def test_refuses_calls_over_the_limit() -> None:
    inner = SpendingModel(USAGE)
    answered, errors = asyncio.run(ask_many(BudgetedModel(inner, calls=7), 50))
    assert (answered, inner.calls) == (7, 7)
    assert {error.kind for error in errors} == {"budget"}
    assert "the budget of 7 calls is spent" in str(errors[0])
    assert not errors[0].transient


def test_tokens_are_never_exceeded_and_well_used() -> None:
    inner = SpendingModel(USAGE)
    model = BudgetedModel(inner, tokens=10_000)
    answered, _ = asyncio.run(ask_many(model, 500))
    assert model.spent.tokens == answered * 170 <= 10_000
    assert model.spent.tokens > 9_000  # what was reserved and not used came back


def test_dollars_are_never_exceeded() -> None:
    inner = SpendingModel(USAGE)
    model = BudgetedModel(inner, dollars=0.001)
    answered, errors = asyncio.run(ask_many(model, 200))
    assert answered == inner.calls > 10
    assert 0.0007 < model.spent.dollars <= 0.001
    assert "$0.001" in str(errors[0])


def test_threads_with_their_own_loops_share_the_limit() -> None:
    inner = SpendingModel(USAGE)
    model = BudgetedModel(inner, tokens=6_000)
    threads = [threading.Thread(target=lambda: asyncio.run(ask_many(model, 100))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert 5_000 < model.spent.tokens <= 6_000


@pytest.mark.parametrize(
    ("usage", "failure", "at_highest"),
    [
        (None, None, True),  # an endpoint that reports no usage
        (None, ModelError("timeout", "?"), True),
        (None, ModelError("server", "?", usage=Usage(calls=1)), False),
        (None, ModelError("malformed", "?", usage=USAGE), False),
    ],
)
def test_unknown_cost_is_settled_at_its_highest(
    usage: Usage | None, failure: ModelError | None, at_highest: bool
) -> None:
    model = BudgetedModel(SpendingModel(usage, failure), tokens=10_000)
    asyncio.run(ask_many(model, 1))
    expected = 170 if failure and failure.kind == "malformed" else 0
    assert model.spent.tokens == (300 + 32 + 100 if at_highest else expected)
    assert model.spent.calls == 1


def test_cancelled_call_is_settled_at_its_highest() -> None:
    async def run() -> None:
        model = BudgetedModel(SpendingModel(USAGE), tokens=10_000)
        task = asyncio.ensure_future(model.ask(REQUEST))
        await asyncio.sleep(0)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        assert model.spent.tokens == 432

    asyncio.run(run())


def test_limits_the_reply_where_tokens_or_dollars_are_limited() -> None:
    inner = SpendingModel(USAGE)
    asyncio.run(BudgetedModel(inner, tokens=10_000).ask(Request(messages=REQUEST.messages)))
    asyncio.run(BudgetedModel(inner, calls=1).ask(Request(messages=REQUEST.messages)))
    assert [request.max_tokens for request in inner.requests] == [4096, None]


def test_every_attempt_of_a_retry_is_paid() -> None:
    """Inside `RetryingModel`, the cost of each attempt is reserved by itself."""
    inner = SpendingModel(None, ModelError("malformed", "?", usage=USAGE))
    with pytest.raises(ModelError) as caught:
        asyncio.run(
            RetryingModel(BudgetedModel(inner, calls=3), attempts=9, malformed=9).ask(REQUEST)
        )
    assert (caught.value.kind, inner.calls) == ("budget", 3)


def test_limit_on_dollars_needs_a_price() -> None:
    with pytest.raises(ConfigError, match="no price is known for mystery"):
        BudgetedModel(ScriptedModel(["x"], name="mystery"), dollars=1)
    own = Prices({"mystery": {"input": 1, "output": 2}})
    BudgetedModel(ScriptedModel(["x"], name="mystery"), dollars=1, prices=own)
    with pytest.raises(ValueError, match="tokens"):
        BudgetedModel(ScriptedModel(["x"]), tokens=-1)


def test_budget_cannot_be_pickled() -> None:
    with pytest.raises(TypeError, match="one process"):
        pickle.dumps(BudgetedModel(ScriptedModel(["x"]), calls=1))


@pytest.mark.parametrize(
    ("written", "limits"),
    [
        ([], Limits()),
        (None, Limits()),
        ("500calls", Limits(calls=500)),
        (2.5, Limits(dollars=2.5)),
        (["2.50"], Limits(dollars=2.5)),
        ([2], Limits(dollars=2.0)),
        (["$.5", "500 calls"], Limits(dollars=0.5, calls=500)),
        (["200_000tokens", "0calls"], Limits(tokens=200_000, calls=0)),
    ],
)
def test_parses_limits(written: Any, limits: Limits) -> None:
    assert parse_limits(written) == limits


@pytest.mark.parametrize(
    "written",
    [["-1"], ["1e9"], ["nan"], ["inf"], ["1,5"], ["5 apples"], ["٣"], ["1", "$2"], [True]],
)
def test_refuses_text_that_is_no_limit(written: list[Any]) -> None:
    with pytest.raises(ConfigError, match="budget"):
        parse_limits(written)


def test_cost_spent_before_counts() -> None:
    budget = Budget(calls=5, spent=Cost(calls=5))
    assert budget.is_spent
    with pytest.raises(ModelError, match="the budget of 5 calls is spent"):
        asyncio.run(budget.reserve(Cost(1), "m"))
    assert budget.exceeded == "5 calls"


class StatesUsage:
    def __init__(self, name: str, *models: str) -> None:
        self.names, self.models = (name,), models

    def most(self, case: Case) -> Usage:
        return Usage(calls=2, input_tokens=len(case.input), output_tokens=10)

    async def judge(self, case: Case, trace: Trace) -> Sequence[Signal]:
        raise AssertionError("no model may be asked")


class PanelMember(NamedTuple):
    judge: StatesUsage


class StatingPanel(StatesUsage):
    def __init__(self, *members: StatesUsage) -> None:
        super().__init__("panel", *(model for one in members for model in one.models))
        self.loaded_members = tuple(map(PanelMember, members))


class StatingRanker(StatesUsage):
    name = "ranks"

    async def rank(self, case: Case, traces: Sequence[Trace]) -> Sequence[Signal]:
        raise AssertionError("no model may be asked")


def rubric(*judges: Any) -> Rubric:
    lines = (Dimension(name=getattr(one, "name", one.names[0]), judge=one) for one in judges)
    return Rubric(name="r", dimensions=tuple(lines))


CASES = [Case(input="x" * n) for n in (100, 200, 300)]


def test_highest_cost_is_summed_for_each_model() -> None:
    panel = StatingPanel(StatesUsage("a", "gpt-4o"), StatesUsage("b", "mystery"))
    judges = rubric(
        panel, StatesUsage("c", "gpt-4o"), StatingRanker("d", "gpt-5"), StatesUsage("plain")
    )
    pool = ModelPool(prices={"gpt-4o": {"input": 1000, "output": 0}})
    count, lines = estimate_max_cost(iter(CASES), judges, None, pool.find_price)
    assert count == 3
    assert [line.model for line in lines] == ["gpt-4o", "mystery"]
    first, second = lines
    assert (first.calls, first.input_tokens, first.output_tokens) == (12, 1200, 60)
    assert first.dollars == 1.2
    assert str(first) == "gpt-4o: at most 12 calls, 1,260 tokens, $1.20"
    assert str(second) == "mystery: at most 6 calls, 630 tokens, no price known for mystery"
    assert warn_of_max_cost(lines, None) == ""


def test_highest_cost_counts_the_agent_and_the_warning_what_is_spent() -> None:
    _, lines = estimate_max_cost(
        CASES, rubric(StatesUsage("c", "gpt-4o")), ModelAgent("openai:m"), ModelPool().find_price
    )
    assert [(line.model, line.calls) for line in lines] == [("m", 3), ("gpt-4o", 6)]
    assert warn_of_max_cost(lines, Budget(calls=9)) == ""
    spent = Budget(calls=9, spent=Cost(calls=1))
    assert warn_of_max_cost(lines, spent) == "this may take more than the budget of 9 calls"


def test_no_highest_cost_where_no_model_is_asked() -> None:
    assert estimate_max_cost(CASES, rubric(StatesUsage("plain")), None, ModelPool().find_price) == (
        3,
        [],
    )


@pytest.mark.parametrize("judge", [object(), StatesUsage("a", "m"), "raises", "wrong"])
def test_reads_the_usage_that_a_judge_states(judge: Any) -> None:
    class Broken:
        def most(self, case: Case) -> Any:
            if judge == "raises":
                raise ValueError("no")
            return 3

    case = Case(input="xxx")
    stated = Usage(calls=2, input_tokens=3, output_tokens=10)
    asked = Broken() if isinstance(judge, str) else judge
    assert get_max_usage(asked, case) == (stated if isinstance(judge, StatesUsage) else Usage())
