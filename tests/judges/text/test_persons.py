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
