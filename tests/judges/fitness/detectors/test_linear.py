"""Time that grows with the length of a text, whatever it is made of: a ratio, not a clock limit."""

from collections.abc import Callable

import pytest
from tests.linear import assert_bounded, assert_linear

from fourscore import (
    follows_format,
    has_code_block,
    has_direct_answer,
    has_explanation,
    has_next_steps,
    has_syntax_errors,
    score_structure,
)

FORMS = "List 3 cities in a table, in at most 20 words, two sentences, bullet points, in English."
DETECTORS: dict[str, Callable[[str], object]] = {
    "answer": lambda text: has_direct_answer(text, "Why?"),
    "answer, request": lambda text: has_direct_answer("It is illegal.", text),
    "explanation": lambda text: has_explanation(text, "Why?"),
    "explanation, request": lambda text: has_explanation("It is.", text),
    "steps": has_next_steps,
    "format": lambda text: follows_format(text, FORMS),
    "format, JSON": lambda text: follows_format(text, "Reply in JSON."),
    "format, request": lambda text: follows_format("Yes.", text),
    "syntax": has_syntax_errors,
    "code block": has_code_block,
    "structure": score_structure,
}
RUNS = [
    *(
        " ",
        "\n",
        "\t",
        "\r",
        "a",
        "a ",
        "7",
        "中",
        "。",
        "“",
        "「",
        "（",
        "(",
        "[",
        "{",
        '"',
        "'",
        "`",
        "|",
        "#",
        "<",
    ),
    *("-", "*", ".", "> ", "- ", "1. ", "# a\n", "- a\n", "|a", "\u200b", "not ", "```\n"),
]


@pytest.mark.parametrize("name", DETECTORS)
def test_time_is_linear_in_length(name: str) -> None:
    for run in RUNS:
        assert_linear(DETECTORS[name], run)


def test_huge_output_costs_no_more_than_the_part_read() -> None:
    for detector in DETECTORS.values():
        for run in (" ", "a ", "- a\n", "```\n"):
            assert_bounded(detector, run, 100_000, 8_000_000)
