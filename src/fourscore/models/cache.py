"""A cache of replies: a request that was answered before is answered from a file.

Only replies that can be used are stored: no errors, no empty text, and nothing that `is_usable` of
the request refuses. Else what a broken endpoint has said would come back when it is mended. Equal
requests at the same time wait for the first and share its outcome, so that a thousand equal cases
cost one call. A reply from the cache costs nothing: its usage is empty, `cached` is true. Samples
that should differ need different values of `salt`.
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
from fourscore.models.per_loop import PerLoop, keep_for_parent
from fourscore.models.wrapper import ModelWrapper

MAX_BYTES = 512 << 20
#: Part of every key: when replies are read differently, the old ones no longer count.
VERSION = 2


class CachedModel(ModelWrapper):
    """Stores replies in the file `path`; over `max_bytes` the least recently used are dropped."""

    def __init__(self, model: Model, path: str | Path, *, max_bytes: int = MAX_BYTES) -> None:
        super().__init__(model)
        check_whole("max_bytes", max_bytes, low=1)
        self.path, self.max_bytes = Path(path).expanduser(), max_bytes
        #: Requests under way; None is the result of one whose caller was cancelled.
        self._under_way: PerLoop[dict[str, asyncio.Future[Response | None]]] = PerLoop(dict)
        self._store: WriteBehindCache | None = None
        self.hits = 0  # requests that needed no call

    async def ask(self, request: Request) -> Response:
        key = digest([VERSION, self.fingerprint, request.digest])
        under_way, store = self._under_way.get(), self._open_store()
        while (first := under_way.get(key)) is not None:
            shared = await asyncio.shield(first)
            if shared is not None:
                self.hits += 1
                return replace(shared, cached=True, usage=NO_USAGE)
        stored_response = _decode_response(store.get(key))
        if stored_response is not None and _is_usable(request, stored_response):
            self.hits += 1
            return stored_response
        first = under_way[key] = asyncio.get_running_loop().create_future()
        try:
            response = await self.model.ask(request)
        except Exception as error:
            first.set_exception(error)
            first.exception()  # retrieved, or the loop would print it
            raise
        except BaseException:
            first.set_result(None)  # one of those that wait makes the call instead
            raise
        finally:
            del under_way[key]
        first.set_result(response)
        if _is_usable(request, response):
            store.put(key, msgspec.json.encode(response))
        return response

    def _open_store(self) -> WriteBehindCache:
        if self._store is not None and self._store.pid != os.getpid():
            keep_for_parent(self._store)  # its thread is not in this process
            self._store = None
        if self._store is None:
            self._store = WriteBehindCache(self.path, self.max_bytes)
        return self._store

    def close(self) -> None:
        """Close the file; the next request opens it again."""
        store, self._store = self._store, None
        if store is not None and store.pid == os.getpid():
            store.close()

    def __reduce__(self) -> tuple[object, ...]:
        return (_rebuild, (self.model, self.path, self.max_bytes))


def _is_usable(request: Request, response: Response) -> bool:
    if not response.text.strip():
        return False
    return request.is_usable is None or request.is_usable(response)


def _decode_response(stored: bytes | None) -> Response | None:
    """Decode a stored reply; None where it cannot be read."""
    if stored is None:
        return None
    try:
        return replace(msgspec.json.decode(stored, type=Response), cached=True, usage=NO_USAGE)
    except (msgspec.DecodeError, ValueError, RecursionError):
        return None


def _rebuild(model: Model, path: Path, max_bytes: int) -> CachedModel:
    return CachedModel(model, path, max_bytes=max_bytes)
