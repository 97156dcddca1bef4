"""A model from a line of configuration: `openai:gpt-4o-mini`, `anthropic:claude-haiku-4-5`.

The stack, from the judge inwards, and why in this order:

    Cached      what is known costs nothing, not even a place in line
    Retrying    asks again, and waits without holding a place
    Limited     holds a place while a call is under way
    Hedged      sees calls without their time in line
    Budgeted    sets aside for each single call, first, second or repeated; from the budget of
                all models of a run, and from one of its own where its settings say so
    Metered     counts each of them
    client      makes it
"""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from fourscore.core import ConfigError
from fourscore.core.errors import suggest_known
from fourscore.models.anthropic import Anthropic
from fourscore.models.budget import Budget, BudgetedModel
from fourscore.models.cache import MAX_BYTES, CachedModel
from fourscore.models.concurrency_limit import ConcurrencyLimitedModel
from fourscore.models.fakes import make_careful_model, make_gullible_model
from fourscore.models.hedge import HedgedModel
from fourscore.models.messages import Model
from fourscore.models.openai import OpenAI
from fourscore.models.prices import Prices
from fourscore.models.retry import RetryingModel
from fourscore.models.scripted import ScriptedModel
from fourscore.models.usage_meter import MeteredModel

KINDS = ("openai", "anthropic", "scripted")
#: Settings of the client itself.
CLIENT = ("base_url", "key_env", "key_file", "timeout", "extra", "max_tokens")


class StackSettings(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """What stands around the client. `cache`: a path, True for the usual one, False for none."""

    cache: str | Path | bool | None = None
    cache_bytes: int = MAX_BYTES
    attempts: int = 8
    deadline: float = 600.0
    concurrency: int = 256
    hedge: bool = True
    dollars: float | None = None
    tokens: int | None = None
    calls: int | None = None
    prices: Any = None


def make_model(spec: str, **settings: Any) -> Model:
    """The model that a specification names, with everything a judge should have around it.

    Clients are cached by default, scripts are not: `scripted:gullible`, `scripted:careful`, or
    `scripted:` and the text it always answers with.
    """
    return make_paid_model(spec, settings, None)


def make_paid_model(spec: str, settings: Mapping[str, Any], budget: Budget | None) -> Model:
    """The same, paying from a budget that others pay from too."""
    kind, colon, name = spec.partition(":")
    if not colon or not name:
        raise ConfigError(
            f"{spec!r}: expected kind:model, such as openai:gpt-4o-mini", field="model"
        )
    if kind not in KINDS:
        raise ConfigError(f"{spec!r}: {suggest_known(kind, KINDS)}", field="model")
    inner = {key: value for key, value in settings.items() if key in CLIENT}
    try:
        stack = StackSettings(**{k: v for k, v in settings.items() if k not in CLIENT})
        return _stacked(_client(kind, name, inner), stack, kind, budget)
    except TypeError as error:
        known = ", ".join((*CLIENT, *StackSettings.__struct_fields__))
        raise ConfigError(f"{spec!r}: {error}; known: {known}", field="model") from None
    except ValueError as error:
        raise ConfigError(f"{spec!r}: {error}", field="model") from None


def _client(kind: str, name: str, settings: Mapping[str, Any]) -> Model:
    if kind == "openai":
        return OpenAI(name, **settings)
    if kind == "anthropic":
        return Anthropic(name, **settings)
    if settings:
        raise TypeError(f"a script has no {', '.join(settings)}")
    known = {"gullible": make_gullible_model, "careful": make_careful_model}
    return known[name]() if name in known else ScriptedModel([name], name=f"scripted:{name}")


def _stacked(client: Model, stack: StackSettings, kind: str, budget: Budget | None) -> Model:
    prices = stack.prices if isinstance(stack.prices, Prices) else Prices(stack.prices)
    model: Model = MeteredModel(client, prices)
    if (stack.dollars, stack.tokens, stack.calls) != (None, None, None):
        model = BudgetedModel(
            model,
            dollars=stack.dollars,
            tokens=stack.tokens,
            calls=stack.calls,
            prices=prices,
        )
    if budget is not None:
        model = BudgetedModel(model, budget, prices=prices)
    if stack.hedge and kind != "scripted":
        model = HedgedModel(model)
    model = ConcurrencyLimitedModel(model, high=stack.concurrency)
    model = RetryingModel(model, attempts=stack.attempts, deadline=stack.deadline)
    cache = kind != "scripted" if stack.cache is None else stack.cache
    if cache is False:
        return model
    path = usual_cache() if cache is True else Path(cache)
    return CachedModel(model, path, max_bytes=stack.cache_bytes)


def usual_cache() -> Path:
    """`FOURSCORE_CACHE`, else a file in the user's folder for caches."""
    if named := os.environ.get("FOURSCORE_CACHE"):
        return Path(named)
    folder = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(folder).expanduser() / "fourscore" / "replies.sqlite"
