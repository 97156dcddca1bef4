"""Run judges in a server so that none holds up the replies to other requests.

- Judges bounded by the size of their input run on the server's own event loop, a slice of a large
  request at a time.
- Judges that await run on an event loop in a thread of its own. One that blocks there holds up its
  neighbours until their deadline, not the server; then that loop is abandoned for a new one.
- Judges that block, which are a user's code, run in worker processes: one that hangs is killed at
  its deadline, and one that crashes fails only its own request.
"""

import asyncio
import pickle
import threading
from collections.abc import Sequence
from functools import lru_cache

from fourscore.core import Call, Case, Judge, Ranker, Result, Rubric, Score, Trace, call_judge
from fourscore.executors.local import LocalExecutor
from fourscore.executors.portal import MustWait, run_without_loop
from fourscore.executors.worker_pool import WorkerPool
from fourscore.judges.scorer import score_outputs
from fourscore.server.messages import Group

#: Groups judged before other requests get a turn: a millisecond or two of exact matches.
SLICE = 64
#: Seconds for starting a worker and loading the judge there, once.
START = 60.0


class JudgeRunner:
    """Scores the groups of many requests at once, each group within `deadline` seconds."""

    def __init__(self, rubric: Rubric, deadline: float, processes: int) -> None:
        self.rubric, self.deadline = rubric, deadline
        self._loop: asyncio.AbstractEventLoop | None = None
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
                self._loop = None
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
        if self._loop is None:
            self._loop = asyncio.new_event_loop()
            run = self._loop.run_forever
            threading.Thread(target=run, daemon=True, name="fourscore-judging").start()
        return self._loop


class WorkerExecutor(LocalExecutor):
    """The local executor, except that blocking judges run in worker processes, not in threads."""

    def __init__(self, deadline: float, processes: int) -> None:
        super().__init__(deadline)
        self.pool = WorkerPool(processes, memory=None, warm=[__name__])
        self._seconds = deadline
        self._pickled: dict[int, bytes] = {}

    async def warm(self, judges: Sequence[Judge | Ranker]) -> None:
        """Load the judges in every worker."""
        pickled = [self._pickle(judge) for judge in judges]
        starts = (self.pool.run(_load, pickled, deadline=START) for _ in range(self.pool.size))
        await asyncio.gather(*starts)

    async def run_call(self, call: Call, kind: str) -> Result:
        if kind not in ("thread", "process"):
            return await call_judge(call)
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
