"""Daemon threads for work that blocks.

The standard pool joins its threads when Python exits, so one call that never returns would keep
the process alive for ever. These threads are abandoned instead: a call that passed its deadline
keeps its thread, and the pool starts another in its place, up to a limit.
"""

import asyncio
import queue
import threading
from collections.abc import Callable, Coroutine
from typing import Any

#: Abandoned calls that are still running; past this the pool stops starting new threads.
MAX_STUCK = 64

Work = Callable[[], Coroutine[Any, Any, Any]]


class Threads:
    """A few threads, each with an event loop of its own."""

    def __init__(self, size: int) -> None:
        self.size = size
        self._queue: queue.SimpleQueue[_Job] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._alive = self._idle = self._stuck = 0

    async def run(self, work: Work) -> Any:
        """The result of `work`, made and driven in a thread; cancelling abandons it there."""
        job = _Job(work, asyncio.get_running_loop())
        self._queue.put(job)
        with self._lock:
            if not self._idle and self._alive - self._stuck < self.size:
                if self._alive >= self.size + MAX_STUCK:
                    raise TimeoutError(f"{self._stuck} calls of blocking judges are stuck")
                self._alive += 1
                threading.Thread(target=self._serve, daemon=True, name="rubrica-judge").start()
        try:
            return await job.future
        except asyncio.CancelledError:
            with self._lock:
                if not job.abandoned and job.running:
                    self._stuck += 1
                job.abandoned = True
            raise

    def _serve(self) -> None:
        with asyncio.Runner() as runner:
            while True:
                with self._lock:
                    self._idle += 1
                job = self._queue.get()
                with self._lock:
                    self._idle -= 1
                    if job.abandoned:
                        continue
                    job.running = True
                result, error = None, None
                try:
                    result = runner.run(job.work())
                except BaseException as raised:
                    error = raised if isinstance(raised, Exception) else RuntimeError(repr(raised))
                with self._lock:
                    job.running = False
                    if job.abandoned:
                        self._stuck -= 1
                        continue
                job.answer(result, error)


class _Job:
    def __init__(self, work: Work, loop: asyncio.AbstractEventLoop) -> None:
        self.work, self.loop = work, loop
        self.future: asyncio.Future[Any] = loop.create_future()
        self.running = self.abandoned = False

    def answer(self, result: Any, error: Exception | None) -> None:
        def deliver() -> None:
            if self.future.done():
                return
            if error is None:
                self.future.set_result(result)
            else:
                self.future.set_exception(error)

        if not self.loop.is_closed():
            self.loop.call_soon_threadsafe(deliver)
