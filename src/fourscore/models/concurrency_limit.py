"""How many calls at a time: as many as the endpoint bears, found by trying.

Answers are counted in rounds, a round being as many as may be under way. In a round of which more
than a fifth are complaints (429, 503, 529) the limit is halved; in any other it grows by one, and
until the first such round it doubles. A few complaints are no reason to slow down: some endpoints
turn away one call in ten whatever the load, and each of those waits before it comes again.
"""

import asyncio
from collections import deque

from fourscore.core.numbers import check_whole
from fourscore.models.messages import Model, ModelError, Request, Response
from fourscore.models.per_loop import PerLoop
from fourscore.models.wrapper import ModelWrapper

#: Answers that make a round, at the least; with fewer chance would decide.
ROUND = 16
#: Errors that say nothing of the endpoint's load.
SILENT = frozenset({"budget", "connection", "timeout"})
#: The share of complaints that is borne.
BEARABLE = 0.2


class Gate:
    """The calls of one event loop: those under way, and those in line, first come first served."""

    def __init__(self, low: int, start: int, high: int) -> None:
        self.low, self.high = low, high
        self.limit = float(start)
        self.under_way = 0
        self._line: deque[asyncio.Future[None]] = deque()
        self._doubling = True
        self._age = self._good = self._bad = 0

    async def enter(self) -> int:
        """Wait for a place; the number tells calls from before a complaint from those after."""
        if self.under_way < int(self.limit) and not self._line:
            self.under_way += 1
            return self._age
        place = asyncio.get_running_loop().create_future()
        self._line.append(place)
        try:
            await place
        except asyncio.CancelledError:
            if place.done() and not place.cancelled():
                self.leave()  # it was given away to someone who has gone
            else:
                self._line.remove(place)
            raise
        return self._age

    def leave(self) -> None:
        self.under_way -= 1
        self._admit()

    def _admit(self) -> None:
        while self._line and self.under_way < int(self.limit):
            place = self._line.popleft()
            if not place.done():
                place.set_result(None)
                self.under_way += 1

    def heard(self, age: int, *, complaint: bool) -> None:
        """An answer to a call of that age. Calls from before a halving say nothing about it."""
        if age < self._age:
            return
        self._good += not complaint
        self._bad += complaint
        if self._good + self._bad < max(ROUND, int(self.limit)):
            return
        if self._bad > BEARABLE * (self._good + self._bad):
            self._age += 1
            self._doubling = False
            self.limit = max(float(self.low), self.limit / 2)
        elif 2 * self.under_way >= self.limit:  # else nothing was learnt of the limit
            grown = 2 * self.limit if self._doubling else self.limit + 1
            self.limit = min(float(self.high), grown)
        self._good = self._bad = 0


class ConcurrencyLimitedModel(ModelWrapper):
    """At most `high` calls at a time, at least `low`, at first `start`; for each event loop."""

    def __init__(self, model: Model, *, low: int = 1, start: int = 16, high: int = 256) -> None:
        super().__init__(model)
        check_whole("low", low, low=1)
        check_whole("start", start, low=1)
        check_whole("high", high, low=1)
        self.low, self.high = min(low, high), high
        self.start = min(max(start, self.low), high)
        self._gates = PerLoop(self._gate)

    def _gate(self) -> Gate:
        return Gate(self.low, self.start, self.high)

    @property
    def limit(self) -> float:
        """The present limit in the running loop."""
        return self._gates.get().limit

    async def ask(self, request: Request) -> Response:
        gate = self._gates.get()
        age = await gate.enter()
        try:
            reply = await self.model.ask(request)
            gate.heard(age, complaint=False)
            return reply
        except ModelError as error:
            if error.kind not in SILENT:
                gate.heard(age, complaint=error.overload)
            raise
        finally:
            gate.leave()

    def __reduce__(self) -> tuple[object, ...]:
        return (_again, (self.model, self.low, self.start, self.high))


def _again(model: Model, low: int, start: int, high: int) -> ConcurrencyLimitedModel:
    return ConcurrencyLimitedModel(model, low=low, start=start, high=high)
