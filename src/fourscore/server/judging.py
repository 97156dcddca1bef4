"""Where judges run in a server: never where they could hold up the answers to others.

- Judges bounded by the size of their input run on the server's own loop, a slice of a large request
  at a time.
- Judges that await run on a loop in a thread of its own. One that blocks there holds up its
  neighbours until their deadline, not the server; then the loop is left behind and a new one begun.
- Judges that block, which are a user's code, run in worker processes: one that hangs is killed at
  its deadline, and one that crashes takes only its own request along.
"""

import asyncio
import pickle
import threading
from collections.abc import Sequence
from functools import lru_cache

from fourscore.core import Call, Case, Judge, Ranker, Result, Rubric, Score, Trace, attempt
from fourscore.executors.local import Local
from fourscore.executors.workers import Workers
from fourscore.judges.scorer import score_outputs
from fourscore.server.wire import Group

#: Groups judged between two looks at other requests: a millisecond or two of exact matches.
SLICE = 64
#: For starting a worker and loading the judge there, once.
START = 60.0


class Judging:
    """A rubric, ready to score many requests at once, each group within `deadline` seconds."""

    def __init__(self, rubric: Rubric, deadline: float, processes: int) -> None:
        self.rubric, self.deadline = rubric, deadline
        self._loop: asyncio.AbstractEventLoop | None = None
        self._apart = None if rubric.is_bounded else Apart(deadline, processes)

    async def start(self) -> None:
        """Have the workers load the judge: that must not count in the first request's deadline."""
        if self._apart is not None:
            kinds = {slot.runs for slot in self.rubric.slots}
            if kinds & {"thread", "process"}:
                await self._apart.warm([slot.judge for slot in self.rubric.slots])

    def close(self) -> None:
        if self._apart is not None:
            self._apart.pool.close()

    async def scores(self, groups: Sequence[Group]) -> list[list[Score]]:
        """The scores of each group."""
        if self._apart is None:
            return await self._here(groups)
        loop = self._beside()
        future = asyncio.run_coroutine_threadsafe(self._all(groups, self._apart), loop)
        try:
            return await asyncio.wrap_future(future)
        except asyncio.CancelledError:
            # The executor answers before the request's deadline, so its loop is stuck.
            if self._loop is loop:
                self._loop = None
            raise

    async def _here(self, groups: Sequence[Group]) -> list[list[Score]]:
        if len(groups) == 1:
            return [await score_outputs(self.rubric, *groups[0])]
        given: list[list[Score]] = []
        for start in range(0, len(groups), SLICE):
            part = groups[start : start + SLICE]
            given += await asyncio.gather(*(score_outputs(self.rubric, *group) for group in part))
        return given

    async def _all(self, groups: Sequence[Group], executor: "Apart") -> list[list[Score]]:
        return await asyncio.gather(
            *(score_outputs(self.rubric, *group, executor=executor) for group in groups)
        )

    def _beside(self) -> asyncio.AbstractEventLoop:
        if self._loop is None:
            self._loop = asyncio.new_event_loop()
            run = self._loop.run_forever
            threading.Thread(target=run, daemon=True, name="fourscore-judging").start()
        return self._loop


class Apart(Local):
    """The local executor, except that what blocks goes to a worker process instead of a thread."""

    def __init__(self, deadline: float, processes: int) -> None:
        super().__init__(deadline)
        self.pool = Workers(processes, memory=None, warm=[__name__])
        self._seconds = deadline
        self._sealed: dict[int, bytes] = {}

    async def warm(self, judges: Sequence[Judge | Ranker]) -> None:
        sealed = [self._seal(judge) for judge in judges]
        starts = (self.pool.run(_load, sealed, deadline=START) for _ in range(self.pool.size))
        await asyncio.gather(*starts)

    async def _one(self, call: Call, kind: str) -> Result:
        if kind not in ("thread", "process"):
            return await attempt(call)
        sealed = self._seal(call.judge)
        return await self.pool.run(_judged, sealed, call.case, call.traces, deadline=self._seconds)

    def _seal(self, judge: Judge | Ranker) -> bytes:
        """The judge as bytes, made once: the rubric keeps it alive, so its id is its own."""
        if id(judge) not in self._sealed:
            self._sealed[id(judge)] = pickle.dumps(judge)
        return self._sealed[id(judge)]


@lru_cache(maxsize=16)
def _opened(sealed: bytes) -> Judge | Ranker:
    judge: Judge | Ranker = pickle.loads(sealed)  # noqa: S301 - made by our own parent process
    return judge


def _load(judges: Sequence[bytes]) -> None:
    for sealed in judges:
        _opened(sealed)


@lru_cache(maxsize=1)
def _runner() -> asyncio.Runner:
    return asyncio.Runner()


def _judged(sealed: bytes, case: Case, traces: tuple[Trace, ...]) -> Result:
    """In a worker: the call, by a judge that is loaded once."""
    return _runner().run(attempt(Call(_opened(sealed), case, traces)))
