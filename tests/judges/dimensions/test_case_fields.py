"""The question of a case, and the parts that it lists."""

from typing import Any

import pytest

from fourscore.judges.dimensions.case_fields import (
    MAX_QUESTION,
    cache_by_identity,
    find_question,
    list_parts,
)


@pytest.mark.parametrize(
    ("value", "question"),
    [
        ("Why?", "Why?"),
        ({"question": "Why?", "id": 5}, "Why?"),
        ({"messages": [{"role": "user", "content": "Why?"}]}, "Why?"),
        (
            [
                {"role": "system", "content": "Be brief."},
                {"role": "user", "content": "Why?"},
                {"role": "assistant", "content": "So."},
            ],
            "Why?",
        ),
        ([{"role": "user", "content": [{"type": "text", "text": "Why?"}]}], "Why?"),
        (5, "5"),
        ("x" * 50_000, "x" * MAX_QUESTION),
    ],
)
def test_finds_the_question(value: Any, question: str) -> None:
    assert find_question(value) == question


@pytest.mark.parametrize(
    ("question", "parts"),
    [
        ("Answer:\n1. Who built it?\n2. When?", ["Who built it?", "When?"]),
        ("Cover\n- costs\n- risks", ["costs", "risks"]),
        ("Who built it? When was it opened?", ["Who built it?", "When was it opened?"]),
        ("Explain the causes, effects and remedies of erosion.", ["causes", "effects", "remedies"]),
        ("请介绍这座桥的历史、费用和影响。", ["历史", "费用", "影响"]),
        ("What is the capital of France?", []),
        ("Compare salt and pepper.", []),
        ("", []),
    ],
)
def test_lists_parts(question: str, parts: list[str]) -> None:
    assert list_parts(question) == parts


def test_cache_by_identity_calls_the_function_once_per_object() -> None:
    asked: list[list[int]] = []

    @cache_by_identity
    def total(values: list[int]) -> int:
        asked.append(values)
        return sum(values)

    one, equal, other = [1, 2], [1, 2], [5]
    assert [total(one), total(other), total(one), total(other)] == [3, 5, 3, 5]
    assert len(asked) == 2
    assert total(equal) == 3
    assert len(asked) == 3


def test_cache_by_identity_never_confuses_a_new_object_with_a_freed_one() -> None:
    @cache_by_identity
    def first(values: list[int]) -> int:
        return values[0]

    assert [first([number]) for number in range(200)] == list(range(200))


def test_cache_by_identity_does_not_keep_an_exception() -> None:
    @cache_by_identity
    def divided(values: list[int]) -> float:
        return 1 / values[0]

    values = [0]
    with pytest.raises(ZeroDivisionError):
        divided(values)
    values[0] = 2
    assert divided(values) == 0.5
