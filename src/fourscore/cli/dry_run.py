"""`fourscore run --dry-run`: print what would run and its maximum cost, without running it."""

import sys
from collections.abc import Iterable
from itertools import islice
from typing import Any

import msgspec

from fourscore.cli.main import PASSED
from fourscore.cli.run_inputs import RunInputs
from fourscore.models.budget import estimate_max_cost, warn_of_max_cost
from fourscore.models.model_pool import ModelPool
from fourscore.test.run import PlannedAttempt

#: The maximum number of cases that are listed.
FIRST = 10


def dry_run(
    inputs: RunInputs, attempts: Iterable[PlannedAttempt], models: ModelPool, *, as_json: bool
) -> int:
    """Print the planned attempts and the maximum cost of models; return the exit code."""
    rubric, agent, repeats = inputs.rubric, inputs.agent, inputs.settings.repeats
    planned, most = estimate_max_cost(
        (attempt.case for attempt in attempts), rubric, agent, models.find_price
    )
    document: dict[str, Any] = {
        "cases": planned // repeats if planned % repeats == 0 else planned,
        "repeats": repeats,
        "planned": planned,
        "agent": agent.name,
        "rubric": rubric.name,
        "dimensions": [line.name for line in rubric.dimensions],
        "first": [case.id for case in islice(inputs.choose_cases(), FIRST)],
    }
    if as_json:
        more = {"models": most, "warning": warn_of_max_cost(most, models.budget)} if most else {}
        sys.stdout.write(msgspec.json.encode({**document, **more}).decode() + "\n")
        return PASSED
    for key, value in document.items():
        shown = ", ".join(value) if isinstance(value, list) else value
        sys.stdout.write(f"{key}: {shown}\n")
    for line in most:
        sys.stdout.write(f"models: {line}\n")
    if warning := warn_of_max_cost(most, models.budget):
        sys.stderr.write(f"fourscore: {warning}\n")
    return PASSED
