"""Run judges on the event loop, in threads and in workers, with one deadline for each case."""

import asyncio
from collections.abc import Sequence
from functools import cached_property, partial

from fourscore.core import INLINE, Call, Result, call_judge
from fourscore.core.judge import get_runs
from fourscore.executors.thread_pool import get_shared_threads
from fourscore.executors.worker_pool import WorkerPool

#: The deadline of a worker's job where the case has none, in seconds.
LONG = 3600.0


class LocalExecutor:
    """Runs the judges of one case concurrently, and returns when its deadline passes at the latest.

    Judges whose work is bounded by size run inline. A blocking judge runs in a thread, which cannot
    be stopped: past the deadline it is abandoned. A judge that never releases the interpreter (one
    long call into C) stops this process too; with `isolate: process` it runs in a worker, which is
    killed.
    """

    def __init__(self, deadline: float | None = 30.0) -> None:
        self.deadline = deadline
        self.threads = get_shared_threads()

    async def run(self, calls: Sequence[Call]) -> Sequence[Result]:
        kinds = [get_runs(call.judge) for call in calls]
        if all(kind == "inline" for kind in kinds):
            return await INLINE.run(calls)
        if kinds == ["asks"]:
            return [await self._run_here(calls[0])]
        tasks = [
            asyncio.ensure_future(self.run_call(*pair)) for pair in zip(calls, kinds, strict=True)
        ]
        try:
            await asyncio.wait(tasks, timeout=self.deadline)
        finally:
            for task in tasks:
                task.cancel()
        return [self._read_result(task) for task in tasks]

    async def _run_here(self, call: Call) -> Result:
        """Run a judge that asks a model in this task: it ends as soon as it is cancelled."""
        try:
            async with asyncio.timeout(self.deadline):
                return await call_judge(call)
        except TimeoutError:
            return self._make_timeout()

    async def run_call(self, call: Call, kind: str) -> Result:
        """Run one call where judges of its kind run; a subclass may run it elsewhere."""
        if kind == "thread":
            result: Result = await self.threads.run(partial(call_judge, call))
            return result
        if kind == "process":
            return await self._workers.run(_run_in_worker, call, deadline=self.deadline or LONG)
        return await call_judge(call)

    @cached_property
    def _workers(self) -> WorkerPool:
        return WorkerPool(memory=None, warm=["fourscore.executors.local"])

    def _read_result(self, task: "asyncio.Task[Result]") -> Result:
        if not task.done() or task.cancelled():
            return self._make_timeout()
        error = task.exception()
        if error is None:
            return task.result()
        return error if isinstance(error, Exception) else RuntimeError(repr(error))

    def _make_timeout(self) -> TimeoutError:
        return TimeoutError(f"no answer within {self.deadline or 0:g} s")


def _run_in_worker(call: Call) -> Result:
    """Run a call in a worker, with an event loop of its own."""
    return asyncio.run(call_judge(call))
