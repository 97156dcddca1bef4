"""Many deadlines of the same length, at the cost of a dictionary entry each.

`asyncio.timeout` makes and drops a timer for each use. Deadlines of the same length pass in the
order in which they began, so one timer for the first of them is enough.
"""

import asyncio
from types import TracebackType
from typing import Protocol, Self


class Due(Protocol):
    """Something in one event loop that is late when `due` comes, which calls `on_deadline`."""

    @property
    def due(self) -> float: ...

    @property
    def loop(self) -> asyncio.AbstractEventLoop: ...

    def on_deadline(self) -> None: ...


class Deadlines:
    """The deadlines of one event loop that are `seconds` long, in the order of their begin."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._running: dict[Due, None] = {}
        self._armed = False

    def add(self, deadline: Due) -> None:
        self._running[deadline] = None
        if not self._armed:
            self._arm(deadline)

    def drop(self, deadline: Due) -> None:
        self._running.pop(deadline, None)

    def _arm(self, first: Due) -> None:
        self._armed = True
        first.loop.call_at(first.due, self._sweep, first.loop)

    def _sweep(self, loop: asyncio.AbstractEventLoop) -> None:
        self._armed = False
        now = loop.time()
        while self._running:
            first = next(iter(self._running))
            if first.due > now:
                self._arm(first)
                return
            del self._running[first]
            first.on_deadline()


class Deadline:
    """`with Deadline(deadlines):` cancels its body when it is late, and raises TimeoutError."""

    __slots__ = ("_before", "_deadlines", "_task", "due", "loop", "passed")

    def __init__(self, deadlines: Deadlines) -> None:
        self._deadlines, self.passed = deadlines, False

    def __enter__(self) -> Self:
        task = asyncio.current_task()
        if task is None:
            raise RuntimeError("a deadline needs a running task")
        self._task, self.loop = task, task.get_loop()
        self._before = task.cancelling()
        self.due = self.loop.time() + self._deadlines.seconds
        self._deadlines.add(self)
        return self

    def on_deadline(self) -> None:
        self.passed = True
        self._task.cancel()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if not self.passed:
            self._deadlines.drop(self)
        elif self._task.uncancel() <= self._before and kind is asyncio.CancelledError:
            raise TimeoutError from error
