"""`citation_accuracy`: what a citation earns and what earns nothing.

The support model is replaced where a value is at stake, so that its training changes nothing here.
"""

import asyncio
import pickle
from collections.abc import Sequence
from typing import Any

import pytest

from fourscore.core import Case, CaseError, Signal, ToolCall, Trace
from fourscore.judges.dimensions import citation_accuracy
from fourscore.judges.dimensions.citation_accuracy import (
    MAX_PAIRS,
    CitationAccuracy,
    has_quotations,
)
from fourscore.judges.reader.support import ClaimVerdict
from fourscore.judges.reader.text import Text

TOWER = {"id": 1, "url": "https://a.org/t", "text": "The tower opened in 1889. It is 330 m tall."}
HONEY = {"id": 2, "url": "https://b.org/h", "text": "Bees make honey from nectar of flowers."}
ASKED = "Tell me about the tower. Cite sources."


@pytest.fixture(autouse=True)
def _plain_support(monkeypatch: pytest.MonkeyPatch) -> None:
    """Supported are words that a sentence of the text has; `not` contradicts."""

    def judge(claims: Sequence[str], text: Text, question: str = "") -> list[ClaimVerdict]:
        return [_verdict(claim.lower(), text) for claim in claims]

    monkeypatch.setattr(citation_accuracy, "judge_claims", judge)


def _verdict(claim: str, text: Text) -> ClaimVerdict:
    words = set(claim.strip(".- ").split())
    if "not" in words:
        return ClaimVerdict("contradicted", 0.1, 0.9, 0, 5)
    for sentence in text.sentences:
        if words <= set(sentence.text.lower().strip(".").split()):
            return ClaimVerdict("supported", 0.9, 0.0, sentence.start, sentence.end)
    return ClaimVerdict("not stated", 0.1, 0.0, 0, 0)


def judged(
    output: Any,
    *sources: dict[str, Any],
    question: Any = ASKED,
    steps: tuple[ToolCall, ...] = (),
) -> Signal:
    case = Case(id="x", input=question, expected={"sources": list(sources)} if sources else None)
    trace = Trace(output=output, steps=steps)
    (signal,) = asyncio.run(CitationAccuracy().judge(case, trace))
    for piece in signal.evidence:
        assert piece.start is not None
        assert piece.text == trace.answer[piece.start : piece.end]
    return signal


@pytest.mark.parametrize(
    ("output", "value", "word"),
    [
        ("The tower opened in 1889 [1]. Bees make honey [2].", 1.0, "2 of 2 citations"),
        ("The tower opened in 1889 (https://a.org/t).", 1.0, "1 of 1"),
        ("The tower opened in 1899 [1].", 0.0, "1 not stated: not stated [1] for 'The tower"),
        ("The tower did not open in 1889 [1].", 0.0, "1 contradicted"),
        ("The tower opened in 1889 [7].", 0.0, "1 dangling"),
        ("The tower opened in 1889 (https://a.org/other).", 0.0, "1 dangling"),
        ("The tower opened in 1889 (Smith, 2001).", 0.0, "1 dangling"),
        ('It "opened in the year of 1889" [1].', 0.0, "1 misquoted"),
        ("The tower opened in 1889 [1][2].", 0.5, "[2] for"),
        ("The tower opened in 1889 [1]. Did the tower open [1]?", 0.5, "1 not stated"),
        ("The tower opened in 1889.\n\nSources: [1][2]", 0.0, "nothing is cited"),
        ("The tower opened in 1889.\n\n[1] https://a.org/t", 0.0, "nothing is cited"),
        ("The tower opened in 1889.", 0.0, "nothing is cited, although the case gives sources (2)"),
        ("", 0.0, "nothing is cited"),
    ],
)
def test_value_and_reason_of_citations(output: str, value: float, word: str) -> None:
    signal = judged(output, TOWER, HONEY)
    assert signal.value == pytest.approx(value)
    assert word in signal.reason


def test_no_citation_is_zero_only_if_sources_were_given_or_asked_for() -> None:
    assert judged("The tower opened in 1889.", question="When? 请注明出处").value == 0.0
    none = judged("The tower opened in 1889.", question="When?")
    assert (none.value, none.fault) == (None, None)
    interval = judged("It lies in [1, 3].", question="Where is the root?")
    assert interval.value is None


def test_sources_without_text_are_left_out_of_the_mean() -> None:
    bare = {"id": 3, "url": "https://c.org"}
    signal = judged("The tower opened in 1889 [1]. It is red [3].", TOWER, bare)
    assert signal.value == 1.0
    assert "1 more cannot be checked" in signal.reason
    assert judged("It is red [3].", bare).value is None
    unknown = judged("It is red (https://c.org).")
    assert unknown.value is None
    assert "no text of what is cited is known" in unknown.reason


def test_pages_that_tools_returned_are_sources() -> None:
    page = ToolCall(name="open", arguments={"url": "https://a.org/t"}, result=TOWER["text"])
    assert judged("The tower opened in 1889 (https://a.org/t).", steps=(page,)).value == 1.0
    assert judged("The tower opened in 1889 (https://made-up.org).", steps=(page,)).value == 0.0


def test_looks_for_quotations_word_by_word() -> None:
    text = "He said: “It was, in 1889, the tallest tower – by far – of all Europe.”"
    assert has_quotations('He said "it was in 1889 the tallest tower".', text)
    assert has_quotations("He said “the tallest tower ... of all Europe”.", text)
    assert has_quotations('He called it "the tallest towr by far".', text)  # a typing error
    assert not has_quotations('He said "it was in 1899 the tallest tower".', text)
    assert not has_quotations('He said "it was in 1889 the tallest bridge by far".', text)
    assert not has_quotations('He said "it is a very ugly building".', text)
    assert has_quotations('It is called "Iron Lady".', text)  # a name
    assert has_quotations("它称「风力强，雨量大」。", "此次台风风力强、雨量大。")
    assert not has_quotations("它称「风力弱，雨量大」。", "此次台风风力强、雨量大。")


def test_a_quotation_from_one_of_two_sources_is_no_misquotation() -> None:
    signal = judged('It says "The tower opened in 1889" [1][2].', TOWER, HONEY)
    assert "misquoted" not in signal.reason


@pytest.mark.parametrize(
    ("question", "asks"),
    [
        ("When? Cite your sources.", True),
        ("Write a report with sources.", True),
        ("Give me three references.", True),
        ("请注明来源。", True),
        ("并附上参考文献", True),
        ("Give me the source code.", False),
        ("What are the main sources of iron?", False),
        ("他的收入来源是什么？", False),
    ],
)
def test_recognises_a_question_that_asks_for_citations(question: str, asks: bool) -> None:
    assert judged("It is so.", question=question).value == (0.0 if asks else None)


def test_the_judge_compares_and_pickles_by_value() -> None:
    judge = CitationAccuracy()
    assert pickle.loads(pickle.dumps(judge)) == judge
    assert (judge.names, judge.runs) == (("citation_accuracy",), "inline")


def test_a_malformed_case_is_an_error_not_a_zero() -> None:
    case = Case(id="x", input="q", expected={"sources": [{"url": ["x"]}]})
    with pytest.raises(CaseError, match="sources"):
        asyncio.run(CitationAccuracy().judge(case, Trace(output="x [1]")))


# Attacks


def test_repeating_a_right_citation_earns_nothing() -> None:
    wrong = "It is 400 m tall [1]."
    fair = judged(f"The tower opened in 1889 [1]. {wrong}", TOWER).value
    assert fair == pytest.approx(0.5)
    for text in (
        "The tower opened in 1889 [1]. " * 1000 + wrong,
        "\n\n".join(["- The tower opened in 1889 [1]"] * 50) + f"\n\n{wrong}",
        f"The tower opened in 1889 {'[1]' * 500}. {wrong}",
    ):
        assert judged(text, TOWER).value == pytest.approx(fair, abs=0.05)


def test_inventing_citations_does_not_help() -> None:
    text = "The moon is made of cheese [1].\n\nReferences\n[1] https://cheese.org: It is cheese."
    assert judged(text, TOWER).value == 0.0
    fair = judged("The tower opened in 1899 [1].", TOWER).value
    assert fair is not None
    more = judged("The tower opened in 1899 [1]. It is big (https://x.org). So (Wu, 2020).", TOWER)
    assert more.value is not None
    assert more.value <= fair


def test_no_more_pairs_are_judged_than_the_limit() -> None:
    signal = judged(" ".join(f"Item {n} is here [1]." for n in range(MAX_PAIRS * 5)), TOWER)
    assert f"only the first {MAX_PAIRS} were judged" in signal.reason


def test_text_beyond_the_read_limit_earns_nothing() -> None:
    signal = judged("x [9] " + "x " * 60_000 + "The tower opened in 1889 [1].", TOWER)
    assert signal.value == 0.0
    assert "first 100,000 characters" in signal.reason
