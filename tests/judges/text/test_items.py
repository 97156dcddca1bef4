"""Figures of several items: each is of its own."""

import pytest

from rubrica.judges.text.sentences import sentences
from rubrica.judges.text.support import verdicts

PLANS = ("The Pro plan costs $20 a month.", "The Basic plan costs $5 a month.")
HAN_PLANS = ("专业版每月99元。", "基础版每月29元。")
SCORES = ("Alice scored 90.", "Bob scored 85.")
PEOPLE = ("France has 68 million inhabitants.", "Germany has 84 million inhabitants.")
TIERS = ("The free tier allows 100 requests.", "The paid tier allows 5,000 requests.")
SPIRIT = ("Ethanol boils at 78.4 °C.",)
LAKE = ("Lake Victoria has an area of 68,800 km².",)
PEAK = ("黄山高1864米。",)
YEARS = ("Apple was founded in 1976.", "Microsoft was founded in 1975.")

RIGHT = [
    (PLANS, "- **Basic**: $5/month\n- **Pro**: $20/month"),
    (PLANS, "| Plan | Price per month |\n|---|---|\n| Basic | $5 |\n| Pro | $20 |"),
    (PLANS, "| | Basic | Pro |\n|---|---|---|\n| Price | $5 | $20 |"),
    (PLANS, "There are two. The Basic plan costs $5 a month. The other one costs $20 a month."),
    (PLANS, "For $5 a month you get Basic, for $20 a month Pro."),
    (HAN_PLANS, "| 套餐 | 月费 |\n|---|---|\n| 基础版 | 29元 |\n| 专业版 | 99元 |"),
    (HAN_PLANS, "基础版每月29元,专业版每月99元。"),
    (SCORES, "Alice scored 90 and Bob scored 85."),
    (SCORES, "Alice and Bob scored 90 and 85, respectively."),
    (PEOPLE, "France: 68 million\nGermany: 84 million"),
    (TIERS, "- Free: 100 requests\n- Paid: 5,000 requests"),
    (YEARS, "Microsoft was founded in 1975, and a year later, in 1976, Apple followed."),
    (
        ("The Eiffel Tower is 330 metres tall.", "It was completed in 1889."),
        "The Eiffel Tower\n- Height: 330 m\n- Year: 1889",
    ),
    (("The ticket price is $20.",), "The ticket is $20, up from a ticket price of $15."),
    (("The train runs at 300 km/h.",), "Top speed: 300 km/h\nAverage speed of the train: 220 km/h"),
    (SPIRIT, "Methanol boils at 64.7 °C, ethanol at 78.4 °C."),
    (SPIRIT, "Pure ethanol boils at 78.4 °C, a mixture with water at 78.2 °C."),
    (SPIRIT, "At sea level it boils at 78.4 °C, at 3,000 m ethanol boils at 69 °C."),
    (LAKE, "Lake Tanganyika has an area of 32,600 km², Lake Victoria of 68,800 km²."),
    (PEAK, "泰山高1545米，黄山为1864米。"),
    (PEAK, "主峰高1864米，黄山东峰为1545米。"),
    (("Norway won 8 silver medals.",), "Norway won 16 gold, 8 silver and 13 bronze medals."),
    (("The bridge cost £12 million.",), "Key facts:\n- Opened: 1998\n- Budget: £12 million"),
]
EXCHANGED = [
    (PLANS, "- Basic: $20/month\n- Pro: $5/month"),
    (PLANS, "| Plan | Price |\n|---|---|\n| Basic | $20 |\n| Pro | $5 |"),
    (PLANS, "| | Basic | Pro |\n|---|---|---|\n| Price | $20 | $5 |"),
    (PLANS, "The Basic plan costs $20 a month. The Pro plan costs $5 a month."),
    (HAN_PLANS, "| 套餐 | 月费 |\n|---|---|\n| 基础版 | 99元 |\n| 专业版 | 29元 |"),
    (HAN_PLANS, "基础版每月99元,专业版每月29元。"),
    (HAN_PLANS, "- 基础版:99元/月\n- 专业版:29元/月"),
    (SCORES, "Alice scored 85 and Bob scored 90."),
    (PEOPLE, "France has 84 million inhabitants, Germany has 68 million."),
    (TIERS, "- Free: 5,000 requests\n- Paid: 100 requests"),
    (YEARS, "Microsoft: 1976\nApple: 1975"),
    (SPIRIT, "Methanol boils at 78.4 °C, ethanol at 64.7 °C."),
    (SPIRIT, "Water boils at 78.4 °C and ethanol at 100 °C."),
    (LAKE, "Lake Tanganyika has an area of 68,800 km², Lake Victoria of 32,600 km²."),
    (PEAK, "泰山高1864米，黄山为1545米。"),
    (("Norway won 16 silver medals.",), "Norway won 16 gold, 8 silver and 13 bronze medals."),
]


def kinds(claims: tuple[str, ...], text: str) -> set[str]:
    found = verdicts(claims, sentences(text), "What are the figures?")
    return {one.kind for one in found}


@pytest.mark.parametrize(("claims", "text"), RIGHT)
def test_each_with_its_own(claims: tuple[str, ...], text: str) -> None:
    assert kinds(claims, text) == {"supported"}


@pytest.mark.parametrize(("claims", "text"), EXCHANGED)
def test_exchanged(claims: tuple[str, ...], text: str) -> None:
    assert kinds(claims, text) == {"contradicted"}


@pytest.mark.parametrize(("claims", "text"), [(PLANS, "Basic: $20/mo"), (HAN_PLANS, "基础版:99元")])
def test_the_figure_of_another_claims_item_states_nothing(
    claims: tuple[str, ...], text: str
) -> None:
    assert "supported" not in kinds(claims, text)


@pytest.mark.parametrize(
    ("claim", "text"),
    [
        (
            "During her career, Lund won ten major championships.",
            "During her career, Lund won 72 tour titles, including ten major championships.",
        ),
        ("He rose to fame in the 1940s.", "He rose to fame in the 1930s and 1940s as an actor."),
        ("Kruger ceased to be President in 1900.", "Kruger was the President from 1883 to 1900."),
    ],
)
def test_what_a_sentence_adds_is_of_the_same(claim: str, text: str) -> None:
    assert verdicts([claim], sentences(text), "Tell me a bio.")[0].kind == "supported"
