"""Work that waits its turn behind the application: a bounded queue and a few daemon threads.

Handing something over takes a lock for a few instructions and never waits for a worker. When the
queue is full, by number or by size, what comes is turned away, and the caller counts it: memory
does not depend on how slow the workers are. What is of less use is turned away when half is full.

Threads start when there is something to do. A forked child begins with an empty queue and threads
of its own: what waited belongs to the parent.
"""

import atexit
import os
import queue
import threading
import time
import weakref
from collections.abc import Callable
from multiprocessing import process, util
from typing import Generic, Protocol, TypeVar

T = TypeVar("T")

#: Characters that may wait, whatever their number.
ROOM = 64 << 20

_all: "weakref.WeakSet[Background[object]]" = weakref.WeakSet()


class Background(Generic[T]):
    """`work` is called with one thing at a time in each thread, and does not raise."""

    def __init__(self, work: Callable[[T], None], *, most: int, threads: int) -> None:
        self.work, self.most, self.threads = work, most, threads
        self._begin()
        _all.add(self)  # type: ignore[arg-type]

    def _begin(self) -> None:
        # Reentrant, for a signal handler or a finalizer that observes inside `put`.
        self._lock = threading.RLock()
        self._rest = threading.Condition(self._lock)
        self._queue: queue.SimpleQueue[tuple[T, int] | None] = queue.SimpleQueue()
        self._started = self._free = 0
        self.waiting = self._size = self._pending = 0
        self.closed = False

    def put(self, thing: T, size: int, *, minor: bool = False) -> bool:
        """Whether there was room."""
        with self._lock:
            most = self.most // 2 if minor else self.most
            if self.closed or self.waiting >= most or self._size + size > ROOM:
                return False
            if self.waiting >= self._free and self._started < self.threads:
                self._start()
            self.waiting += 1
            self._pending += 1
            self._size += size
        self._queue.put((thing, size))
        return True

    def flush(self, timeout: float) -> bool:
        """Wait until all that was handed over is done; whether it is."""
        until = time.monotonic() + timeout
        with self._lock:
            while self._pending:
                left = until - time.monotonic()
                if left <= 0:
                    return False
                self._rest.wait(left)
        return True

    def close(self, timeout: float) -> bool:
        """Take nothing more, wait for what is there, and let the threads go."""
        self.closed = True
        done = self.flush(timeout)
        for _ in range(self._started):
            self._queue.put(None)
        return done

    def _start(self) -> None:
        thread = threading.Thread(target=self._serve, daemon=True, name="fourscore-monitor")
        thread.start()  # raises where Python is about to exit
        self._started += 1
        self._free += 1

    def _serve(self) -> None:
        while (item := self._queue.get()) is not None:
            thing, size = item
            with self._lock:
                self.waiting -= 1
                self._free -= 1
            try:
                self.work(thing)
            finally:
                del item, thing
                with self._lock:
                    self._free += 1
                    self._size -= size
                    self._pending -= 1
                    if not self._pending:
                        self._rest.notify_all()


def _after_fork() -> None:
    for one in list(_all):
        closed = one.closed
        one._begin()
        one.closed = closed


os.register_at_fork(after_in_child=_after_fork)


class Ends(Protocol):
    """Something that has to be told of the end, and does not keep it waiting for long."""

    def at_exit(self) -> None: ...


_known: "weakref.WeakSet[Ends]" = weakref.WeakSet()


def call_at_exit(one: Ends) -> None:
    """Call `one.at_exit()` when this process ends, or a child that was forked from it."""
    _known.add(one)
    if process.parent_process() is not None:
        _in_child(one)
    util.register_after_fork(one, _in_child)


def _in_child(one: Ends) -> None:
    util.Finalize(one, _end, args=(weakref.ref(one),), exitpriority=100)


def _end(reference: "weakref.ref[Ends]") -> None:
    one = reference()
    if one is not None:
        one.at_exit()


@atexit.register
def _at_exit() -> None:
    for one in list(_known):
        one.at_exit()
