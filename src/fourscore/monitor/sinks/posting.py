"""One POST, from the standard library: no redirects and no proxies, which a signed body must not
follow, and an end after some seconds whatever the other side does.

Errors name the host and the status. The path may be a secret (Slack's is), and so may be whatever
a server says of it.
"""

import socket
import ssl
import threading
from collections.abc import Mapping
from contextlib import suppress
from http import HTTPStatus
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from urllib.parse import urlsplit

from fourscore.core import ConfigError
from fourscore.monitor.delivery import SinkError
from fourscore.monitor.sinks.secret import Secret

#: Seconds for all of it; well below the lease of an alert.
PATIENCE = 15.0


class Address:
    """An http or https URL, whose path and user are nobody's business."""

    def __init__(self, url: str | Secret, path: str = "") -> None:
        text = url.reveal() if isinstance(url, Secret) else url
        try:
            parts = urlsplit(text)
            port = parts.port
        except ValueError:
            raise ConfigError("it is no URL", field="url") from None
        if parts.scheme not in ("http", "https") or not parts.hostname or not text.isprintable():
            raise ConfigError("expected a URL with http:// or https://", field="url")
        if " " in text or not text.isascii():
            raise ConfigError("expected a URL of plain characters", field="url")
        if parts.username is not None:
            raise ConfigError("a name and password do not belong in a URL", field="url")
        self.secure, self.host, self.port = parts.scheme == "https", parts.hostname, port
        target = parts.path.rstrip("/") + path if path else parts.path or "/"
        self._target = f"{target}?{parts.query}" if parts.query else target

    def __str__(self) -> str:
        return self.host if self.port is None else f"{self.host}:{self.port}"

    __repr__ = __str__

    def post(self, body: bytes, headers: Mapping[str, str], patience: float | None = None) -> None:
        """Returns where the answer is 2xx; a `SinkError` where it is not, or there is none."""
        seconds = PATIENCE if patience is None else patience
        connection: HTTPConnection = (
            HTTPSConnection(
                self.host, self.port, timeout=seconds, context=ssl.create_default_context()
            )
            if self.secure
            else HTTPConnection(self.host, self.port, timeout=seconds)
        )
        # A timeout is of one read: who sends a byte a second would hold us for ever.
        late = threading.Event()
        alarm = threading.Timer(seconds, _cut, [connection, late])
        alarm.daemon = True
        alarm.start()
        try:
            connection.request("POST", self._target, body, dict(headers))
            with connection.getresponse() as response:
                status, again = response.status, response.getheader("Retry-After", "")
        except (OSError, HTTPException, ValueError) as error:
            if late.is_set() or isinstance(error, TimeoutError):
                raise SinkError(f"{self}: no answer within {seconds:g} s") from None
            words = getattr(error, "strerror", None) or type(error).__name__
            raise SinkError(f"{self}: {words}") from None
        finally:
            alarm.cancel()
            connection.close()
        if late.is_set():  # what was read until then looks like an answer
            raise SinkError(f"{self}: no answer within {seconds:g} s")
        if not 200 <= status < 300:
            wait = float(again) if again.isdecimal() and len(again) < 7 else None
            raise SinkError(f"{self}: {_phrase(status)}", again=wait)


def _cut(connection: HTTPConnection, late: threading.Event) -> None:
    late.set()
    sock = connection.sock
    if sock is not None:
        with suppress(OSError):
            socket.socket.shutdown(sock, socket.SHUT_RDWR)


def _phrase(status: int) -> str:
    try:
        return f"{status} {HTTPStatus(status).phrase}"
    except ValueError:
        return str(status)
