"""An agent in worker processes: whatever it does there affects one attempt only.

A thread cannot be stopped, and C code that aborts ends its process. Here each attempt has a worker
process to itself, which is killed where it does not answer in time and replaced where it ends. The
price is a process for each attempt under way, and attempts that cannot share a client.
"""

import asyncio
import time
from collections.abc import Sequence
from functools import cache
from types import TracebackType
from typing import Any, Self

from fourscore.agents import agent as agents
from fourscore.agents.blocking_calls import THREAD_POOL
from fourscore.agents.trace_values import to_text
from fourscore.core import Case, Fault, FourscoreError, Trace, thaw
from fourscore.executors.worker_main import retire
from fourscore.executors.worker_pool import WorkerDied, WorkerError, WorkerPool, WorkerTimeout

#: Seconds beyond an attempt's deadline, before its process counts as stuck.
SLACK = 2.0
#: Seconds that stand for no deadline.
NO_DEADLINE = 1e9


class ProcessAgent:
    """The agent of a name, in up to `size` processes."""

    def __init__(self, spec: str, folders: Sequence[str], size: int) -> None:
        begun = time.perf_counter()
        agent = agents.load_agent(spec, folders=folders)
        # A worker loads the file too; the deadline of its first attempt does not pay for that.
        self._loading = 1.0 + 5 * (time.perf_counter() - begun)
        self.name, self.version = agent.name, getattr(agent, "version", "")
        self._spec, self._folders = spec, tuple(folders)
        self._pool = WorkerPool(
            size, memory=None, warm=[__name__], patience=NO_DEADLINE, template=True
        )

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await asyncio.to_thread(self._pool.close)

    async def run(self, case_id: str, input: Any) -> Trace:  # noqa: A002
        return await self.attempt(case_id, input, None)

    async def attempt(self, case_id: str, input: Any, deadline: float | None) -> Trace:  # noqa: A002
        """Return the trace of one attempt; a dead or killed process is a fault of the agent."""
        begun, started = time.perf_counter(), time.time()
        longest = (
            NO_DEADLINE if deadline is None else deadline + SLACK + agents.GRACE + self._loading
        )
        job = (self._spec, self._folders, case_id, thaw(input), deadline)
        try:
            return await self._pool.run(_attempt_in_worker, *job, deadline=longest)
        except WorkerTimeout:
            fault = Fault("timeout", f"no answer within {deadline:g} s: its process was killed")
        except WorkerDied as error:
            how = to_text(error).removeprefix("the worker ")
            fault = Fault("error", f"it crashed its process: it {how}")
        except WorkerError as error:
            fault = Fault("error", to_text(error))
        return Trace(fault=fault, started=started, seconds=time.perf_counter() - begun)


def _attempt_in_worker(
    spec: str,
    folders: tuple[str, ...],
    case_id: str,
    input: Any,  # noqa: A002
    deadline: float | None,
) -> Trace:
    """Make an attempt, in a worker."""
    agent, runner = _load_in_worker(spec, folders)
    trace = runner.run(agents.attempt_case(agent, Case(id=case_id, input=input), 0, deadline))
    if THREAD_POOL.threads.stuck:
        retire()  # a call that hangs in a thread goes with its process
    return trace


@cache
def _load_in_worker(spec: str, folders: tuple[str, ...]) -> "tuple[agents.Agent, asyncio.Runner]":
    try:
        return agents.load_agent(spec, folders=folders), asyncio.Runner()
    except FourscoreError as error:  # it loaded in the parent
        raise WorkerError(str(error)) from error
