"""What is told as done, and was never done; no labelled item is here."""

import pytest

from rubrica.judges.text.sentences import sentences
from rubrica.judges.text.support import verdict

CLAIM, QUESTION = "Halden acquired Redbrook in 2021.", "Who acquired Redbrook?"
HAN, HAN_QUESTION = "海登集团于2021年收购了红溪公司。", "谁收购了红溪公司？"


def kind(claim: str, text: str, question: str) -> str:
    return verdict(claim, sentences(text), question).kind


@pytest.mark.parametrize(
    "text",
    [
        "Halden's bid for Redbrook in 2021 was rejected, so the acquisition never took place.",
        "Halden's acquisition of Redbrook in 2021 never took place.",
        "Halden's bid for Redbrook in 2021 was rejected.",
        "Halden's takeover of Redbrook in 2021 was called off.",
        "Halden's planned purchase of Redbrook in 2021 did not happen.",
        "Halden tried to acquire Redbrook in 2021, but regulators blocked the deal.",
        "Halden tried to acquire Redbrook in 2021, but it fell through.",
        "Redbrook was to be acquired by Halden in 2021, but the deal was cancelled.",
    ],
)
def test_never_done(text: str) -> None:
    assert kind(CLAIM, text, QUESTION) == "contradicted"


@pytest.mark.parametrize(
    "text",
    [
        "Halden's acquisition of Redbrook took place in 2021.",
        "Halden acquired Redbrook in 2021 after an earlier bid was rejected.",
        "Halden's first bid for Redbrook was rejected, but it acquired the company in 2021.",
        "Halden acquired Redbrook in 2021, but a deal to buy Northgate was blocked.",
        "Halden acquired Redbrook in 2021, and its plan to buy Northgate fell through.",
        "In 2021 Halden bought Redbrook; regulators had blocked the offer of Northgate.",
    ],
)
def test_done_where_something_else_was_not(text: str) -> None:
    assert kind(CLAIM, text, QUESTION) == "supported"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("海登集团对红溪公司的收购在2021年未能完成。", "contradicted"),
        ("海登集团2021年收购红溪公司的计划被监管机构否决。", "contradicted"),
        ("海登集团2021年试图收购红溪公司，但交易告吹。", "contradicted"),
        ("海登集团2021年对红溪公司的收购没有发生。", "contradicted"),
        ("海登集团于2021年完成了对红溪公司的收购。", "supported"),
        ("2021年，红溪公司被海登集团收购。", "supported"),
        ("海登集团2021年收购了红溪公司，此前另一家公司的报价被拒绝。", "supported"),
    ],
)
def test_never_done_in_chinese(text: str, found: str) -> None:
    assert kind(HAN, text, HAN_QUESTION) == found


@pytest.mark.parametrize(
    ("claim", "text"),
    [
        ("The plan included 30 schools.", "The plan, which included 30 schools, was rejected."),
        ("The flight was cancelled.", "They cancelled the flight."),
        ("The bank collapsed in 2008.", "In 2008 the bank collapsed."),
        ("The council proposed a tax in 2019.", "The tax the council proposed in 2019 was vetoed."),
        ("Halden offered $3 billion for it.", "Halden's $3 billion offer for it was rejected."),
    ],
)
def test_what_was_stopped_had_been_there(claim: str, text: str) -> None:
    assert kind(claim, text, "What happened?") == "supported"


def test_what_was_cancelled_was_not_held() -> None:
    claim, question = "The race was held on 5 May 2021.", "When was the race?"
    assert kind(claim, "The race of 5 May 2021 was cancelled.", question) != "supported"
    assert kind(claim, "The race of 5 May 2021 did not take place.", question) == "contradicted"
    claim, question = "会议于5月举行。", "会议何时举行？"
    assert kind(claim, "原定5月的会议被取消。", question) != "supported"
    assert kind(claim, "会议于5月举行，此前一次会议被取消。", question) == "supported"
