"""A limit on what is spent, that concurrency cannot get around; see `fourscore.models.budget`.

The highest cost: tokens of the prompt are at most one for two bytes in any text worth judging, and
the reply is limited to what was set aside for it. A call of which nobody knows what it took is
booked in full.
"""

from typing import NoReturn

import msgspec
from msgspec.structs import replace

from fourscore.core import ConfigError, Usage
from fourscore.models.budget import Budget, Cost, Limits
from fourscore.models.messages import Model, ModelError, Request, Response
from fourscore.models.prices import Prices
from fourscore.models.wrapper import ModelWrapper

BYTES_PER_TOKEN = 2
#: What a chat template adds to each message, in tokens.
FRAME = 16
#: The limit of a reply that has none of its own.
MAX_TOKENS = 4096


class BudgetedModel(ModelWrapper):
    """Pays from a purse: one that others pay from too, or one of its own with these limits."""

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
            raise TypeError("limits belong to a purse: give the one or the others")
        self.budget = budget or Budget(dollars=dollars, tokens=tokens, calls=calls)
        self._price = (prices or Prices()).of(model.name)
        if self.limits.dollars is not None and self._price is None:
            message = f"no price is known for {model.name}: give prices, or limit tokens or calls"
            raise ConfigError(message, field="dollars")

    @property
    def limits(self) -> Limits:
        return self.budget.limits

    @property
    def spent(self) -> Cost:
        """What has been booked so far, by all who pay from the purse."""
        return self.budget.spent

    async def ask(self, ask: Request) -> Response:
        if ask.max_tokens is None and (self.limits.tokens, self.limits.dollars) != (None, None):
            ask = replace(ask, max_tokens=MAX_TOKENS)
        highest = self._cost(estimate_max_usage(ask))
        await self.budget.set_aside(highest, self.name)
        took: Usage | None = None
        try:
            reply = await self.model.ask(ask)
            took = reply.usage if reply.usage.input_tokens or reply.cached else None
            return reply
        except ModelError as error:
            took = error.usage
            raise
        finally:
            self.budget.book(highest, highest if took is None else self._cost(took))

    def _cost(self, usage: Usage) -> Cost:
        dollars = 0.0 if self._price is None else self._price.dollars(usage)
        return Cost(usage.calls, usage.input_tokens + usage.output_tokens, dollars)

    def __reduce__(self) -> NoReturn:
        raise TypeError("a budget is kept in one process: make the model anew in the other")


def estimate_max_usage(ask: Request) -> Usage:
    """The most that one call of this ask takes; a reply without a limit counts nothing."""
    size = sum(len(turn.content.encode()) for turn in ask.messages)
    if ask.schema is not None:
        size += len(msgspec.json.encode(ask.schema))
    read = size // BYTES_PER_TOKEN + FRAME * (len(ask.messages) + 1)
    return Usage(calls=1, input_tokens=read, output_tokens=ask.max_tokens or 0)
