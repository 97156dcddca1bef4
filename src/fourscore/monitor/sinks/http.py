"""Post one alert over HTTP, without redirects, and within some seconds whatever the server does.

Errors name the host and the status. The path may be a secret (Slack's is), and so may be whatever
a server says of it.
"""

import asyncio
from collections.abc import Mapping
from http import HTTPStatus
from urllib.parse import urlsplit

from fourscore.core import ConfigError
from fourscore.executors.portal import PORTAL
from fourscore.models.http_client import HttpClient, HttpError, HttpResponse
from fourscore.monitor.delivery import SinkError
from fourscore.monitor.sinks.secrets import Secret

#: Seconds for all of it; well below the lease of an alert.
TIMEOUT = 15.0


class Address:
    """An http or https URL; only its host and port are ever shown."""

    def __init__(self, url: str | Secret, path: str = "") -> None:
        text = url.reveal() if isinstance(url, Secret) else url
        try:
            parts = urlsplit(text)
            port = parts.port
        except ValueError:
            raise ConfigError("this is not a URL", field="url") from None
        if parts.scheme not in ("http", "https") or not parts.hostname or not text.isprintable():
            raise ConfigError("expected a URL with http:// or https://", field="url")
        if " " in text or not text.isascii():
            raise ConfigError("expected a URL of plain characters", field="url")
        if parts.username is not None:
            raise ConfigError("a name and password do not belong in a URL", field="url")
        self.host, self.port = parts.hostname, port
        self._url = parts._replace(path=parts.path.rstrip("/") + path).geturl() if path else text

    def __str__(self) -> str:
        return self.host if self.port is None else f"{self.host}:{self.port}"

    __repr__ = __str__

    def post(self, body: bytes, headers: Mapping[str, str], timeout: float | None = None) -> None:
        """Post and wait; `SinkError` where the status is not 2xx or no reply comes."""
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
