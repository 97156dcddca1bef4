"""One connection of HTTP/1.1 on which POSTs are asked one after another, and what comes back."""

import asyncio
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from httptools import HttpResponseParser

#: An answer longer than this is refused.
MAX_ANSWER = 16 * 1024 * 1024
#: Bytes of headers in front of it.
MAX_HEAD = 256 * 1024


class PostError(Exception):
    """No answer: `reached` tells whether there was a connection, `lasting` that none will be."""

    def __init__(self, message: str, *, reached: bool = True, lasting: bool = False) -> None:
        super().__init__(message)
        self.reached, self.lasting = reached, lasting


class TooLongError(PostError):
    def __init__(self) -> None:
        super().__init__(f"the answer is longer than {MAX_ANSWER >> 20} MiB")


class Answer(NamedTuple):
    status: int
    headers: list[tuple[bytes, bytes]]
    body: bytes

    def header(self, name: str) -> str:
        """Its value, without the space around it; empty where there is none."""
        wanted = name.encode()
        values = (value for key, value in self.headers if key.lower() == wanted)
        return next(values, b"").decode("latin-1").strip()


class Connection(asyncio.Protocol):
    """One post at a time. What its parser finds comes in by the methods that begin with `on_`."""

    transport: asyncio.Transport

    def __init__(self, parser: "type[HttpResponseParser]") -> None:
        self.loop = asyncio.get_running_loop()
        self.keeps, self.since = True, 0.0
        self._parser = parser(self)
        self._answer: asyncio.Future[Answer] | None = None
        self._size = 0
        self._begin()

    def _begin(self) -> None:
        self._headers: list[tuple[bytes, bytes]] = []
        self._blocks: list[bytes] = []
        self._status = 0

    async def ask(self, request: bytes) -> Answer:
        self._begin()
        self._size = 0
        self._answer = self.loop.create_future()
        self.transport.write(request)
        return await self._answer

    def drop(self) -> None:
        self.keeps = False
        self.transport.abort()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = transport  # type: ignore[assignment]

    def data_received(self, data: bytes) -> None:
        self._size += len(data)
        if self._answer is None or self._answer.done():  # it speaks without being asked
            self.drop()
        elif self._size > MAX_ANSWER + MAX_HEAD:
            self._fail(TooLongError())
        else:
            try:
                self._parser.feed_data(data)
            except Exception as error:  # its errors have no base of their own with an upgrade's
                words = str(error) or type(error).__name__
                self._fail(PostError(f"it does not speak HTTP: {words}"))

    def connection_lost(self, error: Exception | None) -> None:
        self.keeps = False
        if self._answer is None or self._answer.done():
            return
        if error is None and self._status >= 200 and not self._sized():
            self.on_message_complete()  # an answer without a length ends with its connection
            return
        cut = "in the middle of" if self._status or self._headers else "before"
        why = f": {error}" if error is not None and str(error) else ""
        self._fail(PostError(f"the connection was closed {cut} an answer{why}"))

    def _sized(self) -> bool:
        names = {name.lower() for name, _ in self._headers}
        return not names.isdisjoint((b"content-length", b"transfer-encoding"))

    def _fail(self, error: PostError) -> None:
        self.drop()
        if self._answer is not None and not self._answer.done():
            self._answer.set_exception(error)

    def on_message_begin(self) -> None:
        if self._answer is None or self._answer.done():  # more than one answer to one post
            self.keeps = False

    def on_header(self, name: bytes, value: bytes) -> None:
        self._headers.append((name, value))

    def on_headers_complete(self) -> None:
        self._status = self._parser.get_status_code()
        self.keeps = self.keeps and self._parser.should_keep_alive()

    def on_body(self, block: bytes) -> None:
        self._blocks.append(block)

    def on_message_complete(self) -> None:
        if self._status < 200:  # that it goes on is no answer
            self._begin()
        elif self._answer is not None and not self._answer.done():
            self._answer.set_result(Answer(self._status, self._headers, b"".join(self._blocks)))
