"""A real environment service on loopback: Gymnasium's FrozenLake behind the protocol, and services
that misbehave in one way each."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from typing import Any

import gymnasium
import pytest
from aiohttp import web
from tests.loopback import Handler, served


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
        verb = request.match_info["path"]
        try:
            data = getattr(self, verb)(await request.json())
        except KeyError as error:
            return web.json_response({"success": False, "data": f"no instance {error}"})
        return web.json_response({"success": True, "data": data})


@pytest.fixture
def lake() -> Iterator[tuple[FrozenLake, str]]:
    """A running service with FrozenLake, and its address."""
    service = FrozenLake()
    with served(service.serve) as url:
        yield service, url


@pytest.fixture
def serve() -> Callable[[Handler], AbstractContextManager[str]]:
    return served
