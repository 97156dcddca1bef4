"""What a command may spend on models: its options, the model pool, and the bill.

The budget is that of a run, not of one command: whoever goes on with a run has what is left.
"""

import argparse
import asyncio
import shlex
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import msgspec

from fourscore.core import ConfigError, Rubric
from fourscore.core.rubric import list_models
from fourscore.models.budget import NOTHING, Budget, Cost, Limits, parse_limits
from fourscore.models.client import EndpointModel
from fourscore.models.max_cost import find_model_users
from fourscore.models.model_pool import ModelPool
from fourscore.models.model_spec import make_model
from fourscore.models.prices import Prices
from fourscore.models.usage_meter import ModelUsage
from fourscore.models.wrapper import find_layer
from fourscore.stores.sqlite import Store
from fourscore.test.run import summarized

#: As a configuration has it: 2.5, 500calls, or several.
Written = list[str | float] | str | float | None


class Means(msgspec.Struct, frozen=True, kw_only=True):
    """What a command was told about models. `cache`: a file, or False for none. `settings` are
    those of single models, by their specification."""

    budget: Written = None
    cache: str | bool | None = None
    prices: str | dict[str, Any] | None = None
    settings: dict[str, dict[str, Any]] = {}

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


LIMITS = "for models: 2.50 (dollars), 200000tokens or 500calls; may be given several times"


def add_arguments(parser: argparse.ArgumentParser, limits: str = LIMITS) -> None:
    """`limits` says what may be limited, where that is more than models."""
    add = parser.add_argument
    add("--budget", action="append", metavar="LIMIT", help=limits)
    add("--no-cache", action="store_true", help="ask models anew what they have answered before")
    add("--prices", metavar="FILE", help="YAML with your own prices of models")


def means_of(args: argparse.Namespace) -> Means:
    """For commands that have no configuration of their own."""
    return Means(
        budget=args.budget, cache=False if args.no_cache else None, prices=args.prices or None
    )


def options_of(args: argparse.Namespace) -> str:
    """The same options for the command that goes on, but for the budget."""
    prices = f" --prices {shlex.quote(str(Path(args.prices).absolute()))}" if args.prices else ""
    return prices + (" --no-cache" if args.no_cache else "")


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


def spent_before(store: Store, run_id: str, agent: Any) -> Cost:
    """What a run has cost so far, by its rows; an agent counts if it is a model of the pool."""
    document = summarized(store, run_id)
    sides = ["judges", *(["agent"] if list_models(agent) else [])]
    spent = NOTHING
    for line in (document["cost"][side] for side in sides):
        tokens = line["input_tokens"] + line["output_tokens"]
        spent = spent.plus(Cost(line["calls"], tokens, line["dollars"]))
    return spent


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
