"""A fitness from 0 to 100, its grade, and what to do about it."""

from typing import NamedTuple

from fourscore.core import Rubric, Score


class Grade(NamedTuple):
    """`floor` is the least score that earns it."""

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


def fitness_of(value: float) -> float:
    """A value in [0, 1] on the scale of evolution, 0 to 100."""
    score = 100 * value
    hundredths = round(100 * score)
    if abs(100 * score - hundredths) < 0.499:
        return hundredths / 100
    return round(score, 2)  # in the middle between two; this goes by way of text, which is slow


def score_of(score: Score) -> float | None:
    """The fitness of one scored trace; None where nothing was measured."""
    return None if score.value is None else fitness_of(score.value)


def grade_of(score: float) -> Grade:
    """The grade by its lower bound: 89.99 is an A."""
    return next((grade for grade in GRADES if score >= grade.floor), GRADES[-1])


def weakest(rubric: Rubric, values: dict[str, float | None]) -> str | None:
    """The signal that costs the most points."""
    lost = {
        line.name: line.share * (1 - value)
        for line in rubric.dimensions
        if (value := values.get(line.name)) is not None and value < 1
    }
    return max(lost, key=lambda name: lost[name]) if lost else None
