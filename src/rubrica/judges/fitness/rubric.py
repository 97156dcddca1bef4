"""The default rubric for execution logs."""

from pathlib import Path

from rubrica.core import Rubric
from rubrica.judges.rubric_file import read_rubric

FITNESS = str(Path(__file__).parent / "fitness.yaml")


def fitness() -> Rubric:
    """The five signals with their weights, ready to score with."""
    return read_rubric(FITNESS)
