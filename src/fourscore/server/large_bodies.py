"""Read and judge large bodies apart, so that other requests are answered meanwhile.

All of them share one event loop in a thread of its own. Judges bounded by the size of their input
take milliseconds for a small body, and seconds for eight megabytes of small outputs; reading deeply
nested metadata takes as long.
"""

import asyncio
import threading
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from typing import Any, TypeVar

from fourscore.core import Call, Result, Rubric, Score, call_judge
from fourscore.core.judge import safe_repr
from fourscore.judges.scorer import score_outputs
from fourscore.server.messages import Group

T = TypeVar("T")
#: Bytes from which a body is large: a smaller one is read and judged in some milliseconds.
LARGE = 32 * 1024


class LargeBodies:
    """A thread with an event loop, started when the first large body comes."""

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None

    async def read(self, read: Callable[[bytes], T], body: bytes) -> T:
        """Return what `read` makes of a body."""

        async def work() -> T:
            return read(body)

        return await self._run(work())

    async def score(self, rubric: Rubric, groups: Sequence[Group]) -> list[list[Score]]:
        """Return the scores of each group; a rubric whose judges are bounded needs no more."""

        async def work() -> list[list[Score]]:
            executor = _OneByOne()
            scored: Sequence[Awaitable[list[Score]]] = [
                score_outputs(rubric, *group, executor=executor) for group in groups
            ]
            return await asyncio.gather(*scored)

        return await self._run(work())

    def _run(self, work: Coroutine[Any, Any, T]) -> Awaitable[T]:
        work = _keep_loop(work)
        if self._loop is None:
            self._loop = asyncio.new_event_loop()
            run = self._loop.run_forever
            threading.Thread(target=run, daemon=True, name="fourscore-large-bodies").start()
        return asyncio.wrap_future(asyncio.run_coroutine_threadsafe(work, self._loop))


async def _keep_loop(work: Coroutine[Any, Any, T]) -> T:
    """Return what the work returns; what would end the loop fails the work alone."""
    try:
        return await work
    except (SystemExit, KeyboardInterrupt) as error:
        raise RuntimeError(f"it raised {safe_repr(error)}") from error


class _OneByOne:
    """Begins one call at a time, so that a request past its deadline ends after the call begun."""

    def __init__(self) -> None:
        self._turn = asyncio.Lock()

    async def run(self, calls: Sequence[Call]) -> list[Result]:
        tasks: list[asyncio.Task[Result]] = []
        try:
            for call in calls:
                async with self._turn:
                    tasks.append(asyncio.ensure_future(call_judge(call)))
                    await asyncio.sleep(0)  # it runs to its end, or until it waits for a worker
            return await asyncio.gather(*tasks)
        except asyncio.CancelledError:
            for task in tasks:
                task.cancel()
            raise
