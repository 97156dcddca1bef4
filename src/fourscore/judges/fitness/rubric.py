"""The default rubric for execution logs, the 0 to 100 scale, and the grades with their advice.

The rubric is the one in `fitness.yaml`, which people copy. It is built here without reading the
file, which takes longer than scoring a small log; a test checks that both are the same.
"""

from typing import NamedTuple

from fourscore.core import Dimension, Judge, Rubric, Score
from fourscore.judges.fitness.efficiency import Efficiency
from fourscore.judges.fitness.error_rate import ErrorRate
from fourscore.judges.fitness.output_quality import OutputQuality, StructureScore
from fourscore.judges.fitness.tool_success import ToolSuccessRate


class Grade(NamedTuple):
    """A grade; `floor` is the lowest score that earns it."""

    letter: str
    floor: float
    interpretation: str
    advice: str


GRADES = (
    Grade("A+", 90.0, "Excellent: seldom in need of a mutation", "Leave it as it is."),
    Grade("A", 80.0, "Very good: small improvements are left", "Polish the weakest signal."),
    Grade("B", 70.0, "Good: there is room to improve", "Improve the weakest signal."),
    Grade("C", 60.0, "Average: a mutation is advisable", "Try a mutation at the weakest signal."),
    Grade("D", 50.0, "Below average: a mutation is needed", "Mutate, at the weakest signal first."),
    Grade("F", 0.0, "Poor: think of rolling back", "Consider a return to an earlier version."),
)


def to_fitness(value: float) -> float:
    """Return a value in [0, 1] on the fitness scale of 0 to 100, rounded to hundredths."""
    score = 100 * value
    hundredths = round(100 * score)
    if abs(100 * score - hundredths) < 0.499:
        return hundredths / 100
    return round(score, 2)  # halfway between two hundredths: only exact rounding is right


def get_fitness(score: Score) -> float | None:
    """Return the fitness of one scored trace; None where nothing was measured."""
    return None if score.value is None else to_fitness(score.value)


def grade_of(score: float) -> Grade:
    """Return the highest grade whose floor the score reaches: 89.99 is an A, not an A+."""
    return next((grade for grade in GRADES if score >= grade.floor), GRADES[-1])


def find_costliest_signal(rubric: Rubric, values: dict[str, float | None]) -> str | None:
    """Return the signal that costs the most points; None if no points were lost."""
    lost = {
        line.name: line.share * (1 - value)
        for line in rubric.dimensions
        if (value := values.get(line.name)) is not None and value < 1
    }
    return max(lost, key=lambda name: lost[name]) if lost else None


def make_fitness_rubric() -> Rubric:
    """Return the rubric of the five signals with their weights."""
    spare = "Little of the time, or of the calls, that such a task may take."
    errors = "Few failures, retries and corrections; the value is 1 less their rate."
    return Rubric(
        name="fitness",
        min_coverage=0.01,  # a score is given however little was measured, with its coverage
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
