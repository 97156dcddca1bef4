"""Hedging: a second call beside one that hangs.

Of many calls a few never return, and a run is as long as its longest call. A call that takes longer
than `times` the 95th percentile of recent calls, and at least `after` seconds, gets a second call
beside it; the first to answer wins, the others are cancelled. A second call that fails is replaced
after a pause, and never ends the first.

Until enough calls have been answered nobody knows what slow means, and there are no second calls.
When everything is slow the endpoint is overloaded, and second calls would make it worse: at most
one in `share` of the calls under way has one.

It belongs inside `ConcurrencyLimitedModel`, so that waiting for a place is not taken for hanging.
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

#: Calls that must have been answered first, and calls that are remembered.
MIN_CALLS, MAX_RECENT = 10, 256
#: Calls of one request at a time.
MAX_CALLS = 3
#: Seconds between two checks of a slow call, and after a second call that failed.
CHECK_SECONDS = 1.0


class _CallRecord:
    """The calls of one event loop: durations of recent ones, and how many are under way."""

    def __init__(self, after: float) -> None:
        self.recent: deque[float] = deque(maxlen=MAX_RECENT)
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
    """A model with hedging; what is slow is learned for each event loop by itself."""

    def __init__(
        self, model: Model, *, after: float = 5.0, times: float = 8.0, share: int = 8
    ) -> None:
        super().__init__(model)
        check_finite("after", after, low=0)
        check_finite("times", times, low=1)
        check_whole("share", share, low=1)
        self.after, self.times, self.share = after, times, share
        self._records = PerLoop(lambda: _CallRecord(after))

    async def ask(self, request: Request) -> Response:
        """Make the first call in this task; only a slow call costs another task."""
        record = self._records.get()
        race = _Race(self, request, record)
        record.under_way += 1
        record.slow.add(race)
        try:
            response = await self.ask_timed(request, record)
            spent = race.spent
            return replace(response, usage=spent + response.usage) if spent.calls else response
        except asyncio.CancelledError:
            if not race.is_overtaken():
                raise
            return race.get_winner()
        except ModelError as error:
            if not error.transient:
                raise
            return await race.await_second_call(error)
        finally:
            record.under_way -= 1
            record.slow.drop(race)
            race.end()

    async def ask_timed(self, request: Request, record: _CallRecord) -> Response:
        clock = asyncio.get_running_loop().time
        begun = clock()
        response = await self.model.ask(request)
        record.add(clock() - begun)
        return response

    def patience(self, record: _CallRecord) -> float:
        return max(self.after, self.times * record.p95)

    def may_hedge(self, record: _CallRecord, calls: int) -> bool:
        room = max(2, record.under_way // self.share)
        return calls < MAX_CALLS and len(record.recent) >= MIN_CALLS and record.second < room

    def __reduce__(self) -> tuple[object, ...]:
        return (_rebuild, (self.model, self.after, self.times, self.share))


class _Race:
    """One request: its first call, and the second calls once the first is slow.

    The first call runs in the task of the caller. When a second call wins, that task is cancelled,
    as `asyncio.timeout` would do, and takes the response from here.
    """

    __slots__ = (
        "_before",
        "_calls",
        "_failed",
        "_overtaken",
        "_second_calls",
        "_task",
        "due",
        "hedged",
        "loop",
        "record",
        "request",
        "spent",
    )

    def __init__(self, hedged: HedgedModel, request: Request, record: _CallRecord) -> None:
        task = asyncio.current_task()
        assert task is not None
        self.hedged, self.request, self.record = hedged, request, record
        self._task, self.loop = task, task.get_loop()
        self._before = task.cancelling()
        self.due = self.loop.time() + hedged.after
        self.spent: Usage = NO_USAGE  # by second calls that failed
        self._second_calls: asyncio.Task[Response] | None = None
        self._calls: set[asyncio.Task[Response]] = set()
        self._failed: ModelError | None = None  # the first call's error
        self._overtaken = False

    def on_deadline(self) -> None:
        """Start second calls: the first is slow."""
        self._second_calls = self.loop.create_task(self._make_second_calls())
        self._second_calls.add_done_callback(self._on_winner)

    async def _make_second_calls(self) -> Response:
        """Make second calls until one answers, or until they and the first have all failed."""
        clock, hedged, record = self.loop.time, self.hedged, self.record
        due = self.due - hedged.after  # when the last call began
        while True:
            patience = hedged.patience(record)
            first = self._failed is None
            if hedged.may_hedge(record, len(self._calls) + first) and clock() >= due + patience:
                self._calls.add(self.loop.create_task(hedged.ask_timed(self.request, record)))
                record.second += 1
                due = clock()
            if not self._calls:
                await asyncio.sleep(CHECK_SECONDS)
                continue
            done, _ = await asyncio.wait(
                self._calls, timeout=CHECK_SECONDS, return_when=asyncio.FIRST_COMPLETED
            )
            for call in sorted(done, key=_has_failed):
                self._calls.discard(call)
                record.second -= 1
                error = call.exception()
                if error is None:
                    response = call.result()
                    spent = self.spent + response.usage
                    return replace(response, usage=spent) if self.spent.calls else response
                if not isinstance(error, ModelError):
                    raise error
                self.spent += error.usage or NO_USAGE
                due = clock() - patience + (error.retry_after or CHECK_SECONDS)
            if self._failed is not None and not self._calls:
                raise self._add_spent(self._failed)

    def _on_winner(self, second_calls: "asyncio.Task[Response]") -> None:
        if not second_calls.cancelled() and self._failed is None:
            second_calls.exception()  # retrieved, or the loop would print it
            self._overtaken = True
            self._task.cancel()

    def is_overtaken(self) -> bool:
        """Whether the task was cancelled by a winning second call and by nobody else."""
        if not self._overtaken:
            return False
        self._overtaken = False
        return self._task.uncancel() <= self._before

    def get_winner(self) -> Response:
        assert self._second_calls is not None
        return self._second_calls.result()

    async def await_second_call(self, error: ModelError) -> Response:
        """Return the response of a second call under way; without one, raise the first error."""
        self._failed = error
        if self._second_calls is None or not self._calls:
            raise self._add_spent(error)
        return await self._second_calls

    def _add_spent(self, error: ModelError) -> ModelError:
        if self.spent.calls:
            error.usage = self.spent + (error.usage or NO_USAGE)
        return error

    def end(self) -> None:
        """Cancel what is still under way."""
        self.is_overtaken()  # the first call was answered although it was cancelled
        if self._second_calls is not None:
            self._second_calls.remove_done_callback(self._on_winner)
            self._second_calls.cancel()  # no effect where it is done
        for call in self._calls:
            call.add_done_callback(_retrieve_error)
            call.cancel()
        self.record.second -= len(self._calls)
        self._calls.clear()


def _has_failed(call: "asyncio.Task[Response]") -> bool:
    return call.exception() is not None


def _retrieve_error(call: "asyncio.Task[Response]") -> None:
    """Retrieve the error of a call that lost, or the loop would print it."""
    if not call.cancelled():
        call.exception()


def _rebuild(model: Model, after: float, times: float, share: int) -> HedgedModel:
    return HedgedModel(model, after=after, times=times, share=share)
