"""What it costs and that it cannot cost more."""

import asyncio
import pickle
import threading
from pathlib import Path
from typing import Any

import pytest

from fourscore.core import ConfigError, Usage
from fourscore.models.budgeted import BudgetedModel
from fourscore.models.messages import ChatMessage, ModelError, Request, Response
from fourscore.models.prices import AS_OF, Price, Prices, listed
from fourscore.models.retry import RetryingModel
from fourscore.models.scripted import ScriptedModel
from fourscore.models.usage_meter import MeteredModel

ASK = Request(messages=(ChatMessage("user", "hello " * 100),), max_tokens=100)


class Spender:
    """Takes what it is told for each call, after a moment."""

    name = fingerprint = "gpt-4o-mini"

    def __init__(self, usage: Usage | None, failure: ModelError | None = None) -> None:
        self.usage, self.failure = usage, failure
        self.calls = 0
        self.asks: list[Request] = []

    async def ask(self, ask: Request) -> Response:
        self.calls += 1
        self.asks.append(ask)
        await asyncio.sleep(0.001)
        if self.failure is not None:
            raise self.failure
        return Response(text="hi", usage=self.usage or Usage(calls=1))


TOOK = Usage(calls=1, input_tokens=150, output_tokens=20)


async def crowd(model: Any, count: int) -> tuple[int, list[ModelError]]:
    results = await asyncio.gather(*(model.ask(ASK) for _ in range(count)), return_exceptions=True)
    errors = [result for result in results if isinstance(result, ModelError)]
    assert len(errors) + sum(isinstance(result, Response) for result in results) == count
    return count - len(errors), errors


def test_calls() -> None:
    inner = Spender(TOOK)
    answered, errors = asyncio.run(crowd(BudgetedModel(inner, calls=7), 50))
    assert (answered, inner.calls) == (7, 7)
    assert {error.kind for error in errors} == {"budget"}
    assert "the budget of 7 calls is spent" in str(errors[0])
    assert not errors[0].passing


def test_tokens_are_never_exceeded_and_well_used() -> None:
    inner = Spender(TOOK)
    model = BudgetedModel(inner, tokens=10_000)
    answered, _ = asyncio.run(crowd(model, 500))
    assert model.spent.tokens == answered * 170 <= 10_000
    assert model.spent.tokens > 9_000  # what was set aside and not used came back


def test_dollars() -> None:
    inner = Spender(TOOK)
    model = BudgetedModel(inner, dollars=0.001)
    answered, errors = asyncio.run(crowd(model, 200))
    assert answered == inner.calls > 10
    assert 0.0007 < model.spent.dollars <= 0.001
    assert "$0.001" in str(errors[0])


def test_from_threads_with_loops_of_their_own() -> None:
    inner = Spender(TOOK)
    model = BudgetedModel(inner, tokens=6_000)
    threads = [threading.Thread(target=lambda: asyncio.run(crowd(model, 100))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert 5_000 < model.spent.tokens <= 6_000


@pytest.mark.parametrize(
    ("usage", "failure", "booked"),
    [
        (None, None, True),  # an endpoint that does not tell
        (None, ModelError("timeout", "?"), True),
        (None, ModelError("server", "?", usage=Usage(calls=1)), False),
        (None, ModelError("malformed", "?", usage=TOOK), False),
    ],
)
def test_what_nobody_knows_is_booked_in_full(
    usage: Usage | None, failure: ModelError | None, booked: bool
) -> None:
    model = BudgetedModel(Spender(usage, failure), tokens=10_000)
    asyncio.run(crowd(model, 1))
    expected = 170 if failure and failure.kind == "malformed" else 0
    assert model.spent.tokens == (300 + 32 + 100 if booked else expected)
    assert model.spent.calls == 1


def test_cancelled_calls_give_nothing_back() -> None:
    async def run() -> None:
        model = BudgetedModel(Spender(TOOK), tokens=10_000)
        task = asyncio.ensure_future(model.ask(ASK))
        await asyncio.sleep(0)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        assert model.spent.tokens == 432

    asyncio.run(run())


def test_a_reply_without_a_limit_gets_one() -> None:
    inner = Spender(TOOK)
    asyncio.run(BudgetedModel(inner, tokens=10_000).ask(Request(messages=ASK.messages)))
    asyncio.run(BudgetedModel(inner, calls=1).ask(Request(messages=ASK.messages)))
    assert [ask.max_tokens for ask in inner.asks] == [4096, None]


def test_attempts_are_paid_for_too() -> None:
    """Inside `RetryingModel`, each attempt is set aside for by itself."""
    inner = Spender(None, ModelError("malformed", "?", usage=TOOK))
    with pytest.raises(ModelError) as caught:
        asyncio.run(RetryingModel(BudgetedModel(inner, calls=3), attempts=9, malformed=9).ask(ASK))
    assert (caught.value.kind, inner.calls) == ("budget", 3)


def test_dollars_need_a_price() -> None:
    with pytest.raises(ConfigError, match="no price is known for mystery"):
        BudgetedModel(ScriptedModel(["x"], name="mystery"), dollars=1)
    own = Prices({"mystery": {"input": 1, "output": 2}})
    BudgetedModel(ScriptedModel(["x"], name="mystery"), dollars=1, prices=own)
    with pytest.raises(ValueError, match="tokens"):
        BudgetedModel(ScriptedModel(["x"]), tokens=-1)


def test_a_budget_is_not_copied() -> None:
    with pytest.raises(TypeError, match="one process"):
        pickle.dumps(BudgetedModel(ScriptedModel(["x"]), calls=1))


def test_the_account() -> None:
    outcomes: list[Any] = [
        Response(text="a", usage=TOOK),
        ModelError("malformed", "?", usage=TOOK),
        ModelError("timeout", "?"),
        Response(text="b", usage=TOOK),
    ]
    model = MeteredModel(ScriptedModel(outcomes, name="gpt-4o-mini-2024-07-18"))
    replies = []
    for _ in outcomes:
        try:
            replies.append(asyncio.run(model.ask(ASK)))
        except ModelError:
            continue
    each = (150 * 0.15 + 20 * 0.6) / 1e6
    assert [reply.usage.dollars for reply in replies] == pytest.approx([each, each])
    account = model.account
    assert (account.usage.calls, account.failed, account.unknown) == (4, 2, 1)
    assert account.dollars == pytest.approx(3 * each)
    assert "4 calls (2 failed), 450 + 60 tokens, $0.0001" in str(account)
    assert pickle.loads(pickle.dumps(MeteredModel(Spender(TOOK)))).price == model.price


def test_an_unknown_model_has_no_price_and_says_so() -> None:
    model = MeteredModel(ScriptedModel([Response(text="a", usage=TOOK)], name="mystery"))
    assert asyncio.run(model.ask(ASK)).usage.dollars == 0
    assert model.account.dollars is None
    assert "no price known" in str(model.account)


def test_prices(tmp_path: Path) -> None:
    assert Prices().of("gpt-4o-mini") == Price(0.15, 0.6)
    assert Prices().of("claude-sonnet-4-5-20250929") == Price(3, 15)
    assert Prices().of("claude-3-5-haiku-latest") == Price(0.8, 4)
    assert Prices().of("gpt-4o-audio-preview") is None  # not what gpt-4o costs
    assert len(listed()) > 30
    assert AS_OF
    file = tmp_path / "prices.yaml"
    file.write_text("gpt-4o-mini: {input: 1, output: 2}\nmine: {input: 0, output: 0}\n")
    own = Prices(file)
    assert (own.of("gpt-4o-mini"), own.of("mine")) == (Price(1, 2), Price(0, 0))
    assert own.of("gpt-4o") == Price(2.5, 10)
    assert Price(2, 4).dollars(Usage(input_tokens=10**6, output_tokens=10**6)) == 6


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("m: 3", "expected {input: dollars"),
        ("m: {input: 1}", "expected {input: dollars"),
        ("m: {input: -1, output: 1}", "expected {input: dollars"),
        ("m: {input: one, output: 1}", "expected {input: dollars"),
        ("- m", "expected models with their prices"),
        ("m: [", "not YAML"),
        ("m: !!python/object:os.system {}", "not YAML"),
    ],
)
def test_prices_that_are_none(text: str, words: str, tmp_path: Path) -> None:
    file = tmp_path / "prices.yaml"
    file.write_text(text)
    with pytest.raises(ConfigError) as caught:
        Prices(str(file))
    assert words in str(caught.value)
    assert "prices.yaml" in str(caught.value)
    with pytest.raises(ConfigError, match="No such file"):
        Prices(tmp_path / "none")
