"""Time that grows with the length of a text, whatever it is made of: a ratio, not a clock limit."""

import time
from collections.abc import Callable

import pytest

from rubrica import (
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
SIZES = 5_000, 20_000


def seconds(detector: Callable[[str], object], run: str, size: int) -> float:
    """CPU time of the fastest of three; each text differs, so that nothing comes from a cache."""
    best = float("inf")
    for mark in "xyz":
        text = run * (size // len(run)) + mark
        began = time.process_time()
        detector(text)
        best = min(best, time.process_time() - began)
    return best


@pytest.mark.parametrize("name", DETECTORS)
def test_time_grows_with_the_length(name: str) -> None:
    few, many = SIZES
    for run in RUNS:
        short = seconds(DETECTORS[name], run, few)
        long = seconds(DETECTORS[name], run, many)
        # Quadratic time would be 16 times as much, linear is 4; a millisecond is noise.
        assert long <= 2.5 * (many / few) * max(short, 0.001), (run, short, long)


def test_eight_megabytes_cost_no_more_than_what_is_read() -> None:
    for name, detector in DETECTORS.items():
        for run in (" ", "a ", "- a\n", "```\n"):
            read, whole = seconds(detector, run, 100_000), seconds(detector, run, 8_000_000)
            assert whole <= 5 * max(read, 0.02), (name, run, read, whole)
