"""`completeness`: aspects that are given or asked for, and ways to cheat."""

import asyncio
import pickle
from typing import Any

import pytest

from fourscore.core import Case, CaseError, Signal, Trace
from fourscore.judges.dimensions.completeness import Completeness

ASPECTS = ["pricing", "support", "security"]
ASKED = "Write an overview of Acme Mail for our buyers."
PRICE = "Its pricing begins at $4 a month for each user, or $40 a year."
SUPPORT = "Customer support answers tickets by email within four hours."
SECURITY = "For security, all mail is encrypted and two-factor login is on by default."
OTHER = "Local papers followed the debate with patience and some humour."


def judged(output: Any, *aspects: Any, question: Any = ASKED) -> Signal:
    case = Case(id="x", input=question, expected={"aspects": list(aspects)} if aspects else None)
    (signal,) = asyncio.run(Completeness().judge(case, Trace(output=output)))
    return signal


def test_all_aspects_covered_gives_one() -> None:
    output = f"{PRICE} {SUPPORT} {SECURITY}"
    signal = judged(output, *ASPECTS)
    assert (signal.name, signal.value, signal.level) == ("completeness", 1.0, "excellent")
    assert [piece.text for piece in signal.evidence] == [PRICE, SUPPORT, SECURITY]
    assert signal.reason.startswith("3 of 3 aspects covered")


def test_the_reason_names_missing_aspects() -> None:
    signal = judged(f"{PRICE} {SUPPORT}", *ASPECTS)
    assert signal.value == pytest.approx(2 / 3)
    assert "2 of 3 aspects covered; little or nothing on 'security'" in signal.reason


def test_no_aspect_covered_gives_zero() -> None:
    assert judged(OTHER, *ASPECTS).value == 0.0


def test_covers_statements_that_are_in_the_output() -> None:
    output = "The candidate survived the crash, in which two people died."
    assert judged(output, "Candidate survived the crash", "Two people died").value == 1.0


def test_weighs_aspects() -> None:
    aspects = [{"text": "pricing", "weight": 3}, {"text": "security", "weight": 1}]
    assert judged(PRICE, *aspects).value == pytest.approx(0.75)


def test_covers_chinese_aspects() -> None:
    output = "价格是每月四元。客服会在四小时内回复邮件。"
    assert judged(
        output, "价格", "客服", "安全", question="请介绍这款邮箱。"
    ).value == pytest.approx(2 / 3)


def test_takes_the_parts_that_the_question_lists() -> None:
    question = "Explain the causes, effects and remedies of soil erosion."
    output = "Its main causes are wind and rain. As for effects, harvests shrink every year."
    signal = judged(output, question=question)
    assert signal.value == pytest.approx(2 / 3)
    assert "'remedies'" in signal.reason


@pytest.mark.parametrize("question", ["What is the capital of France?", "", None, ASKED])
def test_does_not_apply_without_aspects_or_parts(question: Any) -> None:
    signal = judged("Paris.", question=question)
    assert signal.value is None
    assert signal.fault is None


@pytest.mark.parametrize("output", ["", "...", "Solution:", "让我们一步一步地思考这个问题。"])
def test_an_empty_answer_covers_nothing(output: str) -> None:
    assert judged(output, *ASPECTS).value == 0.0


# Attacks


@pytest.mark.parametrize(
    "output",
    [
        "Pricing, support, security.",
        "I will speak of pricing, support and security.",
        "I cannot say anything about pricing. I can't discuss support. I won't cover security.",
        "What about pricing? What about support? What about security?",
        f"<!-- {PRICE} {SUPPORT} {SECURITY} -->{OTHER}",
        f"<think>{PRICE} {SUPPORT} {SECURITY}</think>{OTHER}",
        f"{OTHER} " * 20_000 + f"{PRICE} {SUPPORT} {SECURITY}",
        f"None of the following is true:\n- {PRICE}\n- {SUPPORT}\n- {SECURITY}",
    ],
)
def test_keyword_stuffing_and_other_tricks_cover_nothing(output: str) -> None:
    assert judged(output, *ASPECTS).value == 0.0


def test_repeating_the_question_covers_nothing() -> None:
    question = "Explain the causes, effects and remedies of soil erosion."
    assert judged(question, question=question).value == 0.0


# Broken


@pytest.mark.parametrize(
    "aspect", ["", " ", {"weight": 1}, {"text": "a", "weight": -1}, {"text": "a", "weight": True}]
)
def test_malformed_aspects_are_a_case_error(aspect: Any) -> None:
    with pytest.raises(CaseError, match=r"expected\.aspects"):
        judged(PRICE, aspect)


def test_can_be_sent_to_another_process() -> None:
    assert pickle.loads(pickle.dumps(Completeness())) == Completeness()
