"""Run judges in a server so that none holds up the replies to other requests.

- Judges bounded by the size of their input run on the server's own event loop, a slice of a large
  request at a time; `large_bodies` runs them for bodies that would hold it up.
- Judges that await run on an event loop in a thread of its own. One that blocks there holds up its
  neighbours until their deadline, not the server; then that loop is abandoned for a new one.
- Judges that block, which are a user's code, run in worker processes: one that hangs is killed at
  its deadline, and one that crashes fails only its own request. While answers wait for a worker,
  more are started, and at last those that have hung for long make way.
"""

import asyncio
import pickle
import threading
import time
from collections.abc import Sequence
from functools import lru_cache

from fourscore.core import (
    Call,
    Case,
    Judge,
    JudgeError,
    Ranker,
    Result,
    Rubric,
    Score,
    Trace,
    call_judge,
)
from fourscore.executors.local import LocalExecutor
from fourscore.executors.pool_job import SLOW_SHARE
from fourscore.executors.portal import MustWait, run_without_loop, start_loop
from fourscore.executors.worker_pool import WorkerPool, frame_load
from fourscore.executors.worker_process import START
from fourscore.judges.scorer import score_outputs
from fourscore.server.messages import Group

#: Groups judged before other requests get a turn: a millisecond or two of exact matches.
SLICE = 64
#: Workers beyond the usual number, while answers wait behind judges that take long.
SPARE_FACTOR = 3


class JudgeRunner:
    """Scores the groups of many requests at once, each group within `deadline` seconds."""

    def __init__(self, rubric: Rubric, deadline: float, processes: int) -> None:
        self.rubric, self.deadline = rubric, deadline
        self._loop: asyncio.AbstractEventLoop | None = None
        self._asked_at, self._answered = 0.0, threading.Event()
        self._answered.set()
        self._executor = None if rubric.is_bounded else WorkerExecutor(deadline, processes)

    async def start(self) -> None:
        """Load the judges in the workers, so that the first request's deadline does not pay."""
        if self._executor is not None:
            kinds = {slot.runs for slot in self.rubric.slots}
            if kinds & {"thread", "process"}:
                await self._executor.warm([slot.judge for slot in self.rubric.slots])

    def close(self) -> None:
        if self._executor is not None:
            self._executor.pool.close()

    async def score(self, groups: Sequence[Group]) -> list[list[Score]]:
        """Return the scores of each group."""
        if self._executor is None:
            return await self._score_here(groups)
        loop = self._get_judge_loop()
        work = self._score_all(groups, self._executor)
        future = asyncio.run_coroutine_threadsafe(work, loop)
        try:
            return await asyncio.wrap_future(future)
        except asyncio.CancelledError:
            # The executor answers before the request's deadline, so its loop is stuck.
            if self._loop is loop:
                self._leave_loop()
            raise

    async def _score_here(self, groups: Sequence[Group]) -> list[list[Score]]:
        if len(groups) == 1:
            return [await self._score_group(groups[0])]
        scores: list[list[Score]] = []
        for start in range(0, len(groups), SLICE):
            part = groups[start : start + SLICE]
            scores += await asyncio.gather(*map(self._score_group, part))
        return scores

    async def _score_group(self, group: Group) -> list[Score]:
        """Score the outputs of a group; those that wait for a worker process wait together."""
        try:
            return run_without_loop(score_outputs(self.rubric, *group))
        except MustWait:
            pass
        singles = (score_outputs(self.rubric, group.case, (each,)) for each in group.outputs)
        return [score for (score,) in await asyncio.gather(*singles)]

    async def _score_all(
        self, groups: Sequence[Group], executor: "WorkerExecutor"
    ) -> list[list[Score]]:
        return await asyncio.gather(
            *(score_outputs(self.rubric, *group, executor=executor) for group in groups)
        )

    def _get_judge_loop(self) -> asyncio.AbstractEventLoop:
        """Return a loop that answers: one that does not for a while is given up for a new one."""
        if self._loop is not None:
            waited = time.monotonic() - self._asked_at
            if not self._answered.is_set() and waited > SLOW_SHARE * self.deadline:
                self._leave_loop()
            else:
                self._beat()
        if self._loop is None:
            self._loop = start_loop("fourscore-judging")
            self._beat()
        return self._loop

    def _beat(self) -> None:
        """Have the loop answer, which shows that no judge blocks it."""
        assert self._loop is not None
        if self._answered.is_set():
            self._answered.clear()
            self._asked_at = time.monotonic()
            self._loop.call_soon_threadsafe(self._answered.set)

    def _leave_loop(self) -> None:
        """Give up a loop that a judge blocks; it ends once the judge lets go of it."""
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self._loop.call_later, self.deadline, self._loop.stop)
            self._loop, self._answered = None, threading.Event()
            self._answered.set()


class WorkerExecutor(LocalExecutor):
    """The local executor, except that blocking judges run in worker processes, not in threads."""

    def __init__(self, deadline: float, processes: int) -> None:
        super().__init__(deadline)
        self.pool = WorkerPool(processes)
        self._processes, self._seconds = processes, deadline
        self._pickled: dict[int, bytes] = {}

    async def warm(self, judges: Sequence[Judge | Ranker]) -> None:
        """Load the judges in every worker."""
        pickled = [self._pickle(judge) for judge in judges]
        self.pool = WorkerPool(
            self._processes,
            memory=None,
            warm=[__name__],
            template=True,
            load=frame_load(_load, pickled),
            spare=SPARE_FACTOR * self._processes,
        )
        starts = (self.pool.run(_load, (), deadline=START) for _ in range(self.pool.size))
        await asyncio.gather(*starts)

    async def run_call(self, call: Call, kind: str) -> Result:
        if kind not in ("thread", "process"):
            try:
                return await call_judge(call)
            except KeyboardInterrupt:  # nobody interrupts this thread: the judge raised it
                return JudgeError("the judge raised KeyboardInterrupt")
        job = (self._pickle(call.judge), call.case, call.traces)
        return await self.pool.run(_judge, *job, deadline=self._seconds)

    def _pickle(self, judge: Judge | Ranker) -> bytes:
        """Return the judge as bytes, made once: the rubric keeps it alive, so its id is unique."""
        if id(judge) not in self._pickled:
            self._pickled[id(judge)] = pickle.dumps(judge)
        return self._pickled[id(judge)]


@lru_cache(maxsize=16)
def _unpickle(pickled: bytes) -> Judge | Ranker:
    judge: Judge | Ranker = pickle.loads(pickled)  # noqa: S301 - made by our own parent process
    return judge


def _load(judges: Sequence[bytes]) -> None:
    for pickled in judges:
        _unpickle(pickled)


@lru_cache(maxsize=1)
def _get_runner() -> asyncio.Runner:
    return asyncio.Runner()


def _judge(pickled: bytes, case: Case, traces: tuple[Trace, ...]) -> Result:
    """Run one call in a worker, with a judge that is loaded once."""
    return _get_runner().run(call_judge(Call(_unpickle(pickled), case, traces)))
