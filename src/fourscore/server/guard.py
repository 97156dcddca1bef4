"""HTTP heads, bounded: uvicorn takes any number of header bytes, for as long as they trickle in.

A client that has shown no token yet could fill the memory that way, or hold connections for ever.
"""

import asyncio

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

#: Bytes of a request's line and headers; what one read brings beyond that is let through.
MOST = 64 * 1024
#: For a whole head, from the connection or the first byte after an answer.
SECONDS = 10.0


class Guarded(HttpToolsProtocol):
    """uvicorn's protocol; only asyncio's and the parser's own callbacks are extended."""

    _timer: asyncio.TimerHandle | None = None
    _open = True  # a head is expected, or has begun
    _bytes = 0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._wait()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self._open:
            self._bytes += len(data)
            if self._bytes > MOST:
                self._refuse(b"431 Request Header Fields Too Large")
            elif self._timer is None:  # only now: nearly every head comes in one piece
                self._wait()

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._open, self._bytes = True, 0

    def on_headers_complete(self) -> None:
        self._open = False
        self._stop()
        super().on_headers_complete()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop()
        super().connection_lost(exc)

    def _wait(self) -> None:
        self._timer = self.loop.call_later(SECONDS, self._refuse, b"408 Request Timeout")

    def _stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _refuse(self, status: bytes) -> None:
        self._stop()
        if self.transport.is_closing():
            return
        due: RequestResponseCycle | None = self.cycle  # None before the first request
        if due is None or due.response_complete:
            head = b"HTTP/1.1 %s\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
            self.transport.write(head % status)
        # else an answer is due to the request before, and this one would be taken for it
        self.transport.close()
