"""What was made of an object is made once, and never given for another one."""

import pytest

from fourscore.judges.dimensions.known import known


def test_the_same_object_is_asked_once() -> None:
    asked: list[list[int]] = []

    @known
    def total(values: list[int]) -> int:
        asked.append(values)
        return sum(values)

    one, equal, other = [1, 2], [1, 2], [5]
    assert [total(one), total(other), total(one), total(other)] == [3, 5, 3, 5]
    assert len(asked) == 2
    assert total(equal) == 3
    assert len(asked) == 3


def test_objects_that_are_gone_are_not_mistaken_for_new_ones() -> None:
    @known
    def first(values: list[int]) -> int:
        return values[0]

    assert [first([number]) for number in range(200)] == list(range(200))


def test_a_failure_is_not_kept() -> None:
    @known
    def divided(values: list[int]) -> float:
        return 1 / values[0]

    values = [0]
    with pytest.raises(ZeroDivisionError):
        divided(values)
    values[0] = 2
    assert divided(values) == 0.5
