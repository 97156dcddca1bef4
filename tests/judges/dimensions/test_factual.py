"""`factual_accuracy`: claims, reference answers, short answers, and ways to cheat."""

import asyncio
import json
import pickle
import time
from pathlib import Path
from typing import Any

import pytest

from rubrica.core import Case, CaseError, Signal, Trace
from rubrica.core.levels import FLOORS
from rubrica.judges.dimensions.factual import FactualAccuracy
from rubrica.judges.dimensions.finding import READ

LABELLED = Path(__file__).parents[2] / "labelled" / "factual_accuracy"
ORDER = list(FLOORS)
QUESTION = "When did the Orrin tunnel open, how long is it, and who built it?"
CLAIMS = [
    {"text": "The Orrin tunnel opened on 3 May 1998."},
    {"text": "It is 4.2 km long."},
    {"text": "Halvor Brekke built it.", "weight": 2},
]
GOOD = "Built by Halvor Brekke, the Orrin tunnel opened on May 3, 1998. It is 4,200 metres long."


def judged(output: Any, expected: Any, question: Any = QUESTION, **options: Any) -> Signal:
    case = Case(id="t", input=question, expected=expected)
    (signal,) = asyncio.run(FactualAccuracy(**options).judge(case, Trace(output=output)))
    return signal


def value(output: Any, expected: Any, question: Any = QUESTION, **options: Any) -> float | None:
    return judged(output, expected, question, **options).value


def test_all_claims_supported() -> None:
    signal = judged(GOOD, {"claims": CLAIMS})
    assert (signal.name, signal.value, signal.level) == ("factual_accuracy", 1.0, "excellent")
    assert "3 of 3 claims are supported" in signal.reason
    assert "confidence" in signal.reason
    for piece in signal.evidence:
        assert piece.field == "output"
        assert piece.start is not None
        assert piece.text == GOOD[piece.start : piece.end]


def test_a_contradiction_costs_half_its_weight() -> None:
    output = GOOD.replace("4,200 metres", "4,200 miles")
    signal = judged(output, {"claims": CLAIMS})
    assert signal.value == pytest.approx((3 - 0.5) / 4)
    assert "'It is 4.2 km long.' is contradicted (another figure)" in signal.reason
    assert "4,200 miles" in signal.evidence[0].text
    assert value(output, {"claims": CLAIMS}, contradiction_cost=0.0) == pytest.approx(0.75)
    assert value(output, {"claims": CLAIMS}, contradiction_cost=1.0) == pytest.approx(0.5)


def test_what_is_absent_earns_nothing_and_is_named() -> None:
    signal = judged("The Orrin tunnel opened on 3 May 1998.", {"claims": CLAIMS})
    assert signal.value == pytest.approx(0.25)
    assert "not stated: 'It is 4.2 km long.', 'Halvor Brekke built it.'" in signal.reason


def test_never_below_zero() -> None:
    output = "The Orrin tunnel opened on 5 March 1998. It is 42 km long. Ines Roth built it."
    signal = judged(output, {"claims": CLAIMS})
    assert (signal.value, signal.level) == (0.0, "failed")


def test_a_reference_answer_gives_its_sentences() -> None:
    answer = "The Orrin tunnel opened on 3 May 1998. It is 4.2 km long."
    for expected in (answer, {"answer": answer}):
        assert value("The tunnel opened on 1998-05-03.", expected) == pytest.approx(0.5)


@pytest.mark.parametrize(
    ("question", "answer", "right", "wrong"),
    [
        ("What is 6 times 7?", 42, "So it is 42.", "So it is 41."),
        ("What is 6 times 7?", "42", "6 x 7 = 42", "The answer is 24."),
        ("What is 6 times 7?", "Six sevens.\n#### 42", "That makes 42.", "That makes 43."),
        ("Capital of Australia?", "Canberra", "Canberra.", "It is not Canberra."),
        ("Capital of Australia?", "Canberra", "Not Sydney, but Canberra.", "Sydney."),
        ("Capital of Australia?", "Canberra", "It is Canberra.", "Canberra or Sydney."),
        ("Is it safe?", True, "Yes, it is.", "No."),
        ("Is it safe?", "no", "No, it is not.", "Yes."),
        ("How far is it?", "12 km", "About 12,000 m.", "12 miles."),
        ("中国的首都？", "北京", "首都是北京。", "首都是上海。"),
        ("When?", "1969", "In July 1969.", "In 1968."),
        ("Who wrote it?", "George Eliot", "It is by Eliot.", "Jane Austen wrote it."),
        ("Which two?", ["Lovelace", "Babbage"], "Lovelace and Babbage.", "Turing."),
    ],
)
def test_short_answers(question: str, answer: Any, right: str, wrong: str) -> None:
    assert value(right, answer, question) == 1.0
    assert value(wrong, answer, question) == 0.0


def test_a_dictionary_of_answers() -> None:
    expected = {"answer": {"length": "4.2 km", "opened": "1998"}}
    assert value("Its length is 4.2 km. It opened in 2001.", expected) == pytest.approx(0.25)


@pytest.mark.parametrize(
    "expected", [None, {}, {"claims": []}, {"answer": None}, {"answer": ""}, ""]
)
def test_nothing_expected_does_not_apply(expected: Any) -> None:
    signal = judged(GOOD, expected)
    assert signal.value is None
    assert signal.fault is None
    assert "neither claims nor an answer" in signal.reason


@pytest.mark.parametrize(
    "expected",
    [
        {"claims": "text"},
        {"claims": [{"weight": 1}]},
        {"claims": [{"text": "a", "weight": -1}]},
        {"claims": [{"text": "a", "weight": 0}]},
    ],
)
def test_a_broken_case_is_no_zero(expected: Any) -> None:
    with pytest.raises(CaseError):
        judged(GOOD, expected)


def test_an_empty_output() -> None:
    for output in ("", "  \n", None):
        assert value(output, {"claims": CLAIMS}) == 0.0


def test_options_are_checked() -> None:
    with pytest.raises(ValueError, match="contradiction_cost"):
        FactualAccuracy(contradiction_cost=2.0)
    judge = FactualAccuracy()
    assert pickle.loads(pickle.dumps(judge)) == judge
    assert (judge.names, judge.runs) == (("factual_accuracy",), "inline")


HEAP = "orrin tunnel opened may 1998 long 4.2 km built halvor brekke "


@pytest.mark.parametrize(
    "output",
    [
        QUESTION,
        QUESTION + " " + QUESTION,
        "You would like to know when the Orrin tunnel opened, how long it is and who built it.",
        "I will tell you when the Orrin tunnel opened, how long it is and who built it.",
        HEAP * 4,
        (HEAP * 4).title(),
        f"<think>{GOOD}</think> I cannot say.",
        "The Orrin tunnel may have opened on 3 May 1998. Perhaps it is 4.2 km long.",
        "Did the Orrin tunnel open on 3 May 1998? Is it 4.2 km long? Did Halvor Brekke build it?",
        "It is false that the Orrin tunnel opened on 3 May 1998.",
    ],
)
def test_attacks_earn_nothing(output: str) -> None:
    assert value(output, {"claims": CLAIMS}) == 0.0


def test_guessing_earns_nothing() -> None:
    output = "It was built by Ines Roth, Halvor Brekke, Omar Diaz or Lena Frost."
    assert value(output, {"claims": [{"text": "Halvor Brekke built the tunnel."}]}) == 0.0
    assert value("It is 40, 41, 42, 43, 44, 45 or 46.", "42", "How many?") == 0.0


def test_repeating_one_claim_does_not_raise_the_score() -> None:
    one = "The Orrin tunnel opened on 3 May 1998. "
    assert value(one * 50, {"claims": CLAIMS}) == value(one, {"claims": CLAIMS})


def test_thinking_counts_where_it_is_asked_for() -> None:
    assert value(f"<think>{GOOD}</think>", {"claims": CLAIMS}, think="keep") == 1.0


def test_a_text_in_the_question_may_be_quoted() -> None:
    text = "The Orrin tunnel opened on 3 May 1998 after six years of work. " + "It rained. " * 60
    question = f"{text}\n\nWhen did the tunnel open?"
    expected = {"claims": [{"text": "The Orrin tunnel opened on 3 May 1998."}]}
    assert value("The Orrin tunnel opened on 3 May 1998.", expected, question) == 1.0
    assert value("The Orrin tunnel opened on 5 May 1998.", expected, question) == 0.0


def test_messages_as_input() -> None:
    asked = [{"role": "user", "content": QUESTION}]
    assert value(QUESTION, {"claims": CLAIMS}, asked) == 0.0
    assert value(GOOD, {"claims": CLAIMS}, asked) == 1.0


@pytest.mark.parametrize(
    ("answer", "right", "wrong"),
    [
        ("Team A beat Team B.", "Team A beat Team B 3-1.", "Team B beat Team A 3-1."),
        ("张三的工资比李四高。", "李四的工资比张三低。", "李四的工资比张三高。"),
    ],
)
def test_a_short_answer_with_two_sides(answer: str, right: str, wrong: str) -> None:
    assert value(right, {"answer": answer}, "Who?") == 1.0
    assert value(wrong, {"answer": answer}, "Who?") == 0.0


def test_of_a_long_claim_only_the_beginning_is_read() -> None:
    claim = "The tunnel opened in May. " + "Halvor acquired Brekke and Orrin beat Oslo, " * 2000
    start = time.process_time()
    signal = judged(" ".join([GOOD] * 20), {"claims": [{"text": claim}]})
    assert time.process_time() - start < 5
    assert "only the first 2000 characters of a claim" in signal.reason


def test_what_stands_beyond_the_limit_is_not_read() -> None:
    output = "x " * (READ // 2) + GOOD
    signal = judged(output, {"claims": CLAIMS})
    assert signal.value == 0.0
    assert f"only the first {READ} characters" in signal.reason


@pytest.mark.parametrize("piece", [GOOD + " ", "a ", "1", ".", "<think>", "</think>", "一", "not "])
def test_ten_megabytes_take_no_longer_than_the_limit(piece: str) -> None:
    output = piece * (10_000_000 // len(piece))
    start = time.process_time()
    judged(output, {"claims": CLAIMS})
    assert time.process_time() - start < 20


def level_pairs(name: str) -> list[tuple[str, str, str]]:
    found = []
    for line in (LABELLED / name).read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        signal = judged(row["output"], row["expected"], row["input"])
        found.append((row["id"], row["level"], signal.level))
    return found


def shares(pairs: list[tuple[str, str, str]]) -> tuple[float, float]:
    exact = sum(right == given for _, right, given in pairs) / len(pairs)
    far = sum(abs(ORDER.index(right) - ORDER.index(given)) > 1 for _, right, given in pairs)
    return exact, far / len(pairs)


def test_worked_items() -> None:
    pairs = level_pairs("worked.jsonl")
    exact, far = shares(pairs)
    assert exact >= 0.85, [pair for pair in pairs if pair[1] != pair[2]]
    assert far <= 0.05
