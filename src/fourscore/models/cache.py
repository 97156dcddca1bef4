"""Ask once. The same ask of the same model is answered from a file, in this run and in the next.

Only answers are kept, never errors. Asks that come while the same one is under way wait for it and
share what comes of it, so that a thousand equal cases cost one call. What was not asked anew cost
nothing: its usage is empty and `cached` is true. Samples that should differ need another `salt`.
"""

import asyncio
import os
from pathlib import Path

import msgspec
from msgspec.structs import replace

from fourscore.core import digest
from fourscore.core.numbers import check_whole
from fourscore.models.cache_writer import WriteBehindCache
from fourscore.models.messages import NO_USAGE, Model, Request, Response
from fourscore.models.per_loop import PerLoop, leave_alone
from fourscore.models.wrapper import ModelWrapper

MAX_BYTES = 512 << 20
#: Part of every key: a change in how replies are read makes the old ones strangers.
VERSION = 1


class CachedModel(ModelWrapper):
    """Replies in the file at `path`, at most about `max_bytes` of them: the longest unused go."""

    def __init__(self, model: Model, path: str | Path, *, max_bytes: int = MAX_BYTES) -> None:
        super().__init__(model)
        check_whole("max_bytes", max_bytes, low=1)
        self.path, self.max_bytes = Path(path).expanduser(), max_bytes
        #: What comes of asks under way; None where whoever asked has left.
        self._flights: PerLoop[dict[str, asyncio.Future[Response | None]]] = PerLoop(dict)
        self._desk: WriteBehindCache | None = None
        self.answered = 0  # asks that needed no call

    async def ask(self, request: Request) -> Response:
        key = digest([VERSION, self.fingerprint, request.digest])
        flights, desk = self._flights.get(), self._at_desk()
        while (flight := flights.get(key)) is not None:
            landed = await asyncio.shield(flight)
            if landed is not None:
                self.answered += 1
                return replace(landed, cached=True, usage=NO_USAGE)
        if (kept := _decoded(desk.get(key))) is not None:
            self.answered += 1
            return kept
        flight = flights[key] = asyncio.get_running_loop().create_future()
        try:
            reply = await self.model.ask(request)
        except Exception as error:
            flight.set_exception(error)
            flight.exception()  # heard, even where nobody waits
            raise
        except BaseException:
            flight.set_result(None)  # one of those who wait asks in its place
            raise
        finally:
            del flights[key]
        flight.set_result(reply)
        desk.put(key, msgspec.json.encode(reply))
        return reply

    def _at_desk(self) -> WriteBehindCache:
        if self._desk is not None and self._desk.pid != os.getpid():
            leave_alone(self._desk)  # its thread did not survive the fork
            self._desk = None
        if self._desk is None:
            self._desk = WriteBehindCache(self.path, self.max_bytes)
        return self._desk

    def close(self) -> None:
        """Close the file; the next ask opens it again."""
        desk, self._desk = self._desk, None
        if desk is not None and desk.pid == os.getpid():
            desk.close()

    def __reduce__(self) -> tuple[object, ...]:
        return (_again, (self.model, self.path, self.max_bytes))


def _decoded(stored: bytes | None) -> Response | None:
    """The reply as from a cache; None where it cannot be read, and is asked anew."""
    if stored is None:
        return None
    try:
        return replace(msgspec.json.decode(stored, type=Response), cached=True, usage=NO_USAGE)
    except (msgspec.DecodeError, ValueError, RecursionError):
        return None


def _again(model: Model, path: Path, max_bytes: int) -> CachedModel:
    return CachedModel(model, path, max_bytes=max_bytes)
