"""`factual_accuracy`: claims, reference answers, and ways to cheat."""

import asyncio
import pickle
from typing import Any

import pytest

from fourscore.core import Case, CaseError, ConfigError, Signal, Trace
from fourscore.judges.dimensions.factual_accuracy import FactualAccuracy
from fourscore.judges.reader.text import MAX_READ

QUESTION = "When did the Orrin tunnel open, how long is it, and who built it?"
CLAIMS: list[dict[str, Any]] = [
    {"text": "The Orrin tunnel opened on 3 May 1998."},
    {"text": "The Orrin tunnel is 4,200 metres long."},
    {"text": "Halvor Brekke built the Orrin tunnel.", "weight": 2},
]
GOOD = (
    "The Orrin tunnel opened on 3 May 1998. It is 4,200 metres long. "
    "Halvor Brekke built the Orrin tunnel."
)
OTHER = "Local papers followed the debate with patience and some humour."


def judged(output: Any, expected: Any, question: Any = QUESTION, **options: Any) -> Signal:
    case = Case(id="t", input=question, expected=expected)
    (signal,) = asyncio.run(FactualAccuracy(**options).judge(case, Trace(output=output)))
    return signal


def value(output: Any, expected: Any, question: Any = QUESTION, **options: Any) -> float:
    found = judged(output, expected, question, **options).value
    assert found is not None
    return found


def test_all_claims_supported_gives_one() -> None:
    signal = judged(GOOD, {"claims": CLAIMS})
    assert (signal.name, signal.level) == ("factual_accuracy", "excellent")
    assert "3 of 3 claims are supported" in signal.reason
    assert "confidence" in signal.reason
    for piece in signal.evidence:
        assert piece.field == "output"
        assert piece.text == GOOD[piece.start : piece.end]


def test_the_reason_names_claims_that_are_not_stated() -> None:
    signal = judged(OTHER, {"claims": CLAIMS})
    assert signal.value is not None
    assert signal.value < 0.2
    assert "0 of 3 claims are supported; not stated: 'The Orrin tunnel opened" in signal.reason


def test_value_is_the_weighted_mean() -> None:
    first = {"text": "Halvor Brekke built it.", "weight": 3}
    second = {"text": "Gulls nest in sandstone.", "weight": 1}
    assert value("Halvor Brekke built it.", {"claims": [first, second]}) == pytest.approx(
        0.75, abs=0.1
    )


def test_a_contradicted_claim_earns_nothing_and_can_cost() -> None:
    claims = [{"text": "It opened in 1932 under Voss."}, {"text": "Halvor Brekke built it."}]
    output = "It opened in 1935 under Voss. Halvor Brekke built it."
    signal = judged(output, {"claims": claims}, "Tell me of it.")
    assert signal.value is not None
    assert signal.value == pytest.approx(0.5, abs=0.05)
    assert "contradicted: 'It opened in 1932 under Voss.'" in signal.reason
    costly = value(output, {"claims": claims}, "Tell me of it.", contradiction_cost=0.5)
    assert costly == pytest.approx(signal.value - 0.25)


@pytest.mark.parametrize(
    ("question", "answer", "right", "wrong"),
    [
        ("What is 6 times 7?", 42, "So it is 42.", "So it is 41."),
        ("What is 6 times 7?", "Six sevens.\n#### 42", "That makes 42.", "That makes 43."),
        ("Capital of Australia?", "Canberra", "It is Canberra.", "It is Sydney."),
        ("Capital of Australia?", {"answer": "Canberra"}, "Canberra.", "Sydney."),
        ("Is it safe?", "Yes, it is safe.", "Yes, it is.", "No, it is not."),
        ("中国的首都是哪里？", "北京", "首都是北京。", "首都是上海。"),
        ("Who wrote it?", ["Mark Twain", "Samuel Clemens"], "Samuel Clemens.", "Jane Austen."),
    ],
)
def test_right_answers_score_above_wrong_ones(
    question: str, answer: Any, right: str, wrong: str
) -> None:
    assert value(right, answer, question) > 0.8
    assert value(wrong, answer, question) < 0.5


def test_a_dictionary_of_answers_gives_a_claim_for_each() -> None:
    expected = {"answer": {"length": "4.2 km", "opened": "1998"}}
    signal = judged("Its length is 4.2 km. It opened in 1998.", expected, "Tell me of it.")
    assert "2 of 2 claims are supported" in signal.reason


@pytest.mark.parametrize("expected", [None, {}, {"claims": []}, {"answer": None}, ""])
def test_does_not_apply_if_nothing_is_expected(expected: Any) -> None:
    signal = judged(GOOD, expected)
    assert signal.value is None
    assert signal.fault is None


@pytest.mark.parametrize("output", ["", " ", "...", "Let's think step by step.", "Solution:"])
def test_an_empty_answer_earns_nothing(output: str) -> None:
    assert value(output, {"claims": CLAIMS}) == 0.0


# Attacks


@pytest.mark.parametrize(
    "text",
    [
        "None of the following is true:\n{listed}\n\n{other}",
        "{other}\n\nThe following statements are false:\n{listed}",
        "{other}\n\n以下说法都是错误的：\n{listed}",
        "{other}\n\n{question}",
        "{question}\n\n{other}",
        "{other} <!-- {listed} -->",
        "<think>{listed}</think>{other}",
        "{other}\n\n{asked}",
        "{other}\n\nbrekke metres orrin 4,200 tunnel opened built 1998 halvor long",
        "{filler}{listed}",
        "{other}\n{filler}",
    ],
)
def test_keyword_stuffing_and_other_tricks_do_not_raise_the_value(text: str) -> None:
    listed = "\n".join(f"- {claim['text']}" for claim in CLAIMS)
    asked = "\n".join(f"{claim['text'][:-1]}?" for claim in CLAIMS)
    filler = "Nobody had thought of that before. " * (10_000_000 // 35)
    output = text.format(listed=listed, asked=asked, other=OTHER, question=QUESTION, filler=filler)
    assert value(output, {"claims": CLAIMS}) <= value(OTHER, {"claims": CLAIMS}) + 0.05


def test_the_reason_reports_that_only_the_beginning_was_read() -> None:
    signal = judged(GOOD + "\n\nSome filler." * MAX_READ, {"claims": CLAIMS})
    assert "only the first 100,000 characters were read" in signal.reason
    assert signal.level == "excellent"


def test_option_think_keep_reads_the_thinking() -> None:
    output = f"<think>{GOOD}</think>{OTHER}"
    assert value(output, {"claims": CLAIMS}, think="keep") > 0.8


def test_invisible_characters_change_nothing() -> None:
    hidden = GOOD.replace("e", "e\u200b")
    assert value(hidden, {"claims": CLAIMS}) > 0.8


# Broken


@pytest.mark.parametrize(
    "claims",
    ["text", [{"text": 5}], [{"weight": 1}], [{"text": "a", "weight": -1}]],
)
def test_malformed_claims_are_a_case_error(claims: Any) -> None:
    with pytest.raises(CaseError, match="expected"):
        judged(GOOD, {"claims": claims})


def test_claims_without_weight_are_a_case_error() -> None:
    with pytest.raises(CaseError, match="no claim has any weight"):
        judged(GOOD, {"claims": [{"text": "a", "weight": 0}]})


@pytest.mark.parametrize("options", [{"contradiction_cost": 2.0}, {"weights": "/nowhere.json"}])
def test_wrong_options_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises((ConfigError, ValueError)):
        FactualAccuracy(**options)


def test_can_be_sent_to_another_process() -> None:
    judge = FactualAccuracy(contradiction_cost=0.5)
    assert pickle.loads(pickle.dumps(judge)) == judge
