"""Outgoing HTTP: requests to one address, over kept connections, with replies bounded in size.

    client = HttpClient("https://api.example.com/v1", {"Authorization": "Bearer …"})
    response = await client.post(b"{}")

A thin layer over aiohttp, which takes a quarter of a second to import and is loaded by the first
post. Redirects are not followed, cookies not kept, compressed replies refused. The caller sets the
deadline: a post that is cancelled closes its connection. Proxies come from HTTPS_PROXY, HTTP_PROXY,
ALL_PROXY and NO_PROXY, trusted authorities from SSL_CERT_FILE and SSL_CERT_DIR. aiohttp's own
`trust_env` is not used: it reads ~/.netrc for every request, whose password replaces the API key.

Errors name no path and keep no cause: those of aiohttp hold the request, and so the key.
"""

from base64 import b64encode
from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import quote, unquote, urlsplit
from urllib.request import getproxies, proxy_bypass

from fourscore.core import ConfigError

if TYPE_CHECKING:
    from aiohttp import ClientResponse
    from yarl import URL

    from fourscore.models.http_session import HttpSession

#: A reply longer than this is refused.
MAX_REPLY_BYTES = 16 * 1024 * 1024
DEFAULT_HEADERS = {
    "content-type": "application/json",
    "accept": "application/json",
    "accept-encoding": "identity",
    "user-agent": "fourscore",
}
#: What may stand in an address unquoted; a percent sign is there because somebody quoted.
UNQUOTED = "/%:@!$&'()*+,;=~?"


class HttpError(Exception):
    """No reply. `connected`: whether there was a connection; `permanent`: retrying cannot help.

    `lost`: there was no connection, or it ended before the first byte of an answer. `reason` leaves
    out what the server sent (`quoted`), which may repeat a secret of the request.
    """

    def __init__(
        self,
        reason: str,
        quoted: str = "",
        *,
        connected: bool = True,
        permanent: bool = False,
        lost: bool = False,
    ) -> None:
        super().__init__(f"{reason}: {quoted}" if quoted else reason)
        self.reason, self.connected, self.permanent = reason, connected, permanent
        self.lost = lost or not connected


class ReplyTooLongError(HttpError):
    """The reply is longer than `MAX_REPLY_BYTES`."""

    def __init__(self) -> None:
        super().__init__(f"the answer is longer than {MAX_REPLY_BYTES >> 20} MiB")


class HttpResponse(NamedTuple):
    """A reply of any status."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    def header(self, name: str) -> str:
        """Return the value of a header, stripped; empty where there is none."""
        return self.headers.get(name, "").strip()


class HttpClient:
    """Posts to one address, in the event loop of its first post."""

    def __init__(
        self,
        url: str,
        headers: Mapping[str, str] | None = None,
        *,
        connect_timeout: float | None = None,
    ) -> None:
        parts = urlsplit(url)
        host = _encode_host(parts.netloc.rpartition("@")[2])
        self._origin = f"{parts.scheme}://{host}"
        self._path = quote(parts.path or "/", safe=UNQUOTED)
        self._query = f"?{quote(parts.query, safe=UNQUOTED)}" if parts.query else ""
        self._proxy = find_proxy(parts.scheme, host)
        self._connect_timeout = connect_timeout
        self._headers = dict(DEFAULT_HEADERS)
        if parts.username is not None:
            self._headers["authorization"] = _basic_auth(parts.username, parts.password or "")
        self._headers |= _check_headers(headers or {})
        self._urls: dict[str, URL] = {}
        self._session: HttpSession | None = None
        self._closed = False

    @property
    def closed(self) -> bool:
        return self._closed

    async def close(self) -> None:
        """Close the connections. A post under way fails."""
        self._closed = True
        session, self._session = self._session, None
        if session is not None:
            await session.close()

    async def post(self, body: bytes, path: str = "") -> HttpResponse:
        """Post to `path` below the address; `HttpError` where no whole reply comes back."""
        session = self._session or self._open_session()
        url = self._urls.get(path) or self._make_url(path)
        return await session.send("POST", url, body, self._headers)

    async def get(self) -> HttpResponse:
        """Get the address; `HttpError` where no whole reply comes back."""
        session = self._session or self._open_session()
        return await session.send("GET", self._make_url(""), None, self._headers)

    async def connect(self) -> None:
        """Connect to the address and close the connection; `HttpError` where that fails.

        Behind a proxy only a request shows who is there: a HEAD, without a body.
        """
        session = self._session or self._open_session()
        if self._proxy is None:
            await session.connect(self._origin)
            return
        answer = await session.send("HEAD", self._make_url(""), None, self._headers)
        if answer.status in (502, 503, 504):
            raise HttpError(f"the proxy answered {answer.status}", connected=False)

    def _open_session(self) -> "HttpSession":
        from fourscore.models.http_session import HttpSession

        if self._closed:
            raise RuntimeError("this HTTP client is closed")
        self._session = HttpSession(proxy=self._proxy, connect_timeout=self._connect_timeout)
        return self._session

    def _make_url(self, path: str) -> "URL":
        from yarl import URL

        below = f"{self._path.rstrip('/')}/{quote(path, safe=UNQUOTED)}" if path else self._path
        url = URL(f"{self._origin}{below}{self._query}", encoded=True)
        self._urls[path] = url
        return url


async def read_response(response: "ClientResponse") -> HttpResponse:
    """Read a reply to its end, if it is not too long and not compressed."""
    if response.status == 101:
        raise HttpError("the reply is not HTTP", "the server changed the protocol (status 101)")
    encoding = response.headers.get("Content-Encoding", "").strip()
    if encoding not in ("", "identity"):
        raise HttpError("the reply is compressed, which was not asked for", encoding[:20])
    blocks, size = [], 0
    async for block in response.content.iter_any():
        size += len(block)
        if size > MAX_REPLY_BYTES:
            raise ReplyTooLongError
        blocks.append(block)
    return HttpResponse(response.status, response.headers, b"".join(blocks))


def find_proxy(scheme: str, host: str) -> str | None:
    """Return the proxy that the environment names for a host (with its port), if any."""
    proxies = getproxies()
    proxy = proxies.get(scheme) or proxies.get("all")
    if not proxy or proxy_bypass(host):
        return None
    url = proxy if "://" in proxy else f"http://{proxy}"
    if not url.startswith(("http://", "https://")):
        kind = url.partition(":")[0]
        message = f"the proxy of {scheme.upper()}_PROXY or ALL_PROXY is of the kind {kind}"
        raise ConfigError(f"{message}: expected http:// or https://, or the host in NO_PROXY")
    return url


def _basic_auth(user: str, password: str) -> str:
    return f"Basic {b64encode(f'{unquote(user)}:{unquote(password)}'.encode()).decode()}"


def _encode_host(host: str) -> str:
    try:
        return host if host.isascii() else host.encode("idna").decode()
    except UnicodeError as error:
        raise ConfigError(f"{host!r} cannot be the name of a host: {error}") from None


def _check_headers(headers: Mapping[str, str]) -> dict[str, str]:
    for text in headers.values():
        if not text.isprintable():
            raise ConfigError("a header of several lines")  # without its text, which may be a key
    return {name.lower(): text for name, text in headers.items()}
