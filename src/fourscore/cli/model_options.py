"""What a command may spend on models: its options, the model pool, and the bill.

The budget is that of a run, not of one command: whoever goes on with a run has what is left.
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

#: 2.5, 500calls, or several of them.
BudgetSetting = Annotated[
    list[str | float] | str | float | None,
    setting("--budget", LIMITS, metavar="LIMIT", resume="change"),
]
#: A file, or False for none.
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


class Means(msgspec.Struct, frozen=True, kw_only=True):
    """Settings of models for one command; `settings` are those of single models, by specification."""

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
        """`ConfigError` for what can be told to be wrong without reading a file."""
        _ = self.limits
        for spec, settings in self.settings.items():
            told = {key: value for key, value in settings.items() if key != "dollars"}
            make_model(spec, **{**told, "cache": False, "prices": None})


def add_arguments(parser: argparse.ArgumentParser, limits: str = LIMITS) -> None:
    """Add `--budget`, `--no-cache` and `--prices`; `limits` is another help text of the first."""
    add_flags(parser, Means, budget=limits)


def means_of(args: argparse.Namespace) -> Means:
    """The settings of models that were given as flags."""
    return Means(**read_flags(args, Means))


def options_of(args: argparse.Namespace) -> str:
    """The same options for the command that goes on, but for the budget."""
    prices = f" --prices {shlex.quote(str(Path(args.prices).absolute()))}" if args.prices else ""
    return prices + (" --no-cache" if args.cache is False else "")


def make_model_pool(
    means: Means, rubric: Rubric, agent: Any = None, *, spent: Cost = NOTHING, keys: bool = True
) -> ModelPool:
    """Return the model pool for a command. Prices, where money is limited, and keys, unless nothing is to be
    asked, are looked for now and not in the first case."""
    limits = means.limits
    budget = None if limits == Limits() else Budget(**limits._asdict(), spent=spent)
    prices = Prices(means.prices)
    pool = ModelPool(budget=budget, cache=means.cache, prices=prices, settings=means.settings)
    with pool.activate():
        for asker in find_model_users(rubric, agent):
            _check(asker, pool, keys)
        if keys:
            prepare(find_model_users(rubric, agent))
    return pool


def prepare(judges: Iterable[Any]) -> None:
    """Let judges that learn do so now: no row's deadline would do for it."""
    for judge in judges:
        if getattr(judge, "learns", False) is True:
            asyncio.run(judge.prepare(lambda words: sys.stderr.write(f"{words}\n")))


def _check(asker: Any, pool: ModelPool, keys: bool) -> None:
    model = getattr(asker, "pool_model", None)  # refused where it has no price and needs one
    limited = pool.budget is not None and pool.budget.limits.dollars is not None
    missing = pool.unpriced(list_models(asker)) if limited and model is None else ()
    if missing:
        message = f"no price is known for {', '.join(missing)}: give prices, or limit tokens"
        raise ConfigError(f"{message} or calls", field="--budget")
    client = find_layer(model, EndpointModel)
    if client is not None and keys:
        client.check()


def bill(pool: ModelPool) -> dict[str, Any]:
    """What a summary says about models: an account for each, and what is left of the budget."""
    told: dict[str, Any] = {}
    if pool.usage_by_model:
        told["models"] = [_account(account) for account in pool.usage_by_model]
    if pool.budget is not None:
        given = pool.budget.limits._asdict()
        limits = {key: value for key, value in given.items() if value is not None}
        told["budget"] = {
            "limits": limits,
            "spent": pool.budget.spent._asdict(),
            "exceeded": pool.budget.over,
        }
    return told


def _account(account: ModelUsage) -> dict[str, Any]:
    usage = account.usage
    return {
        "model": account.model,
        "calls": usage.calls,
        "failed": account.failed,
        "cached": account.cached,
        "input_tokens": usage.input_tokens,
        "output_tokens": usage.output_tokens,
        "unknown": account.unknown,
        "dollars": account.dollars,
    }


def larger(limits: Limits) -> str:
    """Options for twice as much."""
    words = []
    if limits.dollars is not None:
        words.append(f" --budget {2 * limits.dollars:.10g}")
    for kind in ("tokens", "calls"):
        amount = getattr(limits, kind)
        if amount is not None:
            words.append(f" --budget {max(1, 2 * amount)}{kind}")
    return "".join(words)
