"""A bounded queue with a few daemon threads, and a hook for the end of the process.

`put` holds a lock for a few instructions and never waits for a worker. When the queue is full, by
number of items or by size, `put` returns False: slow workers do not let memory grow. Minor items
are refused when the queue is half full.

Threads start with the first items. A forked child begins with an empty queue and its own threads:
the parent processes the items that were queued before the fork.
"""

import atexit
import logging
import os
import queue
import threading
import time
import weakref
from collections.abc import Callable
from multiprocessing import process, util
from typing import Generic, Protocol, TypeVar

from fourscore.monitor.termination import release_sigterm, save_on_sigterm

T = TypeVar("T")
LOG = logging.getLogger("fourscore.monitor")

#: Characters that may be queued, in any number of items.
MAX_SIZE = 64 << 20

_all: "weakref.WeakSet[Background[object]]" = weakref.WeakSet()


class Background(Generic[T]):
    """Calls `work` with one item at a time in each thread; what it raises is logged."""

    def __init__(self, work: Callable[[T], None], *, most: int, threads: int) -> None:
        self.work, self.most, self.threads = work, most, threads
        self._reset()
        _all.add(self)  # type: ignore[arg-type]

    def _reset(self) -> None:
        # Reentrant, for a signal handler or a finalizer that observes inside `put`.
        self._lock = threading.RLock()
        self._idle = threading.Condition(self._lock)
        self._queue: queue.SimpleQueue[tuple[T, int] | None] = queue.SimpleQueue()
        self._started = self._free = 0
        self.waiting = self._size = self._pending = 0
        self.closed = False

    def put(self, item: T, size: int, *, minor: bool = False) -> bool:
        """Queue an item; return False if the queue is full or closed."""
        with self._lock:
            most = self.most // 2 if minor else self.most
            if self.closed or self.waiting >= most or self._size + size > MAX_SIZE:
                return False
            if self.waiting >= self._free and self._started < self.threads:
                try:
                    self._start()
                except RuntimeError:  # no memory for a thread, or Python is about to exit
                    if not self._started:
                        return False
            self.waiting += 1
            self._pending += 1
            self._size += size
        self._queue.put((item, size))
        return True

    def flush(self, timeout: float) -> bool:
        """Wait up to `timeout` until all queued items are processed; return whether they are."""
        until = time.monotonic() + timeout
        with self._lock:
            while self._pending:
                left = until - time.monotonic()
                if left <= 0:
                    return False
                self._idle.wait(left)
        return True

    def close(self, timeout: float) -> bool:
        """Refuse new items, wait for queued ones, end the threads; return whether all are done."""
        self.closed = True
        done = self.flush(timeout)
        for _ in range(self._started):
            self._queue.put(None)
        return done

    def _start(self) -> None:
        thread = threading.Thread(target=self._serve, daemon=True, name="fourscore-monitor")
        thread.start()
        self._started += 1
        self._free += 1

    def _serve(self) -> None:
        while (queued := self._queue.get()) is not None:
            item, size = queued
            with self._lock:
                self.waiting -= 1
                self._free -= 1
            try:
                self.work(item)
            except BaseException:  # SystemExit too: the thread has other items to process
                LOG.exception("an item of the queue failed")
            finally:
                del queued, item
                with self._lock:
                    self._free += 1
                    self._size -= size
                    self._pending -= 1
                    if not self._pending:
                        self._idle.notify_all()


def _after_fork() -> None:
    for one in list(_all):
        closed = one.closed
        one._reset()
        one.closed = closed


os.register_at_fork(after_in_child=_after_fork)


class ExitHandler(Protocol):
    """An object with work to do at the end of a process, for `exit_wait` seconds."""

    @property
    def exit_wait(self) -> float: ...
    def at_exit(self) -> None: ...


_exit_handlers: "weakref.WeakSet[ExitHandler]" = weakref.WeakSet()


def call_at_exit(one: ExitHandler) -> None:
    """Call `one.at_exit()` when this process, or a child forked from it, ends.

    A child of multiprocessing ends with `os._exit`, which skips `atexit`. It runs its own
    finalizers instead, and drops those of its parent when it starts. SIGTERM counts as an end too,
    unless `exit_wait` is 0.
    """
    _exit_handlers.add(one)
    if process.parent_process() is not None:
        _add_finalizer(one)
    util.register_after_fork(one, _add_finalizer)
    if one.exit_wait > 0:
        save_on_sigterm(_call_handlers, _sum_waits)


def _add_finalizer(one: ExitHandler) -> None:
    util.Finalize(one, _call_handler, args=(weakref.ref(one),), exitpriority=100)


def _call_handler(reference: "weakref.ref[ExitHandler]") -> None:
    one = reference()
    if one is not None:
        one.at_exit()


def _call_handlers() -> None:
    for one in list(_exit_handlers):
        one.at_exit()


def _sum_waits() -> float:
    return sum(one.exit_wait for one in list(_exit_handlers))


@atexit.register
def _at_exit() -> None:
    _call_handlers()
    release_sigterm()
