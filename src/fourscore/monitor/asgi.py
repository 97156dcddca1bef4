"""An ASGI middleware: requests are handed on as they are, and observed when they are answered.

It sees every message and changes none: what the application sends goes out before it is looked at,
so that streams stay streams. Bodies are kept up to a size; a longer answer is not judged by its
beginning, but counted as dropped. An answer that the client did not wait for is not observed.
"""

import time
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fourscore.monitor.decorators import MonitorDecorators

from typing import NamedTuple

import msgspec

Scope = MutableMapping[str, Any]
Event = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Event]]
Send = Callable[[Event], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

#: Bytes kept of a request and of an answer.
MOST = 256 << 10


#: Where a request says what is asked, and an answer what was said, if they are JSON objects.
ASKED = ("query", "question", "input", "prompt", "message", "text")
SAID = ("output", "answer", "response", "text", "content", "message", "completion")


class HttpExchange(NamedTuple):
    """A request and its answer, whole, with the header fields by name in lower case."""

    method: str
    path: str
    headers: dict[str, str]
    request: bytes
    status: int
    reply_headers: dict[str, str]
    reply: bytes


class Read(NamedTuple):
    """What an exchange comes to; `error` where the answer says that the agent failed."""

    query: Any
    output: Any
    id: Any = None
    tags: Iterable[str] = ()
    trace: Any = None
    error: Any = None
    feedback: Any = None


def readable(status: int, headers: dict[str, str]) -> bool:
    """Not what the client did wrong, nor what is no plain text; a failure of ours needs none."""
    if status >= 500:
        return True
    kind = headers.get("content-type", "")
    text = "json" in kind or kind.startswith("text/")
    return 200 <= status < 300 and text and "content-encoding" not in headers


def read_exchange(exchange: HttpExchange) -> Read:
    """The usual shapes of requests and answers."""
    if exchange.status >= 500:
        return Read(asked(exchange), None, error=f"HTTP {exchange.status}")
    return Read(asked(exchange), _said(exchange))


def asked(exchange: HttpExchange) -> Any:
    body = _json(exchange.request)
    if isinstance(body, dict):
        messages = body.get("messages")
        if isinstance(messages, list) and messages and isinstance(messages[-1], dict):
            return messages[-1].get("content")
        return _first(body, ASKED)
    return exchange.request.decode(errors="replace") if body is None else body


def _said(exchange: HttpExchange) -> Any:
    if exchange.reply_headers.get("content-type", "").startswith("text/event-stream"):
        lines = exchange.reply.decode(errors="replace").splitlines()
        data = [line[5:].removeprefix(" ") for line in lines if line.startswith("data:")]
        return "".join(piece for piece in map(_piece, data) if piece)
    body = _json(exchange.reply)
    if body is None:
        return exchange.reply.decode(errors="replace")
    if isinstance(body, dict):
        return _choice(body, "message") or _first(body, SAID)
    return body


def _piece(data: str) -> str:
    """The text of one event: OpenAI's deltas, else the event itself."""
    if data == "[DONE]":
        return ""
    body = _json(data.encode())
    if isinstance(body, dict):
        found = _choice(body, "delta")
        return found if isinstance(found, str) else ""
    return data


def _choice(body: dict[str, Any], name: str) -> Any:
    choices = body.get("choices")
    if isinstance(choices, list) and choices and isinstance(choices[0], dict):
        said = choices[0].get(name)
        return said.get("content") if isinstance(said, dict) else None
    return None


def _first(body: dict[str, Any], names: Iterable[str]) -> Any:
    return next((body[name] for name in names if body.get(name) is not None), body)


def _json(data: bytes) -> Any:
    try:
        return msgspec.json.decode(data)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        return None


class Middleware:
    """`app` with a monitor before it.

    `paths` are the beginnings of the paths that count, all where there are none; `methods` the
    methods. Query and output are the usual fields of JSON objects, else the text, and are read only
    where the request may be sampled. A `read` of one's own makes a `Read` of every `Exchange`, or
    None where there is nothing to judge. `id_header` names the field
    with the interaction's id: only one that your own proxy sets, as whoever chooses the id chooses
    whether it is sampled.
    """

    def __init__(
        self,
        app: App,
        monitor: "MonitorDecorators",
        *,
        paths: Iterable[str] = (),
        methods: Iterable[str] = ("POST",),
        read: Callable[[HttpExchange], Read | None] | None = None,
        tags: Iterable[str] = (),
        id_header: str | None = None,
        most: int = MOST,
    ) -> None:
        self.app, self.monitor, self.most = app, monitor, most
        self.paths = (paths,) if isinstance(paths, str) else tuple(paths)
        self.methods = frozenset(method.upper() for method in methods)
        self.read, self.tags = read, tuple(tags)
        self.id_header = id_header and id_header.lower()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or not self._counts(scope):
            await self.app(scope, receive, send)
            return
        capture = _Capture(receive, send, self.most)
        try:
            await self.app(scope, capture.receive, capture.send)
        except Exception as error:
            self._tell(scope, capture, error)
            raise
        self._tell(scope, capture, None)

    def _counts(self, scope: Scope) -> bool:
        path = str(scope.get("path", ""))
        return scope.get("method") in self.methods and (
            not self.paths or path.startswith(self.paths)
        )

    def _tell(self, scope: Scope, capture: "_Capture", error: Exception | None) -> None:
        """Never raises."""
        try:
            if capture.gone or (error is None and not capture.complete):
                return
            if capture.over:
                self.monitor._count_dropped()
                return
            if self.read is None:
                self._consider(scope, capture, error)
                return
            exchange = _exchange(scope, capture)
            read = self.read(exchange) if error is None else _failed(exchange, error)
            if read is not None:
                self.monitor.observe(**self._fields(read, exchange.headers, capture))
        except Exception as problem:
            self.monitor._count_failure(problem)

    def _consider(self, scope: Scope, capture: "_Capture", error: Exception | None) -> None:
        """The usual way, on which only what may be sampled is read."""
        if error is None and not readable(capture.status, _headers(capture.headers)):
            return
        headers = _headers(scope.get("headers", ())) if self.id_header else {}

        def read() -> dict[str, Any]:
            exchange = _exchange(scope, capture)
            found = read_exchange(exchange) if error is None else _failed(exchange, error)
            return self._fields(found, headers, capture)

        failed = error is not None or capture.status >= 500
        self.monitor._observe_lazily(self._id(headers), failed, read)

    def _id(self, headers: dict[str, str]) -> str | None:
        return headers.get(self.id_header) if self.id_header else None

    def _fields(self, read: Read, headers: dict[str, str], capture: "_Capture") -> dict[str, Any]:
        return {
            **read._asdict(),
            "id": self._id(headers) if read.id is None else read.id,
            "tags": (*self.tags, *read.tags),
            "case": None,
            "seconds": capture.ended - capture.begun,
        }


def _failed(exchange: HttpExchange, error: Exception) -> Read:
    return Read(asked(exchange), None, error=error)


def _exchange(scope: Scope, capture: "_Capture") -> HttpExchange:
    return HttpExchange(
        method=str(scope["method"]),
        path=str(scope["path"]),
        headers=_headers(scope.get("headers", ())),
        request=b"".join(capture.request),
        status=capture.status,
        reply_headers=_headers(capture.headers),
        reply=b"".join(capture.reply),
    )


class _Capture:
    """Both ways through, with a copy of what passes."""

    def __init__(self, receive: Receive, send: Send, most: int) -> None:
        self._receive, self._send, self._most = receive, send, most
        self.request: list[bytes] = []
        self.reply: list[bytes] = []
        self.headers: Iterable[Any] = ()
        self.status = self._size = 0
        self.over = self.gone = self.complete = False
        self.begun = self.ended = time.perf_counter()

    async def receive(self) -> Event:
        event = await self._receive()
        if event["type"] == "http.request":
            self._keep(self.request, event)
        elif event["type"] == "http.disconnect" and not self.complete:
            self.gone = True
        return event

    async def send(self, event: Event) -> None:
        try:
            await self._send(event)
        except BaseException:
            self.gone = True
            raise
        if event["type"] == "http.response.start":
            self.status, self.headers = event["status"], event.get("headers", ())
        elif event["type"] == "http.response.body":
            self._keep(self.reply, event)
            if not event.get("more_body", False):
                self.complete, self.ended = True, time.perf_counter()

    def _keep(self, parts: list[bytes], event: Event) -> None:
        body = event.get("body", b"")
        self._size += len(body)
        if self._size > self._most:
            self.over = True
            self.request.clear()
            self.reply.clear()
        elif body and not self.over:
            parts.append(bytes(body))


def _headers(pairs: Iterable[Any]) -> dict[str, str]:
    return {key.decode("latin-1").lower(): value.decode("latin-1") for key, value in pairs}
