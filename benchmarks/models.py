"""Requests to a model: the share of the ideal rate, the processor time, an unreliable endpoint.

    python benchmarks/models.py [rounds]

(a) 2,000 asks, 64 at a time, of a loopback endpoint that takes 50 ms: 1.56 s is ideal. The bare
client, the stack that `make_model` builds, and the least that aiohttp can do (one `session.post`
and the body read), in turn in each round. Processor time is that of the client's process; the
endpoint is another process.

(b) 1,000 different asks, 64 at a time, of an endpoint that answers 10% with 429, 5% with 500, 5%
with malformed JSON and leaves 1% hanging for 120 s, by chance. Each answer names its question, so a
wrong one would show.
"""

import asyncio
import json
import statistics
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable

from endpoint import Server

from fourscore.core import freeze
from fourscore.models.messages import ChatMessage, Model, ModelError, Request
from fourscore.models.model_spec import make_model
from fourscore.models.openai import OpenAI

ASKS, AT_A_TIME, DELAY = 2000, 64, 0.05
IDEAL = ASKS / AT_A_TIME * DELAY
STORM = 1000
SCHEMA = freeze(
    {
        "type": "object",
        "properties": {"reason": {"type": "string"}, "score": {"type": "integer"}},
        "required": ["reason", "score"],
        "additionalProperties": False,
    }
)


def question(number: int) -> Request:
    text = f"Judge the answer to question {number}. " + "It says this and that. " * 80
    messages = (ChatMessage("system", "You are a fair judge."), ChatMessage("user", text))
    return Request(messages=messages, schema=SCHEMA, max_tokens=200)


async def in_crowd(work: Callable[[int], Awaitable[None]], count: int, first: int = 0) -> None:
    numbers = iter(range(first, first + count))

    async def one() -> None:
        for number in numbers:
            await work(number)

    await asyncio.gather(*(one() for _ in range(AT_A_TIME)))


async def timed(work: Callable[[int], Awaitable[None]]) -> tuple[float, float]:
    """The share of the ideal rate, and milliseconds of processor time for each ask."""
    await in_crowd(work, AT_A_TIME, ASKS)  # connections, imports, the way to JSON, the limit
    began, used = time.perf_counter(), time.process_time()
    await in_crowd(work, ASKS)
    seconds, cpu = time.perf_counter() - began, time.process_time() - used
    return IDEAL / seconds, 1000 * cpu / ASKS


async def with_model(model: Model) -> tuple[float, float]:
    async def work(number: int) -> None:
        reply = await model.ask(question(number))
        assert reply.value["score"] == number % 11

    return await timed(work)


async def with_aiohttp(url: str) -> tuple[float, float]:
    import aiohttp

    body = json.dumps({"messages": [question(7).messages[1].content]}).encode()
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:

        async def work(_: int) -> None:
            async with session.post(f"{url}/chat/completions", data=body) as response:
                await response.read()

        return await timed(work)


Figures = tuple[float, float]
Peer = Callable[[str, str], Awaitable[Figures]]


def _stack(url: str, cache: str | bool) -> Model:
    return make_model("openai:m", base_url=url, cache=cache, tokens=10**9)


PEERS: dict[str, Peer] = {
    "aiohttp alone": lambda url, _: with_aiohttp(url),
    "client": lambda url, _: with_model(OpenAI("m", base_url=url)),
    "stack, no cache": lambda url, _: with_model(_stack(url, False)),
    "stack, all missed": lambda url, cache: with_model(_stack(url, cache)),
}


async def _figures(peer: Peer, url: str, cache: str) -> Figures:
    return await peer(url, cache)


def rate(rounds: int) -> None:
    server = Server(str(DELAY), "fine", "1")
    figures: dict[str, list[Figures]] = {}
    try:
        for _ in range(rounds):
            for name, peer in PEERS.items():
                with tempfile.TemporaryDirectory() as folder:
                    run = _figures(peer, server.url, f"{folder}/c.sqlite")
                    figures.setdefault(name, []).append(asyncio.run(run))
    finally:
        server.stop()
    print(f"(a) {ASKS} asks, {AT_A_TIME} at a time, {DELAY * 1000:.0f} ms each, {rounds} rounds")
    for name, pairs in figures.items():
        share, cpu = statistics.median(p[0] for p in pairs), statistics.median(p[1] for p in pairs)
        best = max(pair[0] for pair in pairs)
        print(
            f"    {name:18} {share:.2f} of the ideal rate (best {best:.2f}),"
            f" {cpu:.3f} ms of processor a call"
        )


class Weather:
    """What came of the asks of one storm."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.answered = self.wrong = self.attempts = 0
        self.errors: list[str] = []

    async def ask(self, number: int) -> None:
        try:
            reply = await self.model.ask(question(number))
        except ModelError as error:
            self.errors.append(f"{error.kind}: {error}")
            return
        self.answered += 1
        self.attempts += reply.attempts
        self.wrong += reply.value["reason"] != f"the question was {number}"


def storm(rounds: int) -> None:
    print(f"(b) {STORM} asks: 10% 429, 5% 500, 5% malformed, 1% hang for 120 s, {rounds} rounds")
    for seed in range(rounds):
        server = Server(str(DELAY), "storm", str(seed))
        weather = Weather(make_model("openai:m", base_url=server.url, cache=False))
        began = time.perf_counter()
        try:
            asyncio.run(in_crowd(weather.ask, STORM))
        finally:
            server.stop()
        seconds = time.perf_counter() - began
        print(
            f"    {weather.answered} of {STORM} answered, {weather.wrong} wrong,"
            f" {weather.attempts} attempts, {seconds:.1f} s"
        )
        for line in weather.errors[:3]:
            print(f"      {line}")


def main() -> None:
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 3
    if "storm" not in sys.argv:
        rate(rounds)
    if "rate" not in sys.argv:
        storm(rounds)


if __name__ == "__main__":
    main()
