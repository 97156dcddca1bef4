"""The default rubric: five dimensions of a research answer, as a file, a mapping and a `Rubric`."""

from copy import deepcopy
from typing import Any

from fourscore.core import Rubric
from fourscore.formats.yaml_file import read_yaml_file
from fourscore.judges.rubric_file import RESEARCH, read_rubric


def read_research_rubric() -> Rubric:
    """Return the default rubric, ready to score with."""
    return read_rubric(RESEARCH)


def _read_dimensions() -> dict[str, dict[str, Any]]:
    """Return weight, description, levels and level descriptions of each dimension."""
    kept = ("weight", "description", "levels", "level_descriptions")
    lines = read_yaml_file(RESEARCH).value["dimensions"]
    return {name: {key: deepcopy(line[key]) for key in kept} for name, line in lines.items()}


EVALUATION_DIMENSIONS = _read_dimensions()
EVALUATION_RUBRIC = EVALUATION_DIMENSIONS
