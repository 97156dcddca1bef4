"""The middleware passes all messages on unchanged, and observes query and output."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from fourscore import Case, ProductionMonitor, Trace, judge
from fourscore.monitor.asgi import HttpExchange, HttpObservation, Middleware
from fourscore.monitor.sample import read_sample
from fourscore.monitor.settings import JudgingSettings

JSON = [(b"content-type", b"application/json")]


@judge
def good(_case: Case, trace: Trace) -> bool:
    return "good" in trace.answer


@pytest.fixture
def monitor() -> ProductionMonitor:
    return ProductionMonitor(
        1.0, rubric=good, judging=JudgingSettings(workers=1)
    )  # one worker keeps the order


Reply = list[dict[str, Any]]


def make_app(
    *pieces: bytes, status: int = 200, headers: Any = JSON
) -> Callable[[Any, Any, Any], Awaitable[None]]:
    async def app(_scope: Any, receive: Any, send: Any) -> None:
        while (await receive()).get("more_body"):
            pass
        await send({"type": "http.response.start", "status": status, "headers": headers})
        for piece in pieces:
            await send({"type": "http.response.body", "body": piece, "more_body": True})
        await send({"type": "http.response.body"})

    return app


def call(app: Any, *bodies: bytes, path: str = "/ask", method: str = "POST", **scope: Any) -> Reply:
    """Send one request, and return every event that the application sent for it."""
    sent: Reply = []
    more = list(bodies) or [b""]

    async def receive() -> dict[str, Any]:
        if not more:
            return {"type": "http.disconnect"}
        body = more.pop(0)
        return {"type": "http.request", "body": body, "more_body": bool(more)}

    async def send(event: Any) -> None:
        sent.append(dict(event))

    scope = {"type": "http", "method": method, "path": path, "headers": [], **scope}
    asyncio.run(app(scope, receive, send))
    return sent


def seen(monitor: ProductionMonitor) -> list[tuple[str, str, str]]:
    monitor.flush(600)
    samples = [read_sample(row.body) for row in reversed(monitor.store.samples("default"))]
    return [(sample.query, sample.preview, str(sample.status)) for sample in samples]


def test_reads_query_and_output_from_json(monitor: ProductionMonitor) -> None:
    app = make_app(b'{"answer": ', b'"good one"}')
    wrapped = monitor.asgi(app)
    body = json.dumps({"question": "why?"}).encode()
    assert call(wrapped, body[:5], body[5:]) == call(app, body)
    assert seen(monitor) == [("why?", "good one", "scored")]


def test_reads_chat_completions_and_event_streams(monitor: ProductionMonitor) -> None:
    reply = json.dumps({"choices": [{"message": {"content": "good chat"}}]}).encode()
    ask = {"messages": [{"role": "system", "content": "s"}, {"role": "user", "content": "why?"}]}
    call(monitor.asgi(make_app(reply)), json.dumps(ask).encode())
    stream = [
        b'data: {"choices": [{"delta": {"role": "assistant"}}]}\n\n',
        b'data: {"choices": [{"delta": {"content": "good "}}]}\n\ndata: {"choices": [{"delta": ',
        b'{"content": "stream"}}]}\n\n',
        b"data: [DONE]\n\n",
    ]
    events = [(b"content-type", b"text/event-stream; charset=utf-8")]
    call(monitor.asgi(make_app(*stream, headers=events)), json.dumps(ask).encode())
    assert seen(monitor) == [("why?", "good chat", "scored"), ("why?", "good stream", "scored")]


def test_reads_plain_text(monitor: ProductionMonitor) -> None:
    call(monitor.asgi(make_app(b"good \xff", headers=[(b"Content-Type", b"text/plain")])), b"why?")
    assert seen(monitor) == [("why?", "good �", "scored")]


def test_streamed_chunks_are_sent_before_they_are_read(monitor: ProductionMonitor) -> None:
    order = []

    async def app(_scope: Any, receive: Any, send: Any) -> None:
        await receive()
        await send({"type": "http.response.start", "status": 200, "headers": JSON})
        for n in range(3):
            order.append(f"sending {n}")
            await send({"type": "http.response.body", "body": b"good", "more_body": n < 2})

    async def send(event: Any) -> None:
        if event["type"] == "http.response.body":
            order.append("out")

    async def receive() -> Any:
        return {"type": "http.request", "body": b"q"}

    scope = {"type": "http", "method": "POST", "path": "/", "headers": []}
    asyncio.run(monitor.asgi(app)(scope, receive, send))
    assert order == ["sending 0", "out", "sending 1", "out", "sending 2", "out"]
    assert seen(monitor) == [("q", "goodgoodgood", "scored")]


def test_server_errors_and_exceptions_are_agent_errors(monitor: ProductionMonitor) -> None:
    async def broken(_scope: Any, receive: Any, _send: Any) -> None:
        await receive()
        raise ZeroDivisionError("no")

    with pytest.raises(ZeroDivisionError):
        call(monitor.asgi(broken), b"why?")
    call(monitor.asgi(make_app(b"oops", status=503)), b'{"query": "how?"}')
    call(monitor.asgi(make_app(b"your fault", status=422)), b"what?")
    assert seen(monitor) == [("why?", "", "agent_error"), ("how?", "", "agent_error")]


def test_other_methods_paths_and_content_types_are_not_observed(monitor: ProductionMonitor) -> None:
    good_app = make_app(b'"good"')
    call(monitor.asgi(good_app), method="GET")
    call(monitor.asgi(good_app, paths=["/chat"]), b"q", path="/ask")
    call(monitor.asgi(make_app(b"\x89PNG", headers=[(b"content-type", b"image/png")])), b"q")
    call(monitor.asgi(make_app(b"zip", headers=[*JSON, (b"content-encoding", b"gzip")])), b"q")
    assert seen(monitor) == []
    call(monitor.asgi(good_app, paths=["/chat"], methods=["get"]), path="/chat/1", method="GET")
    assert seen(monitor) == [("", "good", "scored")]
    passed = []

    async def other(scope: Any, _receive: Any, _send: Any) -> None:
        passed.append(scope["type"])

    call(monitor.asgi(other), type="lifespan")
    call(monitor.asgi(other), type="websocket")
    assert passed == ["lifespan", "websocket"]


def test_too_long_answer_is_counted_as_dropped(
    monitor: ProductionMonitor,
) -> None:
    app = monitor.asgi(make_app(*[b"good " * 100] * 10), most=2000)
    sent = call(app, b"q")
    assert sum(len(event.get("body", b"")) for event in sent) == 5000
    assert seen(monitor) == []
    assert monitor.get_metrics()["dropped"] == 1


def test_answer_after_disconnect_is_not_observed(monitor: ProductionMonitor) -> None:
    async def gone(_event: Any) -> None:
        raise OSError("the client left")

    async def receive() -> Any:
        return {"type": "http.request", "body": b"q"}

    scope = {"type": "http", "method": "POST", "path": "/", "headers": []}
    with pytest.raises(OSError, match="left"):
        asyncio.run(monitor.asgi(make_app(b"good"))(scope, receive, gone))

    async def stops(_scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": JSON})
        await receive()
        assert (await receive())["type"] == "http.disconnect"

    call(monitor.asgi(stops), b"q")
    assert seen(monitor) == []


def test_custom_read_function(monitor: ProductionMonitor) -> None:
    def read(exchange: HttpExchange) -> HttpObservation | None:
        if exchange.path == "/health":
            return None
        body = json.loads(exchange.reply)
        return HttpObservation(
            query=exchange.path,
            output=body["deep"]["down"],
            tags=["own"],
            feedback=exchange.status,
        )

    app = Middleware(make_app(b'{"deep": {"down": "good"}}'), monitor, read=read, tags=["web"])
    call(app, b"q")
    call(app, b"q", path="/health")
    assert seen(monitor) == [("/ask", "good", "scored")]
    (row,) = monitor.store.samples("default")
    assert read_sample(row.body).tags == ("web", "own")
    broken = Middleware(make_app(b"[]"), monitor, read=read)
    assert call(broken, b"q")[0]["status"] == 200
    assert monitor.get_metrics()["counts"]["failed"] == 1


def test_id_is_taken_from_the_configured_header(monitor: ProductionMonitor) -> None:
    app = monitor.asgi(make_app(b'"good"'), id_header="X-Request-ID")
    for _ in range(2):
        call(app, b"q", headers=[(b"x-request-id", b"abc")])
    assert len(seen(monitor)) == 1
    (row,) = monitor.store.samples("default")
    assert row.id == "abc"


def test_works_behind_a_real_server(monitor: ProductionMonitor) -> None:
    uvicorn = pytest.importorskip("uvicorn")
    import http.client
    import socket
    import threading

    listening = socket.create_server(("127.0.0.1", 0))
    config = uvicorn.Config(monitor.asgi(make_app(b"go", b"od")), log_level="error", lifespan="off")
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
    thread.start()
    connection = http.client.HTTPConnection(*listening.getsockname())
    for n in range(3):
        connection.request("POST", "/", body=f"q{n}".encode())
        assert connection.getresponse().read() == b"good"
    connection.close()
    server.should_exit = True
    thread.join()
    listening.close()
    assert [query for query, *_ in seen(monitor)] == ["q0", "q1", "q2"]


def run_lifespan(app: Any) -> list[str]:
    """Run an application's lifespan as a server does, and return the types of its events."""
    sent: list[str] = []
    waiting = ["lifespan.startup", "lifespan.shutdown"]

    async def receive() -> dict[str, Any]:
        return {"type": waiting.pop(0)}

    async def send(event: Any) -> None:
        sent.append(event["type"])

    asyncio.run(app({"type": "lifespan"}, receive, send))
    return sent


async def lives(_scope: Any, receive: Any, send: Any) -> None:
    for kind in ("startup", "shutdown"):
        assert (await receive())["type"] == f"lifespan.{kind}"
        await send({"type": f"lifespan.{kind}.complete"})


async def raises(_scope: Any, _receive: Any, _send: Any) -> None:
    raise RuntimeError("no lifespan here")


async def raises_late(_scope: Any, receive: Any, _send: Any) -> None:
    await receive()
    raise RuntimeError("no lifespan here")


async def returns(_scope: Any, _receive: Any, _send: Any) -> None:
    return


@pytest.mark.parametrize("app", [lives, raises, raises_late, returns])
def test_samples_are_saved_before_the_shutdown_is_complete(
    monitor: ProductionMonitor, app: Any
) -> None:
    for number in range(20):
        monitor.observe("q", "good", id=number)
    saved: list[int] = []

    async def outer(scope: Any, receive: Any, send: Any) -> None:
        async def send_and_count(event: Any) -> None:
            if event["type"].startswith("lifespan.shutdown"):
                saved.append(len(monitor.store.samples("default")))
            await send(event)

        await monitor.asgi(app)(scope, receive, send_and_count)

    assert run_lifespan(outer) == ["lifespan.startup.complete", "lifespan.shutdown.complete"]
    assert saved == [20]


def test_failed_startup_is_passed_on(monitor: ProductionMonitor) -> None:
    sent: list[str] = []

    async def fails(_scope: Any, _receive: Any, send: Any) -> None:
        await send({"type": "lifespan.startup.failed"})
        sent.append("failed")
        raise RuntimeError("no database")

    with pytest.raises(RuntimeError, match="no database"):
        run_lifespan(monitor.asgi(fails))
    assert sent == ["failed"]
