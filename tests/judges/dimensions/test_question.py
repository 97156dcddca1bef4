"""The question of a case, and the parts that it lists."""

from typing import Any

import pytest

from fourscore.judges.dimensions.question import LONGEST, list_parts, question_of


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
        ("x" * 50_000, "x" * LONGEST),
    ],
)
def test_finds_the_question(value: Any, question: str) -> None:
    assert question_of(value) == question


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
