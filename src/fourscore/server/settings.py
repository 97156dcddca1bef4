"""The settings of a server, checked before it starts."""

import msgspec

from fourscore.core import ConfigError
from fourscore.server.auth import TOKEN_VARIABLE, is_loopback


class MonitorSettings(msgspec.Struct, frozen=True, kw_only=True):
    """The monitor of a server: where traces are stored, and which of them are scored.

    `budget` is for the models of its judges, each hour; without `keep_text` only the beginnings of
    question and answer are stored. A trace is complete when its root span has come and no other
    for `quiet` seconds, or `longest` seconds after its first span. `alerts` is the file of the
    sinks; without one alerts are logged.
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
    """The settings of `fourscore serve`; `token` is a digest, so the token cannot be shown.

    Requests may name `host`, loopback and `allowed_hosts` as their Host; with a token and no
    `allowed_hosts`, any.
    """

    host: str = "127.0.0.1"
    allowed_hosts: tuple[str, ...] = ()
    port: int = 8712
    token: bytes | None = None
    max_body: int = 8 * 2**20
    deadline: float = 30.0
    concurrency: int = 256
    workers: int = 1
    judge_workers: int = 4
    monitor: MonitorSettings | None = None

    def __post_init__(self) -> None:
        self.check_host(self.host)

    def check_host(self, host: str) -> None:
        """Raise a `ConfigError` where other machines can reach the host and there is no token."""
        if self.token is None and not is_loopback(host):
            raise ConfigError(
                f"{host or 'every address'} can be reached from other machines, so it needs a"
                f" token: --token-file FILE or {TOKEN_VARIABLE}",
                field="--host",
            )
