"""Daemon threads for work that blocks.

The standard pool joins its threads when Python exits, so one call that never returns would keep
the process alive for ever. These threads are abandoned instead.

Waking a thread costs more than a short call does. So as long as calls have been quick, one may wait
for a thread that has just taken another; when that one turns out not to be, each gets a thread of
its own, and none stays behind a call that hangs. What threads have done meanwhile is told to the
event loop in one go.
"""

import asyncio
import contextvars
import os
import queue
import threading
import time
from collections import deque
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Any
from weakref import WeakKeyDictionary

#: Calls at a time; past this a call waits for its turn.
MOST = 128
#: Abandoned calls that still run; past this no call is taken.
MAX_STUCK = 512
#: Idle threads that are kept.
KEPT = 64
#: Seconds that a call takes, on average, where calls are quick.
QUICK = 0.0003
#: Seconds after which a call under way is not one of them. Any thread may have to wait as long for
#: the interpreter.
PATIENCE = 0.005
#: The share of the last call in the average, and the most that it counts as.
SHARE, SPIKE = 0.1, 0.001

#: Its result, or a coroutine of it. Only a coroutine is given an event loop.
Work = Callable[[], Any]


class Threads:
    """As many threads as calls that take long, each with an event loop where it needs one."""

    def __init__(self, most: int = MOST) -> None:
        self.most = most
        self.stuck = 0  # abandoned calls that still run
        self._lock = threading.Lock()
        self._alive = 0
        self._begun = 0.0  # when a thread was last given a call
        self._usual = SPIKE  # seconds that calls have taken of late
        self._idle: list[_Thread] = []
        self._waiting: deque[_Job] = deque()
        self._answers: WeakKeyDictionary[asyncio.AbstractEventLoop, _Answers] = WeakKeyDictionary()

    async def run(self, work: Work) -> Any:
        """The result of `work`, called and driven in a thread; cancelling abandons it there."""
        loop = asyncio.get_running_loop()
        with self._lock:
            if self.stuck >= MAX_STUCK:
                raise TimeoutError(f"{self.stuck} blocking calls are stuck")
            if (answers := self._answers.get(loop)) is None:
                answers = self._answers[loop] = _Answers(loop)
            job = _Job(work, loop.create_future(), answers)
            self._waiting.append(job)
            now = time.perf_counter()
            awake = self._alive - self.stuck > len(self._idle)
            quick = awake and self._usual < QUICK and now - self._begun < PATIENCE
            if not quick:
                self._begun = now
                self._assign()
        if quick and not answers.rescued:
            answers.rescued = True
            loop.call_later(PATIENCE, self._rescue, answers)
        try:
            return await job.future
        except asyncio.CancelledError:
            with self._lock:
                job.abandoned = True
                self.stuck += job.running
                self._assign()
            raise

    def _rescue(self, answers: "_Answers") -> None:
        """Threads for calls that wait behind one that is not quick."""
        now = time.perf_counter()
        with self._lock:
            if now - self._begun >= PATIENCE or self._usual >= QUICK:
                self._begun = now
                self._assign()
            answers.rescued = bool(self._waiting)
        if answers.rescued:
            asyncio.get_running_loop().call_later(PATIENCE, self._rescue, answers)

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
            self._begun = job.begun = time.perf_counter()
            job.running = not job.abandoned
            return job.running

    def _end(self, job: "_Job") -> None:
        took = min(SPIKE, time.perf_counter() - job.begun)
        with self._lock:
            self._usual += SHARE * (took - self._usual)
            self.stuck -= job.abandoned
            job.running = False


class _Thread:
    def __init__(self, pool: Threads) -> None:
        self.pool = pool
        self.inbox: queue.SimpleQueue[_Job | None] = queue.SimpleQueue()
        threading.Thread(target=self._serve, daemon=True, name="fourscore-judge").start()

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
                        result = job.context.run(job.work)
                        if isinstance(result, Coroutine):
                            result = runner.run(result, context=job.context)
                    except BaseException as raised:
                        error = raised
                    self.pool._end(job)
                    job.answers.add(job.future, result, error)
                job = self.pool._next(self)


class _Job:
    def __init__(self, work: Work, future: "asyncio.Future[Any]", answers: "_Answers") -> None:
        self.work, self.future, self.answers = work, future, answers
        self.context = contextvars.copy_context()  # of the one who calls: its budget holds there
        self.running = self.abandoned = False
        self.begun = 0.0


class _Answers:
    """What threads have to tell one event loop, which is woken once for all that has come."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._call = loop.call_soon_threadsafe
        self._told: deque[tuple[asyncio.Future[Any], Any, BaseException | None]] = deque()
        self._woken = False
        self.rescued = False  # whether the loop will look after what still waits

    def add(self, future: "asyncio.Future[Any]", result: Any, error: BaseException | None) -> None:
        self._told.append((future, result, error))
        if not self._woken:  # else it has yet to look, and will find this too
            self._woken = True
            with suppress(RuntimeError):  # the loop was closed: nobody waits any more
                self._call(self._tell)

    def _tell(self) -> None:
        self._woken = False
        while self._told:
            future, result, error = self._told.popleft()
            if future.done():
                continue
            if error is None:
                future.set_result(result)
            elif isinstance(error, Exception):
                future.set_exception(error)
            else:
                future.set_exception(RuntimeError(f"raised {type(error).__name__}"))


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
