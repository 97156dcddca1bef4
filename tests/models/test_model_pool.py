"""Models that are shared, paid from one purse and closed together."""

import asyncio
import os
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from tests.models.server import said, serving

from fourscore.core import ConfigError, Usage
from fourscore.executors.portal import PORTAL
from fourscore.executors.threads import shared
from fourscore.models.budget import Purse
from fourscore.models.budgeted import Budgeted
from fourscore.models.cached import Cached
from fourscore.models.limited import Limited
from fourscore.models.messages import Ask, Model, ModelError, Turn
from fourscore.models.metered import Account
from fourscore.models.model_pool import House, current, model_for
from fourscore.models.retrying import Retrying
from fourscore.models.scripted import Scripted
from fourscore.models.wrapper import part_of


def asks(text: str = "hello", salt: str = "") -> Ask:
    return Ask(messages=(Turn("user", text),), max_tokens=10, salt=salt)


def test_a_model_passes_through() -> None:
    model = Scripted(["x"])
    assert model_for(model) is model
    with pytest.raises(ConfigError, match="has its own"):
        model_for(model, {"attempts": 2})


def test_one_model_for_each_name_and_settings() -> None:
    async def run() -> None:
        async with House() as house:
            assert current() is house
            one = model_for("scripted:x")
            assert one is model_for("scripted:x", {})
            other = model_for("scripted:x", {"attempts": 2, "concurrency": 3})
            assert other is not one
            assert other is model_for("scripted:x", {"concurrency": 3, "attempts": 2})
            async with House() as inner:
                assert current() is inner
                assert model_for("scripted:x") is not one
            assert model_for("scripted:x") is one
        assert current() is not house

    asyncio.run(run())


def test_outside_of_any_house() -> None:
    assert model_for("scripted:outside") is model_for("scripted:outside")
    assert current().purse is None


def test_a_child_uses_the_default_house_too() -> None:
    asyncio.run(model_for("scripted:fork").ask(asks()))
    child = os.fork()
    if child == 0:
        try:
            reply = asyncio.run(model_for("scripted:fork").ask(asks()))
            os._exit(0 if reply.text == "fork" else 1)
        except BaseException:
            os._exit(2)
    assert os.waitpid(child, 0)[1] == 0


def test_threads_are_in_the_house() -> None:
    async def run() -> None:
        async with House() as house:
            assert await shared().run(current) is house
            assert await shared().run(partial(_here, 1)) is house
            assert await asyncio.to_thread(current) is house

    asyncio.run(run())


def test_code_that_does_not_await_has_a_house_too(tmp_path: Path) -> None:
    house = House(budget=Purse(calls=1), cache=tmp_path / "c")
    with serving([said("hi")]) as endpoint, house.around():
        model = model_for("openai:m", {"base_url": endpoint.url})
        assert asyncio.run(_here(1)) is PORTAL.run(_here(1)) is house
        asyncio.run(model.ask(asks()))
        cached: Any = model
        assert cached._desk is not None
    assert cached._desk is None
    assert current() is not house
    assert house.accounts[0].usage.calls == 1


def test_settings_by_name_stand_behind_a_judge_s_own() -> None:
    house = House(settings={"openai:m": {"concurrency": 3, "attempts": 2}})
    model = house.model_for("openai:m", {"attempts": 5})
    retrying, limited = part_of(model, Retrying), part_of(model, Limited)
    assert retrying is not None
    assert limited is not None
    assert (retrying.attempts, limited.high) == (5, 3)


async def _here(_: int) -> House:
    return current()


def test_one_purse_for_all_models() -> None:
    async def run() -> None:
        async with House(budget=Purse(calls=5)) as house:
            models = [model_for(f"scripted:{name}") for name in "abc"]
            results = await asyncio.gather(
                *(model.ask(asks()) for model in models for _ in range(4)), return_exceptions=True
            )
            errors = [result for result in results if isinstance(result, ModelError)]
            assert len(errors) == 7
            assert {error.kind for error in errors} == {"budget"}
            assert house.purse is not None
            assert house.purse.spent.calls == 5
            assert house.purse.over == "5 calls"
            assert house.purse.empty
            assert sum(account.usage.calls for account in house.accounts) == 5

    asyncio.run(run())


def test_a_budget_of_its_own_inside_of_the_house_s() -> None:
    async def run() -> None:
        async with House(budget=Purse(calls=5)) as house:
            model = model_for("scripted:x", {"calls": 2})
            assert isinstance(part_of(model, Budgeted), Budgeted)
            for _ in range(2):
                await model.ask(asks())
            with pytest.raises(ModelError, match="budget of 2 calls"):
                await model.ask(asks())
            await model_for("scripted:y").ask(asks())
            assert house.purse is not None
            assert house.purse.over is None

    asyncio.run(run())


def test_money_needs_a_price() -> None:
    house = House(budget=Purse(dollars=1), prices={"mine": {"input": 1, "output": 1}})
    house.model_for("openai:mine", {"cache": False})
    with pytest.raises(ConfigError, match="no price is known for yours"):
        house.model_for("openai:yours", {"cache": False})
    assert house.unpriced(["openai:mine", "mine", "gpt-4o", "openai:yours"]) == ("openai:yours",)


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
def test_where_replies_are_kept(cache: Any, own: Any, expected: str | None) -> None:
    settings = {} if own is None else {"cache": own}
    cached = part_of(House(cache=cache).model_for("openai:m", settings), Cached)
    assert (cached and str(cached.path)) == expected


def test_settings_that_are_no_values() -> None:
    House().model_for("openai:m", {"cache": Path("c")})
    with pytest.raises(ConfigError, match="not plain values"):
        House().model_for("openai:m", {"extra": {"x": object()}})


def test_the_end_closes_connections_and_files(tmp_path: Path) -> None:
    async def run(url: str) -> tuple[House, Model]:
        house = House(cache=tmp_path / "c", prices={"m": {"input": 1, "output": 2}})
        async with house:
            model = model_for("openai:m", {"base_url": url})
            assert model is model_for("openai:m", {"base_url": url})
            model_for("openai:never-asked", {"base_url": url})
            await asyncio.gather(*(model.ask(asks()) for _ in range(3)))
            await model_for("openai:m", {"base_url": url, "attempts": 1}).ask(asks(salt="2"))
        cached: Any = model
        assert cached._desk is None
        client = model
        while hasattr(client, "model"):
            client = client.model
        assert client._wire._pools.drop() is None  # type: ignore[attr-defined]
        return house, model

    with serving([said("hi")]) as endpoint:
        house, model = asyncio.run(run(endpoint.url))
        assert len(endpoint.requests) == 2
        usage = Usage(calls=2, input_tokens=22, output_tokens=14, dollars=50 / 1e6)
        assert house.accounts == (Account("m", usage, 0, 0, True, 2),)
        assert "2 calls (0 failed), 2 cached, 22 + 14 tokens" in str(house.accounts[0])
        assert asyncio.run(model.ask(asks())).cached  # the file is opened again


def test_a_house_is_entered_once() -> None:
    async def run() -> None:
        async with House() as house:
            with pytest.raises(RuntimeError, match="open already"):
                await house.__aenter__()
        async with house:
            assert current() is house

    asyncio.run(run())
