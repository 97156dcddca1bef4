"""What a request's headers must hold before anything else of it is read."""

import ipaddress
import re
from collections.abc import Mapping, Sequence
from functools import lru_cache

from fourscore.core import DataError
from fourscore.formats.otlp.http_body import CODINGS, BodyTooLargeError, inflate
from fourscore.server.messages import Refusal, bad_request
from fourscore.server.settings import Settings

#: A proxy in front may obey the first of two, where the last is read here.
_ONCE = (
    b"authorization",
    b"content-encoding",
    b"content-length",
    b"content-type",
    b"host",
    b"transfer-encoding",
)

#: An address in brackets or a name, and perhaps a port.
_HOST = re.compile(r"(?:\[([0-9a-f:.]+)\]|([a-z0-9_.-]+))(?::[0-9]*)?")


def read_headers(pairs: Sequence[tuple[bytes, bytes]]) -> dict[bytes, bytes]:
    """Return the headers by name; refuse two of a kind that may come once."""
    headers = dict(pairs)
    if len(headers) < len(pairs):
        names = [name for name, _ in pairs]
        for name in _ONCE:
            if names.count(name) > 1:
                raise bad_request(f"the header {name.decode().title()} came more than once")
    return headers


class HostCheck:
    """Refuses requests that name another host than the server's own.

    A web page can have its own name resolve to 127.0.0.1 (DNS rebinding), and the browser then lets
    it talk to a server on loopback. It still sends the page's name as Host.
    """

    def __init__(self, settings: Settings) -> None:
        own = ("localhost", settings.host, *settings.allowed_hosts)
        self._own = {name.lower().rstrip(".") for name in own if name}
        # A server with a token needs no such check: the page does not know the token.
        self._is_on = settings.token is None or bool(settings.allowed_hosts)
        self._is_own = lru_cache(maxsize=256)(self._parse)

    def check(self, headers: Mapping[bytes, bytes]) -> None:
        if self._is_on and not self._is_own(headers.get(b"host", b"")):
            message = (
                "the Host header names another server; names other than localhost and --host"
                " need --allowed-host NAME"
            )
            raise Refusal(421, "wrong_host", message)

    def _parse(self, host: bytes) -> bool:
        found = _HOST.fullmatch(host.decode("latin-1").lower())
        name = "" if found is None else (found[1] or found[2]).rstrip(".")
        return name in self._own or _is_loopback_address(name)


def _is_loopback_address(name: str) -> bool:
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False


def read_coding(headers: Mapping[bytes, bytes]) -> bytes:
    """Return the body's Content-Encoding, empty for none; refuse one that is not read here."""
    coding = headers.get(b"content-encoding", b"").strip().lower()
    if coding in (b"", b"identity"):
        return b""
    if coding not in CODINGS:
        message = "expected Content-Encoding: gzip, deflate or none"
        accepted = {"accept-encoding": "gzip, deflate"}
        raise Refusal(415, "unknown_encoding", message, headers=accepted)
    return coding


def decompress(body: bytes, coding: bytes, max_bytes: int) -> bytes:
    """Return the body without its coding; work and memory are bounded by `max_bytes`."""
    try:
        return inflate(body, coding, max_bytes)
    except BodyTooLargeError as error:
        raise Refusal(413, "too_large", error.message) from None
    except DataError as error:
        raise bad_request(error.message) from None
