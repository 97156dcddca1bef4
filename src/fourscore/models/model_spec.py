"""Make a model from its specification: `openai:gpt-4o-mini`, `anthropic:claude-haiku-4-5`.

The wrappers around a client, from the outermost inwards, and why in this order:

    CachedModel              a stored reply costs nothing and waits for nothing
    RetryingModel            waits between attempts without occupying a place
    ConcurrencyLimitedModel  occupies a place while a call is under way
    HedgedModel              measures calls without their wait for a place
    BudgetedModel            reserves the cost of each call, first, second or repeated, in the
                             budget of the run, and in the model's own where its settings have one
    MeteredModel             counts every call
    client                   makes the call
"""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from fourscore.core import ConfigError
from fourscore.core.errors import suggest_known
from fourscore.core.open_files import fit_to_open_files
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
#: Settings of the client.
CLIENT_SETTINGS = ("base_url", "key_env", "key_file", "timeout", "extra", "max_tokens")


class StackSettings(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """Settings of the wrappers. `cache`: a path, True for the default one, False for none."""

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
    """Make the model that a specification names, with all wrappers that a judge needs.

    Clients are cached by default, scripted models are not: `scripted:gullible`, `scripted:careful`,
    or `scripted:` and the text that it always answers with.
    """
    return make_shared_model(spec, settings, None)


def make_shared_model(spec: str, settings: Mapping[str, Any], budget: Budget | None) -> Model:
    """Like `make_model`, with a budget that other models share."""
    kind, colon, name = spec.partition(":")
    if not colon or not name:
        raise ConfigError(
            f"{spec!r}: expected kind:model, such as openai:gpt-4o-mini", field="model"
        )
    if kind not in KINDS:
        raise ConfigError(f"{spec!r}: {suggest_known(kind, KINDS)}", field="model")
    inner = {key: value for key, value in settings.items() if key in CLIENT_SETTINGS}
    try:
        stack = StackSettings(**{k: v for k, v in settings.items() if k not in CLIENT_SETTINGS})
        return _wrap_client(_make_client(kind, name, inner), stack, kind, budget)
    except TypeError as error:
        known = ", ".join((*CLIENT_SETTINGS, *StackSettings.__struct_fields__))
        raise ConfigError(f"{spec!r}: {error}; known: {known}", field="model") from None
    except ValueError as error:
        raise ConfigError(f"{spec!r}: {error}", field="model") from None


def _make_client(kind: str, name: str, settings: Mapping[str, Any]) -> Model:
    if kind == "openai":
        return OpenAI(name, **settings)
    if kind == "anthropic":
        return Anthropic(name, **settings)
    if settings:
        raise TypeError(f"a scripted model has no setting {', '.join(settings)}")
    known = {"gullible": make_gullible_model, "careful": make_careful_model}
    return known[name]() if name in known else ScriptedModel([name], name=f"scripted:{name}")


def _wrap_client(client: Model, stack: StackSettings, kind: str, budget: Budget | None) -> Model:
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
    model = ConcurrencyLimitedModel(model, high=fit_to_open_files(stack.concurrency, 1))
    model = RetryingModel(model, attempts=stack.attempts, deadline=stack.deadline)
    cache = kind != "scripted" if stack.cache is None else stack.cache
    if cache is False:
        return model
    path = get_default_cache() if cache is True else Path(cache)
    return CachedModel(model, path, max_bytes=stack.cache_bytes)


def get_default_cache() -> Path:
    """Return the path in `FOURSCORE_CACHE`, else one in the user's cache folder."""
    if named := os.environ.get("FOURSCORE_CACHE"):
        return Path(named)
    folder = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(folder).expanduser() / "fourscore" / "replies.sqlite"
