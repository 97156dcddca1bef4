"""Serve an app with uvicorn on a socket; signals stop it once all requests are answered."""

import math
import os
import signal
import socket
from collections.abc import Callable
from contextlib import suppress
from functools import partial

import uvicorn
from uvicorn.supervisors import Multiprocess

from fourscore.core import ConfigError
from fourscore.formats.plain_text import PlainFormatter
from fourscore.server.app import App
from fourscore.server.header_limits import LimitedHttpProtocol
from fourscore.server.settings import Settings
from fourscore.stores.errors import StoreError

#: Connections that may wait to be accepted.
BACKLOG = 2048
#: Seconds past the last deadline before requests are cut off when the server stops.
STOP_SLACK = 2
_LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"plain": {"()": PlainFormatter}},
    "handlers": {
        "stderr": {
            "class": "logging.StreamHandler",
            "formatter": "plain",
            "stream": "ext://sys.stderr",
        }
    },
    "loggers": {
        # Nothing of a request is logged by uvicorn: a header or an address may hold the token.
        "uvicorn.error": {"handlers": ["stderr"], "level": "ERROR", "propagate": False},
        "fourscore.monitor": {"handlers": ["stderr"], "level": "INFO", "propagate": False},
        "fourscore.server": {"handlers": ["stderr"], "level": "INFO", "propagate": False},
    },
}


def serve(app: App, announce: Callable[[str], None]) -> None:
    """Serve until SIGTERM or SIGINT, then answer what is under way. `announce` gets the address."""
    listener = open_listener(app.settings)
    ready = partial(announce, get_address(listener))
    config = _make_config(app)
    if app.settings.workers > 1:
        ready()  # connections wait for the first process that is up
        _serve_in_processes(config, listener)
    else:
        _serve_here(config, listener, app, ready)


def open_listener(settings: Settings) -> socket.socket:
    """Return a socket that already accepts connections, so that its address can be announced."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            settings.host or None, settings.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        settings.check_host(str(address[0]))  # a name may resolve differently than a moment ago
        listener = socket.socket(family, kind, protocol)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        listener.listen(BACKLOG)
    except OSError as error:
        where = f"{settings.host}:{settings.port}"
        raise ConfigError(f"cannot listen on {where}: {error.strerror}", field="--port") from None
    return listener


def get_address(listener: socket.socket) -> str:
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def _make_config(app: App) -> uvicorn.Config:
    settings = app.settings
    return uvicorn.Config(
        app,
        loop="uvloop",
        http=LimitedHttpProtocol,
        ws="none",
        lifespan="on",
        log_config=_LOGGING,
        access_log=False,
        proxy_headers=False,
        server_header=False,
        backlog=BACKLOG,
        workers=settings.workers,
        timeout_graceful_shutdown=math.ceil(settings.deadline) + STOP_SLACK,
        callback_notify=partial(_stop_with_parent, os.getpid()) if settings.workers > 1 else None,
        timeout_notify=1,
    )


class _Server(uvicorn.Server):
    """uvicorn's server, which calls `ready` once it accepts requests."""

    def __init__(self, config: uvicorn.Config, ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._ready = ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._ready()


def _serve_here(
    config: uvicorn.Config, listener: socket.socket, app: App, ready: Callable[[], None]
) -> None:
    server = _Server(config, ready)

    def stop(*_: object) -> None:
        server.should_exit = True

    # uvicorn installs its own handlers, and raises the signal again when it has stopped. With these
    # that second signal ends nothing, and one that comes before uvicorn's handlers stops it too.
    before = {name: signal.signal(name, stop) for name in (signal.SIGTERM, signal.SIGINT)}
    try:
        with suppress(SystemExit):  # raised by uvicorn where the start failed
            server.run(sockets=[listener])
    finally:
        for name, handler in before.items():
            signal.signal(name, handler)
    if isinstance(app.startup_error, StoreError):
        raise app.startup_error
    if app.startup_error is not None:
        raise ConfigError(f"the judge does not start: {app.startup_error}")


def _serve_in_processes(config: uvicorn.Config, listener: socket.socket) -> None:
    supervisor = Multiprocess(config, sockets=[listener])
    supervisor.run()
    if not supervisor.signal_queue and any(p.exitcode == 3 for p in supervisor.processes):
        raise ConfigError("the server's processes do not start; see their messages above")


async def _stop_with_parent(parent: int) -> None:
    """Stop a worker process whose supervisor was killed; uvicorn calls this every second."""
    if os.getppid() != parent:
        signal.raise_signal(signal.SIGTERM)
