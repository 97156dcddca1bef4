"""The most that a run can cost on models, told before anything is asked.

A judge that asks models says what one trace of a case takes at the most. Asks that have to be
repeated come on top; replies that are in the cache already, and most replies, cost less.
"""

from collections.abc import Iterable, Iterator
from typing import Any

from fourscore.core import Case, Rubric, Usage
from fourscore.core.judge import is_ranker
from fourscore.core.rubric import list_models
from fourscore.models.budget import Cost
from fourscore.models.model_pool import ModelPool

FREE = Usage()


def find_model_users(rubric: Rubric, agent: Any = None) -> Iterator[Any]:
    """Whoever asks models in a run: the agent, judges, and the members of a panel one by one."""
    if list_models(agent):
        yield agent
    for slot in rubric.slots:
        loaded_members = getattr(slot.judge, "loaded_members", ())
        members = loaded_members if isinstance(loaded_members, tuple) else ()
        yield from [one.judge for one in members if hasattr(one, "judge")] or [slot.judge]


def estimate_max_cost(
    cases: Iterable[Case], rubric: Rubric, agent: Any, pool: ModelPool
) -> tuple[int, list[dict[str, Any]]]:
    """How many attempts there are, and for each model the most that they take."""
    # One trace alone is not ranked, so rankers ask nothing in a run.
    counted = [one for one in find_model_users(rubric, agent) if _counts(one)]
    most: dict[tuple[str, ...], Usage] = {list_models(one): FREE for one in counted}
    count = 0
    for case in cases:
        count += 1
        for one in counted:
            most[list_models(one)] += one.most(case)
    return count, [_line(names, usage, pool) for names, usage in most.items()]


def _counts(asker: Any) -> bool:
    return bool(list_models(asker)) and hasattr(asker, "most") and not is_ranker(asker)


def _line(names: tuple[str, ...], usage: Usage, pool: ModelPool) -> dict[str, Any]:
    prices = [pool.price_of(name) for name in names]
    dollars = [price.dollars(usage) for price in prices if price is not None]
    return {
        "model": ", ".join(names),
        "calls": usage.calls,
        "input_tokens": usage.input_tokens,
        "output_tokens": usage.output_tokens,
        "dollars": max(dollars) if len(dollars) == len(names) else None,
    }


def warning(lines: list[dict[str, Any]], pool: ModelPool) -> str:
    """Where all of it together would not fit the budget."""
    if pool.budget is None:
        return ""
    cost = pool.budget.spent
    for line in lines:
        tokens = line["input_tokens"] + line["output_tokens"]
        cost = cost.plus(Cost(line["calls"], tokens, line["dollars"] or 0.0))
    over = pool.budget.limits.exceeded(cost)
    return f"this may take more than the budget of {over}" if over is not None else ""


def words(line: dict[str, Any]) -> str:
    """A line for people."""
    tokens = f"{line['input_tokens'] + line['output_tokens']:,} tokens"
    dollars = line["dollars"]
    if dollars is None:
        money = f"no price known for {line['model']}"
    else:
        money = f"${dollars:.2f}" if dollars >= 1 else f"${dollars:.4f}"
    return f"{line['model']}: at most {line['calls']:,} calls, {tokens}, {money}"
