"""The part of the HTTP client that imports aiohttp: its connections, and its errors as ours."""

import asyncio
import ssl
from collections.abc import Mapping
from contextlib import suppress
from contextvars import ContextVar
from functools import cache
from typing import Any
from weakref import WeakSet

import aiohttp
from yarl import URL

from fourscore.models.http_client import HttpError, HttpResponse, read_response

#: Seconds that an idle connection is kept.
IDLE_SECONDS = 30.0


class _ConnectionUse:
    """What a post wants of its connection (`must_be_new`), and what it got (`reused`)."""

    def __init__(self, *, must_be_new: bool = False) -> None:
        self.must_be_new, self.reused = must_be_new, False


_USE: ContextVar[_ConnectionUse] = ContextVar("connection_use")


class _Connector(aiohttp.TCPConnector):
    """Reuses idle connections, but none on which the server has sent data without a request.

    aiohttp would take such data for the reply to the next request.
    """

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self._used: WeakSet[Any] = WeakSet()

    async def connect(self, req: Any, traces: Any, timeout: Any) -> Any:  # noqa: ASYNC109
        use = _USE.get()
        while True:
            connection = await super().connect(req, traces, timeout)
            protocol = connection.protocol
            if protocol not in self._used:
                self._used.add(protocol)
                return connection
            if protocol is not None and not (protocol.should_close or use.must_be_new):
                use.reused = True
                return connection
            connection.close()

    def __del__(self, *_: Any) -> None:
        """Say nothing: connections that nobody closed end with their loop or with the process."""


class HttpSession:
    """Connections of one event loop, through a proxy if there is one."""

    def __init__(self, *, proxy: str | None, connect_timeout: float | None) -> None:
        self._proxy, self._connect_timeout = proxy, connect_timeout
        # Headers go with each request: those of a session would go to the proxy, in CONNECT.
        self._session = aiohttp.ClientSession(
            connector=_Connector(limit=0, keepalive_timeout=IDLE_SECONDS, ssl=_make_tls_context()),
            cookie_jar=aiohttp.DummyCookieJar(),
            timeout=aiohttp.ClientTimeout(total=None, connect=connect_timeout),
            auto_decompress=False,
        )

    async def close(self) -> None:
        await self._session.close()

    def __del__(self) -> None:
        self._session.detach()  # or aiohttp prints that nobody closed it

    async def connect(self, origin: str) -> None:
        """Make a connection of its own to `scheme://host:port`, and close it."""
        url = URL(origin)
        tls = _make_tls_context() if url.scheme == "https" else None
        try:
            async with asyncio.timeout(self._connect_timeout):
                _, writer = await asyncio.open_connection(url.raw_host, url.port, ssl=tls)
        except TimeoutError:
            message = f"no connection within {self._connect_timeout:g} s"
            raise HttpError(message, connected=False) from None
        except OSError as error:
            message = f"no connection: {str(error) or type(error).__name__}"
            raise HttpError(message, connected=False) from None
        writer.close()
        with suppress(OSError):
            await writer.wait_closed()

    async def send(
        self, method: str, url: URL, body: bytes | None, headers: Mapping[str, str]
    ) -> HttpResponse:
        """Send once, or twice where the server had closed a kept connection in the meantime."""
        use = _ConnectionUse()
        try:
            return await self._send_once(method, url, body, headers, use)
        except (aiohttp.ServerDisconnectedError, aiohttp.ClientOSError) as error:
            if not use.reused or isinstance(error, aiohttp.ClientConnectorError):
                raise self._translate(error) from None
        except aiohttp.ClientError as error:
            raise self._translate(error) from None
        try:
            new = _ConnectionUse(must_be_new=True)
            return await self._send_once(method, url, body, headers, new)
        except aiohttp.ClientError as error:
            raise self._translate(error) from None

    async def _send_once(
        self,
        method: str,
        url: URL,
        body: bytes | None,
        headers: Mapping[str, str],
        use: _ConnectionUse,
    ) -> HttpResponse:
        _USE.set(use)
        request = self._session.request(
            method, url, data=body, headers=headers, proxy=self._proxy, allow_redirects=False
        )
        async with request as response:
            return await read_response(response)

    def _translate(self, error: aiohttp.ClientError) -> HttpError:
        if isinstance(error, aiohttp.ConnectionTimeoutError):
            return HttpError(f"no connection within {self._connect_timeout:g} s", connected=False)
        if isinstance(error, aiohttp.ClientHttpProxyError):
            message = f"no connection: the proxy {self._shown_proxy} answered {error.status}"
            return HttpError(message, connected=False, permanent=error.status in (403, 407))
        if isinstance(error, aiohttp.ClientProxyConnectionError):
            message = f"no connection to the proxy {self._shown_proxy}: {error.os_error}"
            return HttpError(message, connected=False)
        if isinstance(error, aiohttp.ClientConnectorCertificateError):
            message = f"no connection: {error.certificate_error}"
            return HttpError(message, connected=False, permanent=True)
        if isinstance(error, aiohttp.ClientConnectorError):
            cause = str(error.os_error) or type(error.os_error).__name__
            return HttpError(f"no connection: {cause}", connected=False)
        if isinstance(error, aiohttp.ClientPayloadError):
            return HttpError("the connection was closed in the middle of an answer")
        if isinstance(error, aiohttp.ClientResponseError):
            return HttpError("the reply is not HTTP", error.message)
        why = f": {error.strerror}" if isinstance(error, OSError) and error.strerror else ""
        return HttpError(f"the connection was closed before an answer{why}", lost=True)

    @property
    def _shown_proxy(self) -> str:
        url = URL(self._proxy or "")
        return f"{url.host}:{url.port}"


@cache
def _make_tls_context() -> ssl.SSLContext:
    """The default context, which trusts what SSL_CERT_FILE and SSL_CERT_DIR name."""
    context = ssl.create_default_context()
    context.set_alpn_protocols(["http/1.1"])
    return context
