"""Whether a name is the claim's, or another person's who shares half of it or stands beside it."""

import pytest

from rubrica.judges.text.sentences import sentences
from rubrica.judges.text.support import verdict

CLAIM = "Maria Santos has been CEO of Lumen Foods since 2020."


def kind(claim: str, text: str, question: str = "") -> str:
    return verdict(claim, sentences(text), question).kind


@pytest.mark.parametrize("question", ["Who is the CEO of Lumen Foods?", ""])
@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("Maria Santos", "supported"),
        ("Santos", "supported"),
        ("Ms Santos", "supported"),
        ("M. Santos", "supported"),
        ("Maria L. Santos", "supported"),
        ("Maria Elena Santos", "supported"),
        ("Dr. Maria Santos", "supported"),
        ("Chairwoman Santos", "supported"),
        ("Maria Santtos", "supported"),
        ("Mario Santos", "contradicted"),
        ("Pedro Santos", "contradicted"),
        ("Maria Brandt", "contradicted"),
    ],
)
def test_half_of_a_name(name: str, found: str, question: str) -> None:
    assert kind(CLAIM, f"{name} has been CEO of Lumen Foods since 2020.", question) == found


def test_a_short_form_is_the_same_name() -> None:
    claim, question = "Robert Halvorsen runs the mill.", "Who runs the mill?"
    assert kind(claim, "Bob Halvorsen runs the mill.", question) == "supported"
    assert kind(claim, "Carl Halvorsen runs the mill.", question) == "contradicted"


@pytest.mark.parametrize("question", ["Who discovered penicillin?", ""])
@pytest.mark.parametrize(
    ("who", "found"),
    [
        ("Alexander Fleming", "supported"),
        ("Alexander Fleming, Howard Florey's colleague,", "supported"),
        ("Howard Florey's colleague Alexander Fleming", "supported"),
        ("Fleming's colleague Howard Florey reports that Fleming", "supported"),
        ("Scotland's Alexander Fleming", "supported"),
        ("Alexander Fleming's colleague Howard Florey", "contradicted"),
        ("Alexander Fleming's former colleague, Howard Florey,", "contradicted"),
    ],
)
def test_somebody_else_beside_the_name(who: str, found: str, question: str) -> None:
    claim = "Alexander Fleming discovered penicillin in 1928."
    assert kind(claim, f"{who} discovered penicillin in 1928.", question) == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("张衡的学生李明发明了地动仪。", "contradicted"),
        ("李明的老师张衡发明了地动仪。", "supported"),
        ("张衡的学生说，张衡发明了地动仪。", "supported"),
    ],
)
def test_somebody_else_beside_a_chinese_name(text: str, found: str) -> None:
    assert kind("张衡发明了地动仪。", text, "谁发明了地动仪？") == found


def test_a_claim_of_the_relation() -> None:
    claim, text = (
        "Fleming's colleague was Howard Florey.",
        "Fleming's colleague Howard Florey left.",
    )
    assert kind(claim, text, "Who was his colleague?") == "supported"
    assert kind("Florey left.", text, "Who left?") == "supported"
    text = "Einstein's wife Mileva lived in Zurich."
    assert kind("Einstein was married.", text, "Was Einstein married?") != "contradicted"
