"""This process: judges on the event loop, in threads and in workers, one deadline for each case."""

import asyncio
from collections.abc import Sequence
from functools import cached_property, partial

from fourscore.core import INLINE, Call, Result, attempt
from fourscore.core.judge import get_runs
from fourscore.executors.threads import shared
from fourscore.executors.workers import Workers

#: When a case has no deadline, a worker's job still needs one.
LONG = 3600.0


class Local:
    """Runs the calls of one case side by side, and answers when its deadline passes.

    What is bounded by size runs at once. A blocking judge runs in a thread, which cannot be
    stopped: past the deadline it is left behind. A judge that never lets go of the interpreter
    (one long call into C) stops this process too; such a one asks for a process of its own, which
    is killed.
    """

    def __init__(self, deadline: float | None = 30.0) -> None:
        self.deadline = deadline
        self.threads = shared()

    async def run(self, calls: Sequence[Call]) -> Sequence[Result]:
        kinds = [get_runs(call.judge) for call in calls]
        if all(kind == "inline" for kind in kinds):
            return await INLINE.run(calls)
        if kinds == ["asks"]:
            return [await self._asked(calls[0])]
        tasks = [asyncio.ensure_future(self._one(*pair)) for pair in zip(calls, kinds, strict=True)]
        try:
            await asyncio.wait(tasks, timeout=self.deadline)
        finally:
            for task in tasks:
                task.cancel()
        return [self._result(task) for task in tasks]

    async def _asked(self, call: Call) -> Result:
        """In this very task: it is sure to end when it is told to."""
        try:
            async with asyncio.timeout(self.deadline):
                return await attempt(call)
        except TimeoutError:
            return self._late()

    async def _one(self, call: Call, kind: str) -> Result:
        if kind == "thread":
            answer: Result = await self.threads.run(partial(attempt, call))
            return answer
        if kind == "process":
            return await self._workers.run(_isolated, call, deadline=self.deadline or LONG)
        return await attempt(call)

    @cached_property
    def _workers(self) -> Workers:
        return Workers(memory=None, warm=["fourscore.executors.local"])

    def _result(self, task: "asyncio.Task[Result]") -> Result:
        if not task.done() or task.cancelled():
            return self._late()
        error = task.exception()
        if error is None:
            return task.result()
        return error if isinstance(error, Exception) else RuntimeError(repr(error))

    def _late(self) -> TimeoutError:
        return TimeoutError(f"no answer within {self.deadline or 0:g} s")


def _isolated(call: Call) -> Result:
    """In a worker: the call, with a loop of its own."""
    return asyncio.run(attempt(call))
