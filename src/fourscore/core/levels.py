"""Levels: names for values (excellent, good, acceptable, poor, failed, or a rubric's own)."""

from collections.abc import Mapping

from fourscore.core.frozen import FrozenDict

#: The value of each level.
LEVELS: Mapping[str, float] = FrozenDict(
    excellent=1.0, good=0.8, acceptable=0.6, poor=0.3, failed=0.0
)
#: The lowest value of each level.
FLOORS: Mapping[str, float] = FrozenDict(
    excellent=0.9, good=0.7, acceptable=0.5, poor=0.25, failed=0.0
)
#: Tolerance for floating point where a value is compared with a floor.
SLACK = 1e-9


def find_floors(levels: Mapping[str, float]) -> Mapping[str, float]:
    """Return the lowest value (floor) of each level, best level first.

    The floor of a rubric's own level lies half way between its value and that of the next lower.
    """
    if not levels or dict(levels) == dict(LEVELS):
        return FLOORS
    ranked = sorted(levels.items(), key=lambda level: -level[1])
    below = [value for _, value in ranked[1:]]
    floors = {
        name: (value + lower) / 2 for (name, value), lower in zip(ranked, below, strict=False)
    }
    return {**floors, ranked[-1][0]: 0.0}


def find_level(value: float, floors: Mapping[str, float] = FLOORS) -> str:
    """Return the highest level whose floor the value reaches."""
    return next(name for name, floor in floors.items() if value >= floor - SLACK)
