"""Open models shared by all judges of one run, with one budget.

    async with ModelPool(budget=Budget(dollars=2.5)) as pool:
        ...  # every `model_for("openai:gpt-4o-mini")` in here returns the same model
    pool.usage_by_model

Judges that name the same model share its concurrency limit, its record of slow calls and its cache.
Outside of any pool, `model_for` uses a default pool of the process, which has no budget and is
never closed: connections end with their event loop, files with the process.
"""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar, Token
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from msgspec.structs import replace

from fourscore.core import ConfigError, digest
from fourscore.core.frozen import EMPTY, FrozenDict
from fourscore.core.rubric import list_models
from fourscore.models.budget import Budget
from fourscore.models.cache import CachedModel
from fourscore.models.endpoint import EndpointModel
from fourscore.models.messages import Model
from fourscore.models.model_spec import make_shared_model
from fourscore.models.prices import Price, Prices
from fourscore.models.usage_meter import MeteredModel, ModelUsage
from fourscore.models.wrapper import find_layer

#: Frozen settings whose model is found by identity.
MAX_FROZEN = 1024

_CURRENT: "ContextVar[ModelPool]" = ContextVar("model_pool")


class ModelPool:
    """The models of one run.

    `cache=False` disables the cache of every model; a path is used by models whose settings name
    none, and so are `prices`. `settings` holds settings by specification (`openai:gpt-4o`); those
    of a judge go first.
    """

    def __init__(
        self,
        *,
        budget: Budget | None = None,
        cache: str | Path | bool | None = None,
        prices: Prices | Mapping[str, Any] | str | Path | None = None,
        settings: Mapping[str, Mapping[str, Any]] = EMPTY,
    ) -> None:
        self.budget = budget
        self.cache, self.settings = cache, settings
        self.prices = prices if isinstance(prices, Prices) else Prices(prices)
        self._models: dict[str, Model] = {}
        self._frozen: dict[tuple[str, int], tuple[FrozenDict, Model]] = {}
        self._token: Token[ModelPool] | None = None

    def model_for(self, spec: str, settings: Mapping[str, Any] = EMPTY) -> Model:
        """Return the model of this specification and these settings, made on first use."""
        identity = (spec, id(settings))
        known = self._frozen.get(identity)
        if known is not None:
            return known[1]
        key = _make_key(spec, settings)
        found = self._models.get(key)
        if found is None:
            merged = {"prices": self.prices, **self.settings.get(spec, {}), **settings}
            if self.cache is False or (self.cache is not None and merged.get("cache") is None):
                merged["cache"] = self.cache
            # No lock, which a fork might leave locked: a model made twice has opened nothing.
            found = self._models.setdefault(key, make_shared_model(spec, merged, self.budget))
        if type(settings) is FrozenDict and len(self._frozen) < MAX_FROZEN:
            # Kept alive, so that its id is not used again.
            self._frozen[identity] = (settings, found)
        return found

    @property
    def usage_by_model(self) -> tuple[ModelUsage, ...]:
        """The usage of each model by name, without those that were not asked."""
        found: dict[str, ModelUsage] = {}
        for model in list(self._models.values()):
            used = _get_usage(model)
            if used is not None and (used.usage.calls or used.cached):
                before = found.get(used.model)
                found[used.model] = used if before is None else before.plus(used)
        return tuple(found[name] for name in sorted(found))

    def find_unpriced(self, names: Iterable[str]) -> tuple[str, ...]:
        """Return the models that have no price."""
        return tuple(n for n in names if self.find_price(n) is None)

    def find_price(self, name: str) -> Price | None:
        """Return the price of a model, named with its kind or without: `openai:m` or `m`."""
        return self.prices.find(name) or self.prices.find(name.partition(":")[2])

    def check_user(self, user: Any, *, needs_key: bool = True) -> None:
        """Refuse a judge or agent whose model lacks a price, if dollars are limited, or a key."""
        model = getattr(user, "pool_model", None)  # made here, which refuses it without a price
        limited = self.budget is not None and self.budget.limits.dollars is not None
        missing = self.find_unpriced(list_models(user)) if limited and model is None else ()
        if missing:
            message = f"no price is known for {', '.join(missing)}: give prices, or limit tokens"
            raise ConfigError(f"{message} or calls", field="--budget")
        client = find_layer(model, EndpointModel)
        if client is not None and needs_key:
            client.check()

    def document(self) -> dict[str, Any]:
        """Return the entries `models` and `budget` of a summary, as far as there are any."""
        document: dict[str, Any] = {}
        if usages := self.usage_by_model:
            document["models"] = [usage.document() for usage in usages]
        if self.budget is not None:
            document["budget"] = self.budget.document()
        return document

    @contextmanager
    def activate(self) -> Iterator[Self]:
        """Like `async with`, for code that does not await; connections end with their loops."""
        token = _CURRENT.set(self)
        try:
            yield self
        finally:
            _CURRENT.reset(token)
            for model in list(self._models.values()):
                _close_cache_file(model)

    async def __aenter__(self) -> Self:
        if self._token is not None:
            raise RuntimeError("this model pool is open already")
        self._token = _CURRENT.set(self)
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        token, self._token = self._token, None
        if token is not None:
            _CURRENT.reset(token)
        for model in list(self._models.values()):
            leave = getattr(model, "__aexit__", None)
            if leave is not None:
                await leave(None, None, None)
            _close_cache_file(model)


def _close_cache_file(model: Model) -> None:
    """Close the file of the cache; the next request opens it again."""
    cached = find_layer(model, CachedModel)
    if cached is not None:
        cached.close()


_DEFAULT: list[ModelPool] = []


def current_pool() -> ModelPool:
    """Return the innermost open pool of this context, else the default pool of the process."""
    pool = _CURRENT.get(None)
    if pool is not None:
        return pool
    if not _DEFAULT:
        _DEFAULT.append(ModelPool())
    return _DEFAULT[0]


def model_for(model: Model | str, settings: Mapping[str, Any] = EMPTY) -> Model:
    """Return `model` itself, or the current pool's model for a specification (`openai:gpt-4o`)."""
    if not isinstance(model, str):
        if settings:
            raise ConfigError(
                "settings need a specification such as openai:gpt-4o: a model object has its own"
            )
        return model
    return current_pool().model_for(model, settings)


def _make_key(spec: str, settings: Mapping[str, Any]) -> str:
    plain = {
        name: str(value) if isinstance(value, Path) else value for name, value in settings.items()
    }
    try:
        return digest([spec, plain])
    except (TypeError, ValueError) as error:
        raise ConfigError(f"{spec!r}: its settings are not plain JSON values: {error}") from None


def _get_usage(model: Model) -> ModelUsage | None:
    metered, cached = find_layer(model, MeteredModel), find_layer(model, CachedModel)
    if metered is None:
        return None
    return replace(metered.model_usage, cached=cached.hits if cached is not None else 0)
