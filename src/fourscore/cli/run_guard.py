"""What guards a run in this process against the agent it calls.

An agent may write on stdout behind Python's back, change the folder, or block the event loop for
ever. The first two are undone; the third is broken off by a signal, which reaches whatever Python
code the main thread is in, and counts as that agent's failure.
"""

import asyncio
import os
import signal
import sys
from collections.abc import Awaitable, Iterator
from contextlib import contextmanager, redirect_stdout
from types import FrameType
from typing import Any

from fourscore.models.model_pool import ModelPool

#: Beyond its deadline, before a blocked loop is broken into, in seconds.
GRACE = 2.0


@contextmanager
def stdout_kept() -> Iterator[None]:
    """Whatever is written on descriptor 1 meanwhile goes to stderr; the folder is kept too."""
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
    """Raises in the main thread when its loop has not come by for too long."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds + GRACE
        self._before: Any = None

    def __enter__(self) -> "Watchdog":
        self._before = signal.signal(signal.SIGALRM, self._bark)
        self.come_by()
        return self

    def __exit__(self, *_: object) -> None:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, self._before)

    def come_by(self) -> None:
        """Called by the loop, again and again."""
        signal.setitimer(signal.ITIMER_REAL, self._seconds, self._seconds)

    def _bark(self, _number: int, _frame: FrameType | None) -> None:
        raise TimeoutError("it blocked the event loop past its deadline")


async def stoppable(work: Awaitable[bool], pool: ModelPool, watchdog: Watchdog) -> bool:
    """The work, with the models of `pool`.

    SIGTERM ends a run as Ctrl-C does: what is stored stays, and the way to go on is shown.
    """
    task = asyncio.ensure_future(run_in_pool(work, pool))
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
    beat = asyncio.ensure_future(_beat(watchdog))
    try:
        return await task
    finally:
        beat.cancel()


async def _beat(watchdog: Watchdog) -> None:
    while True:
        watchdog.come_by()
        await asyncio.sleep(0.5)


async def run_in_pool(work: Awaitable[bool], pool: ModelPool) -> bool:
    """The work, with the models of `pool`."""
    async with pool:
        return await work
