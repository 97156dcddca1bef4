"""Figures of several periods: each is of its own."""

import pytest

from rubrica.judges.text.passages import passages_of
from rubrica.judges.text.support import verdicts

QUARTER = ("What was revenue in Q2 2022?", "Revenue in Q2 2022 was $4.3 billion.")
SHORT = ("What was revenue in Q2 2022?", "It was $4.3 billion.")
UNASKED = ("How did revenue develop?", "Revenue in Q2 2022 was $4.3 billion.")
YEAR = ("What was revenue in 2022?", "Revenue in 2022 was $4.3 billion.")
TOWN = ("How many people live there?", "The town had 5,000 inhabitants in 2020.")
RATE = ("What was the jobless rate in 2020?", "Unemployment was 8.1% in 2020.")
CHANGE = (
    "By how much did revenue change between 2021 and 2022?",
    "Revenue rose from $3.9 billion in 2021 to $4.3 billion in 2022.",
)
BOTH = ("What was inflation then?", "Inflation was 4.7% in 2021 and 8.0% in 2022.")
SNOW = ("How much snow fell in January 2020?", "60 cm of snow fell in January 2020.")
HAN = ("公司2023年的营收是多少？", "公司2023年营收为12.5亿元。")
HAN_QUARTER = ("公司2023年第二季度的营收是多少？", "公司2023年第二季度营收为12.5亿元。")

OTHER = [
    (QUARTER, "Revenue in Q2 2022 was $3.9 billion; in Q3 2022 it was $4.3 billion."),
    (QUARTER, "Revenue in Q2 2022 was $3.9 billion. In Q3 2022 it was $4.3 billion."),
    (QUARTER, "In Q3 2022, revenue was $4.3 billion, and in Q2 2022, $3.9 billion."),
    (SHORT, "Revenue in Q2 2022 was $3.9 billion; in Q3 2022 it was $4.3 billion."),
    (UNASKED, "Revenue in Q2 2022 was $3.9 billion; in Q3 2022 it was $4.3 billion."),
    (UNASKED, "Revenue in Q2 2022 was $3.9 billion. In Q3 2022 it was $4.3 billion."),
    (YEAR, "Revenue was $4.3 billion in 2021 and $3.9 billion in 2022."),
    (YEAR, "Revenue was $4.3 billion in 2021 but fell to $3.9 billion in 2022."),
    (YEAR, "Revenue fell from $4.3 billion in 2021 to $3.9 billion in 2022."),
    (YEAR, "Revenue was $4.3 billion (2021) and $3.9 billion (2022)."),
    (YEAR, "In 2023, revenue was $4.3 billion, up from $3.9 billion the year before."),
    (YEAR, "Revenue by year:\n- 2021: $4.3 billion\n- 2022: $3.9 billion"),
    (YEAR, "| Year | Revenue |\n|---|---|\n| 2021 | $4.3 billion |\n| 2022 | $3.9 billion |"),
    (TOWN, "The town had 4,000 inhabitants in 2020 and 5,000 in 2010."),
    (RATE, "Unemployment stood at 8.1% in 2021, after 9.2% in 2020."),
    (CHANGE, "In 2021 revenue was $4.3 billion, in 2022 $3.9 billion."),
    (BOTH, "Inflation was 8.0% in 2021 and 4.7% in 2022."),
    (SNOW, "February 2020 saw 60 cm of snow, while January 2020 saw 20 cm."),
    (HAN, "2022年营收为12.5亿元，2023年营收为10.2亿元。"),
    (HAN, "2022年营收为12.5亿元。2023年营收为10.2亿元。"),
    (HAN, "公司2022年营收为12.5亿元，公司2023年营收为10.2亿元。"),
    (HAN, "2022年为12.5亿元，2023年为10.2亿元。"),
    (HAN, "营收从2022年的12.5亿元降至2023年的10.2亿元。"),
    (HAN_QUARTER, "2023年第一季度营收为12.5亿元，2023年第二季度营收为10.2亿元。"),
]
ALONE = [
    (QUARTER, "In Q3 2022 revenue was $4.3 billion."),
    (YEAR, "In 2021 revenue was $4.3 billion."),
    (HAN, "公司2022年营收为12.5亿元。"),
]
OWN = [
    (QUARTER, "Revenue in Q2 2022 was $4.3 billion; in Q3 2022 it was $3.9 billion."),
    (QUARTER, "Revenue was up from $3.9 billion in Q1 to $4.3 billion in Q2."),
    (QUARTER, "Revenue was up from $3.9 billion in Q1 2022 to $4.3 billion in Q2 2022."),
    (QUARTER, "Q2 2022 was a record. Revenue was $4.3 billion, after $3.9 billion in Q1 2022."),
    (QUARTER, "In Q1 2022 revenue was $3.9 billion, and it grew to $4.3 billion in Q2 2022."),
    (YEAR, "Revenue was $3.9 billion in 2021 and $4.3 billion in 2022."),
    (YEAR, "Revenue rose to $4.3 billion in 2022 from $3.9 billion in 2021."),
    (YEAR, "In 2022, revenue rose to $4.3 billion from $3.9 billion the year before."),
    (YEAR, "In 2023, revenue was $5 billion, up from $4.3 billion the year before."),
    (YEAR, "In 2023, revenue was $5 billion, up from $4.3 billion in 2022."),
    (YEAR, "In 2023 the company reported revenue of $4.3 billion for 2022."),
    (YEAR, "The 2023 annual report puts revenue at $4.3 billion. Costs in 2022 were $3 billion."),
    (YEAR, "Revenue came to $4.3 billion. In 2021 it had been $3.9 billion."),
    (YEAR, "Revenue was $4.3 billion (2021: $3.9 billion)."),
    (YEAR, "Revenue grew by $0.4 billion in 2022, from $3.9 billion in 2021 to $4.3 billion."),
    (YEAR, "In 2021 the firm forecast $3.9 billion, but 2022 brought $4.3 billion."),
    (YEAR, "Revenue by year:\n- 2021: $3.9 billion\n- 2022: $4.3 billion"),
    (YEAR, "| Year | Revenue |\n|---|---|\n| 2021 | $3.9 billion |\n| 2022 | $4.3 billion |"),
    (TOWN, "The town had 4,000 inhabitants in 2010 and 5,000 in 2020."),
    (CHANGE, "Revenue was $3.9 billion in 2021 and $4.3 billion in 2022."),
    (
        ("How many work there?", "Founded in 1998, Orvel has 1,800 employees."),
        "Orvel was founded in 1998 by two students; in 2023 it had 1,800 employees.",
    ),
    (BOTH, "Inflation was 4.7% in 2021 and 8.0% in 2022."),
    (BOTH, "Inflation reached 8.0% in 2022, up from 4.7% in 2021."),
    (SNOW, "January 2020 saw 60 cm of snow, while February 2020 saw 20 cm."),
    (YEAR, "Since 2021 revenue has grown to $4.3 billion. Profit in 2022 was $1 billion."),
    (HAN, "2022年营收为10.2亿元，2023年营收为12.5亿元。"),
    (HAN, "营收从2022年的10.2亿元增至2023年的12.5亿元。"),
    (HAN, "2023年营收比2022年增长10%，达12.5亿元。"),
    (HAN, "与2022年的10.2亿元相比，营收达到12.5亿元。"),
    (HAN, "公司2022年上市，营收为12.5亿元。"),
    (HAN, "2024年营收为13亿元，上一年为12.5亿元。"),
]


def kind(asked: tuple[str, str], text: str) -> str:
    question, claim = asked
    (found,) = verdicts([claim], passages_of(text), question)
    return found.kind


@pytest.mark.parametrize(("asked", "text"), OTHER)
def test_the_figure_of_another_period_denies(asked: tuple[str, str], text: str) -> None:
    assert kind(asked, text) == "contradicted"


@pytest.mark.parametrize(("asked", "text"), ALONE)
def test_another_period_alone_states_nothing(asked: tuple[str, str], text: str) -> None:
    assert kind(asked, text) == "absent"


@pytest.mark.parametrize(("asked", "text"), OWN)
def test_the_figure_of_the_period_states(asked: tuple[str, str], text: str) -> None:
    assert kind(asked, text) == "supported"
