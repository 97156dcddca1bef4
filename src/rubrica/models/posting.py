"""POST over HTTP/1.1: connections to one host that are kept, and answers bounded in size.

As little as that takes, over the parser of Node.js: a general client costs several times as much
processor time for each call, and judging asks thousands of times. No proxy, no redirect, no cookie,
no compression. Whoever calls sets the time limit: a post that is cancelled drops its connection.
"""

import asyncio
import socket
import ssl
from base64 import b64encode
from collections import deque
from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import quote, unquote, urlsplit

from rubrica.core import ConfigError

if TYPE_CHECKING:
    from httptools import HttpResponseParser

#: An answer longer than this is refused.
MAX_ANSWER = 16 * 1024 * 1024
#: Bytes of headers in front of it.
MAX_HEAD = 256 * 1024
#: Seconds that an idle connection is kept.
IDLE = 30.0
#: Seconds that one of a host's addresses is ahead of the next.
STAGGER = 0.25
#: What may stand in an address as it is; a percent sign has been put there by someone.
PLAIN = "/%:@!$&'()*+,;=~?"


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


class Poster:
    """Posts to one address, in one event loop."""

    def __init__(
        self, url: str, headers: Mapping[str, str] | None = None, *, connect: float | None = None
    ) -> None:
        try:
            import aiohappyeyeballs  # noqa: F401 - asked for here, used for each connection
            import httptools
        except ImportError:
            message = "speaking HTTP needs httptools and aiohappyeyeballs"
            raise ConfigError(f"{message}: pip install 'rubrica[http]'") from None
        self._parser = httptools.HttpResponseParser
        parts = urlsplit(url)
        self._host = parts.hostname or ""
        self._secure = parts.scheme == "https"
        self._port = parts.port or (443 if self._secure else 80)
        self._connect_in = connect
        self._path = quote(parts.path or "/", safe=PLAIN)
        self._query = f"?{quote(parts.query, safe=PLAIN)}" if parts.query else ""
        named = {"Host": _ascii(parts.netloc.rpartition("@")[2])}
        if parts.username is not None:
            who = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
            named["Authorization"] = f"Basic {b64encode(who.encode()).decode()}"
        named |= {
            "Content-Type": "application/json",
            "Accept": "application/json",
            "Accept-Encoding": "identity",
            "User-Agent": "rubrica",
            **(headers or {}),
        }
        self._headers = "".join(f"{name}: {_line(text)}\r\n" for name, text in named.items())
        self._heads: dict[str, bytes] = {}
        self._free: deque[_Connection] = deque()
        self._closed = False

    @property
    def closed(self) -> bool:
        return self._closed

    async def close(self) -> None:
        """Drop the idle connections; those under way end with their posts."""
        self._closed = True
        while self._free:
            self._free.pop().drop()
        await asyncio.sleep(0)  # the loop takes leave of them

    async def post(self, body: bytes, path: str = "") -> Answer:
        """The answer, whatever its status; a `PostError` where none comes."""
        connection = self._idle() or await self._opened()
        try:
            answer = await connection.ask(b"%b%d\r\n\r\n%b" % (self._head(path), len(body), body))
        except BaseException:
            connection.drop()  # whatever comes now is nobody's answer
            raise
        if connection.keeps and not self._closed:
            self._keep(connection)
        else:
            connection.drop()
        packed = answer.header("content-encoding")
        if packed not in ("", "identity"):
            raise PostError(f"the answer is packed as {packed[:20]!r}, which was not asked for")
        return answer

    def _head(self, path: str) -> bytes:
        head = self._heads.get(path)
        if head is None:
            target = f"{self._path.rstrip('/')}/{quote(path, safe=PLAIN)}" if path else self._path
            first = f"POST {target}{self._query} HTTP/1.1\r\n"
            head = f"{first}{self._headers}Content-Length: ".encode("latin-1")
            self._heads[path] = head
        return head

    def _keep(self, connection: "_Connection") -> None:
        connection.since = connection.loop.time()
        self._free.append(connection)
        while self._free[0].since < connection.since - IDLE:
            self._free.popleft().drop()

    def _idle(self) -> "_Connection | None":
        """The one that was used last: what the other side closes for idleness is left alone."""
        while self._free:
            connection = self._free.pop()
            if connection.keeps and connection.since >= connection.loop.time() - IDLE:
                return connection
            connection.drop()
        return None

    async def _opened(self) -> "_Connection":
        secure: dict[str, Any] = {}
        if self._secure:
            secure = {"ssl": _verified(), "server_hostname": self._host}
        try:
            async with asyncio.timeout(self._connect_in):
                reached = await _reached(self._host, self._port)
                try:
                    _, connection = await asyncio.get_running_loop().create_connection(
                        lambda: _Connection(self._parser), sock=reached, **secure
                    )
                except BaseException:
                    reached.close()
                    raise
        except (OSError, ValueError) as error:
            lasting = isinstance(error, ssl.SSLCertVerificationError)
            words = f"no connection: {str(error) or type(error).__name__}"
            if isinstance(error, TimeoutError) and error.errno is None:  # ours, not the system's
                words = f"no connection within {self._connect_in:g} s"
            raise PostError(words, reached=False, lasting=lasting) from None
        return connection


class _Connection(asyncio.Protocol):
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


async def _reached(host: str, port: int) -> socket.socket:
    """A socket to whichever of the host's addresses is there first: IPv6 may lead nowhere."""
    from aiohappyeyeballs import start_connection

    loop = asyncio.get_running_loop()
    places = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return await start_connection(places, happy_eyeballs_delay=STAGGER, interleave=1, loop=loop)


@cache
def _verified() -> ssl.SSLContext:
    context = ssl.create_default_context()
    context.set_alpn_protocols(["http/1.1"])
    return context


def _ascii(host: str) -> str:
    try:
        return host if host.isascii() else host.encode("idna").decode()
    except UnicodeError as error:
        raise ConfigError(f"{host!r} cannot be the name of a host: {error}") from None


def _line(text: str) -> str:
    if not text.isprintable():
        raise ConfigError("a header of several lines")  # and not a word of what is in it
    return text
