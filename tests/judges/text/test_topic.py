"""An answer that speaks of another than was asked."""

import pytest

from rubrica.judges.text.sentences import sentences
from rubrica.judges.text.support import verdicts

TOWER, CARS = "How tall is the Eiffel Tower?", "How many electric cars were sold in 2023?"
CHINA = "How many electric cars were sold in China?"
ASPIRIN = "What does aspirin do?"
ETHANOL = "What is the boiling point of ethanol?"

ANOTHER = [
    (TOWER, "It is 330 metres tall.", "The Louvre is 330 metres long."),
    (TOWER, "The Eiffel Tower is 330 metres tall.", "The Louvre is 330 metres long."),
    (CARS, "14 million electric cars were sold.", "14 million electric cars were sold in 2022."),
    (CHINA, "8 million electric cars were sold.", "8 million electric cars were sold in Europe."),
    (ASPIRIN, "Aspirin reduces fever.", "Paracetamol reduces fever."),
    (ETHANOL, "Ethanol boils at 78.4 °C.", "Methanol boils at 78.4 °C."),
    ("When does methanol boil?", "Methanol boils at 64.7 °C.", "Ethanol boils at 64.7 °C."),
    ("2023年卖出多少辆?", "共卖出1400万辆。", "2022年共卖出1400万辆。"),
]
THE_ONE = [
    (TOWER, "It is 330 metres tall.", "Its height is 330 metres."),
    (TOWER, "The Eiffel Tower is 330 metres tall.", "The tower in Paris is 330 metres high."),
    (CARS, "14 million electric cars were sold.", "14 million were sold, 35% more than in 2022."),
    (
        CARS,
        "14 million electric cars were sold.",
        "In 2023 it was 14 million; in 2022, 10 million.",
    ),
    (CHINA, "8 million electric cars were sold.", "Chinese buyers took 8 million electric cars."),
    (ASPIRIN, "Aspirin reduces fever.", "It reduces fever."),
    (ASPIRIN, "Aspirin reduces fever.", "Like paracetamol, it reduces fever."),
    (ASPIRIN, "Aspirin reduces fever.", "Acetylsalicylic acid (aspirin) reduces fever."),
    ("What does the ECB do?", "The ECB sets rates.", "The European Central Bank sets rates."),
    (ETHANOL, "Ethanol boils at 78.4 °C.", "Bioethanol boils at 78.4 °C."),
    (ETHANOL, "Ethanol boils at 78.4 °C.", "Alcohol boils at 78.4 °C."),
    ("How long does Python take?", "Python takes 30 seconds.", "CPython takes 30 seconds."),
    ("How long does CPython take?", "CPython takes 30 seconds.", "Python takes 30 seconds."),
    ("How long does Postgres take?", "Postgres takes 30 s.", "PostgreSQL takes 30 s."),
    ("What does the ticket cost?", "The ticket costs $5.", "Admission costs $5."),
    ("2023年卖出多少辆?", "共卖出1400万辆。", "共卖出1400万辆,高于2022年。"),
]


def kind(question: str, claim: str, text: str) -> str:
    (found,) = verdicts([claim], sentences(text), question)
    return found.kind


@pytest.mark.parametrize(("question", "claim", "text"), ANOTHER)
def test_of_another(question: str, claim: str, text: str) -> None:
    assert kind(question, claim, text) == "absent"


@pytest.mark.parametrize(("question", "claim", "text"), THE_ONE)
def test_of_the_one_asked_for(question: str, claim: str, text: str) -> None:
    assert kind(question, claim, text) == "supported"
