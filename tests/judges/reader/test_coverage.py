"""How much of topics and statements a text covers."""

import pytest

from fourscore.judges.reader.coverage import Coverage, cover_aspects
from fourscore.judges.reader.text import Text


def shares(aspects: list[str], raw: str, question: str = "") -> list[float]:
    return [one.share for one in cover_aspects(aspects, Text(raw), question)]


def test_covers_statements_that_are_in_the_text() -> None:
    raw = "The candidate survived the crash, in which two people died."
    assert shares(["Candidate survived the crash", "Two people died"], raw) == [1.0, 1.0]


def test_covers_a_topic_that_is_discussed() -> None:
    raw = "The costs rose to 5 million euros last year, paid by the region."
    assert shares(["costs", "wildlife"], raw) == [1.0, 0.0]


def test_gives_the_place_of_the_sentence() -> None:
    raw = "Birds sang. The costs rose to 5 million."
    (found,) = cover_aspects(["costs"], Text(raw))
    assert raw[found.start : found.end] == "The costs rose to 5 million."


@pytest.mark.parametrize(
    ("aspects", "raw"),
    [
        (["costs", "wildlife", "traffic"], "I will cover costs, wildlife and traffic."),
        (["costs", "wildlife", "traffic"], "Costs, wildlife, traffic."),
        (["费用", "野生动物", "交通"], "费用、野生动物和交通。"),
    ],
)
def test_a_list_of_topic_names_covers_none(aspects: list[str], raw: str) -> None:
    assert shares(aspects, raw) == [0.0, 0.0, 0.0]


def test_a_refusal_covers_nothing() -> None:
    assert shares(["the costs of the bridge"], "I cannot speak of the costs of the bridge.") == [0]
    assert shares(["大桥的费用"], "我无法说明大桥的费用。") == [0]


def test_repeating_the_question_covers_nothing() -> None:
    question = "What are the costs and the effects on wildlife?"
    assert shares(["costs", "wildlife"], question, question) == [0.0, 0.0]
    assert shares(["costs", "wildlife"], question[:-1] + ".", question) == [0.0, 0.0]


def test_an_empty_text_covers_nothing() -> None:
    assert cover_aspects(["costs"], Text("")) == [Coverage(0.0, 0, 0)]
    assert cover_aspects([], Text("Costs rose.")) == []


@pytest.mark.parametrize(
    ("output", "share"),
    [
        ("I don't like the food, it was cold.", 1.0),
        ("I cannot tell you anything about the food.", 0.0),
        ("I do not know the food there.", 0.0),
        ("我无法评价这里的food。", 0.0),
    ],
)
def test_a_refusal_covers_nothing_and_a_complaint_does(output: str, share: float) -> None:
    (found,) = cover_aspects(["food"], Text(output))
    assert found.share == share
