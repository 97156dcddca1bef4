"""A small pool of worker processes that can be killed.

A thread cannot stop `10**10**10`; only ending a process can. Work that must be stopped goes
through here. Belongs here: the pool that callers see. `pool_thread.py` assigns jobs to workers,
`worker_process.py` is one worker as its parent holds it, `worker_main.py` runs inside of it.

Time, precisely:

- A job's `deadline` counts from the moment a ready worker takes it, through sending the arguments,
  running, and receiving the whole result. When it passes, the worker is killed and replaced and
  the caller gets `WorkerTimeout`, usually a millisecond or two later.
- Before that a job waits at most `patience` seconds, then fails with `WorkerTimeout` without
  having run. Starting a worker and importing the `warm` modules happens in this time. So an answer
  or an error comes within `patience + deadline`, whatever happens.
- A worker that is not ready after 60 s is killed. Three failed starts in a row with no worker
  alive fail everything that waits, with `WorkerDied`.

A future belongs to the process that made it: a fork can use the pool, but a future it inherited
will not complete there.
"""

from __future__ import annotations

import asyncio
import functools
import math
import os
import pickle
import threading
import weakref
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future
from dataclasses import asdict
from typing import Self, TypeVar, TypeVarTuple, cast

from fourscore.core.open_files import fit_to_open_files
from fourscore.executors.pool_job import Job
from fourscore.executors.pool_thread import LOCK, PoolThread
from fourscore.executors.worker_main import REQUEST
from fourscore.executors.worker_process import (
    START,
    WorkerDied,
    WorkerError,
    WorkerSettings,
    WorkerTimeout,
)

__all__ = ["WorkerDied", "WorkerError", "WorkerPool", "WorkerTimeout"]

#: Files that a pool holds open for each worker: a socket and a pipe.
WORKER_FILES = 2
T = TypeVar("T")
R = TypeVar("R")
Ts = TypeVarTuple("Ts")


class WorkerPool:
    """Up to `size` worker processes, started when first needed and then kept warm.

    `memory` (bytes) bounds each worker, `cpu_seconds` each job (rounded up to a whole second; by
    default what its deadline allows on every core). `warm` names modules to import at start. Every
    `recycle` jobs a worker that has grown by over 128 MiB is replaced. With `template`, workers are
    forked from a process that has the `warm` modules loaded already, so that a killed one is
    replaced in milliseconds; for modules that start no threads when imported.

    `load` (from `frame_load`) is called in each worker before its first job, outside of deadlines.
    While jobs wait, and others have used an eighth of their deadline, up to `spare` more workers
    start; when there are as many, those that have used half of their deadline are killed. So jobs
    that hang do not keep others waiting.

    Use it from any thread, event loop or forked process; a fork starts workers of its own, and a
    pickled pool is its settings. Functions and arguments are pickled, functions by reference, so
    they must live in a module and not in `__main__`. Callbacks of futures run in the
    thread of the pool: keep them short.
    """

    def __init__(
        self,
        size: int | None = None,
        *,
        memory: int | None = 2 * 2**30,
        cpu_seconds: float | None = None,
        warm: Sequence[str] = (),
        recycle: int = 1000,
        patience: float = 300.0,
        template: bool = False,
        load: bytes = b"",
        spare: int = 0,
    ) -> None:
        size = fit_to_open_files(_cores() if size is None else size, WORKER_FILES)
        self._settings = WorkerSettings(
            size=size,
            memory=memory,
            cpu_seconds=cpu_seconds,
            warm=tuple(warm),
            recycle=recycle,
            patience=patience,
            template=template,
            load=load,
            spare=fit_to_open_files(spare, WORKER_FILES) if spare else 0,
        )
        self._pool_thread: PoolThread | None = None
        self._closed = False

    @property
    def size(self) -> int:
        return self._settings.size

    def submit(self, function: Callable[[*Ts], R], /, *args: *Ts, deadline: float) -> Future[R]:
        """Return a future of the result; cancelling it works at any time, and kills the job."""
        job = Job(self, _frame(function, args, deadline), deadline)
        while not self._get_pool_thread().queue_job(job):
            pass  # that thread has ended, by a fork or a failure: a new one is started
        return job

    def call(self, function: Callable[[*Ts], R], /, *args: *Ts, deadline: float) -> R:
        """Run and wait for the result; fastest when a worker is idle, which is used directly."""
        thread = self._get_pool_thread()
        if thread.thread is threading.current_thread():
            raise RuntimeError("call() in a future's callback would wait for itself: use submit()")
        frame = _frame(function, args, deadline)
        if worker := thread.borrow_worker():
            return cast("R", thread.exchange(worker, frame, deadline))
        job = self.submit(function, *args, deadline=deadline)
        try:
            return job.result()
        finally:
            job.cancel()  # after Ctrl-C; it does nothing to a job that is done

    async def run(self, function: Callable[[*Ts], R], /, *args: *Ts, deadline: float) -> R:
        """Run and await the result. Cancelling the task cancels the job, killing its worker."""
        return await asyncio.wrap_future(self.submit(function, *args, deadline=deadline))

    def map(
        self,
        function: Callable[[T], R],
        items: Iterable[T],
        *,
        deadline: float,
        window: int | None = None,
    ) -> Iterator[R]:
        """Yield the results in the order of `items`, with at most `window` jobs at a time.

        `items` may be endless: the next is taken when the caller has taken a result. The first
        failure ends the iteration, and whatever ends it cancels the jobs under way.
        """
        window = 2 * self.size if window is None else max(1, window)
        flight: deque[Future[R]] = deque()
        try:
            for item in items:
                flight.append(self.submit(function, item, deadline=deadline))
                if len(flight) >= window:
                    yield flight.popleft().result()
            while flight:
                yield flight.popleft().result()
        finally:
            for job in flight:
                job.cancel()

    def close(self) -> None:
        """Kill the workers and wait until they are gone. Jobs still there fail with WorkerDied."""
        with LOCK:
            self._closed = True
            thread = self._pool_thread
        if thread:
            thread.stop()
            thread.join()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __reduce__(self) -> tuple[Callable[[], WorkerPool], tuple[()]]:
        return functools.partial(WorkerPool, **asdict(self._settings)), ()

    def _get_pool_thread(self) -> PoolThread:
        thread = self._pool_thread
        if thread is None or thread.has_ended:
            with LOCK:
                if self._closed:
                    raise RuntimeError("this pool of workers is closed")
                thread = self._pool_thread
                if thread is None or thread.has_ended:
                    thread = self._pool_thread = PoolThread(self._settings)
                    # A pool that is dropped without close() takes its workers with it.
                    weakref.finalize(self, thread.stop).atexit = False
        return thread


def frame_load(function: Callable[[*Ts], object], /, *args: *Ts) -> bytes:
    """Return a call as the `load` of a pool."""
    return _frame(function, args, START)


def _frame(function: Callable[..., object], args: tuple[object, ...], deadline: float) -> bytes:
    if not 0 < deadline < math.inf:
        raise ValueError(f"deadline must be a positive number of seconds, not {deadline!r}")
    if getattr(function, "__module__", None) == "__main__":
        raise ValueError(f"{function!r} is in __main__, which no worker imports: use a module")
    body = pickle.dumps((function, args), pickle.HIGHEST_PROTOCOL)
    return REQUEST.pack(len(body), deadline) + body


def _cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
