"""A second call beside one that hangs.

Of many calls a few never come back, and a run is as long as the longest. A call that takes longer
than `times` the 95th percentile of recent ones, and at least `after` seconds, gets another beside
it; the first to answer wins and the others are cancelled. A second call that fails is replaced
after a pause, and never ends the first.

Until enough calls have answered nobody knows what slow means, and none gets a second. When
everything is slow the endpoint is overloaded, and second calls would make it worse: no more than
one in `share` of the calls under way has one.

It belongs inside `ConcurrencyLimitedModel`, so that waiting in line is not taken for hanging.
"""

import asyncio
from collections import deque

from msgspec.structs import replace

from fourscore.core import Usage
from fourscore.core.numbers import check_finite, check_whole
from fourscore.models.deadlines import Deadlines
from fourscore.models.messages import NO_USAGE, Model, ModelError, Request, Response
from fourscore.models.per_loop import PerLoop
from fourscore.models.wrapper import ModelWrapper

#: How many calls must have answered, how many are remembered.
ENOUGH, RECENT = 10, 256
#: Calls for one ask under way at a time.
MOST = 3
#: Seconds between two looks at a slow call, and after a second call that failed.
LOOK = 1.0


class _Seen:
    """What one event loop knows of its calls."""

    def __init__(self, after: float) -> None:
        self.recent: deque[float] = deque(maxlen=RECENT)
        self.under_way = self.second = 0
        self.slow = Deadlines(after)
        self._p95, self._fresh = 0.0, 0

    def add(self, seconds: float) -> None:
        self.recent.append(seconds)
        self._fresh += 1

    @property
    def p95(self) -> float:
        if self._fresh:
            ordered = sorted(self.recent)
            self._p95, self._fresh = ordered[int(0.95 * (len(ordered) - 1))], 0
        return self._p95


class HedgedModel(ModelWrapper):
    """See above. What is slow is learnt for each event loop by itself."""

    def __init__(
        self, model: Model, *, after: float = 5.0, times: float = 8.0, share: int = 8
    ) -> None:
        super().__init__(model)
        check_finite("after", after, low=0)
        check_finite("times", times, low=1)
        check_whole("share", share, low=1)
        self.after, self.times, self.share = after, times, share
        self._seen = PerLoop(lambda: _Seen(after))

    async def ask(self, request: Request) -> Response:
        """The first call is made in the task that asks; only one that is slow costs a task more."""
        seen = self._seen.get()
        race = _Race(self, request, seen)
        seen.under_way += 1
        seen.slow.add(race)
        try:
            reply = await self.timed(request, seen)
            spent = race.spent
            return replace(reply, usage=spent + reply.usage) if spent.calls else reply
        except asyncio.CancelledError:
            if not race.is_overtaken():
                raise
            return race.winner()
        except ModelError as error:
            if not error.passing:
                raise
            return await race.without_first(error)
        finally:
            seen.under_way -= 1
            seen.slow.drop(race)
            race.end()

    async def timed(self, request: Request, seen: _Seen) -> Response:
        clock = asyncio.get_running_loop().time
        begun = clock()
        reply = await self.model.ask(request)
        seen.add(clock() - begun)
        return reply

    def patience(self, seen: _Seen) -> float:
        return max(self.after, self.times * seen.p95)

    def may(self, seen: _Seen, calls: int) -> bool:
        room = max(2, seen.under_way // self.share)
        return calls < MOST and len(seen.recent) >= ENOUGH and seen.second < room

    def __reduce__(self) -> tuple[object, ...]:
        return (_again, (self.model, self.after, self.times, self.share))


class _Race:
    """One ask: its first call, and those beside it once it is slow.

    The first runs in the task that asks, so when another wins that task is cancelled, as
    `asyncio.timeout` would, and finds the winner here.
    """

    __slots__ = ("_before", "_beside", "_calls", "_failed", "_overtaken", "_task", "ask", "due",
                 "hedged", "loop", "seen", "spent")  # fmt: skip

    def __init__(self, hedged: HedgedModel, request: Request, seen: _Seen) -> None:
        task = asyncio.current_task()
        assert task is not None
        self.hedged, self.ask, self.seen = hedged, request, seen
        self._task, self.loop = task, task.get_loop()
        self._before = task.cancelling()
        self.due = self.loop.time() + hedged.after
        self.spent: Usage = NO_USAGE  # by second calls that failed
        self._beside: asyncio.Task[Response] | None = None
        self._calls: set[asyncio.Task[Response]] = set()
        self._failed: ModelError | None = None  # the first call's error
        self._overtaken = False

    def pass_(self) -> None:
        """The first call is slow."""
        self._beside = self.loop.create_task(self._others())
        self._beside.add_done_callback(self._won)

    async def _others(self) -> Response:
        """Second calls, until one answers, or all have failed and the first with them."""
        clock, hedged, seen = self.loop.time, self.hedged, self.seen
        due = self.due - hedged.after  # when the last call began, or may be replaced
        while True:
            patience = hedged.patience(seen)
            first = self._failed is None
            if hedged.may(seen, len(self._calls) + first) and clock() >= due + patience:
                self._calls.add(self.loop.create_task(hedged.timed(self.ask, seen)))
                seen.second += 1
                due = clock()
            if not self._calls:
                await asyncio.sleep(LOOK)
                continue
            done, _ = await asyncio.wait(
                self._calls, timeout=LOOK, return_when=asyncio.FIRST_COMPLETED
            )
            for call in sorted(done, key=_went_wrong):
                self._calls.discard(call)
                seen.second -= 1
                error = call.exception()
                if error is None:
                    reply = call.result()
                    spent = self.spent + reply.usage
                    return replace(reply, usage=spent) if self.spent.calls else reply
                if not isinstance(error, ModelError):
                    raise error
                self.spent += error.usage or NO_USAGE
                due = clock() - patience + (error.retry_after or LOOK)
            if self._failed is not None and not self._calls:
                raise self._lost(self._failed)

    def _won(self, beside: "asyncio.Task[Response]") -> None:
        if not beside.cancelled() and self._failed is None:
            beside.exception()  # heard: unheard, the loop would print it
            self._overtaken = True
            self._task.cancel()

    def is_overtaken(self) -> bool:
        """Whether that is why the task was cancelled, and nobody else wants it to end."""
        if not self._overtaken:
            return False
        self._overtaken = False
        return self._task.uncancel() <= self._before

    def winner(self) -> Response:
        assert self._beside is not None
        return self._beside.result()

    async def without_first(self, error: ModelError) -> Response:
        """The first call has failed: the answer of another that is under way, or that error."""
        self._failed = error
        if self._beside is None or not self._calls:
            raise self._lost(error)
        return await self._beside

    def _lost(self, error: ModelError) -> ModelError:
        if self.spent.calls:
            error.usage = self.spent + (error.usage or NO_USAGE)
        return error

    def end(self) -> None:
        """However it came: nothing stays behind."""
        self.is_overtaken()  # the first call has answered although it was cancelled
        if self._beside is not None:
            self._beside.remove_done_callback(self._won)
            self._beside.cancel()  # where it is done already this means nothing
        for call in self._calls:
            call.add_done_callback(_heard)
            call.cancel()
        self.seen.second -= len(self._calls)
        self._calls.clear()


def _went_wrong(call: "asyncio.Task[Response]") -> bool:
    return call.exception() is not None


def _heard(call: "asyncio.Task[Response]") -> None:
    """The loser's error is nobody's business; unheard, the loop would print it."""
    if not call.cancelled():
        call.exception()


def _again(model: Model, after: float, times: float, share: int) -> HedgedModel:
    return HedgedModel(model, after=after, times=times, share=share)
