"""Run agent code in this process: threads for blocking calls, and a watch on every await.

Each time an async agent gives control back, two things are checked. Whether this is still the
process it began in: an agent that forks would otherwise go on with the whole run in its child, a
second runner on the same store. And how long it blocked the event loop: that stops its neighbours
too, and the time they lost is not charged to them. While agent code has control, `os._exit` is
`sys.exit`: an agent that means to end its program ends its case.
"""

import asyncio
import os
import threading
import time
from collections.abc import Awaitable, Callable, Generator
from typing import Any, NoReturn

from fourscore.core import FourscoreError
from fourscore.executors.thread_pool import MAX_STUCK, NoThreadError, ThreadPool, Work

#: Seconds; a shorter step between two awaits is the ordinary work of an async function.
BLOCKING = 0.05
_NO_LIMIT = 1 << 30


class AgentStuckError(FourscoreError):
    """Calls that hang, or want of files or memory, left no way to make an attempt.

    This ends the run: the case did not fail.
    """


class _ThreadPool:
    """One pool of threads for all agents: idle threads are kept, and the pool is never closed.

    It has no limit, because waiting here would cost an attempt its deadline; the runner decides how
    many attempts are under way. After a fork the child has none of the threads and starts anew.
    """

    def __init__(self) -> None:
        self.threads = ThreadPool(_NO_LIMIT)

    def renew(self) -> None:
        self.threads = ThreadPool(_NO_LIMIT)


THREAD_POOL = _ThreadPool()
os.register_at_fork(after_in_child=THREAD_POOL.renew)


async def run_in_thread(work: Work) -> Any:
    """Return the result of `work`, run in a thread; cancelling leaves it running there."""
    threads = THREAD_POOL.threads
    if threads.stuck >= MAX_STUCK:
        message = f"{threads.stuck} calls of agents hang in their threads: no more are made"
        raise AgentStuckError(message)
    try:
        return await threads.run(work)
    except NoThreadError as error:
        raise AgentStuckError(
            f"{error}; a lower --concurrency or a higher ulimit may help"
        ) from error


class _BlockedTime(threading.local):
    """Seconds for which agents blocked this thread's event loop, in all."""

    total = 0.0


_BLOCKED = _BlockedTime()


class _Forks:
    """How many forks lie between the first process and this one; cheaper to read than the pid."""

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


def _exit_or_raise(status: int) -> NoReturn:
    """Raise `SystemExit` in the run's own process; a forked child of the agent may really exit."""
    if AGENT_CODE.depth and AGENT_CODE.forks == _FORKS.depth:
        raise SystemExit(status)
    _exit(status)


def replace_os_exit() -> None:
    """Make `os._exit` raise `SystemExit` from now on, for agent code only."""
    os._exit = _exit_or_raise


class WatchedCall:
    """`await WatchedCall(function, *args)` awaits `function(*args)` and measures its blocking."""

    def __init__(self, function: Callable[..., Awaitable[Any]], *args: object) -> None:
        self.function, self.args = function, args
        #: Seconds for which this call blocked the event loop.
        self.blocked = 0.0
        self._total_before = _BLOCKED.total

    @property
    def lost(self) -> float:
        """Seconds for which other agents blocked the event loop since this call was made."""
        return _BLOCKED.total - self._total_before - self.blocked

    def __await__(self) -> Generator[Any, None, Any]:
        before = get_fork_depth()
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
                exit_if_forked(before)
                if (seconds := time.perf_counter() - begun) >= BLOCKING:
                    self.blocked += seconds
                    _BLOCKED.total += seconds
            thrown = None
            try:
                yield waits_for
            except GeneratorExit:
                inner.close()
                raise
            except BaseException as error:
                thrown = error


def get_fork_depth() -> int:
    """Return a number to pass to `exit_if_forked` later."""
    return _FORKS.depth


def exit_if_forked(before: int) -> None:
    """Exit if this process was forked since `get_fork_depth`: it must not go on with the run."""
    if _FORKS.depth != before:
        _exit(0)


class AttemptDeadline:
    """Ends when the agent is done or its time is up; time lost to other calls is added."""

    def __init__(self, seconds: float | None, call: WatchedCall) -> None:
        self._loop = asyncio.get_running_loop()
        self._call = call
        self._extended = 0.0
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
        more = self._call.lost - self._extended
        if more > 0:
            self._extended += more
            self._timer = self._loop.call_later(more, self._expire)
        else:
            self.settle()
