"""Flags for models (`--budget`, `--no-cache`, `--prices`), the model pool, and what models cost.

A budget belongs to a run, not to one command: a resumed run has what is left of it.
"""

import argparse
import asyncio
import shlex
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any

import msgspec

from fourscore.cli.flags import add_flags, read_flags, setting
from fourscore.core import ConfigError, Rubric
from fourscore.core.rubric import list_models
from fourscore.models.budget import NOTHING, Budget, Cost, Limits, parse_limits
from fourscore.models.endpoint import EndpointModel
from fourscore.models.max_cost import find_model_users
from fourscore.models.model_pool import ModelPool
from fourscore.models.model_spec import make_model
from fourscore.models.prices import Prices
from fourscore.models.usage_meter import ModelUsage
from fourscore.models.wrapper import find_layer

LIMITS = "limit what models cost: 2.50 (dollars), 200000tokens or 500calls; may be repeated"

#: 2.5 (dollars), 500calls, or a list of them.
BudgetSetting = Annotated[
    list[str | float] | str | float | None,
    setting("--budget", LIMITS, metavar="LIMIT", resume="change"),
]
#: The file of the cache, or False for no cache.
CacheSetting = Annotated[
    str | bool | None,
    setting("--no-cache", "do not use stored replies of models", resume="change", is_path=True),
]
PricesSetting = Annotated[
    str | dict[str, Any] | None,
    setting(
        "--prices",
        "take the prices of models from this YAML file",
        metavar="FILE",
        resume="change",
        is_path=True,
    ),
]


class ModelSettings(msgspec.Struct, frozen=True, kw_only=True):
    """Settings of models for one command; `settings` has options of single models."""

    budget: BudgetSetting = None
    cache: CacheSetting = None
    prices: PricesSetting = None
    settings: Annotated[dict[str, dict[str, Any]], setting(None, "set options of models")] = {}

    @property
    def limits(self) -> Limits:
        written = self.budget
        if written is None:
            return Limits()
        return parse_limits(written if isinstance(written, list) else [written])

    def check(self) -> None:
        """Raise a `ConfigError` for a wrong limit or option of a model; no file is read."""
        _ = self.limits
        for spec, settings in self.settings.items():
            options = {key: value for key, value in settings.items() if key != "dollars"}
            make_model(spec, **{**options, "cache": False, "prices": None})


def add_model_flags(parser: argparse.ArgumentParser, limits: str = LIMITS) -> None:
    """Add `--budget`, `--no-cache` and `--prices`; `limits` is another help text of the first."""
    add_flags(parser, ModelSettings, budget=limits)


def read_model_settings(args: argparse.Namespace) -> ModelSettings:
    """The settings of models that were given as flags."""
    return ModelSettings(**read_flags(args, ModelSettings))


def repeat_model_flags(args: argparse.Namespace) -> str:
    """`--prices` and `--no-cache` as they were given, for the command that goes on."""
    prices = f" --prices {shlex.quote(str(Path(args.prices).absolute()))}" if args.prices else ""
    return prices + (" --no-cache" if args.cache is False else "")


def make_model_pool(
    settings: ModelSettings,
    rubric: Rubric,
    agent: Any = None,
    *,
    spent: Cost = NOTHING,
    keys: bool = True,
) -> ModelPool:
    """Make the model pool of a command, and let judges that learn do so.

    A missing price, where dollars are limited, or key fails now and not in the first case; with
    `keys=False` no model will be asked, and keys are not needed.
    """
    limits = settings.limits
    budget = None if limits == Limits() else Budget(**limits._asdict(), spent=spent)
    pool = ModelPool(
        budget=budget,
        cache=settings.cache,
        prices=Prices(settings.prices),
        settings=settings.settings,
    )
    with pool.activate():
        for user in find_model_users(rubric, agent):
            _check_price_and_key(user, pool, keys)
        if keys:
            prepare_judges(find_model_users(rubric, agent))
    return pool


def prepare_judges(judges: Iterable[Any]) -> None:
    """Let judges that learn do so before the first case: it takes longer than a case may."""
    for judge in judges:
        if getattr(judge, "learns", False) is True:
            asyncio.run(judge.prepare(lambda words: sys.stderr.write(f"{words}\n")))


def _check_price_and_key(user: Any, pool: ModelPool, keys: bool) -> None:
    model = getattr(user, "pool_model", None)  # refused where it has no price and needs one
    limited = pool.budget is not None and pool.budget.limits.dollars is not None
    missing = pool.unpriced(list_models(user)) if limited and model is None else ()
    if missing:
        message = f"no price is known for {', '.join(missing)}: give prices, or limit tokens"
        raise ConfigError(f"{message} or calls", field="--budget")
    client = find_layer(model, EndpointModel)
    if client is not None and keys:
        client.check()


def summarize_model_usage(pool: ModelPool) -> dict[str, Any]:
    """The entries `models` and `budget` of a summary: usage of each model, and what is spent."""
    document: dict[str, Any] = {}
    if pool.usage_by_model:
        document["models"] = [_describe_usage(model) for model in pool.usage_by_model]
    if pool.budget is not None:
        given = pool.budget.limits._asdict()
        limits = {key: value for key, value in given.items() if value is not None}
        document["budget"] = {
            "limits": limits,
            "spent": pool.budget.spent._asdict(),
            "exceeded": pool.budget.over,
        }
    return document


def _describe_usage(model: ModelUsage) -> dict[str, Any]:
    return {
        "model": model.model,
        "calls": model.usage.calls,
        "failed": model.failed,
        "cached": model.cached,
        "input_tokens": model.usage.input_tokens,
        "output_tokens": model.usage.output_tokens,
        "unknown": model.unknown,
        "dollars": model.dollars,
    }


def double_budget(limits: Limits) -> str:
    """`--budget` flags for twice these limits."""
    words = []
    if limits.dollars is not None:
        words.append(f" --budget {2 * limits.dollars:.10g}")
    for kind in ("tokens", "calls"):
        amount = getattr(limits, kind)
        if amount is not None:
            words.append(f" --budget {max(1, 2 * amount)}{kind}")
    return "".join(words)
