"""An adaptive limit on concurrent calls: as many as the endpoint accepts.

Replies are counted in rounds of as many as may be under way. After a round with more than a fifth
of overload errors (429, 503, 529) the limit is halved; after any other it grows by one, and until
the first halving it doubles. A few overload errors are no reason to slow down: some endpoints
refuse one call in ten whatever the load, and each of those is retried after a pause.
"""

import asyncio
from collections import deque

from fourscore.core.numbers import check_whole
from fourscore.models.messages import Model, ModelError, Request, Response
from fourscore.models.per_loop import PerLoop
from fourscore.models.wrapper import ModelWrapper

#: Replies in a round at the least; with fewer, chance would decide.
MIN_ROUND = 16
#: Errors that say nothing about the load of the endpoint.
UNRELATED_ERRORS = frozenset({"budget", "connection", "unreachable", "timeout"})
#: The share of overload errors that is tolerated.
TOLERATED_SHARE = 0.2


class CallGate:
    """The concurrent calls of one event loop; further calls wait in order."""

    def __init__(self, low: int, start: int, high: int) -> None:
        self.low, self.high = low, high
        self.limit = float(start)
        self.under_way = 0
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._doubling = True
        self._age = self._accepted = self._overloaded = 0

    async def enter(self) -> int:
        """Wait for a place, and return the age of the limit: how often it was halved before."""
        if self.under_way < int(self.limit) and not self._waiting:
            self.under_way += 1
            return self._age
        place = asyncio.get_running_loop().create_future()
        self._waiting.append(place)
        try:
            await place
        except asyncio.CancelledError:
            if place.done() and not place.cancelled():
                self.leave()  # the place was given to this call, which is cancelled
            else:
                self._waiting.remove(place)
            raise
        return self._age

    def leave(self) -> None:
        self.under_way -= 1
        self._admit()

    def _admit(self) -> None:
        while self._waiting and self.under_way < int(self.limit):
            place = self._waiting.popleft()
            if not place.done():
                place.set_result(None)
                self.under_way += 1

    def count_reply(self, age: int, *, is_overload: bool) -> None:
        """Count the reply to a call of this age; calls from before a halving do not count."""
        if age < self._age:
            return
        self._accepted += not is_overload
        self._overloaded += is_overload
        if self._accepted + self._overloaded < max(MIN_ROUND, int(self.limit)):
            return
        if self._overloaded > TOLERATED_SHARE * (self._accepted + self._overloaded):
            self._age += 1
            self._doubling = False
            self.limit = max(float(self.low), self.limit / 2)
        elif 2 * self.under_way >= self.limit:  # else the limit itself was not tested
            raised = 2 * self.limit if self._doubling else self.limit + 1
            self.limit = min(float(self.high), raised)
        self._accepted = self._overloaded = 0


class ConcurrencyLimitedModel(ModelWrapper):
    """A model with a limit on its concurrent calls between `low` and `high`, at first `start`."""

    def __init__(self, model: Model, *, low: int = 1, start: int = 16, high: int = 256) -> None:
        super().__init__(model)
        check_whole("low", low, low=1)
        check_whole("start", start, low=1)
        check_whole("high", high, low=1)
        self.low, self.high = min(low, high), high
        self.start = min(max(start, self.low), high)
        self._gates = PerLoop(self._make_gate)

    def _make_gate(self) -> CallGate:
        return CallGate(self.low, self.start, self.high)

    @property
    def limit(self) -> float:
        """The current limit in the running loop."""
        return self._gates.get().limit

    async def ask(self, request: Request) -> Response:
        gate = self._gates.get()
        age = await gate.enter()
        try:
            response = await self.model.ask(request)
            gate.count_reply(age, is_overload=False)
            return response
        except ModelError as error:
            if error.kind not in UNRELATED_ERRORS:
                gate.count_reply(age, is_overload=error.is_overload)
            raise
        finally:
            gate.leave()

    def __reduce__(self) -> tuple[object, ...]:
        return (_rebuild, (self.model, self.low, self.start, self.high))


def _rebuild(model: Model, low: int, start: int, high: int) -> ConcurrencyLimitedModel:
    return ConcurrencyLimitedModel(model, low=low, start=start, high=high)
