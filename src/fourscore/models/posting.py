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
from typing import Any
from urllib.parse import quote, unquote, urlsplit

from fourscore.core import ConfigError
from fourscore.models.connection import Answer, Connection, PostError

#: Seconds that an idle connection is kept.
IDLE = 30.0
#: Seconds that one of a host's addresses is ahead of the next.
STAGGER = 0.25
#: What may stand in an address as it is; a percent sign has been put there by someone.
PLAIN = "/%:@!$&'()*+,;=~?"


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
            raise ConfigError(f"{message}: pip install 'fourscore[http]'") from None
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
            "User-Agent": "fourscore",
            **(headers or {}),
        }
        self._headers = "".join(f"{name}: {_line(text)}\r\n" for name, text in named.items())
        self._heads: dict[str, bytes] = {}
        self._free: deque[Connection] = deque()
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

    def _keep(self, connection: Connection) -> None:
        connection.since = connection.loop.time()
        self._free.append(connection)
        while self._free[0].since < connection.since - IDLE:
            self._free.popleft().drop()

    def _idle(self) -> Connection | None:
        """The one that was used last: what the other side closes for idleness is left alone."""
        while self._free:
            connection = self._free.pop()
            if connection.keeps and connection.since >= connection.loop.time() - IDLE:
                return connection
            connection.drop()
        return None

    async def _opened(self) -> Connection:
        secure: dict[str, Any] = {}
        if self._secure:
            secure = {"ssl": _verified(), "server_hostname": self._host}
        try:
            async with asyncio.timeout(self._connect_in):
                reached = await _reached(self._host, self._port)
                try:
                    _, connection = await asyncio.get_running_loop().create_connection(
                        lambda: Connection(self._parser), sock=reached, **secure
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
