"""What may be spent, in one place for all who spend it.

Before a call its highest cost is set aside, and after it what it really took is booked. A call that
would not fit beside those under way waits for them, since they mostly take less than was set aside;
one that would not fit even then is refused, before anything is asked.

A budget belongs to one process and all of its event loops and threads.
"""

import asyncio
import re
import threading
from collections.abc import Iterable
from typing import Any, NamedTuple, NoReturn

from fourscore.core import ConfigError
from fourscore.core.numbers import check_finite, check_whole
from fourscore.models.messages import FREE, ModelError


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


#: 2.50, $2.50, 200000tokens, 200_000 tokens, 500calls.
_WRITTEN = re.compile(r"(\$?)(\d[\d_]*(?:\.\d+)?|\.\d+)\s*(tokens|calls|)", re.ASCII)


def parse_limits(written: Iterable[str | float]) -> Limits:
    """Limits as people write them: dollars as a number, tokens and calls with their name."""
    limits = Limits()
    for text in written:
        found = _WRITTEN.fullmatch(str(text).strip())
        if found is None or (found[1] and found[3]):
            message = f"{text!r}: expected dollars, tokens or calls: 2.50, 200000tokens, 500calls"
            raise ConfigError(message, field="budget")
        kind = found[3] or "dollars"
        amount = float(found[2])
        if kind != "dollars" and amount != int(amount):
            raise ConfigError(f"{text!r}: expected a whole number", field="budget")
        if getattr(limits, kind) is not None:
            raise ConfigError(f"{text!r}: there is a limit on {kind} already", field="budget")
        given: Any = amount if kind == "dollars" else int(amount)
        limits = limits._replace(**{kind: given})
    return limits


NOTHING = Cost()


class Budget:
    """At most so many dollars, tokens and calls, whoever asks for them; `spent` of it before."""

    def __init__(
        self,
        *,
        dollars: float | None = None,
        tokens: int | None = None,
        calls: int | None = None,
        spent: Cost = NOTHING,
    ) -> None:
        check_finite("dollars", dollars, low=0)
        check_whole("tokens", tokens, low=0)
        check_whole("calls", calls, low=0)
        self.limits = Limits(dollars, tokens, calls)
        self._spent, self._aside = spent, NOTHING
        self._over: str | None = None
        self._waiting: list[tuple[asyncio.AbstractEventLoop, asyncio.Future[None]]] = []
        self._lock = threading.Lock()

    @property
    def spent(self) -> Cost:
        """What has been booked so far."""
        return self._spent

    @property
    def over(self) -> str | None:
        """The limit for which a call was refused, in words; None while all have been let through.

        A smaller call may still fit: this says that not everything could be asked.
        """
        return self._over

    @property
    def empty(self) -> bool:
        """Whether no call at all fits any more."""
        return self.limits.exceeded(self._spent.plus(Cost(1, 1))) is not None

    async def set_aside(self, highest: Cost, who: str) -> None:
        while True:
            with self._lock:
                over = self.limits.exceeded(self._spent.plus(highest))
                if over is not None:
                    self._over = over
                    message = f"{who}: the budget of {over} is spent"
                    raise ModelError("budget", message, usage=FREE)
                together = self._aside.plus(highest)
                if self.limits.exceeded(self._spent.plus(together)) is None:
                    self._aside = together
                    return
                loop = asyncio.get_running_loop()
                turn = loop.create_future()
                self._waiting.append((loop, turn))
            await turn

    def book(self, highest: Cost, took: Cost) -> None:
        """Give back what was set aside, and write down what it took."""
        with self._lock:
            self._aside = self._aside.plus(highest, -1)
            self._spent = self._spent.plus(took)
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
