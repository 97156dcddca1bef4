"""What is told as believed, beside what is told as so; no labelled item is here."""

import pytest

from rubrica.judges.text.sentences import sentences
from rubrica.judges.text.short import short_verdict
from rubrica.judges.text.support import verdict

CLAIM, QUESTION = "The capital of Australia is Canberra.", "What is the capital of Australia?"
HAN, HAN_QUESTION = "澳大利亚的首都是堪培拉。", "澳大利亚的首都是哪里？"


def kind(claim: str, text: str, question: str) -> str:
    return verdict(claim, sentences(text), question).kind


def short(answer: str, text: str, question: str) -> str:
    return short_verdict(answer, sentences(text), question).kind


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Many think it is Canberra, but the capital is Sydney.", "contradicted"),
        ("Many think the capital of Australia is Canberra, but it is Sydney.", "contradicted"),
        ("Although many believe it is Canberra, the capital is Sydney.", "contradicted"),
        ("The capital of Australia is Sydney, though many think it is Canberra.", "contradicted"),
        ("Canberra is often thought to be the capital, but it is Sydney.", "contradicted"),
        ("Many think the capital of Australia is Sydney, but it is Canberra.", "supported"),
        ("Many think it is Sydney, but the capital of Australia is Canberra.", "supported"),
        ("Although many believe it is Sydney, the capital is Canberra.", "supported"),
        ("The capital of Australia is Canberra, though many think it is Sydney.", "supported"),
        ("The capital of Australia is Canberra, but many people say Sydney.", "supported"),
        ("The capital of Australia is Sydney, but many people say Canberra.", "contradicted"),
        ("The capital is Canberra; many think it is Sydney, but that is a port.", "supported"),
        ("The capital is Canberra, which many people think is a small town.", "supported"),
    ],
)
def test_a_name_that_is_only_believed(text: str, found: str) -> None:
    assert kind(CLAIM, text, QUESTION) == found
    assert short("Canberra", text, QUESTION) == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("很多人以为澳大利亚的首都是堪培拉，其实是悉尼。", "contradicted"),
        ("很多人以为澳大利亚的首都是悉尼，其实是堪培拉。", "supported"),
        ("澳大利亚的首都是堪培拉，但很多人以为是悉尼。", "supported"),
        ("发言人说，澳大利亚的首都是堪培拉，但会址未定。", "supported"),
    ],
)
def test_a_name_that_is_only_believed_in_chinese(text: str, found: str) -> None:
    assert kind(HAN, text, HAN_QUESTION) == found
    assert short("堪培拉", text, HAN_QUESTION) == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Many credit George Eliot, but in fact Jane Austen wrote it.", "contradicted"),
        ("People often say George Eliot, but Jane Austen wrote it.", "contradicted"),
        ("Many credit Jane Austen, but in fact George Eliot wrote it.", "supported"),
    ],
)
def test_whom_many_credit(text: str, found: str) -> None:
    question = "Who wrote Middlemarch?"
    assert short("George Eliot", text, question) == found
    assert kind("George Eliot wrote Middlemarch.", text, question) == found


@pytest.mark.parametrize(
    ("claims", "text", "question"),
    [
        (
            ("The ticket costs $5.", "The ticket costs $7."),
            "Many think the ticket price is $5, but it is $7.",
            "How much is the ticket?",
        ),
        (
            ("票价是5元。", "票价是7元。"),
            "很多人以为票价是5元，其实是7元。",
            "票价是多少？",
        ),
    ],
)
def test_a_figure_that_is_only_believed(claims: list[str], text: str, question: str) -> None:
    assert [kind(claim, text, question) for claim in claims] == ["contradicted", "supported"]


def test_what_has_no_name() -> None:
    text, question = "Many think spiders are insects, but they are arachnids.", "What are spiders?"
    assert kind("Spiders are insects.", text, question) != "supported"
    assert kind("Spiders are arachnids.", text, question) == "supported"
    text = "Many believe that Edison invented the telephone, but Bell did."
    assert kind("Edison invented the telephone.", text, "Who invented it?") != "supported"
    assert kind("Bell invented the telephone.", text, "Who invented it?") == "supported"


def test_a_claim_of_a_belief() -> None:
    text = "Many economists believe inflation will fall, but some disagree."
    assert kind("Many economists believe that inflation will fall.", text, "What?") == "supported"
