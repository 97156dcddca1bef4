"""Models that are shared, paid from one purse and closed together."""

import asyncio
import os
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from tests.models.fake_endpoint import make_completion, serve_endpoint

from fourscore.core import ConfigError, Usage
from fourscore.executors.portal import PORTAL
from fourscore.executors.thread_pool import get_shared_threads
from fourscore.models.budget import Budget, BudgetedModel
from fourscore.models.cache import CachedModel
from fourscore.models.concurrency_limit import ConcurrencyLimitedModel
from fourscore.models.messages import ChatMessage, Model, ModelError, Request
from fourscore.models.model_pool import ModelPool, current_pool, model_for
from fourscore.models.retry import RetryingModel
from fourscore.models.scripted import ScriptedModel
from fourscore.models.usage_meter import ModelUsage
from fourscore.models.wrapper import find_layer


def asks(text: str = "hello", salt: str = "") -> Request:
    return Request(messages=(ChatMessage("user", text),), max_tokens=10, salt=salt)


def test_model_object_is_returned_as_it_is() -> None:
    model = ScriptedModel(["x"])
    assert model_for(model) is model
    with pytest.raises(ConfigError, match="has its own"):
        model_for(model, {"attempts": 2})


def test_makes_one_model_per_specification_and_settings() -> None:
    async def run() -> None:
        async with ModelPool() as pool:
            assert current_pool() is pool
            one = model_for("scripted:x")
            assert one is model_for("scripted:x", {})
            other = model_for("scripted:x", {"attempts": 2, "concurrency": 3})
            assert other is not one
            assert other is model_for("scripted:x", {"concurrency": 3, "attempts": 2})
            async with ModelPool() as inner:
                assert current_pool() is inner
                assert model_for("scripted:x") is not one
            assert model_for("scripted:x") is one
        assert current_pool() is not pool

    asyncio.run(run())


def test_uses_the_default_pool_outside_of_any_pool() -> None:
    assert model_for("scripted:outside") is model_for("scripted:outside")
    assert current_pool().budget is None


def test_forked_child_uses_the_default_pool() -> None:
    asyncio.run(model_for("scripted:fork").ask(asks()))
    child = os.fork()
    if child == 0:
        try:
            reply = asyncio.run(model_for("scripted:fork").ask(asks()))
            os._exit(0 if reply.text == "fork" else 1)
        except BaseException:
            os._exit(2)
    assert os.waitpid(child, 0)[1] == 0


def test_threads_of_a_judge_use_the_callers_pool() -> None:
    async def run() -> None:
        async with ModelPool() as pool:
            assert await get_shared_threads().run(current_pool) is pool
            assert await get_shared_threads().run(partial(_here, 1)) is pool
            assert await asyncio.to_thread(current_pool) is pool

    asyncio.run(run())


def test_blocking_code_can_activate_a_pool(tmp_path: Path) -> None:
    pool = ModelPool(budget=Budget(calls=1), cache=tmp_path / "c")
    with serve_endpoint([make_completion("hi")]) as endpoint, pool.activate():
        model = model_for("openai:m", {"base_url": endpoint.url})
        assert asyncio.run(_here(1)) is PORTAL.run(_here(1)) is pool
        asyncio.run(model.ask(asks()))
        cached: Any = model
        assert cached._store is not None
    assert cached._store is None
    assert current_pool() is not pool
    assert pool.usage_by_model[0].usage.calls == 1


def test_settings_of_a_judge_go_before_those_of_the_pool() -> None:
    pool = ModelPool(settings={"openai:m": {"concurrency": 3, "attempts": 2}})
    model = pool.model_for("openai:m", {"attempts": 5})
    retrying, limited = find_layer(model, RetryingModel), find_layer(model, ConcurrencyLimitedModel)
    assert retrying is not None
    assert limited is not None
    assert (retrying.attempts, limited.high) == (5, 3)


async def _here(_: int) -> ModelPool:
    return current_pool()


def test_all_models_share_the_budget_of_the_pool() -> None:
    async def run() -> None:
        async with ModelPool(budget=Budget(calls=5)) as pool:
            models = [model_for(f"scripted:{name}") for name in "abc"]
            results = await asyncio.gather(
                *(model.ask(asks()) for model in models for _ in range(4)), return_exceptions=True
            )
            errors = [result for result in results if isinstance(result, ModelError)]
            assert len(errors) == 7
            assert {error.kind for error in errors} == {"budget"}
            assert pool.budget is not None
            assert pool.budget.spent.calls == 5
            assert pool.budget.exceeded == "5 calls"
            assert pool.budget.is_spent
            assert sum(used.usage.calls for used in pool.usage_by_model) == 5

    asyncio.run(run())


def test_model_may_have_its_own_budget_within_that_of_the_pool() -> None:
    async def run() -> None:
        async with ModelPool(budget=Budget(calls=5)) as pool:
            model = model_for("scripted:x", {"calls": 2})
            assert isinstance(find_layer(model, BudgetedModel), BudgetedModel)
            for _ in range(2):
                await model.ask(asks())
            with pytest.raises(ModelError, match="budget of 2 calls"):
                await model.ask(asks())
            await model_for("scripted:y").ask(asks())
            assert pool.budget is not None
            assert pool.budget.exceeded is None

    asyncio.run(run())


def test_limit_on_dollars_needs_prices() -> None:
    pool = ModelPool(budget=Budget(dollars=1), prices={"mine": {"input": 1, "output": 1}})
    pool.model_for("openai:mine", {"cache": False})
    with pytest.raises(ConfigError, match="no price is known for yours"):
        pool.model_for("openai:yours", {"cache": False})
    assert pool.find_unpriced(["openai:mine", "mine", "gpt-4o", "openai:yours"]) == (
        "openai:yours",
    )


@pytest.mark.parametrize(
    ("cache", "own", "expected"),
    [
        (False, True, None),
        (False, None, None),
        ("house", None, "house"),
        ("house", "own", "own"),
        ("house", False, None),
        (None, "own", "own"),
    ],
)
def test_cache_of_the_pool_and_of_the_model(cache: Any, own: Any, expected: str | None) -> None:
    settings = {} if own is None else {"cache": own}
    cached = find_layer(ModelPool(cache=cache).model_for("openai:m", settings), CachedModel)
    assert (cached and str(cached.path)) == expected


def test_refuses_settings_that_are_not_plain_values() -> None:
    ModelPool().model_for("openai:m", {"cache": Path("c")})
    with pytest.raises(ConfigError, match="not plain JSON values"):
        ModelPool().model_for("openai:m", {"extra": {"x": object()}})


def test_leaving_the_pool_closes_connections_and_files(tmp_path: Path) -> None:
    async def run(url: str) -> tuple[ModelPool, Model]:
        pool = ModelPool(cache=tmp_path / "c", prices={"m": {"input": 1, "output": 2}})
        async with pool:
            model = model_for("openai:m", {"base_url": url})
            assert model is model_for("openai:m", {"base_url": url})
            model_for("openai:never-asked", {"base_url": url})
            await asyncio.gather(*(model.ask(asks()) for _ in range(3)))
            await model_for("openai:m", {"base_url": url, "attempts": 1}).ask(asks(salt="2"))
        cached: Any = model
        assert cached._store is None
        client = model
        while hasattr(client, "model"):
            client = client.model
        assert client._endpoint._per_loop.drop() is None  # type: ignore[attr-defined]
        return pool, model

    with serve_endpoint([make_completion("hi")]) as endpoint:
        pool, model = asyncio.run(run(endpoint.url))
        assert len(endpoint.requests) == 2
        usage = Usage(calls=2, input_tokens=22, output_tokens=14, dollars=50 / 1e6)
        assert pool.usage_by_model == (
            ModelUsage(model="m", usage=usage, failed=0, unknown=0, priced=True, cached=2),
        )
        assert "2 calls (0 failed), 2 from the cache, 22 + 14 tokens" in str(pool.usage_by_model[0])
        assert asyncio.run(model.ask(asks())).cached  # the file is opened again


def test_pool_cannot_be_entered_twice() -> None:
    async def run() -> None:
        async with ModelPool() as pool:
            with pytest.raises(RuntimeError, match="open already"):
                await pool.__aenter__()
        async with pool:
            assert current_pool() is pool

    asyncio.run(run())
