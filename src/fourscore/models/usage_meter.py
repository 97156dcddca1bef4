"""Count and price the calls of a model.

This wrapper is the innermost, so that failed attempts and second calls are counted too. Calls that
were cancelled or cut off are counted, but their tokens are not known.
"""

import threading
from typing import Any

import msgspec
from msgspec.structs import replace

from fourscore.core import Usage
from fourscore.models.messages import NO_USAGE, Model, ModelError, Request, Response
from fourscore.models.prices import Prices
from fourscore.models.wrapper import ModelWrapper


class ModelUsage(msgspec.Struct, frozen=True, kw_only=True):
    """The usage of one model: `failed` calls gave no reply, the tokens of `unknown` calls are not
    known, `cached` requests needed no call, and `extra_keys` of verdicts were ignored."""

    model: str
    usage: Usage
    failed: int
    unknown: int
    priced: bool
    cached: int = 0
    extra_keys: int = 0

    @property
    def dollars(self) -> float | None:
        """The cost; None where the model has no price, which is not the same as no cost."""
        return self.usage.dollars if self.priced else None

    def __str__(self) -> str:
        usage = self.usage
        money = f"${usage.dollars:.4f}" if self.priced else "no price known"
        tokens = f"{usage.input_tokens} + {usage.output_tokens} tokens"
        cached = f", {self.cached} from the cache" if self.cached else ""
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
            "extra_keys": self.extra_keys,
            "dollars": self.dollars,
        }

    def plus(self, other: "ModelUsage") -> "ModelUsage":
        """Return the sum of both; without a price where one of them has none."""
        return ModelUsage(
            model=self.model,
            usage=self.usage + other.usage,
            failed=self.failed + other.failed,
            unknown=self.unknown + other.unknown,
            priced=self.priced and other.priced,
            cached=self.cached + other.cached,
            extra_keys=self.extra_keys + other.extra_keys,
        )


class MeteredModel(ModelWrapper):
    """Sets `usage.dollars` of every reply and counts the usage; see `fourscore.models.prices`."""

    def __init__(self, model: Model, prices: Prices | None = None) -> None:
        super().__init__(model)
        self.prices = prices or Prices()
        self.price = self.prices.find(model.name)
        self._usage, self._failed, self._unknown, self._extra_keys = NO_USAGE, 0, 0, 0
        self._lock = threading.Lock()

    @property
    def model_usage(self) -> ModelUsage:
        """The usage so far."""
        with self._lock:
            return ModelUsage(
                model=self.name,
                usage=self._usage,
                failed=self._failed,
                unknown=self._unknown,
                priced=self.price is not None,
                extra_keys=self._extra_keys,
            )

    async def ask(self, request: Request) -> Response:
        try:
            response = await self.model.ask(request)
        except ModelError as error:
            usage = error.usage = None if error.usage is None else self._add_price(error.usage)
            self._count(usage, failed=True)
            raise
        except BaseException:  # mostly a cancellation
            self._count(None, failed=True)
            raise
        if self.price is not None:
            response = replace(response, usage=self._add_price(response.usage))
        self._count(response.usage, extra_keys=response.extra_keys)
        return response

    def _add_price(self, usage: Usage) -> Usage:
        return usage if self.price is None else replace(usage, dollars=self.price.dollars(usage))

    def _count(self, usage: Usage | None, *, failed: bool = False, extra_keys: int = 0) -> None:
        with self._lock:
            self._extra_keys += extra_keys
            self._usage += usage or Usage(calls=1)
            self._failed += failed
            self._unknown += usage is None

    def __reduce__(self) -> tuple[object, ...]:
        return (MeteredModel, (self.model, self.prices))  # a copy counts by itself
