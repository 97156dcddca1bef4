"""The process: a socket, uvicorn on it, and signals that end it when all it took is answered."""

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
from fourscore.server.app import App
from fourscore.server.guard import Guarded
from fourscore.server.settings import Settings
from fourscore.stores.errors import StoreError

#: Connections that may wait to be accepted.
BACKLOG = 2048
#: Beyond the last deadline, before requests are cut off when the server stops.
SLACK = 2
_LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"plain": {"format": "fourscore: %(message)s"}},
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
    """Serve until SIGTERM or SIGINT, then finish what was taken. `announce` gets the address."""
    listener = listening(app.settings)
    ready = partial(announce, address_of(listener))
    config = _config(app)
    if app.settings.workers > 1:
        ready()  # connections wait for the first process that is up
        _several(config, listener)
    else:
        _alone(config, listener, app, ready)


def listening(settings: Settings) -> socket.socket:
    """A socket that already takes connections, so that the address is true once it is told."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            settings.host or None, settings.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        settings.check(str(address[0]))  # a name may mean another address than a moment ago
        listener = socket.socket(family, kind, protocol)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        listener.listen(BACKLOG)
    except OSError as error:
        where = f"{settings.host}:{settings.port}"
        raise ConfigError(f"cannot listen on {where}: {error.strerror}", field="--port") from None
    return listener


def address_of(listener: socket.socket) -> str:
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def _config(app: App) -> uvicorn.Config:
    settings = app.settings
    return uvicorn.Config(
        app,
        loop="uvloop",
        http=Guarded,
        ws="none",
        lifespan="on",
        log_config=_LOGGING,
        access_log=False,
        proxy_headers=False,
        server_header=False,
        backlog=BACKLOG,
        workers=settings.workers,
        timeout_graceful_shutdown=math.ceil(settings.deadline) + SLACK,
        callback_notify=partial(_leave_with_parent, os.getpid()) if settings.workers > 1 else None,
        timeout_notify=1,
    )


class _Server(uvicorn.Server):
    """uvicorn's, which says when it is ready."""

    def __init__(self, config: uvicorn.Config, ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._ready = ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._ready()


def _alone(
    config: uvicorn.Config, listener: socket.socket, app: App, ready: Callable[[], None]
) -> None:
    server = _Server(config, ready)

    def stop(*_: object) -> None:
        server.should_exit = True

    # uvicorn puts its own handlers in front, and raises the signal again when it is done: these
    # make that the end of a command that did what it was asked, and catch what comes before.
    before = {name: signal.signal(name, stop) for name in (signal.SIGTERM, signal.SIGINT)}
    try:
        with suppress(SystemExit):  # how uvicorn says that the start failed
            server.run(sockets=[listener])
    finally:
        for name, handler in before.items():
            signal.signal(name, handler)
    if isinstance(app.failure, StoreError):
        raise app.failure
    if app.failure is not None:
        raise ConfigError(f"the judge does not start: {app.failure}")


def _several(config: uvicorn.Config, listener: socket.socket) -> None:
    supervisor = Multiprocess(config, sockets=[listener])
    supervisor.run()
    if not supervisor.signal_queue and any(p.exitcode == 3 for p in supervisor.processes):
        raise ConfigError("the server's processes do not start; what they said stands above")


async def _leave_with_parent(parent: int) -> None:
    """In a process of several, every second: one whose supervisor was killed must not stay."""
    if os.getppid() != parent:
        signal.raise_signal(signal.SIGTERM)
