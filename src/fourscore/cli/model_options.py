"""Flags for models (`--budget`, `--no-cache`, `--prices`), the model pool, and what models cost.

A budget belongs to a run, not to one command: a resumed run has the rest of its budget.
"""

import argparse
import asyncio
import shlex
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any

import msgspec

from fourscore.cli.flags import add_flags, read_flags, setting
from fourscore.cli.preflight import add_probe_flag, check_users
from fourscore.core import Rubric
from fourscore.models.budget import NO_COST, Budget, Cost, Limits, find_model_users, parse_limits
from fourscore.models.model_pool import ModelPool
from fourscore.models.model_spec import make_model
from fourscore.models.prices import Prices
from fourscore.report.streams import print_message

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
        "read the prices of models from this YAML file",
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
        return parse_limits(self.budget)

    def check(self) -> None:
        """Raise a `ConfigError` for a wrong limit or option of a model; no file is read."""
        _ = self.limits
        for spec, settings in self.settings.items():
            options = {key: value for key, value in settings.items() if key != "dollars"}
            make_model(spec, **{**options, "cache": False, "prices": None})


def add_model_flags(parser: argparse.ArgumentParser, limits: str = LIMITS) -> None:
    """Add `--budget`, `--no-cache`, `--prices` and `--no-probe`; `limits` helps with `--budget`."""
    add_flags(parser, ModelSettings, budget=limits)
    add_probe_flag(parser)


def read_model_settings(args: argparse.Namespace) -> ModelSettings:
    """Return the settings of models that were given as flags."""
    return ModelSettings(**read_flags(args, ModelSettings))


def add_hourly_budget_flag(group: argparse._ArgumentGroup) -> None:
    """Add `--hourly-budget`, for models that score live traces."""
    text = "limit what scoring traces costs in an hour: 2.50 (dollars), 200000tokens, 500calls"
    group.add_argument("--hourly-budget", action="append", default=[], metavar="LIMIT", help=text)


def read_hourly_budget(args: argparse.Namespace) -> tuple[str, ...]:
    """Return the limits of `--hourly-budget`, checked."""
    parse_limits(args.hourly_budget)
    return tuple(args.hourly_budget)


def repeat_model_flags(args: argparse.Namespace) -> str:
    """Return `--prices`, `--no-cache` and `--no-probe` as given, for the command that resumes."""
    prices = f" --prices {shlex.quote(str(Path(args.prices).absolute()))}" if args.prices else ""
    cache = " --no-cache" if args.cache is False else ""
    return prices + cache + ("" if args.probe else " --no-probe")


def make_model_pool(
    settings: ModelSettings,
    rubric: Rubric,
    agent: Any = None,
    *,
    spent: Cost = NO_COST,
    keys: bool = True,
    probe: bool,
) -> ModelPool:
    """Make the model pool of a command, and prepare judges that learn.

    What is missing (a key, an endpoint, or a price where dollars are limited) fails here and not in
    the first case. With `keys=False` no model will be called, and only prices are needed.
    """
    pool = ModelPool(
        budget=Budget.from_limits(settings.limits, spent),
        cache=settings.cache,
        prices=Prices(settings.prices),
        settings=settings.settings,
    )
    users = [agent, *find_model_users(rubric)]
    if keys:
        check_users(pool, users, probe=probe)
    with pool.activate():
        if keys:
            prepare_judges(users)
        else:
            for user in users:
                pool.check_user(user, needs_key=False)
    return pool


def prepare_judges(judges: Iterable[Any]) -> None:
    """Prepare judges that learn, before the first case: it takes longer than a case may."""
    for judge in judges:
        if getattr(judge, "learns", False) is True:
            asyncio.run(judge.prepare(print_message))


def double_budget(limits: Limits) -> str:
    """Return the `--budget` flags for twice these limits."""
    words = []
    if limits.dollars is not None:
        words.append(f" --budget {2 * limits.dollars:.10g}")
    for kind in ("tokens", "calls"):
        amount = getattr(limits, kind)
        if amount is not None:
            words.append(f" --budget {max(1, 2 * amount)}{kind}")
    return "".join(words)
