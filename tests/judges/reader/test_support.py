"""Verdicts on claims. Examples hold what is reached; quality is measured on public data."""

import pytest

from fourscore.judges.reader.support import (
    MAX_CLAIM,
    ClaimVerdict,
    grade,
    judge_claims,
    judge_wordings,
    probability,
)
from fourscore.judges.reader.text import Text
from fourscore.judges.reader.weights import LinearModel, shipped_weights

CLAIM = "The harbour bridge was opened by the mayor in 1932."
OTHER = "Local papers followed the debate with patience and some humour."


def verdict(claim: str, raw: str, question: str = "") -> ClaimVerdict:
    return judge_claims([claim], Text(raw), question)[0]


def test_supports_what_is_stated() -> None:
    raw = f"{OTHER} In 1932 the mayor opened the harbour bridge. {OTHER}"
    found = verdict(CLAIM, raw)
    assert found.kind == "supported"
    assert raw[found.start : found.end] == "In 1932 the mayor opened the harbour bridge."


def test_does_not_support_what_is_not_stated() -> None:
    found = verdict(CLAIM, OTHER)
    assert found.kind == "not stated"
    assert found.support < 0.3


def test_contradicts_by_another_number() -> None:
    found = verdict("It opened in 1932 under Voss.", "It opened in 1935 under Voss.")
    assert found.kind == "contradicted"
    assert found.contradiction > 0.5


def test_finds_contradiction_by_an_opposite_word() -> None:
    found = verdict("Prices increased in the north.", "Prices decreased in the north.")
    assert found.contradiction > 0.5


def test_a_sentence_about_something_else_contradicts_nothing() -> None:
    assert verdict("It opened in 1932 under Voss.", "Birds fell in 1935.").contradiction == 0.0


def test_another_number_supports_less() -> None:
    right = verdict("It has 12 piers.", "The bridge has 12 piers.")
    wrong = verdict("It has 12 piers.", "The bridge has 14 piers.")
    assert wrong.support < right.support - 0.3


@pytest.mark.parametrize(
    ("claim", "question", "raw"),
    [
        ("Paris", "What is the capital of France?", "The capital of France is Paris."),
        ("42", "What is six times seven?", "It is 42."),
        ("1932年", "大桥哪一年通车？", "大桥于1932年通车。"),
        ("大桥全长503米。", "", "大桥全长503米，很壮观。"),
    ],
)
def test_supports_short_answers_and_chinese(claim: str, question: str, raw: str) -> None:
    assert verdict(claim, raw, question).kind == "supported"


@pytest.mark.parametrize(
    "raw",
    [
        "None of the following is true:\n- " + CLAIM,
        "The claim that " + CLAIM[:-1] + " is false.",
        CLAIM[:-1] + "?",
        "mayor harbour 1932 bridge opened steel city water",
        f"<think>{CLAIM}</think>{OTHER}",
        f"<!-- {CLAIM} -->{OTHER}",
        f"{'Filler here. ' * 10_000}{CLAIM}",
    ],
)
def test_keyword_stuffing_and_other_tricks_earn_less_than_the_statement(raw: str) -> None:
    assert verdict(CLAIM, raw).support < verdict(CLAIM, CLAIM).support - 0.1


@pytest.mark.parametrize(
    ("question", "claim", "denial"),
    [
        ("", CLAIM, "None of the following is true:\n- {}"),
        ("", CLAIM, "The following statements are false:\n1. {}"),
        ("", "大桥全长503米。", "以下说法都是错误的：\n- {}"),
        ("大桥多长？", "大桥全长503米。", "下列说法不正确：\n- {}"),
    ],
)
def test_a_claim_under_a_denial_is_not_supported(question: str, claim: str, denial: str) -> None:
    raw = denial.format(claim)
    assert verdict(claim, raw, question).kind != "supported"
    nothing = verdict(claim, OTHER, question)
    assert verdict(claim, f"{raw}\n\n{OTHER}", question).support <= nothing.support + 0.05


def test_repeating_the_question_earns_nothing() -> None:
    question, claim = "Who opened the harbour bridge in 1932?", CLAIM
    nothing = verdict(claim, OTHER, question).support
    for raw in (f"{OTHER} {question}", f"{question} {OTHER}", f"{OTHER}\n{question[:-1]}"):
        assert verdict(claim, raw, question).support <= nothing + 0.05


def test_reads_through_invisible_characters() -> None:
    hidden = CLAIM.replace("o", "\u200bo")
    assert verdict(CLAIM, hidden).support == pytest.approx(verdict(CLAIM, CLAIM).support, abs=0.05)


def test_gives_nothing_for_an_empty_text() -> None:
    empty = ClaimVerdict("not stated", 0.0, 0.0, 0, 0)
    assert judge_claims([CLAIM, "x"], Text(" ")) == [empty, empty]
    assert judge_claims([], Text(CLAIM)) == []


@pytest.mark.parametrize("claim", ["", "?", "the", "\u200b", "x" * 50_000])
def test_unusual_claims_have_a_verdict(claim: str) -> None:
    found = verdict(claim, CLAIM)
    assert 0 <= found.support <= 1
    assert len(claim[:MAX_CLAIM]) <= MAX_CLAIM


def test_a_word_of_several_claims_counts_less() -> None:
    claims = ["The bridge at Harwick is long.", "The bridge at Harwick is red."]
    text = Text("The bridge at Harwick is red.")
    alone = judge_claims(claims[:1], text)[0].support
    assert judge_claims(claims, text)[0].support < alone


def test_takes_the_best_of_several_wordings() -> None:
    text = Text("It was Samuel Clemens.")
    best = judge_wordings(["Mark Twain", "Samuel Clemens"], text, "Who wrote it?")
    assert best == judge_claims(["Samuel Clemens"], text, "Who wrote it?")[0]


def test_grades_by_probability() -> None:
    grades = [grade(ClaimVerdict("supported", p, 0.0, 0, 0)) for p in (0.1, 0.25, 0.5, 0.75, 0.9)]
    assert grades == [0.0, 0.0, 0.5, 1.0, 1.0]
    assert grade(ClaimVerdict("contradicted", 0.45, 0.9, 0, 0)) == 0.0


def test_probability_is_logistic_and_never_overflows() -> None:
    names = shipped_weights().support.coefficients
    flat = LinearModel(0.0, dict.fromkeys(names, 1e6))
    assert probability(flat, [0.0] * len(names)) == 0.5
    assert probability(flat, [1.0] * len(names)) == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("output", "kind"),
    [
        ("It is not Paris.", "contradicted"),
        ("It isn't Paris but Lyon.", "contradicted"),
        ("It is not only Paris.", "supported"),
        ("It is Paris, not Lyon.", "supported"),
    ],
)
def test_a_bare_answer_that_is_denied_is_contradicted(output: str, kind: str) -> None:
    (verdict,) = judge_claims(["Paris"], Text(output), "What is the capital of France?")
    assert verdict.kind == kind
