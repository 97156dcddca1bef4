r"""Answers written to hang, crash or fool the judge. Each must get a verdict.

No test here has a time limit: the work is bounded by counting, and a slow machine is no bug. A
test that hangs is the failure.
"""

from __future__ import annotations

import builtins
import os
from typing import Any

import pytest

from fourscore.judges.math import Equivalence, decide
from fourscore.judges.math.limits import MAX_ANSWER_CHARS, MAX_DEPTH, MAX_ITEMS

HUGE = {
    "tower of powers": "9^{9^{9^{9^9}}}",
    "deep tower": "2^{" * 20 + "2" + "}" * 20,
    "power of ten": "10^{10^{10}}",
    "factorial": "1000000!",
    "factorial of factorials": "((((5!)!)!)!)!",
    "scientific": "1e4999",
    "power of a sum": "(1+1/3)^{2000}",
    "20,000 displays": r"\[" * 20_000,
    "100,000 braces": "{" * 100_000,
    "900 closed braces": "{" * 900 + "}" * 900,
    "parentheses": "(" * 1_900,
    "10 MB of digits": "1" * 10_000_000,
    "10 MB of words": "word " * 2_000_000,
    "python": "__import__('os').system('true')",
    "signs": "-" * 1_999,
    "commas": "," * 1_999,
    "items": ",".join(map(str, range(MAX_ITEMS + 1))),
    "bars": "|x" * 900,
    "carets": "x^" * 900,
    "fractions": r"\frac" * 390,
    "roots": r"\sqrt" * 390,
    "sines": r"\sin" * 490,
    "texts": r"\text{" * 300,
    "equals": "1=" * 900 + "1",
    "thousands": "1" + ",111" * 490,
    "big matrix": r"\begin{pmatrix}" + r"\\".join(["&".join("1" * 30)] * 30) + r"\end{pmatrix}",
    "null byte": "42\x00",
    "lone surrogate": "42\ud800",
    "escape": "\x1b[31m42",
    "two numbers": "42\n41",
}
LEFT_TO_MATH_VERIFY = {
    "sum": r"\sum_{i=1}^{10^{9}} i",
    "determinant": r"\begin{vmatrix}" + r"\\".join(["&".join("x" * 9)] * 9) + r"\end{vmatrix}",
    "difference of towers": "10^{10^{10}} - 10^{10^{10}} + 42",
    "factorial of factorial": "42!!!!!!",
    "product of roots": "".join(rf"(1+\sqrt{{{n}}})" for n in range(2, 100)),
    "large radicand": r"\sqrt{" + "9" * 300 + "}",
    "variable tower": "x^{10^{30}}",
}


@pytest.mark.parametrize("answer", HUGE.values(), ids=HUGE.keys())
@pytest.mark.parametrize("reference", ["42", r"\sqrt2", "x^2+1", "(1,2)", r"\text{yes}"])
def test_hostile_answers_are_never_equal(answer: str, reference: str) -> None:
    decision = decide(answer, reference)
    assert decision.verdict is not Equivalence.EQUAL
    assert "failed" not in decision.reason


@pytest.mark.parametrize("answer", HUGE.values(), ids=HUGE.keys())
def test_hostile_answers_differ_from_a_number(answer: str) -> None:
    allowed = {
        Equivalence.DIFFERENT,
        Equivalence.UNKNOWN if answer == HUGE["two numbers"] else None,
    }
    assert decide(answer, "42").verdict in allowed


@pytest.mark.parametrize("answer", LEFT_TO_MATH_VERIFY.values(), ids=LEFT_TO_MATH_VERIFY.keys())
def test_hard_answers_are_unknown(answer: str) -> None:
    decision = decide(answer, "42")
    assert decision.verdict is Equivalence.UNKNOWN
    assert "failed" not in decision.reason


@pytest.mark.parametrize("reference", [*HUGE.values(), *LEFT_TO_MATH_VERIFY.values()])
def test_hostile_references_are_never_equal(reference: str) -> None:
    decision = decide("42", reference)
    assert decision.verdict is not Equivalence.EQUAL
    assert "failed" not in decision.reason


def test_work_of_a_long_list_is_bounded() -> None:
    mine = ",".join(rf"\sqrt{{{k}}}+\sin {k}" for k in range(2, MAX_ITEMS + 2))
    theirs = ",".join(rf"\cos {k}+1" for k in range(1, MAX_ITEMS + 1))
    assert decide(mine, theirs).verdict is Equivalence.DIFFERENT


def test_no_text_is_evaluated_as_python(monkeypatch: pytest.MonkeyPatch) -> None:
    def forbidden(*args: Any, **kwargs: Any) -> Any:
        raise AssertionError("evaluated")

    monkeypatch.setattr(os, "system", forbidden)
    monkeypatch.setattr(builtins, "eval", forbidden)
    monkeypatch.setattr(builtins, "exec", forbidden)
    for answer in ("__import__('os').system('x')", "eval('42')", "().__class__", "{{42}}", "${42}"):
        assert "failed" not in decide(answer, "7").reason


def test_length_limit_is_exact() -> None:
    assert decide(" " * MAX_ANSWER_CHARS + "42", "42").verdict is Equivalence.EQUAL  # stripped
    padded = "0" * (MAX_ANSWER_CHARS - 1)
    assert decide(padded + "42", "42").reason.startswith("answer longer")


def test_identical_texts_are_equal_at_any_size() -> None:
    text = r"\frac{1}{2}" * 10_000
    assert decide(text, text).verdict is Equivalence.EQUAL


def test_nesting_within_the_limit_is_read() -> None:
    depth = MAX_DEPTH - 1
    assert decide("(" * depth + "42" + ")" * depth, "42").verdict is Equivalence.EQUAL
