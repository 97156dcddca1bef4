"""One deadline for every request, at the price of a dictionary entry.

`asyncio.timeout` makes and drops a timer for each use, a tenth of what an exact match costs in all.
All requests of a server have the same time, so they pass in the order in which they began, and one
timer for the first of them is enough.
"""

import asyncio
from types import TracebackType
from typing import Self


class Deadlines:
    """Ends tasks that take longer than `seconds`."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._running: dict[Deadline, None] = {}
        self._armed = False

    def add(self, deadline: "Deadline") -> None:
        self._running[deadline] = None
        if not self._armed:
            self._arm(deadline)

    def drop(self, deadline: "Deadline") -> None:
        self._running.pop(deadline, None)

    def _arm(self, first: "Deadline") -> None:
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
            first.pass_()


class Deadline:
    """`with Deadline(deadlines):` raises TimeoutError where its body is cut off."""

    __slots__ = ("_deadlines", "_passed", "_task", "due", "loop")

    def __init__(self, deadlines: Deadlines) -> None:
        self._deadlines, self._passed = deadlines, False

    def __enter__(self) -> Self:
        task = asyncio.current_task()
        if task is None:
            raise RuntimeError("a deadline is for a task")
        self._task, self.loop = task, task.get_loop()
        self.due = self.loop.time() + self._deadlines.seconds
        self._deadlines.add(self)
        return self

    def pass_(self) -> None:
        self._passed = True
        self._task.cancel()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if not self._passed:
            self._deadlines.drop(self)
        elif self._task.uncancel() == 0 and kind is asyncio.CancelledError:
            raise TimeoutError from error
