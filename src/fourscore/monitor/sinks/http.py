"""Posts alerts over HTTP, without redirects, with a timeout for the whole request.

Errors name only the host and the status. The path may be a secret (Slack's is), and the server's
reply may quote it.
"""

import asyncio
from collections.abc import Mapping
from http import HTTPStatus
from urllib.parse import urlsplit

from fourscore.core import ConfigError
from fourscore.core.secrets import remember_spec
from fourscore.executors.portal import PORTAL
from fourscore.models.http_client import HttpClient, HttpError, HttpResponse
from fourscore.monitor.delivery import SinkError
from fourscore.monitor.sinks.secrets import Secret

#: Seconds for the whole request; well below the lease of an alert.
TIMEOUT = 15.0


class Address:
    """An http or https URL; only its host and port are ever shown."""

    def __init__(self, url: str | Secret, path: str = "") -> None:
        text = url.reveal() if isinstance(url, Secret) else url
        remember_spec(text)
        try:
            parts = urlsplit(text)
            port = parts.port
        except ValueError:
            raise ConfigError("this is not a valid URL", field="url") from None
        if parts.scheme not in ("http", "https") or not parts.hostname or not text.isprintable():
            raise ConfigError("expected a URL with http:// or https://", field="url")
        if " " in text or not text.isascii():
            raise ConfigError("expected a URL of ASCII characters without spaces", field="url")
        if parts.username is not None:
            raise ConfigError("expected a URL without a user name or password", field="url")
        self.host, self.port = parts.hostname, port
        self._url = parts._replace(path=parts.path.rstrip("/") + path).geturl() if path else text

    def __str__(self) -> str:
        return self.host if self.port is None else f"{self.host}:{self.port}"

    __repr__ = __str__

    def post(self, body: bytes, headers: Mapping[str, str], timeout: float | None = None) -> None:
        """Post and wait; raise a `SinkError` if no reply comes or its status is not 2xx."""
        seconds = TIMEOUT if timeout is None else timeout
        try:
            response = PORTAL.run(self._post(body, headers, seconds))
        except TimeoutError:
            raise SinkError(f"{self}: no answer within {seconds:g} s") from None
        except HttpError as error:
            raise SinkError(f"{self}: {error.reason}") from None
        if not 200 <= response.status < 300:
            again = response.header("Retry-After")
            wait = float(again) if again.isdecimal() and len(again) < 7 else None
            raise SinkError(f"{self}: {_phrase(response.status)}", again=wait)

    async def _post(self, body: bytes, headers: Mapping[str, str], seconds: float) -> HttpResponse:
        client = HttpClient(self._url, headers)
        try:
            async with asyncio.timeout(seconds):
                return await client.post(body)
        finally:
            await client.close()


def _phrase(status: int) -> str:
    try:
        return f"{status} {HTTPStatus(status).phrase}"
    except ValueError:
        return str(status)
