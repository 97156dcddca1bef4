"""The default rubric for execution logs, as `fitness.yaml` has it for people to copy.

It is built here without reading the file, which takes longer than scoring a small log; a test holds
the two together.
"""

from fourscore.core import Dimension, Judge, Rubric
from fourscore.judges.fitness.efficiency import Efficiency
from fourscore.judges.fitness.error_rate import ErrorRate
from fourscore.judges.fitness.output import OutputQuality
from fourscore.judges.fitness.structure import StructureScore
from fourscore.judges.fitness.tool_success import ToolSuccessRate


def fitness() -> Rubric:
    """The five signals with their weights, ready to score with."""
    spare = "Little of the time, or of the calls, that such a task may take."
    errors = "Few failures, retries and corrections; the value is 1 less their rate."
    return Rubric(
        name="fitness",
        min_coverage=0.01,  # whatever was measured is told, with its coverage
        dimensions=(
            _line(ToolSuccessRate(), 0.35, "Tool calls that did what they were called for."),
            _line(OutputQuality(), 0.25, "The output is complete and holds."),
            _line(Efficiency(), 0.20, spare),
            _line(ErrorRate(), 0.15, errors),
            _line(StructureScore(), 0.05, "Headers, lists and fenced blocks."),
        ),
    )


def _line(judge: Judge, weight: float, description: str) -> Dimension:
    (name,) = judge.names
    return Dimension(name=name, judge=judge, weight=weight, description=description)
