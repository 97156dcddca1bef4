"""A real environment service on loopback: Gymnasium's FrozenLake behind the protocol, and services
that misbehave in one way each."""

import asyncio
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import gymnasium
import pytest
from aiohttp import web

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


class FrozenLake:
    """Instances of the lake by id; an action is 0 to 3 in the message's content."""

    def __init__(self) -> None:
        self.instances: dict[str, gymnasium.Env[Any, Any]] = {}
        self.scores: dict[str, float] = {}

    def create(self, body: dict[str, Any]) -> Any:
        environment = gymnasium.make("FrozenLake-v1", is_slippery=False)
        state, _ = environment.reset(seed=7)
        self.instances[body["instance_id"]] = environment
        self.scores[body["instance_id"]] = 0.0
        return {"state": int(state), "instance_id": body["instance_id"]}

    def step(self, body: dict[str, Any]) -> Any:
        action = int(body["messages"]["content"])
        state, reward, ended, cut, _ = self.instances[body["instance_id"]].step(action)
        self.scores[body["instance_id"]] += float(reward)
        return {"state": int(state), "reward": float(reward), "done": ended or cut}

    def evaluate(self, body: dict[str, Any]) -> Any:
        return self.scores[body["instance_id"]]

    def get_info(self, body: dict[str, Any]) -> Any:
        return {"tools": ["left", "down", "right", "up"]}

    def get_env_profile(self, body: dict[str, Any]) -> Any:
        return ["lake-0"]

    def release(self, body: dict[str, Any]) -> Any:
        self.instances.pop(body["instance_id"]).close()
        return None

    async def serve(self, request: web.Request) -> web.StreamResponse:
        verb = request.match_info["verb"]
        try:
            data = getattr(self, verb)(await request.json())
        except KeyError as error:
            return web.json_response({"success": False, "data": f"no instance {error}"})
        return web.json_response({"success": True, "data": data})


@contextmanager
def served(handler: Handler) -> Iterator[str]:
    """The address of a server that answers every POST with `handler`."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()

    async def start() -> tuple[web.AppRunner, int]:
        app = web.Application()
        app.router.add_post("/{verb}", handler)
        runner = web.AppRunner(app, shutdown_timeout=0.1)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        return runner, runner.addresses[0][1]

    runner, port = asyncio.run_coroutine_threadsafe(start(), loop).result()
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        asyncio.run_coroutine_threadsafe(runner.cleanup(), loop).result()
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


@pytest.fixture
def lake() -> Iterator[tuple[FrozenLake, str]]:
    """A running service with FrozenLake, and its address."""
    service = FrozenLake()
    with served(service.serve) as url:
        yield service, url


@pytest.fixture
def serve() -> Callable[[Handler], AbstractContextManager[str]]:
    return served
