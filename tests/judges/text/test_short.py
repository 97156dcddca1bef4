"""Short reference answers: a figure, a name, yes or no, given in a sentence or among guesses."""

import pytest

from rubrica.judges.text.sentences import sentences
from rubrica.judges.text.short import is_short, short_verdict

APPLES = "Tom has 12 apples and gives 5 away. How many are left?"
CAPITAL = "What is the capital of Australia?"


def kind(answer: str, text: str, question: str = APPLES) -> str:
    return short_verdict(answer, sentences(text), question).kind


@pytest.mark.parametrize(
    "text",
    [
        "7",
        "**7**",
        "12 - 5 = 7, so 7 apples are left.",
        "7 = 12 - 5",
        "12 minus 5 is 7.",
        "The answer is 12 - 5 = 7.",
        "The answer is 7 (12 - 5).",
        "He had 12 apples and gave away 5, so he has 7 left.",
        "Tom has 7 apples left - 5 fewer than before.",
        "Step 1: 12 apples.\nStep 2: 12 - 5 = 7.\n#### 7",
        "There are 8 left. Wait, let me recheck. There are 7 left.",
        "12减5等于7。",
        "还剩8个。不对，重新算一下。还剩7个。",
    ],
)
def test_a_figure_that_is_the_answer(text: str) -> None:
    assert kind("7", text) == "supported"


@pytest.mark.parametrize(
    "text",
    [
        "It is not 7.",
        "It is 8, not 7.",
        "It isn't exactly 7.",
        "The answer is 5, because 12 - 7 = 5.",
        "7 + 5 = 12",
        "There are 5 left. There are 6 left. There are 7 left. There are 8 left.",
        "There are 7 left. There are 8 left.",
        "5\n6\n7\n8",
        "答案不是7。",
        "7加5等于12。",
        "小明还剩6个。小明还剩7个。小明还剩8个。",
    ],
)
def test_a_figure_that_is_denied_reckoned_with_or_guessed(text: str) -> None:
    assert kind("7", text) != "supported"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Canberra", "supported"),
        ("The capital is Canberra. The largest city is Sydney.", "supported"),
        ("Many think of Sydney. The capital is Canberra.", "supported"),
        ("The capital is Sydney. Correction: the capital is Canberra.", "supported"),
        ("The capital is Sydney. The capital is Canberra.", "contradicted"),
        ("Sydney\nMelbourne\nCanberra\nPerth", "contradicted"),
    ],
)
def test_a_name_among_others(text: str, expected: str) -> None:
    assert kind("Canberra", text, CAPITAL) == expected


def test_guesses_are_told_as_such() -> None:
    found = short_verdict("B", sentences("The answer is A. The answer is B."), "Which option?")
    assert (found.kind, found.note) == ("contradicted", "one of several answers")


@pytest.mark.parametrize(
    ("question", "text", "said"),
    [
        ("Is 17 prime?", "17 is a prime number.", True),
        ("Is it raining?", "No doubt about it: it rains.", True),
        ("Is it raining?", "Yes, and it will go on.", True),
        ("Is water wet?", "The statement is true.", True),
        ("Is water wet?", "That is not true.", False),
        ("Did it pass?", "It did not pass.", False),
        (
            "Will the firm pay a dividend?",
            "It is correct on sales but will pay no dividend.",
            False,
        ),
        ("地球是平的吗？", "地球不是平的。", False),
        ("可以退货吗？", "可以，七天内都可以退货。", True),
        ("可以退货吗？", "不可以退货。", False),
    ],
)
def test_yes_and_no(question: str, text: str, said: bool) -> None:
    yes, no = ("是", "否") if not question.isascii() else ("Yes", "No")
    assert kind(yes, text, question) == ("supported" if said else "contradicted")
    assert kind(no, text, question) == ("contradicted" if said else "supported")


def test_yes_and_no_at_once_is_neither() -> None:
    assert kind("No", "No. Yes.", "Did it pass?") == "contradicted"
    assert kind("Yes", "Yes. No.", "Did it pass?") == "contradicted"
    assert kind("Yes", "Perhaps it will rain in Rome.", "Did it pass?") == "absent"


@pytest.mark.parametrize(
    ("answer", "text", "expected"),
    [
        ("18", "You must be 18 or over to vote, and 16 or over in Scotland.", "supported"),
        ("x = 2 or x = 3", "We find x = 2 or x = 3.", "supported"),
        ("18", "You must be 18 or 21 to vote.", "contradicted"),
    ],
)
def test_what_or_joins(answer: str, text: str, expected: str) -> None:
    assert (kind(answer, text, "From what age?") == "supported") == (expected == "supported")


@pytest.mark.parametrize(
    ("text", "short"),
    [
        ("7", True),
        ("William Shakespeare.", True),
        ("Sales up 12%", True),
        ("The store opened in 1998.", False),
        ("密码至少12位。", False),
        ("北京。", True),
    ],
)
def test_a_sentence_is_no_short_answer(text: str, short: bool) -> None:
    assert is_short(text) is short


@pytest.mark.parametrize("piece", ["7 + 3 ", "1/1/1 ", "=7-", "not 7 "])
def test_many_figures_take_no_more_than_their_number(piece: str) -> None:
    text = sentences(piece * 4000)
    assert short_verdict("8", text, APPLES).kind != "supported"
