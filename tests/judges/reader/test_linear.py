"""Time that grows with the length of a text, whatever it is made of: a ratio, not a clock limit."""

import asyncio
from collections.abc import Callable

import pytest
from tests.linear import assert_bounded, assert_linear

from fourscore.core import Case, Trace
from fourscore.judges.dimensions.case_fields import find_question, list_parts
from fourscore.judges.dimensions.completeness import Completeness
from fourscore.judges.dimensions.factual_accuracy import FactualAccuracy
from fourscore.judges.reader.coverage import cover_aspects
from fourscore.judges.reader.support import judge_claims
from fourscore.judges.reader.text import Text

CLAIMS = ["The bridge in Harwick opened in 1932.", "It did not cost 1,200 euros.", "大桥很长。"]
EXPECTED = {"claims": [{"text": claim} for claim in CLAIMS], "aspects": ["costs", "history"]}


def judge(judge: FactualAccuracy | Completeness, question: str, output: str) -> object:
    case = Case(id="1", input=question, expected=EXPECTED)
    return asyncio.run(judge.judge(case, Trace(output=output)))


ENTRIES: dict[str, Callable[[str], object]] = {
    "read_text": lambda text: Text(text).places,
    "judge_claims": lambda text: judge_claims(CLAIMS, Text(text), "When did it open?"),
    "judge_claims, claim": lambda text: judge_claims([text], Text("It opened in 1932.")),
    "judge_claims, question": lambda text: judge_claims(CLAIMS, Text("It opened."), text),
    "cover_aspects": lambda text: cover_aspects(["costs", "history"], Text(text), "What is it?"),
    "factual_accuracy": lambda text: judge(FactualAccuracy(), "When did it open?", text),
    "completeness": lambda text: judge(Completeness(), "What of costs and history?", text),
    "completeness, question": lambda text: judge(Completeness(), text, "It opened."),
    "list_parts": lambda text: list_parts(find_question(text)),
    "find_question": lambda text: find_question([{"role": "user", "content": text}] * 3),
}
RUNS = [
    *(" ", "\n", "\t", "\r\n", "a", "a ", "A ", "é", "7", "7,", "7 ", "1.", "一", "中", "。", "，"),
    *(
        "“",
        "「",
        "（",
        "(",
        "[",
        '"',
        "'",
        "a'",
        "*",
        "_",
        "~~",
        "~~a",
        "#",
        "<",
        "<!--",
        "<think>",
        "</think>",
    ),
    *(".", ". ", "A. ", "? ", "!", ":\n", "- ", "- a\n", "1. a\n", ", a", " and ", "、", "和"),
    *("\u200b", "\u0301", "😀", "not ", "none of ", "is false. ", "None of these is true:\n- a\n"),
]


@pytest.mark.parametrize("name", ENTRIES)
def test_time_is_linear_in_the_length(name: str) -> None:
    for run in RUNS:
        assert_linear(ENTRIES[name], run)


@pytest.mark.parametrize("name", ["factual_accuracy", "completeness", "completeness, question"])
def test_ten_megabytes_take_no_longer_than_the_read_limit(name: str) -> None:
    for run in ("a ", "中"):
        assert_bounded(ENTRIES[name], run, 100_000, 10_000_000)
