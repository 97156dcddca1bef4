"""Daemon threads for calls that block.

The standard pool joins its threads when Python exits, so one call that never returns would keep
the process alive for ever. These threads are abandoned instead.

Waking a thread costs more than a short call. So while calls have been quick, a call may wait for a
thread that has just begun another; when that one turns out not to be quick, each waiting call
gets its own thread, and none waits behind a call that hangs. Results are handed to the event loop
in batches.
"""

import asyncio
import contextvars
import logging
import os
import queue
import resource
import threading
import time
from collections import deque
from collections.abc import Callable, Coroutine
from contextlib import suppress
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

from fourscore.core.open_files import fit_to_open_files

LOG = logging.getLogger("fourscore.executors")
#: Calls at a time; further calls wait.
MAX_CALLS = 128
#: Files that the event loop of a thread holds open.
LOOP_FILES = 3
#: Address space of a thread: its stack, and what malloc reserves for it.
THREAD_BYTES = 72 << 20
#: Abandoned calls that still run; past this, new calls are refused.
MAX_STUCK = 512
#: Idle threads that are kept.
MAX_IDLE = 64
#: Calls are quick below this average, in seconds.
QUICK_SECONDS = 0.0003
#: Seconds after which a call is not quick. Any thread may wait as long for the interpreter.
QUICK_LIMIT = 0.005
#: The weight of the last call in the average, and its highest value, in seconds.
SMOOTHING, MAX_SECONDS = 0.1, 0.001

#: Returns the result or a coroutine of it. Only a coroutine gets an event loop.
Work = Callable[[], Any]


class NoThreadError(RuntimeError):
    """There is no thread for a call, nor an event loop for it, and no other takes it."""


class ThreadPool:
    """Up to `most` threads for blocking calls, each with an event loop where it needs one."""

    def __init__(self, most: int = MAX_CALLS) -> None:
        self.most = most
        self.stuck = 0  # abandoned calls that still run
        self._lock = threading.Lock()
        self._alive = self._loops = 0  # threads, and those that have or open an event loop
        self._last_begun = 0.0  # when a thread last began a call
        self._average = MAX_SECONDS  # moving average of the seconds of a call
        self._idle: list[_Thread] = []
        self._waiting: deque[_Job] = deque()
        self._results: WeakKeyDictionary[asyncio.AbstractEventLoop, _ResultQueue] = (
            WeakKeyDictionary()
        )

    async def run(self, work: Work) -> Any:
        """Return the result of `work`, run in a thread; cancelling abandons it there."""
        loop = asyncio.get_running_loop()
        with self._lock:
            if self.stuck >= MAX_STUCK:
                raise TimeoutError(f"{self.stuck} blocking calls are stuck")
            if (results := self._results.get(loop)) is None:
                results = self._results[loop] = _ResultQueue(loop)
            job = _Job(work, loop.create_future(), results)
            self._waiting.append(job)
            now = time.perf_counter()
            awake = self._alive - self.stuck > len(self._idle)
            quick = awake and self._average < QUICK_SECONDS and now - self._last_begun < QUICK_LIMIT
            if not quick:
                self._last_begun = now
                self._assign()
        if quick and not results.will_rescue:
            results.will_rescue = True
            loop.call_later(QUICK_LIMIT, self._rescue, results)
        try:
            return await job.future
        except asyncio.CancelledError:
            with self._lock:
                job.abandoned = True
                self.stuck += job.running
                self._assign()
            raise

    def _rescue(self, results: "_ResultQueue") -> None:
        """Assign threads to calls that wait behind one that is not quick."""
        now = time.perf_counter()
        with self._lock:
            if now - self._last_begun >= QUICK_LIMIT or self._average >= QUICK_SECONDS:
                self._last_begun = now
                self._assign()
            results.will_rescue = bool(self._waiting)
        if results.will_rescue:
            asyncio.get_running_loop().call_later(QUICK_LIMIT, self._rescue, results)

    def _assign(self) -> None:
        """Assign waiting calls to idle threads, then to new ones. Call it with the lock held."""
        while self._waiting and (self._idle or self._alive - self.stuck < self.most):
            if not self._idle:
                try:
                    self._idle.append(_Thread(self))
                except (RuntimeError, MemoryError) as error:  # no memory for its stack, say
                    if self._alive <= self.stuck:  # else the threads there are take the calls
                        self._fail_waiting(NoThreadError(f"no thread for a call: {error}"))
                    return
                self._alive += 1
            self._idle.pop().inbox.put(self._waiting.popleft())

    def _fail_waiting(self, error: Exception) -> None:
        while self._waiting:
            job = self._waiting.popleft()
            job.results.add(job.future, None, error)

    def _count_loop(self, change: int) -> None:
        with self._lock:
            self._loops += change

    def _pass_on(self, job: "_Job", work: Work) -> bool:
        """Let a thread that has an event loop do the rest of a call; False if there is none."""
        with self._lock:
            if job.abandoned or self._loops <= self.stuck:
                return False
            self.most = max(1, min(self.most, self._loops))
            job.work, job.running = work, False
            self._waiting.appendleft(job)
            return True

    def _end_thread(self, thread: "_Thread", error: BaseException | None) -> None:
        """Note that a thread ends; the call that it had fails with the error."""
        job = thread.job
        with self._lock:
            self._alive -= 1
            self._loops -= thread.has_loop
            if job is not None and job.running:
                self.stuck -= job.abandoned
                job.running = False
            if thread in self._idle:
                self._idle.remove(thread)
            elif not thread.inbox.empty() and (assigned := thread.inbox.get()) is not None:
                self._waiting.appendleft(assigned)
            self._assign()
        if job is not None and error is not None:
            job.results.add(job.future, None, error)

    def _next_job(self, thread: "_Thread") -> "_Job | None":
        """Return the next call for a thread; None where it becomes idle or ends."""
        with self._lock:
            while self._waiting:
                job = self._waiting.popleft()
                if not job.abandoned:
                    return job
            if len(self._idle) < MAX_IDLE:
                self._idle.append(thread)
            else:
                thread.inbox.put(None)
            return None

    def _begin_job(self, job: "_Job") -> bool:
        with self._lock:
            self._last_begun = job.begun_at = time.perf_counter()
            job.running = not job.abandoned
            return job.running

    def _end_job(self, job: "_Job") -> None:
        took = min(MAX_SECONDS, time.perf_counter() - job.begun_at)
        with self._lock:
            self._average += SMOOTHING * (took - self._average)
            self.stuck -= job.abandoned
            job.running = False


class _Thread:
    def __init__(self, pool: ThreadPool) -> None:
        self.pool = pool
        self.inbox: queue.SimpleQueue[_Job | None] = queue.SimpleQueue()
        self.job: _Job | None = None
        self.has_loop = False
        threading.Thread(target=self._serve, daemon=True, name="fourscore-judge").start()

    def _serve(self) -> None:
        error: BaseException | None = None
        runner = asyncio.Runner()  # it opens its event loop when one is needed
        try:
            self._run_jobs(runner)
        except BaseException as raised:  # a bug of ours, or no memory: nobody may wait for it
            error = raised
            LOG.exception("a thread for blocking calls failed")
        self.pool._end_thread(self, error)
        runner.close()

    def _run_jobs(self, runner: asyncio.Runner) -> None:
        while (job := self.job or self.inbox.get()) is not None:
            self.job = job
            if self.pool._begin_job(job):
                result, error = None, None
                try:
                    result = job.context.run(job.work)
                    if isinstance(result, Coroutine):
                        if not self.has_loop and not self._open_loop(runner, job, result):
                            self.job = None
                            return
                        result = runner.run(result, context=job.context)
                except BaseException as raised:
                    error = raised
                self.pool._end_job(job)
                job.results.add(job.future, result, error)
            self.job = self.pool._next_job(self)

    def _open_loop(
        self, runner: asyncio.Runner, job: "_Job", work: Coroutine[Any, Any, Any]
    ) -> bool:
        """Open the event loop; False where another thread does the work for want of files."""
        self.pool._count_loop(1)  # before it is open, or a thread beside it finds none
        try:
            runner.get_loop()
        except (OSError, MemoryError) as error:
            self.pool._count_loop(-1)
            if self.pool._pass_on(job, lambda: work):
                return False
            work.close()
            raise NoThreadError(f"no event loop for a call in a thread: {error}") from error
        self.has_loop = True
        return True


class _Job:
    def __init__(self, work: Work, future: "asyncio.Future[Any]", results: "_ResultQueue") -> None:
        self.work, self.future, self.results = work, future, results
        self.context = contextvars.copy_context()  # the caller's, and with it its model pool
        self.running = self.abandoned = False
        self.begun_at = 0.0


class _ResultQueue:
    """Results for one event loop, which is woken once for all that have come."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._call = loop.call_soon_threadsafe
        self._pending: deque[tuple[asyncio.Future[Any], Any, BaseException | None]] = deque()
        self._woken = False
        self.will_rescue = False  # whether the loop checks for waiting calls soon

    def add(self, future: "asyncio.Future[Any]", result: Any, error: BaseException | None) -> None:
        self._pending.append((future, result, error))
        if not self._woken:  # else it is about to deliver this too
            self._woken = True
            with suppress(RuntimeError):  # the loop was closed: nobody waits any more
                self._call(self._deliver)

    def _deliver(self) -> None:
        self._woken = False
        while self._pending:
            future, result, error = self._pending.popleft()
            if future.done():
                continue
            if error is None:
                future.set_result(result)
            elif isinstance(error, Exception):
                future.set_exception(error)
            else:
                future.set_exception(RuntimeError(f"raised {type(error).__name__}"))


def fit_to_memory(most: int, each: int) -> int:
    """Return `most`, or how many users of `each` bytes fit into the address space that is left.

    That is `ulimit -v`; half of what is left is for everything else.
    """
    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    if limit == resource.RLIM_INFINITY:
        return most
    try:
        pages = int(Path("/proc/self/statm").read_bytes().split()[0])
    except OSError:
        return most
    left = limit - pages * resource.getpagesize()
    return max(1, min(most, left // (2 * each)))


_shared: ThreadPool | None = None


def get_shared_threads() -> ThreadPool:
    """Return the pool that all judges of this process share."""
    global _shared
    if _shared is None:
        most = fit_to_memory(fit_to_open_files(MAX_CALLS, LOOP_FILES), THREAD_BYTES)
        _shared = ThreadPool(most)
    return _shared


def _after_fork() -> None:
    """The parent's threads are not here."""
    global _shared
    _shared = None


os.register_at_fork(after_in_child=_after_fork)
