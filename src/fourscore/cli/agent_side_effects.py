"""Protect a run from the agent that it calls in this process.

An agent may write on file descriptor 1, change the working folder, or block the event loop. The
first two are undone; a blocked loop is interrupted by a signal, which raises in whatever Python
code the main thread runs, and counts as that agent's failure.
"""

import asyncio
import os
import signal
import sys
from collections.abc import Awaitable, Iterator
from contextlib import contextmanager, redirect_stdout
from types import FrameType
from typing import Any

from fourscore.cli.stop_signals import list_stopping
from fourscore.models.model_pool import ModelPool

#: Seconds after the deadline until a blocked event loop is interrupted.
GRACE = 2.0


@contextmanager
def protect_stdout() -> Iterator[None]:
    """Redirect stdout to stderr inside the block; restore the working folder at the end."""
    folder = os.open(".", os.O_RDONLY)
    sys.stdout.flush()
    kept = os.dup(1)
    os.dup2(2, 1)
    try:
        with redirect_stdout(sys.stderr):
            yield
    finally:
        os.dup2(kept, 1)
        os.close(kept)
        os.fchdir(folder)
        os.close(folder)


class Watchdog:
    """Raises a `TimeoutError` in the main thread when its loop has not called `reset` in time."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds + GRACE
        self._before: Any = None

    def __enter__(self) -> "Watchdog":
        self._before = signal.signal(signal.SIGALRM, self._raise_timeout)
        self.reset()
        return self

    def __exit__(self, *_: object) -> None:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, self._before)

    def reset(self) -> None:
        """Start the countdown again; the event loop calls this twice a second."""
        signal.setitimer(signal.ITIMER_REAL, self._seconds, self._seconds)

    def _raise_timeout(self, _number: int, _frame: FrameType | None) -> None:
        raise TimeoutError("it blocked the event loop past its deadline")


async def run_stoppable(work: Awaitable[bool], pool: ModelPool, watchdog: Watchdog) -> bool:
    """Run the work with the models of `pool`; the signals that stop a command cancel it."""
    task = asyncio.ensure_future(run_in_pool(work, pool))
    loop = asyncio.get_running_loop()

    def stop(number: int) -> None:
        loop.remove_signal_handler(number)  # a second one ends the process
        task.cancel()

    for number in list_stopping():
        loop.add_signal_handler(number, stop, number)
    resetting = asyncio.ensure_future(_keep_resetting(watchdog))
    try:
        return await task
    finally:
        resetting.cancel()


async def _keep_resetting(watchdog: Watchdog) -> None:
    while True:
        watchdog.reset()
        await asyncio.sleep(0.5)


async def run_in_pool(work: Awaitable[bool], pool: ModelPool) -> bool:
    """Run the work with the models of `pool`."""
    async with pool:
        return await work
