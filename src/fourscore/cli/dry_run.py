"""`fourscore run --dry-run`: print what would run and its maximum cost, without running it."""

from collections.abc import Iterable
from itertools import islice
from typing import Any

from fourscore.cli.main import PASSED
from fourscore.cli.run_inputs import RunInputs
from fourscore.models.budget import estimate_max_cost, warn_of_max_cost
from fourscore.models.model_pool import ModelPool
from fourscore.report.streams import print_json, print_line, print_message
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
        print_json({**document, **more})
        return PASSED
    for key, value in document.items():
        shown = ", ".join(value) if isinstance(value, list) else value
        print_line(f"{key}: {shown}")
    for line in most:
        print_line(f"models: {line}")
    if warning := warn_of_max_cost(most, models.budget):
        print_message(f"fourscore: {warning}")
    return PASSED
