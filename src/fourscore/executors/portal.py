"""The ways from blocking code into the async core.

`step` is for work that is bounded and rarely waits: it runs in the caller's own thread, with no
event loop at all. What does have to wait raises `MustWait` and is begun again in `PORTAL`, a loop
in a thread of its own. After a fork the child starts its own.
"""

import asyncio
import os
import threading
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from fourscore.core import ControlFlow

T = TypeVar("T")


class MustWait(ControlFlow):
    """Raised by work that needs an event loop where none runs, before it has had any effect."""


class _Stepping(threading.local):
    """Whether this thread is inside `step`: a loop that runs outside of it is not for the work."""

    now = False


_stepping = _Stepping()


def need_loop() -> None:
    """To be called before the first wait of work that may run under `step`."""
    if _stepping.now:
        raise MustWait


def step(work: Coroutine[Any, Any, T]) -> T:
    """The result of work that does not wait; `MustWait` where it does."""
    _stepping.now = True
    try:
        work.send(None)
    except StopIteration as stop:
        result: T = stop.value
        return result
    finally:
        _stepping.now = False
    work.close()
    raise MustWait


class Portal:
    """Runs coroutines to completion from any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None

    def finish(self, begin: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """The result of work that mostly does not wait."""
        try:
            return step(begin())
        except MustWait:
            pass
        return self.run(begin())

    def run(self, work: Coroutine[Any, Any, T], timeout: float | None = None) -> T:
        """The result of `work`. An interrupt here cancels it there.

        Past `timeout` the loop counts as blocked: it is left behind, and the next caller gets a
        new one.
        """
        loop = self._running()
        future = asyncio.run_coroutine_threadsafe(work, loop)
        try:
            return future.result(timeout)
        except BaseException as error:
            if isinstance(error, TimeoutError) and not future.done():
                self._leave(loop)
            future.cancel()
            raise

    def _leave(self, loop: asyncio.AbstractEventLoop) -> None:
        """Not stopped: should it ever come back, what was cancelled on it has to end properly."""
        with self._lock:
            if self._loop is loop:
                self._loop = None

    def _running(self) -> asyncio.AbstractEventLoop:
        with self._lock:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                run = self._loop.run_forever
                threading.Thread(target=run, daemon=True, name="fourscore-portal").start()
            return self._loop


PORTAL = Portal()


def _after_fork() -> None:
    """The parent's thread is not here, and its lock may be held for ever."""
    PORTAL._lock, PORTAL._loop = threading.Lock(), None


os.register_at_fork(after_in_child=_after_fork)
