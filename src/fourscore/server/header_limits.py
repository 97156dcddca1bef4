"""Limits on request heads: uvicorn takes any number of header bytes, however slowly they come.

A client that has shown no token yet could fill the memory that way, or hold connections for ever.
The number of connections is limited too, before the files are used up that judges and stores need.
"""

import asyncio
from functools import cache

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

from fourscore.core.open_files import fit_to_open_files

#: Bytes of the request line and headers; what a single read brings beyond that is accepted.
MAX_HEAD_BYTES = 64 * 1024
#: Seconds for a whole head, from the connection or the first byte after an answer.
HEAD_TIMEOUT = 10.0
#: Open connections of one process; fewer where it may open few files.
MAX_CONNECTIONS = 4096


@cache
def _get_max_connections() -> int:
    return fit_to_open_files(MAX_CONNECTIONS, 1)


class LimitedHttpProtocol(HttpToolsProtocol):
    """uvicorn's protocol with limited heads; only asyncio's and the parser's callbacks change."""

    _timer: asyncio.TimerHandle | None = None
    _in_head = True  # a head is expected, or has begun
    _bytes = 0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        if len(self.connections) > _get_max_connections():
            self._refuse(b"503 Service Unavailable")
        else:
            self._start_timer()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self._in_head:
            self._bytes += len(data)
            if self._bytes > MAX_HEAD_BYTES:
                self._refuse(b"431 Request Header Fields Too Large")
            elif self._timer is None:  # only now: nearly every head comes in one piece
                self._start_timer()

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._in_head, self._bytes = True, 0

    def on_headers_complete(self) -> None:
        self._in_head = False
        self._stop_timer()
        super().on_headers_complete()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_timer()
        super().connection_lost(exc)

    def _start_timer(self) -> None:
        self._timer = self.loop.call_later(HEAD_TIMEOUT, self._refuse, b"408 Request Timeout")

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _refuse(self, status: bytes) -> None:
        self._stop_timer()
        if self.transport.is_closing():
            return
        previous: RequestResponseCycle | None = self.cycle  # None before the first request
        if previous is None or previous.response_complete:
            head = b"HTTP/1.1 %s\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
            self.transport.write(head % status)
        # else the client would take this for the reply to its previous request
        self.transport.close()
