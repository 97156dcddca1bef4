"""Daemon threads for work that blocks.

The standard pool joins its threads when Python exits, so one call that never returns would keep
the process alive for ever. These threads are abandoned instead. A call is handed to one thread, an
idle one or a new one, and never waits behind another call, which might be the one that hangs.
"""

import asyncio
import os
import queue
import threading
from collections import deque
from collections.abc import Callable, Coroutine
from typing import Any

#: Calls at a time; past this a call waits for its turn.
MOST = 128
#: Abandoned calls that still run; past this no call is taken.
MAX_STUCK = 512
#: Idle threads that are kept.
KEPT = 64

Work = Callable[[], Coroutine[Any, Any, Any]]


class Threads:
    """As many threads as there are calls, each with an event loop of its own."""

    def __init__(self, most: int = MOST) -> None:
        self.most = most
        self.stuck = 0  # abandoned calls that still run
        self._lock = threading.Lock()
        self._alive = 0
        self._idle: list[_Thread] = []
        self._waiting: deque[_Job] = deque()

    async def run(self, work: Work) -> Any:
        """The result of `work`, made and driven in a thread; cancelling abandons it there."""
        job = _Job(work, asyncio.get_running_loop())
        with self._lock:
            if self.stuck >= MAX_STUCK:
                raise TimeoutError(f"{self.stuck} blocking calls are stuck")
            self._waiting.append(job)
            self._assign()
        try:
            return await job.future
        except asyncio.CancelledError:
            with self._lock:
                job.abandoned = True
                self.stuck += job.running
                self._assign()
            raise

    def _assign(self) -> None:
        """Under the lock: hand what waits to idle threads, and to new ones where there is room."""
        while self._waiting and (self._idle or self._alive - self.stuck < self.most):
            if not self._idle:
                self._alive += 1
                self._idle.append(_Thread(self))
            self._idle.pop().inbox.put(self._waiting.popleft())

    def _next(self, thread: "_Thread") -> "_Job | None":
        """More work for a thread that is done; None and it is idle, or superfluous."""
        with self._lock:
            while self._waiting:
                job = self._waiting.popleft()
                if not job.abandoned:
                    return job
            if len(self._idle) < KEPT:
                self._idle.append(thread)
            else:
                self._alive -= 1
                thread.inbox.put(None)
            return None

    def _begin(self, job: "_Job") -> bool:
        with self._lock:
            job.running = not job.abandoned
            return job.running

    def _end(self, job: "_Job") -> None:
        with self._lock:
            self.stuck -= job.abandoned
            job.running = False


class _Thread:
    def __init__(self, pool: Threads) -> None:
        self.pool = pool
        self.inbox: queue.SimpleQueue[_Job | None] = queue.SimpleQueue()
        threading.Thread(target=self._serve, daemon=True, name="rubrica-judge").start()

    def _serve(self) -> None:
        with asyncio.Runner() as runner:
            job: _Job | None = None
            while True:
                job = job or self.inbox.get()
                if job is None:
                    return
                if self.pool._begin(job):
                    result, error = None, None
                    try:
                        result = runner.run(job.work())
                    except BaseException as raised:
                        error = raised
                    self.pool._end(job)
                    job.answer(result, error)
                job = self.pool._next(self)


class _Job:
    def __init__(self, work: Work, loop: asyncio.AbstractEventLoop) -> None:
        self.work, self.loop = work, loop
        self.future: asyncio.Future[Any] = loop.create_future()
        self.running = self.abandoned = False

    def answer(self, result: Any, error: BaseException | None) -> None:
        def deliver() -> None:
            if self.future.done():
                return
            if error is None:
                self.future.set_result(result)
            elif isinstance(error, Exception):
                self.future.set_exception(error)
            else:
                self.future.set_exception(RuntimeError(f"raised {type(error).__name__}"))

        try:
            self.loop.call_soon_threadsafe(deliver)
        except RuntimeError:  # the loop was closed: nobody waits any more
            return


_shared: Threads | None = None


def shared() -> Threads:
    """One pool for all judges of this process: idle threads are not worth a set for each."""
    global _shared
    if _shared is None:
        _shared = Threads()
    return _shared


def _after_fork() -> None:
    """The parent's threads are not here."""
    global _shared
    _shared = None


os.register_at_fork(after_in_child=_after_fork)
