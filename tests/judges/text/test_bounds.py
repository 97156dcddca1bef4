"""Bounds, periods and signs of figures, as they decide whether a text states a claim."""

import pytest

from rubrica.judges.text.sentences import sentences
from rubrica.judges.text.support import verdict


def kind(claim: str, text: str) -> str:
    return verdict(claim, sentences(text)).kind


@pytest.mark.parametrize(
    ("claim", "text"),
    [
        ("Store the vaccine below 5 °C.", "Store the vaccine above 5 °C."),
        ("The warranty lasts at least two years.", "The warranty lasts at most two years."),
        ("Orders over $50 ship free.", "Orders under $50 ship free."),
        ("Open until 6 pm.", "Open from 6 pm."),
        ("Pay before 5 May.", "Pay after 5 May."),
        ("Do not keep the medicine above 25 °C.", "Do not keep the medicine below 25 °C."),
        ("Keep the medicine below 25 °C.", "Do not keep the medicine below 25 °C."),
        ("满50元包邮。", "不满50元包邮。"),
        ("疫苗应在低于5度保存。", "疫苗应在高于5度保存。"),
        ("保修至少两年。", "保修最多两年。"),
        ("The plan costs $1,299 per year.", "The plan costs $1,299 per month."),
        ("Take 5 mg twice a day.", "Take 5 mg three times a day."),
        ("Take it twice a day.", "Take it twice a week."),
        ("日均客流5000人次。", "月均客流5000人次。"),
        ("Sales changed by -5%.", "Sales changed by 5%."),
        ("余额为-50元。", "余额为50元。"),
        ("Python 3.10 is required.", "Python 3.1 is required."),
        ("The server is at 10.0.0.1.", "The server is at 10.0.0.2."),
        ("Call 400-123-4567.", "Call 400-132-4567."),
    ],
)
def test_the_other_bound_period_or_sign_contradicts(claim: str, text: str) -> None:
    assert kind(claim, text) == "contradicted"
    assert kind(claim, claim) == "supported"
    assert kind(text, text) == "supported"


@pytest.mark.parametrize(
    ("claim", "text"),
    [
        ("Store the vaccine below 5 °C.", "Store the vaccine at 5 °C."),
        ("The medicine is kept below 25 °C.", "Do not keep the medicine above 25 °C."),
        ("The warranty lasts at least two years.", "The warranty lasts no less than two years."),
        ("Orders over $50 ship free.", "Orders over $50 ship free; orders under $50 pay $5."),
        ("The bridge is over 600 metres long.", "The bridge is nearly 600 metres long."),
        ("The shop is open until 6 pm.", "The shop is open from 9 am to 6 pm."),
        ("孕妇每天摄入咖啡因不应超过200毫克。", "怀孕期间每天的咖啡因最好别超过200mg。"),
        ("药品应在低于25度保存。", "药品不要在高于25度保存。"),
        ("满50元包邮。", "50元以上包邮。"),
        ("The plan costs $1,299 per year.", "The plan costs $1,299."),
        ("The plan costs $12 a month.", "The plan costs $144 a year."),
        ("Annual revenue was $5 million.", "Revenue was $5 million in 2023."),
        (
            "The museum had 5,000 visitors.",
            "The museum had 5,000 visitors, a daily average of 161.",
        ),
        ("Rent can be raised once a year.", "Rent can be raised annually."),
        ("年产量为5万吨。", "每年生产5万吨。"),
        ("Sales fell by 5%.", "Sales changed by -5%."),
        ("利润下降5%。", "利润同比-5%。"),
        ("TLS 1.2 is required.", "You need TLS 1.2 or TLS 1.3."),
        ("Version 2.4 was released in May.", "v2.4.1 was released in May."),
    ],
)
def test_what_says_the_same_otherwise(claim: str, text: str) -> None:
    assert kind(claim, text) == "supported"


@pytest.mark.parametrize(
    ("claim", "text"),
    [
        ("After 2010 sales grew.", "The firm was run by a family until 2010."),
        ("Visitors over 18 are allowed in.", "Visitors under 18 are banned."),
        ("Orders over $50 ship free.", "Orders under $50 do not ship free."),
        ("Sales had doubled before 2010.", "A new factory was opened after 2010."),
    ],
)
def test_the_other_bound_of_something_else_does_not_contradict(claim: str, text: str) -> None:
    assert kind(claim, text) == "absent"
