"""A second call beside one that hangs.

Of many calls a few never come back, and a run is as long as the longest. A call that takes longer
than `times` the 95th percentile of recent ones, and at least `after` seconds, gets another beside
it; the first to answer wins and the others are cancelled. A second call that fails is replaced
after a pause, and never ends the first.

Until enough calls have answered nobody knows what slow means, and none gets a second. When
everything is slow the endpoint is overloaded, and second calls would make it worse: no more than
one in `share` of the calls under way has one.

It belongs inside `Limited`, so that waiting in line is not taken for hanging.
"""

import asyncio
from collections import deque

from msgspec.structs import replace

from rubrica.core.numbers import finite, whole
from rubrica.models.asking import FREE, Ask, Model, ModelError, Reply
from rubrica.models.loops import PerLoop
from rubrica.models.wrapper import Wrapper

#: How many calls must have answered, how many are remembered.
ENOUGH, RECENT = 10, 256
#: Calls for one ask under way at a time.
MOST = 3
#: Seconds between two looks at a slow call, and after a second call that failed.
LOOK = 1.0

Call = asyncio.Task[Reply]


class _Seen:
    def __init__(self) -> None:
        self.recent: deque[float] = deque(maxlen=RECENT)
        self.under_way = self.second = 0
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


class Hedged(Wrapper):
    """See above. What is slow is learnt for each event loop by itself."""

    def __init__(
        self, model: Model, *, after: float = 5.0, times: float = 8.0, share: int = 8
    ) -> None:
        super().__init__(model)
        finite("after", after, low=0)
        finite("times", times, low=1)
        whole("share", share, low=1)
        self.after, self.times, self.share = after, times, share
        self._seen = PerLoop(_Seen)

    async def ask(self, ask: Ask) -> Reply:
        seen = self._seen.get()
        begun = asyncio.get_running_loop().time()
        first = asyncio.ensure_future(self._timed(ask, seen))
        calls = {first}
        seen.under_way += 1
        try:
            await asyncio.wait(calls, timeout=self.after)
            if first.done():
                return first.result()
            return await self._raced(ask, seen, first, calls, begun)
        finally:
            seen.under_way -= 1
            for call in calls:
                call.cancel()  # where it is done already this means nothing

    async def _timed(self, ask: Ask, seen: _Seen) -> Reply:
        clock = asyncio.get_running_loop().time
        begun = clock()
        reply = await self.model.ask(ask)
        seen.add(clock() - begun)
        return reply

    async def _raced(
        self, ask: Ask, seen: _Seen, first: Call, calls: set[Call], due: float
    ) -> Reply:
        """Wait for the first to answer. `due` is when the last call began, or may be replaced."""
        clock = asyncio.get_running_loop().time
        spent, failed = FREE, None
        first.add_done_callback(_heard)
        patience = self._patience(seen)
        try:
            while True:
                if self._may(seen, len(calls)) and clock() >= due + patience:
                    call = asyncio.ensure_future(self._timed(ask, seen))
                    call.add_done_callback(_heard)
                    calls.add(call)
                    seen.second += 1
                    due = clock()
                done, _ = await asyncio.wait(
                    calls, timeout=LOOK, return_when=asyncio.FIRST_COMPLETED
                )
                patience = self._patience(seen)
                for call in sorted(done, key=_went_wrong):
                    calls.discard(call)
                    seen.second -= call is not first
                    error = call.exception()
                    if error is None:
                        reply = call.result()
                        return replace(reply, usage=spent + reply.usage) if spent.calls else reply
                    if not isinstance(error, ModelError) or (call is first and not error.passing):
                        raise error
                    spent += error.usage or FREE
                    failed = error if failed is None or call is first else failed
                    due = clock() - patience + (error.retry_after or LOOK)
                if not calls and failed is not None:
                    failed.usage = spent if spent.calls else failed.usage
                    raise failed
        finally:
            seen.second -= len(calls - {first})

    def _patience(self, seen: _Seen) -> float:
        return max(self.after, self.times * seen.p95)

    def _may(self, seen: _Seen, calls: int) -> bool:
        room = max(2, seen.under_way // self.share)
        return calls < MOST and len(seen.recent) >= ENOUGH and seen.second < room

    def __reduce__(self) -> tuple[object, ...]:
        return (_again, (self.model, self.after, self.times, self.share))


def _went_wrong(call: Call) -> bool:
    return call.exception() is not None


def _heard(call: Call) -> None:
    """The loser's error is nobody's business; unheard, the loop would print it."""
    if not call.cancelled():
        call.exception()


def _again(model: Model, after: float, times: float, share: int) -> Hedged:
    return Hedged(model, after=after, times=times, share=share)
