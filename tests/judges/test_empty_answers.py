"""Empty answers and openings without an answer, which fail without asking a model."""

import pytest

from fourscore.core import Case
from fourscore.judges.empty_answers import explain_empty_answer

CASE = Case(input="What is 6 times 7?", expected="42")


@pytest.mark.parametrize(
    "answer",
    [
        *("", "  \n", "\u200b\u200d", ".", ":", ",", "...", "***", "？", "—"),
        *("Solution:", "Solution", "SOLUTION: ", "**Answer:**", "The final answer is:", "Answer"),
        *(
            "Thought process:",
            "Let's solve this problem step by step.",
            "Let’s think step by step:",
        ),
        *("Okay, let's break this down.", "Here is the solution:", "Sure!", "Step by step:"),
        *("解", "答案：", "解答如下：", "让我们一步一步来思考这个问题。", "好的", "思考过程："),
        *("かいせつ", "Respuesta", "Lösung:", "Réponse :", "Ответ:", "Lời giải:"),
        "S\u200bolution:",
    ],
)
def test_explains_answers_without_content(answer: str) -> None:
    assert explain_empty_answer(CASE, answer) is not None


@pytest.mark.parametrize(
    "answer",
    [
        *(
            "42",
            "Blue",
            "yes",
            "No.",
            "The answer is 42.",
            "Solution: 42",
            "答案是42",
            "解：x=1",
            "7",
        ),
        "Let's solve this problem step by step. Six sevens are forty-two.",
        "Let us consider the cost",
        "the sky",
        "Sure, it is 42.",
    ],
)
def test_accepts_answers_with_content(answer: str) -> None:
    assert explain_empty_answer(CASE, answer) is None


def test_accepts_an_empty_looking_answer_that_the_case_expects() -> None:
    assert (
        explain_empty_answer(
            Case(input="The German word for solution?", expected="Lösung"), "Lösung"
        )
        is None
    )
    case = Case(input="Which sign ends a sentence?", expected={"answer": "."})
    assert explain_empty_answer(case, " . ") is None
    assert explain_empty_answer(case, ",") == "the answer is only ','"


def test_the_reason_quotes_the_answer() -> None:
    assert explain_empty_answer(CASE, " ") == "the answer is empty"
    assert explain_empty_answer(CASE, "Solution:") == "the answer is only an opening: 'Solution:'"


def test_a_long_hostile_opening_takes_little_time() -> None:
    assert explain_empty_answer(CASE, "let's solve " + "the " * 20 + "!") is not None
    assert explain_empty_answer(CASE, "let's solve " + "the " * 100_000) is None
