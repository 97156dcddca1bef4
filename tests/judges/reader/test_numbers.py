"""Numbers as values."""

import pytest

from fourscore.judges.reader.numbers import find_numbers
from fourscore.judges.reader.text import split_words


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("1,200", [1200]),
        ("1.2 thousand", [1200]),
        ("twelve hundred", [1200]),
        ("twenty-one cats and 3 dogs", [21, 3]),
        ("3,5 %", [3.5]),
        ("5 million in 1998", [5e6, 1998]),
        ("三百二十", [320]),
        ("二零二三", [2023]),
        ("1.5 亿", [1.5e8]),
        ("300 万元", [3e6]),
        ("two and a half", [2]),
        ("version 1.2.3", []),
        ("no number", []),
        ("", []),
    ],
)
def test_finds_numbers(text: str, values: list[float]) -> None:
    assert find_numbers(split_words(text)) == values


def test_reads_a_number_with_any_count_of_digits() -> None:
    assert find_numbers(["9" * 5000]) == [float("inf")]
    assert find_numbers(["九" * 5000]) == [float("inf")]
