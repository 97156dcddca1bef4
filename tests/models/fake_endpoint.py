"""An endpoint on loopback that does as it is told: statuses in turn, delays, hangs, broken bodies,
connections that drop. It speaks OpenAI's and Anthropic's paths and keeps what it was sent."""

import asyncio
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

from aiohttp import web
from tests.loopback import served


class CannedReply(NamedTuple):
    """What one request gets. `drop` ends the connection: before the answer, or half-way."""

    status: int = 200
    body: Any = None
    headers: Mapping[str, str] = {}
    delay: float = 0.0
    drop: str = ""


class ReceivedRequest(NamedTuple):
    path: str
    headers: dict[str, str]
    body: dict[str, Any]


Script = Callable[[ReceivedRequest, int], CannedReply] | Sequence[CannedReply]


class Endpoint:
    """`url` is its address, `requests` what came."""

    def __init__(self, script: Script) -> None:
        self.script, self.url = script, ""
        self.requests: list[ReceivedRequest] = []
        self.under_way = self.most = 0

    def _answer(self, request: ReceivedRequest) -> CannedReply:
        if callable(self.script):
            return self.script(request, len(self.requests))
        return self.script[min(len(self.requests), len(self.script)) - 1]

    async def handle(self, request: web.Request) -> web.StreamResponse:
        headers = {name.lower(): value for name, value in request.headers.items()}
        sent = ReceivedRequest(request.path, headers, await request.json())
        self.requests.append(sent)
        self.under_way += 1
        self.most = max(self.most, self.under_way)
        try:
            return await self._given(request, self._answer(sent))
        finally:
            self.under_way -= 1

    async def _given(self, request: web.Request, answer: CannedReply) -> web.StreamResponse:
        await asyncio.sleep(answer.delay)
        body = answer.body
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        if answer.drop:
            assert request.transport is not None
            if answer.drop == "half":
                head = f"HTTP/1.1 200 OK\r\nContent-Length: {len(data)}\r\n\r\n"
                request.transport.write(head.encode() + data[: len(data) // 2])
                await asyncio.sleep(0.01)
            request.transport.close()
        return web.Response(status=answer.status, body=data, headers=dict(answer.headers))


@contextmanager
def serve_endpoint(script: Script) -> Iterator[Endpoint]:
    """An endpoint in a thread of its own, so that a client may run in any loop."""
    endpoint = Endpoint(script)
    with served(endpoint.handle) as address:
        endpoint.url = f"{address}/v1"
        yield endpoint


def make_completion(text: str | None, finish: str = "stop", **message: Any) -> CannedReply:
    """A chat completion with this text."""
    return CannedReply(
        body={
            "id": "1",
            "model": "small-2025-01-01",
            "choices": [
                {
                    "index": 0,
                    "message": {"role": "assistant", "content": text, **message},
                    "finish_reason": finish,
                }
            ],
            "usage": {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18},
        }
    )


def make_tool_call(arguments: Any) -> CannedReply:
    """A chat completion with one tool call."""
    call = {"id": "c", "type": "function", "function": {"name": "verdict", "arguments": arguments}}
    return make_completion(None, "tool_calls", tool_calls=[call])


def make_error(status: int, message: str = "no", **more: Any) -> CannedReply:
    """An error as OpenAI words it."""
    headers = more.pop("headers", {})
    return CannedReply(status, {"error": {"message": message, **more}}, headers)
