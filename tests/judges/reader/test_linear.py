"""Time that grows with the length of a text, whatever it is made of: a ratio, not a clock limit."""

import asyncio
import time
from collections.abc import Callable

import pytest

from rubrica.core import Case, Trace
from rubrica.judges.dimensions.completeness import Completeness
from rubrica.judges.dimensions.factual_accuracy import FactualAccuracy
from rubrica.judges.dimensions.question import list_parts, question_of
from rubrica.judges.reader.coverage import cover_aspects
from rubrica.judges.reader.support import judge_claims
from rubrica.judges.reader.text import Text

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
    "list_parts": lambda text: list_parts(question_of(text)),
    "question_of": lambda text: question_of([{"role": "user", "content": text}] * 3),
}
RUNS = [
    *(" ", "\n", "\t", "\r\n", "a", "a ", "A ", "é", "7", "7,", "7 ", "1.", "一", "中", "。", "，"),
    *("(", "[", '"', "'", "a'", "*", "_", "~~", "~~a", "#", "<", "<!--", "<think>", "</think>"),
    *(".", ". ", "A. ", "? ", "!", ":\n", "- ", "- a\n", "1. a\n", ", a", " and ", "、", "和"),
    *("\u200b", "\u0301", "😀", "not ", "none of ", "is false. ", "None of these is true:\n- a\n"),
]
SIZES = 5_000, 20_000


def seconds(entry: Callable[[str], object], run: str, size: int) -> float:
    """CPU time of the fastest of three; each text differs, so that nothing comes from a cache."""
    best = float("inf")
    for mark in "xyz":
        text = run * (size // len(run)) + f" {mark}{size}"
        began = time.process_time()
        entry(text)
        best = min(best, time.process_time() - began)
    return best


@pytest.mark.parametrize("name", ENTRIES)
def test_time_grows_with_the_length(name: str) -> None:
    few, many = SIZES
    for run in RUNS:
        short = seconds(ENTRIES[name], run, few)
        long = seconds(ENTRIES[name], run, many)
        # Quadratic time would be 16 times as much, linear is 4; a millisecond is noise.
        assert long <= 2.5 * (many / few) * max(short, 0.001), (run, short, long)


@pytest.mark.parametrize("name", ["factual_accuracy", "completeness", "completeness, question"])
def test_ten_megabytes_cost_no_more_than_what_is_read(name: str) -> None:
    for run in ("a ", "中"):
        read, whole = (seconds(ENTRIES[name], run, size) for size in (100_000, 10_000_000))
        assert whole <= 5 * max(read, 0.03), (run, read, whole)
