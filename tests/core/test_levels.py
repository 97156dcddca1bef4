"""Values in words: every floor and both sides of it."""

import asyncio
import itertools

import pytest

from fourscore import Case, Dimension, Rubric, Signal, Trace, judge, score
from fourscore.core.levels import FLOORS, LEVELS, find_floors, find_level

EPSILON = 1e-6
FIVE = ["excellent", "good", "acceptable", "poor", "failed"]


def test_the_levels_and_their_floors() -> None:
    assert dict(LEVELS) == dict(zip(FIVE, [1.0, 0.8, 0.6, 0.3, 0.0], strict=True))
    assert dict(FLOORS) == dict(zip(FIVE, [0.9, 0.7, 0.5, 0.25, 0.0], strict=True))
    assert [find_level(value) for value in LEVELS.values()] == FIVE


@pytest.mark.parametrize(("above", "below"), list(itertools.pairwise(FIVE)))
def test_finds_level_at_each_boundary(above: str, below: str) -> None:
    floor = FLOORS[above]
    assert find_level(floor) == find_level(floor + EPSILON) == above
    assert find_level(floor - EPSILON) == below
    assert find_level(floor - 1e-12) == above  # what floating point may have lost


def test_floor_of_custom_levels_is_half_way() -> None:
    floors = find_floors({"no": 0.0, "yes": 1.0, "half": 0.4})
    assert dict(floors) == {"yes": pytest.approx(0.7), "half": pytest.approx(0.2), "no": 0.0}
    assert find_level(0.69, floors) == "half"
    assert find_level(0.7, floors) == "yes"
    assert find_level(0.0, floors) == "no"


def test_floors_of_the_five_default_levels_are_fixed() -> None:
    assert find_floors(LEVELS) == FLOORS == find_floors({})
    assert find_floors(dict(reversed(list(LEVELS.items())))) == FLOORS


def test_lowest_level_has_floor_zero() -> None:
    floors = find_floors({"excellent": 1.0, "good": 0.8})
    assert find_level(0.0, floors) == "good"
    assert find_level(0.9, floors) == "excellent"


def scored(value: float | None, levels: dict[str, float], own: str = "") -> Signal:
    @judge
    def style(case: Case, trace: Trace) -> Signal:
        return Signal(name="style", value=value, level=own if value is not None else "")

    line = Dimension(name="style", judge=style, weight=1, levels=levels)
    rubric = Rubric(name="one", dimensions=(line,))
    (score_,) = asyncio.run(score(rubric, Case(input="?"), [Trace(output="!")]))
    return score_.signals[0]


def test_a_rubric_names_the_levels_of_its_dimensions() -> None:
    assert scored(0.7, {"fine": 1.0, "bad": 0.0}).level == "fine"
    assert scored(0.7, {"fine": 1.0, "bad": 0.0}, own="good").level == "fine"
    assert scored(0.7, {"good": 1.0, "bad": 0.0}, own="good").level == "good"
    assert scored(0.7, {}, own="good").level == "good"
    assert scored(0.7, {}).level == ""
    assert scored(None, {"fine": 1.0, "bad": 0.0}).level == ""


def test_level_outside_0_to_1_is_refused() -> None:
    with pytest.raises(ValueError, match=r"levels\.fine"):
        scored(0.5, {"fine": 2.0})
