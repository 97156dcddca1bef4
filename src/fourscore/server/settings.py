"""What an operator decides about a server, checked before it starts."""

import hashlib
import ipaddress
import os
import socket
from collections.abc import Mapping
from pathlib import Path

import msgspec

from fourscore.core import ConfigError

#: The environment variable that holds the token where no file does.
TOKEN = "FOURSCORE_TOKEN"
#: A shorter token can be guessed.
SHORTEST = 16


class MonitorSettings(msgspec.Struct, frozen=True, kw_only=True):
    """Where a server keeps the traces that it is sent, and which of them it scores.

    `budget` is for the models of its judges, each hour; without `keep_text` nothing but the
    beginnings of question and answer is kept. A trace is complete when its root has come and
    nothing more for `quiet` seconds, or `longest` seconds after its first span. `alerts` is the
    file of the sinks; without one alerts are logged.
    """

    path: str
    name: str = "default"
    sample_rate: float = 0.01
    budget: tuple[str, ...] = ()
    keep_text: bool = True
    quiet: float = 10.0
    longest: float = 3600.0
    alerts: str | None = None


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """`token` is a digest: the token itself is not kept, so it cannot be shown."""

    host: str = "127.0.0.1"
    port: int = 8712
    token: bytes | None = None
    max_body: int = 8 * 2**20
    deadline: float = 30.0
    concurrency: int = 256
    workers: int = 1
    judge_workers: int = 4
    monitor: MonitorSettings | None = None

    def __post_init__(self) -> None:
        self.check(self.host)

    def check(self, host: str) -> None:
        """Refuse an address that others can reach, unless they need a token."""
        if self.token is None and not is_loopback(host):
            raise ConfigError(
                f"{host or 'every address'} can be reached from other machines, so it needs a"
                f" token: --token-file FILE or {TOKEN}",
                field="--host",
            )


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach it; a name counts by everything it stands for."""
    if not host:  # every address there is
        return False
    try:
        found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except OSError as error:
        raise ConfigError(f"{host!r}: {error.strerror}", field="--host") from None
    addresses = [str(entry[4][0]).partition("%")[0] for entry in found]
    return all(ipaddress.ip_address(address).is_loopback for address in addresses)


def read_token(file: str | None, environment: Mapping[str, str] = os.environ) -> bytes | None:
    """The digest of the token in the file, else in the environment; None where there is none."""
    where, token = TOKEN, environment.get(TOKEN)
    if file is not None:
        where = "--token-file"
        try:
            token = Path(file).read_text(encoding="utf-8")
        except OSError as error:
            raise ConfigError(f"{file}: {error.strerror}", field=where) from None
        except UnicodeDecodeError:
            raise ConfigError(f"{file}: not UTF-8", field=where) from None
    if token is None:
        return None
    if len(token.strip()) < SHORTEST:
        message = (
            f"expected a token of at least {SHORTEST} characters; openssl rand -hex 32 makes one"
        )
        raise ConfigError(message, field=where)
    return digest(token.strip().encode())


def digest(token: bytes) -> bytes:
    return hashlib.sha256(token).digest()
