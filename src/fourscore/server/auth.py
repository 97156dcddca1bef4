"""The token that clients send: where it is read from, and how a request is checked.

A client sends `Authorization: Bearer TOKEN`, or the token as the password of a URL: trainers such
as OpenRLHF take an address and nothing else, and `http://any:TOKEN@host/…` makes their HTTP client
send it.
"""

import binascii
import hashlib
import hmac
import ipaddress
import os
import socket
from collections.abc import Mapping
from pathlib import Path

from fourscore.core import ConfigError
from fourscore.core.secrets import remember_secrets

#: The environment variable of the token, for a server without `--token-file`.
TOKEN_VARIABLE = "FOURSCORE_TOKEN"
#: A shorter token can be guessed.
MIN_TOKEN_LENGTH = 16


def read_token(file: str | None, environment: Mapping[str, str] = os.environ) -> bytes | None:
    """Return the digest of the token in the file, else in the environment; None without one."""
    field, token = TOKEN_VARIABLE, environment.get(TOKEN_VARIABLE)
    if file is not None:
        field = "--token-file"
        try:
            token = Path(file).read_text(encoding="utf-8")
        except OSError as error:
            raise ConfigError(f"{file}: {error.strerror}", field=field) from None
        except UnicodeDecodeError:
            raise ConfigError(f"{file}: not UTF-8", field=field) from None
    if token is None:
        return None
    if len(token.strip()) < MIN_TOKEN_LENGTH:
        expected = f"expected a token of at least {MIN_TOKEN_LENGTH} characters"
        raise ConfigError(f"{expected}; openssl rand -hex 32 makes one", field=field)
    remember_secrets(token.strip())
    return _digest(token.strip().encode())


def is_authorized(header: bytes | None, token_digest: bytes) -> bool:
    """Whether an `Authorization` header carries the token with this digest."""
    token = _parse_authorization(header or b"")
    # Both sides are digests: neither the time taken nor the length reveals anything of the token.
    return token is not None and hmac.compare_digest(_digest(token), token_digest)


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach the host; for a name, all of its addresses count."""
    if not host:  # all interfaces
        return False
    try:
        found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except OSError as error:
        raise ConfigError(f"{host!r}: {error.strerror}", field="--host") from None
    addresses = [str(entry[4][0]).partition("%")[0] for entry in found]
    return all(ipaddress.ip_address(address).is_loopback for address in addresses)


def _parse_authorization(header: bytes) -> bytes | None:
    scheme, _, credentials = header.partition(b" ")
    match scheme.lower():
        case b"bearer":
            return credentials.strip()
        case b"basic":
            try:
                decoded = binascii.a2b_base64(credentials.strip(), strict_mode=True)
            except binascii.Error:
                return None
            return decoded.partition(b":")[2]
    return None


def _digest(token: bytes) -> bytes:
    return hashlib.sha256(token).digest()
