"""Agent code in this process, watched at every step.

Each time the agent gives control back, two things are looked at. Whether this still is the process
it began in: an agent that forks would otherwise go on with the whole run in its child, a second
runner on the same store. And how long it kept the loop: a blocking call in an async agent stops its
neighbours too, and the time they lost that way is not theirs. While it has control, `os._exit` is
`sys.exit`: an agent that means to end its program ends its case.
"""

import asyncio
import os
import threading
import time
from collections.abc import Awaitable, Callable, Generator
from typing import Any, NoReturn

#: A step shorter than this is the ordinary work of an async function.
BLOCKING = 0.05


class _Held(threading.local):
    """Seconds for which agents blocked this thread's event loop, in all."""

    total = 0.0


_HELD = _Held()


class _Forks:
    """How many forks lie between the first process and this one: cheaper to ask than its pid."""

    depth = 0

    def count(self) -> None:
        self.depth += 1


_FORKS = _Forks()
os.register_at_fork(after_in_child=_FORKS.count)


class AgentCode(threading.local):
    """`with AGENT_CODE` around a call of the agent's own code, in this thread."""

    depth = 0
    forks = 0

    def __enter__(self) -> None:
        self.depth += 1
        self.forks = _FORKS.depth

    def __exit__(self, *_: object) -> None:
        self.depth -= 1


AGENT_CODE = AgentCode()
_exit = os._exit


def _leave(status: int) -> NoReturn:
    """Only in the run's own process: the child of a fork that ends is no affair of ours."""
    if AGENT_CODE.depth and AGENT_CODE.forks == _FORKS.depth:
        raise SystemExit(status)
    _exit(status)


def guard_exit() -> None:
    """From now on, and for agent code only, `os._exit` raises `SystemExit`."""
    os._exit = _leave


class Guarded:
    """`await Guarded(function, *args)` awaits `function(*args)`."""

    def __init__(self, function: Callable[..., Awaitable[Any]], *args: Any) -> None:
        self.function, self.args = function, args
        self.held = 0.0
        self._before = _HELD.total

    @property
    def lost(self) -> float:
        """Seconds for which others blocked the loop since this one was made."""
        return _HELD.total - self._before - self.held

    def __await__(self) -> Generator[Any, None, Any]:
        before = _FORKS.depth
        inner: Any = None
        thrown: BaseException | None = None
        while True:
            begun = time.perf_counter()
            try:
                with AGENT_CODE:
                    if thrown is not None:
                        waits_for = inner.throw(thrown)
                    else:
                        inner = inner or self.function(*self.args).__await__()
                        waits_for = inner.send(None)
            except StopIteration as stop:
                return stop.value
            finally:
                leave_if_forked(before)
                if (seconds := time.perf_counter() - begun) >= BLOCKING:
                    self.held += seconds
                    _HELD.total += seconds
            thrown = None
            try:
                yield waits_for
            except GeneratorExit:
                inner.close()
                raise
            except BaseException as error:
                thrown = error


def forks() -> int:
    """To be kept, and handed to `leave_if_forked`."""
    return _FORKS.depth


def leave_if_forked(before: int) -> None:
    """End a process made since: an agent's fork has no business in our code."""
    if _FORKS.depth != before:
        _exit(0)


class Deadline:
    """Over when the agent is done, or when its time is: its own, without what others took of it."""

    def __init__(self, seconds: float | None, guarded: Guarded) -> None:
        self._loop = asyncio.get_running_loop()
        self._guarded = guarded
        self._pardoned = 0.0
        self._over: asyncio.Future[None] = self._loop.create_future()
        self._timer = None if seconds is None else self._loop.call_later(seconds, self._expire)

    async def wait(self) -> None:
        try:
            await self._over
        finally:
            if self._timer is not None:
                self._timer.cancel()

    def settle(self) -> None:
        if not self._over.done():
            self._over.set_result(None)

    def _expire(self) -> None:
        more = self._guarded.lost - self._pardoned
        if more > 0:
            self._pardoned += more
            self._timer = self._loop.call_later(more, self._expire)
        else:
            self.settle()
