"""A limit on what is spent, that concurrency cannot get around.

Before a call its highest cost is set aside, and after it what it really took is booked. An ask that
would not fit beside those under way waits for them, since they mostly take less than was set aside;
one that would not fit even then is refused, before anything is asked.

The highest cost: tokens of the prompt are at most one for two bytes in any text worth judging, and
the reply is limited to what was set aside for it. A call of which nobody knows what it took is
booked in full.
"""

import asyncio
import threading
from typing import NamedTuple, NoReturn

import msgspec
from msgspec.structs import replace

from rubrica.core import ConfigError, Usage
from rubrica.core.numbers import finite, whole
from rubrica.models.asking import FREE, Ask, Model, ModelError, Reply
from rubrica.models.prices import Prices
from rubrica.models.wrapper import Wrapper

BYTES_PER_TOKEN = 2
#: What a chat template adds to each message, in tokens.
FRAME = 16
#: The limit of a reply that has none of its own.
MAX_TOKENS = 4096


class Cost(NamedTuple):
    """The three things that can be limited."""

    calls: int = 0
    tokens: int = 0
    dollars: float = 0.0

    def plus(self, other: "Cost", sign: int = 1) -> "Cost":
        calls, tokens, dollars = other
        return Cost(
            self.calls + sign * calls, self.tokens + sign * tokens, self.dollars + sign * dollars
        )


class Limits(NamedTuple):
    """None is no limit."""

    dollars: float | None = None
    tokens: int | None = None
    calls: int | None = None

    def exceeded(self, cost: Cost) -> str | None:
        """The limit that this would exceed, in words."""
        if self.calls is not None and cost.calls > self.calls:
            return f"{self.calls} calls"
        if self.tokens is not None and cost.tokens > self.tokens:
            return f"{self.tokens} tokens"
        if self.dollars is not None and cost.dollars > self.dollars * (1 + 1e-9):
            return f"${self.dollars:g}"
        return None


class Budgeted(Wrapper):
    """At most so many dollars, tokens and calls, in this process and all of its event loops."""

    def __init__(
        self,
        model: Model,
        *,
        dollars: float | None = None,
        tokens: int | None = None,
        calls: int | None = None,
        prices: Prices | None = None,
    ) -> None:
        super().__init__(model)
        finite("dollars", dollars, low=0)
        whole("tokens", tokens, low=0)
        whole("calls", calls, low=0)
        self.limits = Limits(dollars, tokens, calls)
        self._price = (prices or Prices()).of(model.name)
        if dollars is not None and self._price is None:
            message = f"no price is known for {model.name}: give prices, or limit tokens or calls"
            raise ConfigError(message, field="dollars")
        self._spent, self._aside = Cost(), Cost()
        self._waiting: list[tuple[asyncio.AbstractEventLoop, asyncio.Future[None]]] = []
        self._lock = threading.Lock()

    @property
    def spent(self) -> Cost:
        """What has been booked so far."""
        return self._spent

    async def ask(self, ask: Ask) -> Reply:
        if ask.max_tokens is None and (self.limits.tokens or self.limits.dollars) is not None:
            ask = replace(ask, max_tokens=MAX_TOKENS)
        highest = self._highest(ask)
        await self._set_aside(highest)
        took: Usage | None = None
        try:
            reply = await self.model.ask(ask)
            took = reply.usage if reply.usage.input_tokens or reply.cached else None
            return reply
        except ModelError as error:
            took = error.usage
            raise
        finally:
            self._book(highest, took)

    def _highest(self, ask: Ask) -> Cost:
        size = sum(len(turn.content.encode()) for turn in ask.messages)
        if ask.schema is not None:
            size += len(msgspec.json.encode(ask.schema))
        read = size // BYTES_PER_TOKEN + FRAME * (len(ask.messages) + 1)
        usage = Usage(calls=1, input_tokens=read, output_tokens=ask.max_tokens or 0)
        return self._cost(usage)

    def _cost(self, usage: Usage) -> Cost:
        dollars = 0.0 if self._price is None else self._price.dollars(usage)
        return Cost(usage.calls, usage.input_tokens + usage.output_tokens, dollars)

    async def _set_aside(self, highest: Cost) -> None:
        while True:
            with self._lock:
                over = self.limits.exceeded(self._spent.plus(highest))
                if over is not None:
                    raise ModelError(
                        "budget", f"{self.name}: the budget of {over} is spent", usage=FREE
                    )
                together = self._aside.plus(highest)
                if self.limits.exceeded(self._spent.plus(together)) is None:
                    self._aside = together
                    return
                loop = asyncio.get_running_loop()
                turn = loop.create_future()
                self._waiting.append((loop, turn))
            await turn

    def _book(self, highest: Cost, took: Usage | None) -> None:
        with self._lock:
            self._aside = self._aside.plus(highest, -1)
            self._spent = self._spent.plus(highest if took is None else self._cost(took))
            waiting, self._waiting = self._waiting, []
        for loop, turn in waiting:  # each looks again for itself
            if not loop.is_closed():
                loop.call_soon_threadsafe(_wake, turn)

    def __reduce__(self) -> NoReturn:
        # Copies would each spend the whole of it.
        raise TypeError("a budget is kept in one process: make the model anew in the other")


def _wake(turn: "asyncio.Future[None]") -> None:
    if not turn.done():
        turn.set_result(None)
