"""What models may cost: limits, the spent budget, and the highest cost of a run beforehand.

    budget = Budget(dollars=2.5)
    model = BudgetedModel(model, budget)  # every call is refused that might exceed it

Before a call its highest cost is reserved, and after it the real cost is settled. A call that does
not fit beside those under way waits for them, since most cost less than was reserved; one that
would not fit even then is refused, before anything is sent. So concurrency cannot exceed a limit.

The highest cost counts one token for two bytes of prompt, more than any text worth judging has, and
a reply of the longest length allowed. A call whose cost nobody knows is settled at its highest.

A budget belongs to one process and all of its event loops and threads.
"""

import asyncio
import re
import threading
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple, NoReturn

import msgspec
from msgspec.structs import replace

from fourscore.core import Case, ConfigError, Rubric, Usage
from fourscore.core.judge import is_ranker
from fourscore.core.numbers import check_finite, check_whole
from fourscore.core.rubric import list_models
from fourscore.models.messages import NO_USAGE, Model, ModelError, Request, Response
from fourscore.models.prices import Price, Prices
from fourscore.models.wrapper import ModelWrapper

BYTES_PER_TOKEN = 2
#: Tokens that a chat template adds to each message.
TOKENS_PER_MESSAGE = 16
#: The limit of a reply that has none of its own.
MAX_TOKENS = 4096

#: Limits as people write them: 2.50 (dollars), "500calls", "200000tokens", or several of them.
WrittenLimits = str | float | Iterable[str | float] | None


class Cost(NamedTuple):
    """The three amounts that can be limited."""

    calls: int = 0
    tokens: int = 0
    dollars: float = 0.0

    def plus(self, other: "Cost", sign: int = 1) -> "Cost":
        calls, tokens, dollars = other
        return Cost(
            self.calls + sign * calls, self.tokens + sign * tokens, self.dollars + sign * dollars
        )


NO_COST = Cost()


class Limits(NamedTuple):
    """The highest amounts allowed; None is no limit."""

    dollars: float | None = None
    tokens: int | None = None
    calls: int | None = None

    def exceeded(self, cost: Cost) -> str | None:
        """Return the limit that this cost exceeds as text (`500 calls`), or None."""
        if self.calls is not None and cost.calls > self.calls:
            return f"{self.calls} calls"
        if self.tokens is not None and cost.tokens > self.tokens:
            return f"{self.tokens} tokens"
        if self.dollars is not None and cost.dollars > self.dollars * (1 + 1e-9):
            return f"${self.dollars:g}"
        return None


NO_LIMITS = Limits()

#: 2.50, $2.50, 200000tokens, 200_000 tokens, 500calls.
_WRITTEN = re.compile(r"(\$?)(\d[\d_]*(?:\.\d+)?|\.\d+)\s*(tokens|calls|)", re.ASCII)


def parse_limits(written: WrittenLimits) -> Limits:
    """Read limits as people write them: dollars as a number, tokens and calls with their name."""
    limits = NO_LIMITS
    for text in [written] if isinstance(written, str | int | float) else written or ():
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


class Budget:
    """Limits on dollars, tokens and calls, and what is spent of them; `spent` was spent before."""

    def __init__(
        self,
        *,
        dollars: float | None = None,
        tokens: int | None = None,
        calls: int | None = None,
        spent: Cost = NO_COST,
    ) -> None:
        check_finite("dollars", dollars, low=0)
        check_whole("tokens", tokens, low=0)
        check_whole("calls", calls, low=0)
        self.limits = Limits(dollars, tokens, calls)
        self._spent, self._reserved = spent, NO_COST
        self._exceeded: str | None = None
        self._waiting: list[tuple[asyncio.AbstractEventLoop, asyncio.Future[None]]] = []
        self._lock = threading.Lock()

    @classmethod
    def from_limits(cls, limits: Limits, spent: Cost = NO_COST) -> "Budget | None":
        """Return a budget with these limits; None where there is no limit."""
        return None if limits == NO_LIMITS else cls(**limits._asdict(), spent=spent)

    @property
    def spent(self) -> Cost:
        """What all settled calls have cost."""
        return self._spent

    @property
    def exceeded(self) -> str | None:
        """The limit for which a call was refused, as text; None while no call was refused.

        A smaller call may still fit: this says that not everything could be asked.
        """
        return self._exceeded

    @property
    def is_spent(self) -> bool:
        """Whether not even the smallest call fits any more."""
        return self.limits.exceeded(self._spent.plus(Cost(1, 1))) is not None

    def document(self) -> dict[str, Any]:
        """Return what a summary says about the budget."""
        limits = {name: each for name, each in self.limits._asdict().items() if each is not None}
        return {"limits": limits, "spent": self._spent._asdict(), "exceeded": self._exceeded}

    async def reserve(self, highest: Cost, model: str) -> None:
        """Reserve the highest cost of a call, when it fits; `ModelError` where it never will."""
        while True:
            with self._lock:
                exceeded = self.limits.exceeded(self._spent.plus(highest))
                if exceeded is not None:
                    self._exceeded = exceeded
                    message = f"{model}: the budget of {exceeded} is spent"
                    raise ModelError("budget", message, usage=NO_USAGE)
                together = self._reserved.plus(highest)
                if self.limits.exceeded(self._spent.plus(together)) is None:
                    self._reserved = together
                    return
                loop = asyncio.get_running_loop()
                settled = loop.create_future()
                self._waiting.append((loop, settled))
            await settled

    def settle(self, highest: Cost, real: Cost) -> None:
        """Replace what was reserved for a call by its real cost."""
        with self._lock:
            self._reserved = self._reserved.plus(highest, -1)
            self._spent = self._spent.plus(real)
            waiting, self._waiting = self._waiting, []
        for loop, settled in waiting:  # each checks again for itself
            if not loop.is_closed():
                loop.call_soon_threadsafe(_wake, settled)

    def __reduce__(self) -> NoReturn:
        # Copies would each spend the whole of it.
        raise TypeError("a budget is kept in one process: make the model anew in the other")


def _wake(settled: "asyncio.Future[None]") -> None:
    if not settled.done():
        settled.set_result(None)


class BudgetedModel(ModelWrapper):
    """A model that spends from a budget: a shared one, or one of its own with these limits."""

    def __init__(
        self,
        model: Model,
        budget: Budget | None = None,
        *,
        dollars: float | None = None,
        tokens: int | None = None,
        calls: int | None = None,
        prices: Prices | None = None,
    ) -> None:
        super().__init__(model)
        if budget is not None and (dollars, tokens, calls) != (None, None, None):
            raise TypeError("limits belong to a budget: give the budget or the limits, not both")
        self.budget = budget or Budget(dollars=dollars, tokens=tokens, calls=calls)
        self._price = (prices or Prices()).find(model.name)
        if self.limits.dollars is not None and self._price is None:
            message = f"no price is known for {model.name}: give prices, or limit tokens or calls"
            raise ConfigError(message, field="dollars")

    @property
    def limits(self) -> Limits:
        return self.budget.limits

    @property
    def spent(self) -> Cost:
        """What all models that share the budget have cost."""
        return self.budget.spent

    async def ask(self, request: Request) -> Response:
        has_reply_limit = request.max_tokens is not None
        if not has_reply_limit and (self.limits.tokens, self.limits.dollars) != (None, None):
            request = replace(request, max_tokens=MAX_TOKENS)
        highest = self._cost(estimate_max_usage(request))
        await self.budget.reserve(highest, self.name)
        usage: Usage | None = None
        try:
            response = await self.model.ask(request)
            usage = response.usage if response.usage.input_tokens or response.cached else None
            return response
        except ModelError as error:
            usage = error.usage
            raise
        finally:
            self.budget.settle(highest, highest if usage is None else self._cost(usage))

    def _cost(self, usage: Usage) -> Cost:
        dollars = 0.0 if self._price is None else self._price.dollars(usage)
        return Cost(usage.calls, usage.input_tokens + usage.output_tokens, dollars)

    def __reduce__(self) -> NoReturn:
        raise TypeError("a budget is kept in one process: make the model anew in the other")


def estimate_max_usage(request: Request) -> Usage:
    """Return the highest usage of one call; a reply without a limit counts nothing."""
    size = sum(len(message.content.encode()) for message in request.messages)
    if request.schema is not None:
        size += len(msgspec.json.encode(request.schema))
    tokens = size // BYTES_PER_TOKEN + TOKENS_PER_MESSAGE * (len(request.messages) + 1)
    return Usage(calls=1, input_tokens=tokens, output_tokens=request.max_tokens or 0)


def get_max_usage(judge: Any, case: Case) -> Usage:
    """Return the highest usage that a judge states for one trace of a case; nothing if none."""
    most = getattr(judge, "most", None)
    if not callable(most):
        return NO_USAGE
    try:
        stated = most(case)
    except Exception:
        return NO_USAGE
    return stated if isinstance(stated, Usage) else NO_USAGE


def find_model_users(rubric: Rubric, agent: Any = None) -> Iterator[Any]:
    """Yield what asks models in a run: the agent, judges, and the members of a panel one by one."""
    if list_models(agent):
        yield agent
    for slot in rubric.slots:
        panel = getattr(slot.judge, "loaded_members", ())
        members = panel if isinstance(panel, tuple) else ()
        yield from [one.judge for one in members if hasattr(one, "judge")] or [slot.judge]


class MaxCost(msgspec.Struct, frozen=True, kw_only=True):
    """The highest cost of one model in a run. Repeated calls come on top.

    Replies from the cache, and most other replies, cost less.
    """

    model: str
    calls: int
    input_tokens: int
    output_tokens: int
    dollars: float | None

    def __str__(self) -> str:
        tokens = f"{self.input_tokens + self.output_tokens:,} tokens"
        if self.dollars is None:
            money = f"no price known for {self.model}"
        else:
            money = f"${self.dollars:.2f}" if self.dollars >= 1 else f"${self.dollars:.4f}"
        return f"{self.model}: at most {self.calls:,} calls, {tokens}, {money}"


def estimate_max_cost(
    cases: Iterable[Case],
    rubric: Rubric,
    agent: Any,
    find_price: Callable[[str], Price | None],
) -> tuple[int, list[MaxCost]]:
    """Return the number of attempts, and for each model the highest cost of them all."""
    # One trace alone is not ranked, so rankers ask nothing in a run.
    users = [user for user in find_model_users(rubric, agent) if _states_usage(user)]
    usages: dict[tuple[str, ...], Usage] = {list_models(user): NO_USAGE for user in users}
    count = 0
    for case in cases:
        count += 1
        for user in users:
            usages[list_models(user)] += user.most(case)
    return count, [_price_usage(names, usage, find_price) for names, usage in usages.items()]


def _states_usage(user: Any) -> bool:
    return bool(list_models(user)) and hasattr(user, "most") and not is_ranker(user)


def _price_usage(
    names: tuple[str, ...], usage: Usage, find_price: Callable[[str], Price | None]
) -> MaxCost:
    prices = [find_price(name) for name in names]
    dollars = [price.dollars(usage) for price in prices if price is not None]
    return MaxCost(
        model=", ".join(names),
        calls=usage.calls,
        input_tokens=usage.input_tokens,
        output_tokens=usage.output_tokens,
        dollars=max(dollars) if len(dollars) == len(names) else None,
    )


def warn_of_max_cost(costs: Iterable[MaxCost], budget: Budget | None) -> str:
    """Return a warning where the highest costs together exceed the budget, else nothing."""
    if budget is None:
        return ""
    total = budget.spent
    for cost in costs:
        tokens = cost.input_tokens + cost.output_tokens
        total = total.plus(Cost(cost.calls, tokens, cost.dollars or 0.0))
    exceeded = budget.limits.exceeded(total)
    return "" if exceeded is None else f"this may take more than the budget of {exceeded}"
