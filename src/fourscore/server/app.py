"""The ASGI app: Starlette's router for pages and traces, a plain dictionary for reward routes.

Reward routes stand in front of the router: it would add 7 µs to the 20 µs that the app takes for a
reward judged by exact match.

The order matters: host and token are checked before anything is read, the number of requests under
way before a body is held in memory, and the deadline covers reading and judging together.
"""

import asyncio
import gc
import logging
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, TypeVar

import msgspec
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route, Router
from starlette.types import Message, Receive, Scope, Send

from fourscore.core import Rubric, Score
from fourscore.models.deadlines import Deadline, Deadlines
from fourscore.server.auth import is_authorized
from fourscore.server.failures import FailureLog
from fourscore.server.judge_runner import JudgeRunner
from fourscore.server.large_bodies import LARGE, LargeBodies
from fourscore.server.messages import Health, Refusal, RewardRequest, bad_request
from fourscore.server.metrics import OTHER, ServerMetrics
from fourscore.server.openapi import METRICS, TRACES, make_document
from fourscore.server.request_body import ClientDisconnected, read_body
from fourscore.server.request_headers import HostCheck, decompress, read_coding, read_headers
from fourscore.server.reward_routes import REWARD_ROUTES, RewardRoute
from fourscore.server.settings import Settings

if TYPE_CHECKING:
    from fourscore.server.monitor_routes import MonitorRoutes

T = TypeVar("T")
LOG = logging.getLogger("fourscore.server")
#: The share of a request's deadline that a judge has; the rest is for the reply.
JUDGE_SHARE = 0.9
_CHALLENGE = {"www-authenticate": 'Bearer realm="fourscore", Basic realm="fourscore"'}

_PATHS = {*REWARD_ROUTES, "/healthz", "/openapi.json", METRICS, TRACES}


class App:
    """Rewards from one rubric over HTTP, and traces for a monitor.

    It pickles as its arguments, so that several processes can serve it.
    """

    def __init__(self, rubric: Rubric, settings: Settings, monitored: Rubric | None = None) -> None:
        self.rubric, self.settings, self.monitored = rubric, settings, monitored or rubric
        self.startup_error: Exception | None = None
        self._monitor: MonitorRoutes | None = None
        self._judges = JudgeRunner(rubric, settings.deadline * JUDGE_SHARE, settings.judge_workers)
        self._metrics = ServerMetrics(settings.workers)
        self._hosts = HostCheck(settings)
        self._large_bodies = LargeBodies()
        self._deadlines = Deadlines(settings.deadline)
        self._failures = FailureLog()
        self._router = Router(
            [
                Route("/healthz", partial(_send_page, msgspec.json.encode(Health()))),
                Route(
                    "/openapi.json",
                    partial(_send_page, msgspec.json.encode(make_document(settings))),
                ),
                Route(METRICS, self._send_metrics),
            ],
            redirect_slashes=False,
        )

    def __reduce__(self) -> tuple[object, ...]:
        return (App, (self.rubric, self.settings, self.monitored))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._run_lifespan(receive, send)
            return
        if scope["type"] != "http":
            raise ValueError(f"{scope['type']} is not served here")
        try:
            headers = read_headers(scope["headers"])
            self._hosts.check(headers)
            self._check_token(scope, headers)
            route = REWARD_ROUTES.get(scope["path"])
            if route is None:
                scope["app"] = self  # makes the router raise HTTPException instead of sending text
                await self._router(scope, receive, self._count_replies(scope["path"], send))
                return
            response = await self._answer_rewards(route, scope["method"], headers, receive)
        except Refusal as refusal:
            response = self._make_error_response(refusal, scope)
        except HTTPException as error:
            response = self._make_error_response(_translate_routing_error(error), scope)
        except ClientDisconnected:
            return
        except Exception:  # a bug of ours: the client learns that, and nothing else
            LOG.exception("%s %s failed", scope["method"], scope["path"])
            failed = Refusal(500, "internal", "the server failed; its log has the details")
            response = self._make_error_response(failed, scope)
        path = scope["path"] if scope["path"] in _PATHS else OTHER
        self._metrics.requests[path, response.status_code] += 1
        await response(scope, receive, send)

    def _check_token(self, scope: Scope, headers: Mapping[bytes, bytes]) -> None:
        if self.settings.token is None or scope["path"] == "/healthz":
            return
        if not is_authorized(headers.get(b"authorization"), self.settings.token):
            message = "expected the server's token: Authorization: Bearer TOKEN"
            raise Refusal(401, "unauthorized", message, headers=_CHALLENGE)

    def _count_replies(self, path: str, send: Send) -> Send:
        """Return a `send` that counts the replies of the router."""

        async def count(message: Message) -> None:
            if message["type"] == "http.response.start":
                self._metrics.requests[path, message["status"]] += 1
            await send(message)

        return count

    async def _answer_rewards(
        self, route: RewardRoute, method: str, headers: Mapping[bytes, bytes], receive: Receive
    ) -> Response:
        if method != "POST":
            raise _wrong_method("POST")
        kind = headers.get(b"content-type", b"").partition(b";")[0].strip().lower()
        if kind != b"application/json":
            # A web page can post anything else to a server on loopback without asking its user.
            raise Refusal(415, "not_json", "expected Content-Type: application/json")
        answer = partial(self._score, route, read_coding(headers))
        request, scores = await self._answer_body(headers.get(b"content-length"), receive, answer)
        for group, of_group in zip(request.groups, scores, strict=True):
            for score in of_group:
                self._metrics.scores[score.status] += 1
                if score.reward is None:
                    self._failures.add(group.case.id, score)
        try:
            return route.write(self.rubric, request, scores)
        except RecursionError:  # what could just be read may be too deep to repeat
            raise bad_request("nested too deeply") from None

    async def _score(
        self, route: RewardRoute, coding: bytes, body: bytes
    ) -> tuple[RewardRequest, list[list[Score]]]:
        if coding:
            body = decompress(body, coding, self.settings.max_body)
        if len(body) <= LARGE:
            request = route.read(body)
            return request, await self._judges.score(request.groups)
        request = await self._large_bodies.read(route.read, body)
        if self.rubric.is_bounded:
            return request, await self._large_bodies.score(self.rubric, request.groups)
        return request, await self._judges.score(request.groups)

    async def _answer_body(
        self,
        content_length: bytes | None,
        receive: Receive,
        answer: Callable[[bytes], Awaitable[T]],
    ) -> T:
        """Read the body and answer it, within the limits on concurrency, size and time."""
        if self._metrics.under_way >= self.settings.concurrency:
            message = f"{self._metrics.under_way} requests are under way; try again"
            raise Refusal(429, "busy", message, headers={"retry-after": "1"})
        body: bytes | None = None
        self._metrics.under_way += 1
        try:
            with Deadline(self._deadlines):
                body = await read_body(receive, content_length, self.settings.max_body)
                return await answer(body)
        except TimeoutError:
            seconds = f"{self.settings.deadline:g} s"
            if body is None:
                message = f"the body did not arrive within {seconds}"
                raise Refusal(408, "slow_body", message) from None
            raise Refusal(504, "deadline", f"no answer within {seconds}") from None
        finally:
            self._metrics.under_way -= 1

    async def _receive_traces(self, request: Request) -> Response:
        """Store the spans of a request; it is answered when they are on the disk."""
        assert self._monitor is not None
        headers: dict[bytes, bytes] = dict(request.scope["headers"])
        answer = partial(self._monitor.receive, encoding=self._monitor.read_encoding(headers))
        return await self._answer_body(headers.get(b"content-length"), request.receive, answer)

    async def _send_metrics(self, _request: Request) -> Response:
        """Return the counters of this process, and the metrics of its monitor."""
        await asyncio.to_thread(import_module, "prometheus_client")  # slow, the first time
        text = self._metrics.make_text()
        if self._monitor is not None:
            text += await self._monitor.read_metrics()
        return Response(text, headers={"content-type": "text/plain; version=0.0.4; charset=utf-8"})

    def _make_error_response(self, refusal: Refusal, scope: Scope) -> Response:
        if self._monitor is not None and scope["path"] == TRACES:
            return self._monitor.make_error_response(refusal, dict(scope["headers"]))
        return refusal.make_response()

    async def _run_lifespan(self, receive: Receive, send: Send) -> None:
        await receive()
        try:
            await self._judges.start()
            if self.settings.monitor is not None:
                self._open_monitor()
        except Exception as error:
            self.startup_error = error
            await send({"type": "lifespan.startup.failed", "message": str(error)})
            return
        gc.collect()
        gc.freeze()  # what is loaded now stays: no collection need walk it between two requests
        await send({"type": "lifespan.startup.complete"})
        await receive()
        if self._monitor is not None:
            await asyncio.to_thread(self._monitor.close)
        self._judges.close()
        await send({"type": "lifespan.shutdown.complete"})

    def _open_monitor(self) -> None:
        from fourscore.server.monitor_routes import MonitorRoutes

        assert self.settings.monitor is not None
        monitor = MonitorRoutes(self.monitored, self.settings.monitor, self.settings.max_body)
        self._monitor = monitor
        self._router.routes.append(Route(TRACES, self._receive_traces, methods=["POST"]))


async def _send_page(body: bytes, _request: Request) -> Response:
    return Response(body, media_type="application/json")


def _translate_routing_error(error: HTTPException) -> Refusal:
    """Return the router's own error (404 or 405) as a refusal."""
    if error.status_code == 405:
        return _wrong_method((error.headers or {})["Allow"])
    message = "there is no such path; /openapi.json lists all paths"
    return Refusal(404, "not_found", message)


def _wrong_method(allowed: str) -> Refusal:
    methods = sorted(allowed.split(", "))
    message = f"expected {' or '.join(methods)}"
    return Refusal(405, "method_not_allowed", message, headers={"allow": ", ".join(methods)})
