"""This process: judges on the event loop and in threads, one deadline for each case."""

import asyncio
import os
from collections.abc import Sequence

from rubrica.core import INLINE, Call, Signal
from rubrica.executors.threads import Threads


class Local:
    """Runs the calls of one case side by side, and answers when its deadline passes.

    What is bounded by size runs at once. A blocking judge runs in a thread, which cannot be
    stopped: past the deadline it is left behind. A judge that never lets go of the interpreter
    (one long call into C) stops this process too; such a one belongs in a process of its own.
    """

    def __init__(self, deadline: float | None = 30.0, threads: int | None = None) -> None:
        self.deadline = deadline
        self._threads = Threads(threads or min(32, (os.cpu_count() or 1) + 4))

    async def run(self, calls: Sequence[Call]) -> Sequence[Sequence[Signal] | Exception]:
        kinds = [getattr(call.judge, "runs", "loop") for call in calls]
        if all(kind == "inline" for kind in kinds):
            return await INLINE.run(calls)
        tasks = [
            asyncio.ensure_future(self._threads.run(call.__call__) if kind == "thread" else call())
            for call, kind in zip(calls, kinds, strict=True)
        ]
        try:
            await asyncio.wait(tasks, timeout=self.deadline)
        finally:
            for task in tasks:
                task.cancel()
        return [self._result(task) for task in tasks]

    def _result(self, task: "asyncio.Task[Sequence[Signal]]") -> Sequence[Signal] | Exception:
        if not task.done() or task.cancelled():
            return TimeoutError(f"no answer within {self.deadline:g} s")
        error = task.exception()
        if error is None:
            return task.result()
        return error if isinstance(error, Exception) else RuntimeError(repr(error))
