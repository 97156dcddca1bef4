"""What it all cost: every call priced, and an account for each model.

It stands right around the client, so that attempts that failed and second calls are counted too.
Calls that were cancelled or broke off are counted, their tokens are not known.
"""

import threading
from typing import Any, NamedTuple

from msgspec.structs import replace

from fourscore.core import Usage
from fourscore.models.messages import NO_USAGE, Model, ModelError, Request, Response
from fourscore.models.prices import Prices
from fourscore.models.wrapper import ModelWrapper


class ModelUsage(NamedTuple):
    """One model's calls. `failed` of them gave no answer; of `unknown` nobody knows the tokens.
    `cached` asks needed no call."""

    model: str
    usage: Usage
    failed: int
    unknown: int
    priced: bool
    cached: int = 0

    @property
    def dollars(self) -> float | None:
        """None where the model has no price: that is not the same as costing nothing."""
        return self.usage.dollars if self.priced else None

    def __str__(self) -> str:
        usage = self.usage
        money = f"${usage.dollars:.4f}" if self.priced else "no price known"
        tokens = f"{usage.input_tokens} + {usage.output_tokens} tokens"
        cached = f", {self.cached} cached" if self.cached else ""
        failed = f" ({self.failed} failed)"
        return f"{self.model}: {usage.calls} calls{failed}{cached}, {tokens}, {money}"

    def document(self) -> dict[str, Any]:
        """Return what a summary says about the model."""
        return {
            "model": self.model,
            "calls": self.usage.calls,
            "failed": self.failed,
            "cached": self.cached,
            "input_tokens": self.usage.input_tokens,
            "output_tokens": self.usage.output_tokens,
            "unknown": self.unknown,
            "dollars": self.dollars,
        }

    def plus(self, other: "ModelUsage") -> "ModelUsage":
        """Both as one. Where one of them has no price, nobody knows what they cost together."""
        return ModelUsage(
            self.model,
            self.usage + other.usage,
            self.failed + other.failed,
            self.unknown + other.unknown,
            self.priced and other.priced,
            self.cached + other.cached,
        )


class MeteredModel(ModelWrapper):
    """Fills in `usage.dollars` and keeps the account; see `fourscore.models.prices`."""

    def __init__(self, model: Model, prices: Prices | None = None) -> None:
        super().__init__(model)
        self.prices = prices or Prices()
        self.price = self.prices.find(model.name)
        self._usage, self._failed, self._unknown = NO_USAGE, 0, 0
        self._lock = threading.Lock()

    @property
    def account(self) -> ModelUsage:
        with self._lock:
            name, priced = self.name, self.price is not None
            return ModelUsage(name, self._usage, self._failed, self._unknown, priced)

    async def ask(self, request: Request) -> Response:
        try:
            reply = await self.model.ask(request)
        except ModelError as error:
            usage = error.usage = None if error.usage is None else self._priced(error.usage)
            self._note(usage, failed=True)
            raise
        except BaseException:  # cancelled, above all
            self._note(None, failed=True)
            raise
        if self.price is not None:
            reply = replace(reply, usage=self._priced(reply.usage))
        self._note(reply.usage)
        return reply

    def _priced(self, usage: Usage) -> Usage:
        return usage if self.price is None else replace(usage, dollars=self.price.dollars(usage))

    def _note(self, usage: Usage | None, failed: bool = False) -> None:
        with self._lock:
            self._usage += usage or Usage(calls=1)
            self._failed += failed
            self._unknown += usage is None

    def __reduce__(self) -> tuple[object, ...]:
        return (MeteredModel, (self.model, self.prices))  # a copy keeps an account of its own
