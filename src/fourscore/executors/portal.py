"""Call the async core from blocking code.

`run_without_loop` is for bounded work that rarely waits: it runs in the caller's own thread, with
no event loop at all. Work that does wait raises `MustWait` and is begun again in `PORTAL`, a loop
in a thread of its own. A forked child starts its own.
"""

import asyncio
import logging
import os
import threading
import time
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from fourscore.core import ControlFlow

T = TypeVar("T")
LOG = logging.getLogger("fourscore.executors")


class MustWait(ControlFlow):
    """Raised by work that needs an event loop where none runs, before it has had any effect."""


class _State(threading.local):
    """Whether this thread is inside `run_without_loop`."""

    without_loop = False


_state = _State()


def require_loop() -> None:
    """Called before the first wait of work that may run under `run_without_loop`."""
    if _state.without_loop:
        raise MustWait


def run_without_loop(work: Coroutine[Any, Any, T]) -> T:
    """Return the result of work that does not wait; `MustWait` where it does."""
    _state.without_loop = True
    try:
        work.send(None)
    except StopIteration as stop:
        result: T = stop.value
        return result
    finally:
        _state.without_loop = False
    work.close()
    raise MustWait


def start_loop(name: str) -> asyncio.AbstractEventLoop:
    """Return an event loop that runs in a daemon thread until it is stopped."""
    loop = asyncio.new_event_loop()
    try:
        threading.Thread(target=_run_loop, args=(loop,), daemon=True, name=name).start()
    except BaseException:
        loop.close()
        raise
    return loop


def _run_loop(loop: asyncio.AbstractEventLoop) -> None:
    """Run the loop again after a task that raised KeyboardInterrupt or SystemExit through it."""
    while True:
        try:
            loop.run_forever()
            break
        except BaseException:
            LOG.exception("the event loop of a background thread failed and goes on")
            time.sleep(0.01)  # where it fails at once again, it fills neither processor nor disk
    loop.close()


class Portal:
    """Runs coroutines to completion from any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None

    def finish(self, begin: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """Return the result of work that mostly does not wait."""
        try:
            return run_without_loop(begin())
        except MustWait:
            pass
        return self.run(begin())

    def run(self, work: Coroutine[Any, Any, T], timeout: float | None = None) -> T:
        """Return the result of `work`. An interrupt here cancels it there.

        Past `timeout` the loop counts as blocked: it is abandoned, and the next caller gets a new
        one.
        """
        loop = self._get_loop()
        future = asyncio.run_coroutine_threadsafe(work, loop)
        try:
            return future.result(timeout)
        except BaseException as error:
            if isinstance(error, TimeoutError) and not future.done():
                self._abandon(loop)
            future.cancel()
            raise

    def _abandon(self, loop: asyncio.AbstractEventLoop) -> None:
        """Use a new loop from now on. This one runs on, so that cancelled work can end."""
        with self._lock:
            if self._loop is loop:
                self._loop = None

    def _get_loop(self) -> asyncio.AbstractEventLoop:
        with self._lock:
            if self._loop is None:
                self._loop = start_loop("fourscore-portal")
            return self._loop


PORTAL = Portal()


def _after_fork() -> None:
    """The parent's thread is not here, and its lock may be held for ever."""
    PORTAL._lock, PORTAL._loop = threading.Lock(), None


os.register_at_fork(after_in_child=_after_fork)
