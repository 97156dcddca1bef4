"""HTTP agents against a real server: good replies, and each way to fail."""

import asyncio
import json
import socket
import threading
from collections.abc import Callable
from typing import Any

import pytest
from aiohttp import web
from tests.loopback import served

from fourscore.agents.agent import attempt_case, load_agent, open_agent
from fourscore.agents.trace_values import MAX_TEXT
from fourscore.core import Case, ConfigError, Fault, ToolCall, Trace, Usage

CASE = Case(id="c7", input={"q": "é"}, expected="SECRET", metadata={"hint": "SECRET"})
MB = 2**20


def asked(url: str, deadline: float | None = 60.0) -> Trace:
    return asyncio.run(attempt_case(load_agent(url), CASE, 0, deadline))


def answer(response: Callable[[], web.StreamResponse], deadline: float = 60.0) -> Trace:
    async def handler(_: web.Request) -> web.StreamResponse:
        return response()

    with served(handler) as url:
        return asked(f"{url}/agent", deadline)


def words(trace: Trace) -> str:
    assert trace.fault is not None
    assert trace.fault.kind == "error"
    return trace.fault.message


def lost(trace: Trace) -> str:
    assert trace.fault is not None
    assert trace.fault.kind == "connection"
    return trace.fault.message


def test_request_has_the_id_and_the_input_and_nothing_else() -> None:
    seen: list[Any] = []

    async def handler(request: web.Request) -> web.StreamResponse:
        seen.append((request.path, request.content_type, await request.json()))
        assert "SECRET" not in f"{request.headers}{await request.text()}"
        return web.json_response(
            {
                "output": "42",
                "steps": [{"name": "add", "result": 42}],
                "usage": {"prompt_tokens": 3, "completion_tokens": 4},
                "model": "small",
            }
        )

    with served(handler) as url:
        trace = asked(f"{url}/v1/agent?key=K")
    assert seen == [("/v1/agent", "application/json", {"id": "c7", "input": {"q": "é"}})]
    assert (trace.output, trace.fault) == ("42", None)
    assert trace.steps == (ToolCall(name="add", result=42),)
    assert trace.usage == Usage(input_tokens=3, output_tokens=4)
    assert trace.metadata == {"model": "small"}
    assert trace.seconds is not None


@pytest.mark.parametrize("status", [302, 404, 429, 500])
def test_error_status_is_a_fault_that_quotes_the_body(status: int) -> None:
    def response() -> web.StreamResponse:
        return web.Response(
            status=status, text="out of <b>quota</b> " * 100, headers={"Location": "/x"}
        )

    message = words(answer(response))
    assert f"/agent: it answered {status}: out of <b>quota</b>" in message
    assert len(message) < 500


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (b"", "expected a JSON object with an output, got ''"),
        (b"<html>", "expected a JSON object with an output, got '<html>'"),
        (b'"42"', "expected a JSON object with an output"),
        (b'{"answer": 42}', "expected a JSON object with an output"),
        (b'{"output": NaN}', "expected a JSON object with an output"),
        (b"[" * 100_000, "expected a JSON object with an output"),
        (b'{"output": null}', "it returned no output"),
        (b'{"output": "x", "steps": 5}', "steps: expected a list"),
    ],
)
def test_unusable_body_is_a_fault(body: bytes, expected: str) -> None:
    assert expected in words(answer(lambda: web.Response(body=body)))


def test_lone_surrogate_in_the_output_is_replaced() -> None:
    trace = answer(lambda: web.Response(body=b'{"output": "ok \\ud83d"}'))
    assert (trace.output, trace.fault) == ("ok \ufffd", None)


def test_long_output_is_cut_and_a_longer_body_refused() -> None:
    text = json.dumps({"output": "x" * (10 * MB)})
    trace = answer(lambda: web.Response(text=text))
    assert trace.fault is None
    assert trace.output == "x" * MAX_TEXT
    too_much = json.dumps({"output": "x" * (17 * MB)})
    assert "longer than 16 MiB" in words(answer(lambda: web.Response(text=too_much)))


def test_refused_connection_is_a_fault_without_secrets() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    message = lost(asked(f"http://user:PASSWORD@127.0.0.1:{port}/a?key=KEY"))
    assert message.startswith(f"connection lost: http://127.0.0.1:{port}/a: no connection")
    assert "PASSWORD" not in message
    assert "KEY" not in message


def test_connection_that_ends_before_an_answer_is_lost() -> None:
    async def handler(request: web.Request) -> web.StreamResponse:
        assert request.transport is not None
        request.transport.abort()
        return web.Response()

    with served(handler) as url:
        assert "the connection was closed before an answer" in lost(asked(url))


def test_unknown_host_is_a_lost_connection() -> None:
    assert "no connection" in lost(asked("http://nowhere.invalid/"))


def test_server_that_never_answers_times_out() -> None:
    with socket.socket() as deaf:
        deaf.bind(("127.0.0.1", 0))
        deaf.listen()
        trace = asked(f"http://127.0.0.1:{deaf.getsockname()[1]}/", 0.2)
    assert trace.fault == Fault("timeout", "no answer within 0.2 s")


def test_server_that_answers_byte_by_byte_times_out() -> None:
    async def handler(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse()
        await response.prepare(request)
        while True:
            await response.write(b" ")
            await asyncio.sleep(0.01)

    with served(handler) as url:
        trace = asked(url, 0.3)
    assert trace.fault is not None
    assert trace.fault.kind == "timeout"


def test_broken_or_foreign_response_is_a_fault() -> None:
    async def handler(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Length": "1000"})
        await response.prepare(request)
        await response.write(b'{"output"')
        assert request.transport is not None
        request.transport.abort()
        return response

    with served(handler) as url:
        assert words(asked(url)).startswith(url)

    def greet(server: socket.socket) -> None:
        connection, _ = server.accept()
        with connection:
            connection.recv(65536)
            connection.sendall(b"220 smtp ready\r\n")

    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen()
        thread = threading.Thread(target=greet, args=(server,))
        thread.start()
        words(asked(f"http://127.0.0.1:{server.getsockname()[1]}/"))
        thread.join()


def test_open_agent_keeps_connections_and_no_cookies() -> None:
    connections: set[Any] = set()
    cookies: list[Any] = []

    async def handler(request: web.Request) -> web.StreamResponse:
        connections.add(request.transport.get_extra_info("peername"))  # type: ignore[union-attr]
        cookies.append(dict(request.cookies))
        response = web.json_response({"output": (await request.json())["id"]})
        response.set_cookie("case", "c7")
        return response

    async def several(url: str) -> list[Any]:
        agent = load_agent(url)
        async with open_agent(agent):
            return [
                (await attempt_case(agent, Case(id=str(n), input="?"))).output for n in range(20)
            ]

    with served(handler) as url:
        assert asyncio.run(several(url)) == [str(n) for n in range(20)]
        assert len(connections) == 1
        assert cookies == [{}] * 20
        assert asked(url).output == "c7"  # not opened: a connection of its own


def test_agent_opened_in_one_loop_works_in_another() -> None:
    async def handler(_: web.Request) -> web.StreamResponse:
        return web.json_response({"output": "42"})

    async def main(url: str) -> None:
        agent = load_agent(url)
        async with open_agent(agent):
            elsewhere = asyncio.to_thread(asyncio.run, attempt_case(agent, CASE))
            assert (await elsewhere).output == "42"

    with served(handler) as url:
        asyncio.run(main(url))


def test_two_hundred_concurrent_requests() -> None:
    arrived, all_here = 0, asyncio.Event()

    async def handler(_: web.Request) -> web.StreamResponse:
        nonlocal arrived
        arrived += 1
        if arrived == 200:
            all_here.set()
        await all_here.wait()
        return web.json_response({"output": "42"})

    async def main(url: str) -> list[Trace]:
        agent = load_agent(url)
        async with open_agent(agent):
            return await asyncio.gather(*[attempt_case(agent, CASE, 0, 120) for _ in range(200)])

    with served(handler) as url:
        assert [trace.output for trace in asyncio.run(main(url))] == ["42"] * 200


def test_agent_name_leaves_out_secrets() -> None:
    agent = load_agent("https://me:PASSWORD@[::1]:8080/run?key=KEY#x")
    assert agent.name == "https://[::1]:8080/run"


@pytest.mark.parametrize("url", ["http://", "https:///path", "http://host:port/", "http://[::1/"])
def test_invalid_address_is_refused(url: str) -> None:
    with pytest.raises(ConfigError, match="the agent's address"):
        load_agent(url)
