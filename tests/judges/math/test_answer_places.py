"""Answers as models write them: in tags, after ####, in sentences, in several boxes."""

import asyncio
from typing import Any

import pytest

from fourscore import Case, Signal, Trace
from fourscore.judges.answer_extraction import find_answer, find_box_list, remove_phantoms
from fourscore.judges.math.judge import MathJudge


def judge(answer: str, expected: str, **options: Any) -> Signal:
    options.setdefault("match", "equivalent")
    case = Case(input="?", expected=expected)
    (signal,) = asyncio.run(MathJudge(**options).judge(case, Trace(output=answer)))
    return signal


@pytest.mark.parametrize(
    ("answer_in", "text", "found"),
    [
        ("boxed", r"so \boxed{42}", "42"),
        ("boxed", "so 42", None),
        ("tag", "<answer> 42 </answer>", "42"),
        ("tag", "<answer>41</answer> <answer>$42$</answer>", "42"),
        ("tag", "<answer>42", None),
        ("hash", "6 * 7\n#### 42", "42"),
        ("hash", "#### 42\nDone.", "42"),
        ("hash", "42", None),
        ("final_answer", "The answer is 42.", "42"),
        ("final_answer", "The answer is 41. No, the answer is: **42**", "42"),
        ("final_answer", "Final Answer: The final answer is $42$. I hope it is correct.", "42"),
        ("final_answer", r"The final answer is \boxed{42}.", "42"),
        ("final_answer", "答案是42", "42"),
        ("final_answer", "42", None),
        ("last_number", "3 and 42.", "42"),
        ("last_number", "It costs $1,042.50!", "1,042.50"),
        ("last_number", "-3", "-3"),
        ("last_number", "none", None),
        ("any", r"#### 41 \boxed{42}", "42"),
        ("any", "#### 41 <answer>42</answer>", "42"),
        ("any", "The answer is 41\n#### 42", "42"),
        ("any", "first 3, then 42", "42"),
        ("any", "nothing", None),
    ],
)
def test_finds_the_answer_at_its_place(answer_in: Any, text: str, found: str | None) -> None:
    assert find_answer(text, answer_in) == found


@pytest.mark.parametrize(
    ("text", "boxes"),
    [
        (r"\boxed{1} and \boxed{2}", ["1", "2"]),
        (r"$\boxed{1}$, $\boxed{2}$ or $\boxed{3}$.", ["1", "2", "3"]),
        (r"\boxed{1} \text{ and } \boxed{2}", ["1", "2"]),
        (r"\boxed{9} is wrong: \boxed{1}, \boxed{2}", ["1", "2"]),
        (r"\boxed{1}", ["1"]),
        ("none", []),
    ],
)
def test_boxes_that_only_joints_separate_are_one_list(text: str, boxes: list[str]) -> None:
    assert find_box_list(text) == boxes


def test_several_boxes_count_where_the_reference_is_a_list() -> None:
    assert judge(r"\boxed{2} and \boxed{1}", "1, 2").passed
    assert not judge(r"\boxed{1} and \boxed{3}", "1, 2").passed
    assert not judge(r"\boxed{1} and \boxed{2}", "1").passed
    assert judge(r"\boxed{1} and \boxed{2}", "2").passed  # one answer is asked: the last counts


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (r"42\phantom{13}", "42"),
        (r"\hphantom{a{b}c}42", "42"),
        (r"4\vphantom{\}2", "4"),
        (r"1\phantom{\phantom{2}}3", "13"),
        ("42", "42"),
    ],
)
def test_phantoms_count_for_nothing(text: str, shown: str) -> None:
    assert remove_phantoms(text) == shown


def test_a_phantom_neither_hides_nor_gives_an_answer() -> None:
    assert judge(r"\boxed{42\phantom{13}}", "42", match="exact").passed
    assert not judge(r"\boxed{4\phantom{2}}", "42").passed


@pytest.mark.parametrize(
    ("answer", "expected", "equal"),
    [
        (r"-x<3", r"x>-3", True),
        (r"-x \le -3", r"x\ge 3", True),
        (r"2 < -x", r"x<-2", True),
        (r"-3<-x\le 2", r"-2\le x<3", True),
        (r"-x<3", r"x<-3", False),
        (r"-x<3", r"x\ge -3", False),
        (r"-2x<4", r"x>-2", False),  # not solved
        (r"(a)/(b)", r"\frac{a}{b}", True),
        (r"(x+1)/(x-1)", r"\frac{x+1}{x-1}", True),
    ],
)
def test_inequalities_times_minus_one_and_plain_fractions(
    answer: str, expected: str, equal: bool
) -> None:
    assert judge(f"\\boxed{{{answer}}}", expected).passed is equal


def test_percent_is_a_hundredth_unless_either_is_allowed() -> None:
    assert judge(r"\boxed{5\%}", "0.05").passed
    assert not judge(r"\boxed{5\%}", "5").passed
    assert judge(r"\boxed{5\%}", "5", percent="either").passed
    assert judge(r"\boxed{5}", r"5\%", percent="either").passed
    assert not judge(r"\boxed{6\%}", "5", percent="either").passed


def test_the_reason_names_the_place_that_was_searched() -> None:
    assert "#### in the answer" in judge("42", "42", answer_in="hash").reason
    assert "no <answer>" in judge("42", "42", answer_in="tag").reason
