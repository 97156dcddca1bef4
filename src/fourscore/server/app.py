"""The ASGI app. Written by hand: six routes are a dictionary, and a framework halves the speed.

The order matters: who asks is checked before anything is read, a place is taken before a body is
held in memory, and the deadline covers reading and judging together.
"""

import asyncio
import gc
import logging
from collections.abc import Awaitable, Callable, MutableMapping
from typing import TYPE_CHECKING, Any

import msgspec

from fourscore.core import Rubric
from fourscore.models.deadlines import Deadline, Deadlines
from fourscore.server import access
from fourscore.server.bodies import Gone, Receive, read_body
from fourscore.server.judging import Judging
from fourscore.server.openapi import document
from fourscore.server.reasons import Diary
from fourscore.server.routes import METRICS, SHAPES, TRACES, Shape
from fourscore.server.settings import Settings
from fourscore.server.wire import Health, Refusal, Reply, bad_request

if TYPE_CHECKING:
    from fourscore.server.traces import Traces

LOG = logging.getLogger("fourscore.server")
Scope = MutableMapping[str, Any]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]

#: Of a request's time, the part after which a judge is given up: the rest is for saying so.
JUDGE_SHARE = 0.9


class App:
    """Rewards from one rubric over HTTP. It pickles, so that several processes can serve it."""

    def __init__(self, rubric: Rubric, settings: Settings, monitored: Rubric | None = None) -> None:
        self.rubric, self.settings, self.monitored = rubric, settings, monitored or rubric
        self.traces: Traces | None = None
        deadline = settings.deadline * JUDGE_SHARE
        self.judging = Judging(rubric, deadline, settings.judge_workers)
        self.under_way = 0
        self.failure: Exception | None = None
        self._deadlines = Deadlines(settings.deadline)
        self._diary = Diary()
        self._pages = {
            "/healthz": msgspec.json.encode(Health()),
            "/openapi.json": msgspec.json.encode(document(settings)),
        }

    def __reduce__(self) -> tuple[object, ...]:
        return (App, (self.rubric, self.settings, self.monitored))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._lifespan(receive, send)
            return
        if scope["type"] != "http":
            raise ValueError(f"{scope['type']} is not served here")
        try:
            reply = await self._answer(scope, receive)
        except Refusal as refusal:
            reply = self._refused(refusal, scope)
        except Gone:
            return
        except Exception:  # a bug of ours: the client learns that, and nothing else
            LOG.exception("%s %s failed", scope["method"], scope["path"])
            failed = Refusal(500, "internal", "the server failed; its log says why")
            reply = self._refused(failed, scope)
        headers = [
            (b"content-type", reply.kind),
            (b"content-length", b"%d" % len(reply.body)),
            *reply.headers,
        ]
        await send({"type": "http.response.start", "status": reply.status, "headers": headers})
        await send({"type": "http.response.body", "body": reply.body})

    async def _answer(self, scope: Scope, receive: Receive) -> Reply:
        path, method = scope["path"], scope["method"]
        headers: dict[bytes, bytes] = dict(scope["headers"])
        if self.settings.token is not None and path != "/healthz":
            access.check(headers.get(b"authorization"), self.settings.token)
        if self.traces is not None and path == METRICS:
            if method not in ("GET", "HEAD"):
                raise _wrong_method(b"GET, HEAD")
            return await self.traces.metrics()
        shape = SHAPES.get(path)
        if shape is None and (self.traces is None or path != TRACES):
            return self._page(path, method)
        if method != "POST":
            raise _wrong_method(b"POST")
        kind = headers.get(b"content-type", b"").partition(b";")[0].strip().lower()
        if kind != b"application/json" and shape is not None:
            # A web page can post anything else to a server on loopback without being asked.
            raise Refusal(415, "not_json", "expected Content-Type: application/json")
        if self.under_way >= self.settings.concurrency:
            words = f"{self.under_way} requests are under way; try again"
            raise Refusal(429, "busy", words, headers=((b"retry-after", b"1"),))
        self.under_way += 1
        try:
            if shape is None:
                return await self._received(headers, receive)
            return await self._rewarded(shape, receive, headers.get(b"content-length"))
        finally:
            self.under_way -= 1

    async def _received(self, headers: dict[bytes, bytes], receive: Receive) -> Reply:
        """Spans instead of outputs: answered when they are on the disk."""
        assert self.traces is not None
        form, body = self.traces.form_of(headers), None
        try:
            with Deadline(self._deadlines):
                declared = headers.get(b"content-length")
                body = await read_body(receive, declared, self.settings.max_body)
                return await self.traces.answer(body, form)
        except TimeoutError:
            raise self._too_late(body) from None

    def _refused(self, refusal: Refusal, scope: Scope) -> Reply:
        if self.traces is None or scope["path"] != TRACES:
            return refusal.reply
        return self.traces.reworded(refusal, dict(scope["headers"]))

    def _too_late(self, body: bytes | None) -> Refusal:
        seconds = f"{self.settings.deadline:g} s"
        if body is None:
            return Refusal(408, "slow_body", f"no whole body within {seconds}")
        return Refusal(504, "deadline", f"no answer within {seconds}")

    async def _rewarded(self, shape: Shape, receive: Receive, declared: bytes | None) -> Reply:
        body = None
        try:
            with Deadline(self._deadlines):
                body = await read_body(receive, declared, self.settings.max_body)
                asked = shape.read(body)
                given = await self.judging.scores(asked.groups)
        except TimeoutError:
            raise self._too_late(body) from None
        for group, scores in zip(asked.groups, given, strict=True):
            for score in scores:
                if score.reward is None:
                    self._diary.note(group.case.id, score)
        try:
            return shape.write(self.rubric, asked, given)
        except RecursionError:  # what could just be read may be too deep to repeat
            raise bad_request("nested too deeply") from None

    def _page(self, path: str, method: str) -> Reply:
        if path not in self._pages:
            raise Refusal(404, "not_found", "there is nothing here; /openapi.json says what is")
        if method not in ("GET", "HEAD"):
            raise _wrong_method(b"GET, HEAD")
        return Reply(200, self._pages[path])

    async def _lifespan(self, receive: Receive, send: Send) -> None:
        await receive()
        try:
            await self.judging.start()
            if self.settings.monitor is not None:
                from fourscore.server.traces import Traces

                most = self.settings.max_body
                self.traces = Traces(self.monitored, self.settings.monitor, most)
        except Exception as error:
            self.failure = error
            await send({"type": "lifespan.startup.failed", "message": str(error)})
            return
        gc.collect()
        gc.freeze()  # what is loaded now stays: no collection need walk it between two requests
        await send({"type": "lifespan.startup.complete"})
        await receive()
        if self.traces is not None:
            await asyncio.to_thread(self.traces.close)
        self.judging.close()
        await send({"type": "lifespan.shutdown.complete"})


def _wrong_method(allowed: bytes) -> Refusal:
    words = f"expected {allowed.decode().replace(', ', ' or ')}"
    return Refusal(405, "method_not_allowed", words, headers=((b"allow", allowed),))
