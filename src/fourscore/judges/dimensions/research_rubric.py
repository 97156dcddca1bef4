"""The default rubric: five dimensions of a research answer, as a file, a mapping and a `Rubric`."""

from copy import deepcopy
from typing import Any

from fourscore.core import Rubric
from fourscore.formats.yaml_file import read_document
from fourscore.judges.rubric_file import RESEARCH, read_rubric


def research() -> Rubric:
    """The default rubric, ready to score with."""
    return read_rubric(RESEARCH)


def _dimensions() -> dict[str, dict[str, Any]]:
    """The default rubric as a mapping: weight, description, levels and what each looks like."""
    kept = ("weight", "description", "levels", "level_descriptions")
    lines = read_document(RESEARCH).value["dimensions"]
    return {name: {key: deepcopy(line[key]) for key in kept} for name, line in lines.items()}


EVALUATION_DIMENSIONS = _dimensions()
EVALUATION_RUBRIC = EVALUATION_DIMENSIONS
