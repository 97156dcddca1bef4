"""`fourscore run --dry-run`: what would run and what it may cost; nothing is asked."""

import sys
from collections.abc import Iterable
from itertools import islice
from typing import Any

import msgspec

from fourscore.agents.agent import Agent
from fourscore.cli.main import PASSED
from fourscore.core import Case, Rubric
from fourscore.models import max_cost as ceiling
from fourscore.models.model_pool import ModelPool

#: Cases that are named.
FIRST = 10


def dry_run(
    attempts: Iterable[Case],
    first: Iterable[Case],
    rubric: Rubric,
    agent: Agent,
    pool: ModelPool,
    *,
    repeats: int,
    as_json: bool,
) -> int:
    """`attempts` has a case for each of its repeats that is to be done."""
    planned, most = ceiling.estimate_max_cost(attempts, rubric, agent, pool)
    document: dict[str, Any] = {
        "cases": planned // repeats if planned % repeats == 0 else planned,
        "repeats": repeats,
        "planned": planned,
        "agent": agent.name,
        "rubric": rubric.name,
        "dimensions": [line.name for line in rubric.dimensions],
        "first": [case.id for case in islice(first, FIRST)],
    }
    if as_json:
        told = {"models": most, "warning": ceiling.warning(most, pool)} if most else {}
        sys.stdout.write(msgspec.json.encode({**document, **told}).decode() + "\n")
        return PASSED
    for key, value in document.items():
        shown = ", ".join(value) if isinstance(value, list) else value
        sys.stdout.write(f"{key}: {shown}\n")
    for line in most:
        sys.stdout.write(f"models: {ceiling.words(line)}\n")
    if warning := ceiling.warning(most, pool):
        sys.stderr.write(f"fourscore: {warning}\n")
    return PASSED
