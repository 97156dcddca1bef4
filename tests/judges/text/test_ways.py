"""Comparisons, and who does what to whom, whatever the words for either side."""

import pytest

from rubrica.judges.text.sentences import sentences
from rubrica.judges.text.support import verdict

SAME = [
    ("Plan A is cheaper than Plan B.", "Plan B is more expensive than Plan A."),
    ("Plan A is cheaper than Plan B.", "Plan B costs more than Plan A."),
    ("Plan A is cheaper than Plan B.", "Plan A costs less than Plan B."),
    ("Plan A is cheaper than Plan B.", "Of the two, Plan A is the cheaper one."),
    ("A is faster than B.", "B is slower than A."),
    ("Mount Everest is taller than K2.", "K2 is lower than Mount Everest."),
    ("Gold is denser than silver.", "Silver is less dense than gold."),
    ("Trains are safer than cars.", "Travelling by train is much safer than by car."),
    ("Trains are safer than cars.", "Cars are more dangerous than trains."),
    (
        "The iPhone 15 has a longer battery life than the iPhone 14.",
        "Compared with the iPhone 14, the iPhone 15 has a longer battery life.",
    ),
    ("Sales were higher in 2023 than in 2022.", "Sales in 2022 were lower than in 2023."),
    ("Tea contains less caffeine than coffee.", "Coffee contains more caffeine than tea."),
    ("Anna is two years older than Ben.", "Ben is two years younger than Anna."),
    ("The Sun is larger than the Earth.", "The Earth is not larger than the Sun."),
    ("2023 was warmer than 2022.", "The year 2022 was cooler than 2023."),
    ("Exports exceeded imports.", "Imports were exceeded by exports."),
    ("Plan A is cheaper than Plan B.", "Plan A costs $5 and Plan B $9, so A is cheaper."),
    ("The drug works no better than placebo.", "The drug does not work better than placebo."),
    ("Team A beat Team B.", "Team B was beaten by Team A."),
    ("The buyer pays the seller.", "The seller is paid by the buyer."),
    ("Smoking causes lung cancer.", "Lung cancer is caused by smoking."),
    ("Smoking causes lung cancer.", "Lung cancer, whose main cause is smoking, is common."),
    ("张三的工资比李四高。", "李四的工资比张三低。"),
    ("张三的工资比李四高。", "张三的工资高于李四。"),
    ("北京比上海大。", "上海比北京小。"),
    ("高铁比飞机便宜。", "飞机比高铁贵。"),
    ("高铁比飞机便宜。", "飞机没有高铁便宜。"),
    ("高铁比飞机便宜。", "与飞机相比,高铁更便宜。"),
    ("甲公司收购了乙公司。", "乙公司被甲公司收购。"),
    ("阿里巴巴收购了饿了么。", "2018年,阿里巴巴全资收购饿了么。"),
]
REVERSED = [
    ("Plan A is cheaper than Plan B.", "Plan B is cheaper than Plan A."),
    ("Plan A is cheaper than Plan B.", "Plan A is more expensive than Plan B."),
    ("Plan A is cheaper than Plan B.", "Plan A is less cheap than Plan B."),
    ("Plan A is cheaper than Plan B.", "Plan A is not cheaper than Plan B."),
    ("Plan A is cheaper than Plan B.", "Both are good. It is cheaper than Plan A."),
    ("A is faster than B.", "B is faster than A."),
    ("Mount Everest is taller than K2.", "Mount Everest is shorter than K2."),
    ("Gold is denser than silver.", "Silver is denser than gold."),
    ("Trains are safer than cars.", "Cars are safer than trains."),
    (
        "The iPhone 15 has a longer battery life than the iPhone 14.",
        "The iPhone 14 has a longer battery life than the iPhone 15.",
    ),
    ("Sales were higher in 2023 than in 2022.", "Sales were higher in 2022 than in 2023."),
    ("Tea contains less caffeine than coffee.", "Tea contains more caffeine than coffee."),
    ("Anna is two years older than Ben.", "Ben is two years older than Anna."),
    ("2023 was warmer than 2022.", "2022 was warmer than 2023."),
    ("Exports exceeded imports.", "Imports exceeded exports."),
    ("More people use Android than iOS.", "More people use iOS than Android."),
    (
        "The Porter has a smaller turning circle than the Hauler.",
        "The Hauler surprises, as it needs less room to turn than the Porter does.",
    ),
    ("Team A beat Team B.", "Team B beat Team A."),
    ("The buyer pays the seller.", "The seller pays the buyer."),
    ("Cats eat mice.", "Mice eat cats."),
    ("张三的工资比李四高。", "李四的工资比张三高。"),
    ("张三的工资比李四高。", "李四的工资高于张三。"),
    ("北京比上海大。", "上海比北京大。"),
    ("北京比上海大。", "北京不比上海大。"),
    ("高铁比飞机便宜。", "与高铁相比,飞机更便宜。"),
    ("高铁比飞机便宜。", "高铁没有飞机便宜。"),
    ("甲公司收购了乙公司。", "乙公司收购了甲公司。"),
    ("阿里巴巴收购了饿了么。", "饿了么收购了阿里巴巴。"),
]
#: Of other sides or other qualities: whatever they say, not the reverse.
OTHERS = [
    ("Plan A is cheaper than Plan B.", "Plan B is newer than Plan A."),
    ("Plan A has a longer cable than Plan B.", "Plan B has a longer warranty than Plan A."),
    ("The bridge is longer than the tunnel.", "The tunnel is longer than 300 metres."),
    ("The committee criticised the mayor.", "The mayor spoke, and the committee criticised him."),
    ("A virus causes the disease.", "The disease has a viral cause."),
    ("红队比蓝队强。", "比赛中蓝队和红队都很强。"),
]


def kind(claim: str, text: str) -> str:
    return verdict(claim, sentences(text), "How do they compare?").kind


@pytest.mark.parametrize(("claim", "text"), SAME)
def test_the_same_either_way_round(claim: str, text: str) -> None:
    assert kind(claim, text) == "supported"


@pytest.mark.parametrize(("claim", "text"), REVERSED)
def test_the_reverse(claim: str, text: str) -> None:
    assert kind(claim, text) == "contradicted"


@pytest.mark.parametrize(("claim", "text"), OTHERS)
def test_not_the_reverse(claim: str, text: str) -> None:
    assert kind(claim, text) != "contradicted"


def test_a_reverse_that_may_be_so_denies_nothing() -> None:
    assert kind("Plan A is cheaper than Plan B.", "Plan B may be cheaper than Plan A.") == "absent"
