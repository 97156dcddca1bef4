"""Numbers at the door."""

from decimal import Decimal
from fractions import Fraction
from math import inf, nan
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fourscore.core.numbers import check_finite, decimal_text, to_finite_float

steady = settings(deadline=None)
finite_floats = st.floats(allow_nan=False, allow_infinity=False)


class Scalar:
    """As numpy and torch scalars are: a number by `__float__` only."""

    def __init__(self, value: float) -> None:
        self.value = value

    def __float__(self) -> float:
        return self.value


class Vector:
    def __float__(self) -> float:
        raise RuntimeError("a tensor of several elements has no float")


@steady
@given(finite_floats)
def test_a_finite_number_passes_inside_its_range_only(number: float) -> None:
    check_finite("x", number)
    check_finite("x", number, low=number, high=number)
    for low, high in ((number + abs(number) + 1, None), (None, number - abs(number) - 1)):
        with pytest.raises(ValueError, match=r"^x: .* is outside \["):
            check_finite("x", number, low=low, high=high)


def test_none_is_accepted() -> None:
    check_finite("x", None, low=0, high=1)
    with pytest.raises(ValueError, match="outside"):
        check_finite("x", -1, low=0, high=1)


@pytest.mark.parametrize("number", [nan, inf, -inf])
def test_what_is_not_finite_is_refused(number: float) -> None:
    with pytest.raises(ValueError, match=f"^x: {number} is not a finite number$"):
        check_finite("x", number)


@pytest.mark.parametrize("value", [True, "1", b"1", [1], 1j, Fraction(1), Decimal(1)])
def test_what_is_not_a_plain_number_is_refused(value: Any) -> None:
    with pytest.raises(ValueError, match=f"^x: expected a number, got {type(value).__name__}$"):
        check_finite("x", value)


def test_message_shows_an_open_range() -> None:
    with pytest.raises(ValueError, match=r"^x: -1 is outside \[0, ∞\]$"):
        check_finite("x", -1, low=0)


@pytest.mark.parametrize(
    ("value", "number"),
    [
        (1, 1.0),
        (-0.5, -0.5),
        (Fraction(1, 2), 0.5),
        (Decimal("0.25"), 0.25),
        (Scalar(2.5), 2.5),
        (True, None),
        (Scalar(nan), None),
        (Scalar(inf), None),
        (nan, None),
        (10**400, None),
        ("1", None),
        (b"1", None),
        (None, None),
        ([1.0], None),
        (1j, None),
        (Vector(), None),
        (object(), None),
    ],
)
def test_converts_numbers_of_other_types_to_float(value: Any, number: float | None) -> None:
    assert to_finite_float(value) == number
    assert number is None or type(to_finite_float(value)) is float


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (7, "7"),
        (-7, "-7"),
        (7.0, "7"),
        (0.5, "0.5"),
        (-0.5, "-0.5"),
        (-0.0, "0"),
        (100.0, "100"),
        (1e22, "10000000000000000000000"),
        (1e-7, "0.0000001"),
        (0.1, "0.1"),
        (10**30, "1" + "0" * 30),
    ],
)
def test_the_shortest_decimal_text(value: float, text: str) -> None:
    assert decimal_text(value) == text


@steady
@given(finite_floats)
def test_decimal_text_reads_back_as_the_same_number(number: float) -> None:
    text = decimal_text(number)
    assert float(text) == number
    assert set(text) <= set("-0123456789.")
    assert not ("." in text and text.endswith(("0", ".")))
