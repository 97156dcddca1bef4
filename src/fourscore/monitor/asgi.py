"""An ASGI middleware: passes requests on unchanged, and observes them when they are answered.

Each message of the application is sent before the middleware reads it, so streams are not delayed.
Bodies are kept up to a size; a longer exchange is counted as dropped and not judged by its
beginning. If the client disconnects before the end, the exchange is not observed.
"""

import time
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fourscore.monitor.decorators import MonitorDecorators


import msgspec

Scope = MutableMapping[str, Any]
Event = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Event]]
Send = Callable[[Event], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

#: Bytes kept of one exchange: request and answer together.
MAX_BYTES = 256 << 10

#: Fields of JSON objects that hold the question of a request, and the output of an answer.
QUERY_FIELDS = ("query", "question", "input", "prompt", "message", "text")
OUTPUT_FIELDS = ("output", "answer", "response", "text", "content", "message", "completion")


class HttpExchange(msgspec.Struct, frozen=True, kw_only=True):
    """A complete request and its answer; names of header fields are in lower case."""

    method: str
    path: str
    headers: dict[str, str]
    request: bytes
    status: int
    reply_headers: dict[str, str]
    reply: bytes


class HttpObservation(msgspec.Struct, frozen=True, kw_only=True):
    """What to observe of an exchange; `error` is set where the answer shows a failed agent."""

    query: Any
    output: Any
    id: Any = None
    tags: Iterable[str] = ()
    trace: Any = None
    error: Any = None
    feedback: Any = None


def is_readable(status: int, headers: dict[str, str]) -> bool:
    """Return whether an answer is observed: a server error, or successful JSON or plain text."""
    if status >= 500:
        return True
    kind = headers.get("content-type", "")
    is_text = "json" in kind or kind.startswith("text/")
    return 200 <= status < 300 and is_text and "content-encoding" not in headers


def read_exchange(exchange: HttpExchange) -> HttpObservation:
    """Return query and output, read from the usual formats of requests and answers."""
    if exchange.status >= 500:
        error = f"HTTP {exchange.status}"
        return HttpObservation(query=read_query(exchange), output=None, error=error)
    return HttpObservation(query=read_query(exchange), output=_read_output(exchange))


def read_query(exchange: HttpExchange) -> Any:
    """Return the last chat message, the question of a JSON object, or the body as text."""
    body = _decode_json(exchange.request)
    if isinstance(body, dict):
        messages = body.get("messages")
        if isinstance(messages, list) and messages and isinstance(messages[-1], dict):
            return messages[-1].get("content")
        return _first_field(body, QUERY_FIELDS)
    return exchange.request.decode(errors="replace") if body is None else body


def _read_output(exchange: HttpExchange) -> Any:
    if exchange.reply_headers.get("content-type", "").startswith("text/event-stream"):
        lines = exchange.reply.decode(errors="replace").splitlines()
        data = [line[5:].removeprefix(" ") for line in lines if line.startswith("data:")]
        return "".join(piece for piece in map(_read_event, data) if piece)
    body = _decode_json(exchange.reply)
    if body is None:
        return exchange.reply.decode(errors="replace")
    if isinstance(body, dict):
        return _read_choice(body, "message") or _first_field(body, OUTPUT_FIELDS)
    return body


def _read_event(data: str) -> str:
    """Return the text of one event: the content of OpenAI's delta, or the event as it is."""
    if data == "[DONE]":
        return ""
    body = _decode_json(data.encode())
    if isinstance(body, dict):
        found = _read_choice(body, "delta")
        return found if isinstance(found, str) else ""
    return data


def _read_choice(body: dict[str, Any], name: str) -> Any:
    choices = body.get("choices")
    if isinstance(choices, list) and choices and isinstance(choices[0], dict):
        message = choices[0].get(name)
        return message.get("content") if isinstance(message, dict) else None
    return None


def _first_field(body: dict[str, Any], names: Iterable[str]) -> Any:
    return next((body[name] for name in names if body.get(name) is not None), body)


def _decode_json(data: bytes) -> Any:
    try:
        return msgspec.json.decode(data)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        return None


class Middleware:
    """An ASGI application whose requests are observed by a monitor.

    Requests are observed if their method is one of `methods` and their path begins with one of
    `paths` (no `paths`: every path). Query and output are the usual fields of JSON bodies, or the
    body as text; they are read only if the request may be sampled. Your own function `read` gets
    every `HttpExchange` instead, and returns an `HttpObservation`, or None to ignore the exchange.
    `id_header` names the header with the interaction's id. Only your own proxy should set it: a
    client that chooses the id also chooses whether it is sampled. Exchanges over `most` bytes are
    dropped.
    """

    def __init__(
        self,
        app: App,
        monitor: "MonitorDecorators",
        *,
        paths: Iterable[str] = (),
        methods: Iterable[str] = ("POST",),
        read: Callable[[HttpExchange], HttpObservation | None] | None = None,
        tags: Iterable[str] = (),
        id_header: str | None = None,
        most: int = MAX_BYTES,
    ) -> None:
        self.app, self.monitor, self.most = app, monitor, most
        self.paths = (paths,) if isinstance(paths, str) else tuple(paths)
        self.methods = frozenset(method.upper() for method in methods)
        self.read, self.tags = read, tuple(tags)
        self.id_header = id_header and id_header.lower()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await Lifespan(receive, send, self.monitor.flush_for_shutdown).run(self.app, scope)
            return
        if scope["type"] != "http" or not self._is_observed(scope):
            await self.app(scope, receive, send)
            return
        capture = _Capture(receive, send, self.most)
        try:
            await self.app(scope, capture.receive, capture.send)
        except Exception as error:
            self._observe(scope, capture, error)
            raise
        self._observe(scope, capture, None)

    def _is_observed(self, scope: Scope) -> bool:
        path = str(scope.get("path", ""))
        return scope.get("method") in self.methods and (
            not self.paths or path.startswith(self.paths)
        )

    def _observe(self, scope: Scope, capture: "_Capture", error: Exception | None) -> None:
        """Observe an answered request. Never raises."""
        try:
            if capture.is_gone or (error is None and not capture.is_complete):
                return
            if capture.is_too_large:
                self.monitor._count_dropped()
                return
            if self.read is None:
                self._observe_lazily(scope, capture, error)
                return
            exchange = _make_exchange(scope, capture)
            found = self.read(exchange) if error is None else _read_failure(exchange, error)
            if found is not None:
                self.monitor.observe(**self._arguments(found, exchange.headers, capture))
        except Exception as problem:
            self.monitor._count_failure(problem)

    def _observe_lazily(self, scope: Scope, capture: "_Capture", error: Exception | None) -> None:
        """Observe a request; the built-in reader reads its bodies only if it may be sampled."""
        if error is None and not is_readable(capture.status, _decode_headers(capture.headers)):
            return
        headers = _decode_headers(scope.get("headers", ())) if self.id_header else {}

        def read() -> dict[str, Any]:
            exchange = _make_exchange(scope, capture)
            found = read_exchange(exchange) if error is None else _read_failure(exchange, error)
            return self._arguments(found, headers, capture)

        has_failed = error is not None or capture.status >= 500
        self.monitor._observe_lazily(self._read_id(headers), has_failed, read)

    def _read_id(self, headers: dict[str, str]) -> str | None:
        return headers.get(self.id_header) if self.id_header else None

    def _arguments(
        self, read: HttpObservation, headers: dict[str, str], capture: "_Capture"
    ) -> dict[str, Any]:
        return {
            **msgspec.structs.asdict(read),
            "id": self._read_id(headers) if read.id is None else read.id,
            "tags": (*self.tags, *read.tags),
            "case": None,
            "seconds": capture.ended - capture.begun,
        }


def _read_failure(exchange: HttpExchange, error: Exception) -> HttpObservation:
    return HttpObservation(query=read_query(exchange), output=None, error=error)


def _make_exchange(scope: Scope, capture: "_Capture") -> HttpExchange:
    return HttpExchange(
        method=str(scope["method"]),
        path=str(scope["path"]),
        headers=_decode_headers(scope.get("headers", ())),
        request=b"".join(capture.request),
        status=capture.status,
        reply_headers=_decode_headers(capture.headers),
        reply=b"".join(capture.reply),
    )


class Lifespan:
    """Runs the application's lifespan, and saves what waits before its server may end the process.

    An application that does not know the lifespan raises or returns before it has sent anything:
    then the events are answered for it, as the server would not send a shutdown otherwise.
    """

    def __init__(self, receive: Receive, send: Send, flush: Callable[[], Awaitable[None]]) -> None:
        self._receive, self._send, self._flush = receive, send, flush
        self._is_answered, self._received = False, list[str]()

    async def run(self, app: App, scope: Scope) -> None:
        try:
            await app(scope, self._receive_event, self._send_event)
        except Exception:
            if self._is_answered:
                raise
        if self._is_answered:
            return
        for kind in ("startup", "shutdown"):
            if f"lifespan.{kind}" not in self._received:
                await self._receive_event()
            await self._send_event({"type": f"lifespan.{kind}.complete"})

    async def _receive_event(self) -> Event:
        event = await self._receive()
        self._received.append(event["type"])
        return event

    async def _send_event(self, event: Event) -> None:
        self._is_answered = True
        if event["type"].startswith("lifespan.shutdown."):
            await self._flush()
        await self._send(event)


class _Capture:
    """Passes ASGI messages on in both directions, and keeps a copy of the bodies."""

    def __init__(self, receive: Receive, send: Send, most: int) -> None:
        self._receive, self._send, self._most = receive, send, most
        self.request: list[bytes] = []
        self.reply: list[bytes] = []
        self.headers: Iterable[Any] = ()
        self.status = self._size = 0
        self.is_too_large = self.is_gone = self.is_complete = False
        self.begun = self.ended = time.perf_counter()

    async def receive(self) -> Event:
        event = await self._receive()
        if event["type"] == "http.request":
            self._keep(self.request, event)
        elif event["type"] == "http.disconnect" and not self.is_complete:
            self.is_gone = True
        return event

    async def send(self, event: Event) -> None:
        try:
            await self._send(event)
        except BaseException:
            self.is_gone = True
            raise
        if event["type"] == "http.response.start":
            self.status, self.headers = event["status"], event.get("headers", ())
        elif event["type"] == "http.response.body":
            self._keep(self.reply, event)
            if not event.get("more_body", False):
                self.is_complete, self.ended = True, time.perf_counter()

    def _keep(self, parts: list[bytes], event: Event) -> None:
        body = event.get("body", b"")
        self._size += len(body)
        if self._size > self._most:
            self.is_too_large = True
            self.request.clear()
            self.reply.clear()
        elif body and not self.is_too_large:
            parts.append(bytes(body))


def _decode_headers(pairs: Iterable[Any]) -> dict[str, str]:
    return {key.decode("latin-1").lower(): value.decode("latin-1") for key, value in pairs}
