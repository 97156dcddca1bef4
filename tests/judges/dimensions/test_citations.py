"""`citation_accuracy`: what a citation earns, what is missing, and what earns nothing."""

import asyncio
import json
import pickle
import time
from pathlib import Path
from typing import Any

import pytest

from rubrica.core import Case, CaseError, Signal, ToolCall, Trace
from rubrica.core.levels import FLOORS
from rubrica.judges.dimensions.citations import CitationAccuracy

LABELLED = Path(__file__).parents[2] / "labelled" / "citation_accuracy"
ORDER = list(FLOORS)
TOWER = {"id": 1, "url": "https://a.org/t", "text": "The tower opened in 1889. It is 330 m tall."}
HONEY = {"id": 2, "url": "https://b.org/h", "text": "Bees make honey from nectar of flowers."}
ASKED = "Tell me about the tower. Cite sources."


def judged(
    output: Any,
    *sources: dict[str, Any],
    question: Any = ASKED,
    steps: tuple[ToolCall, ...] = (),
    judge: CitationAccuracy | None = None,
) -> Signal:
    case = Case(id="x", input=question, expected={"sources": list(sources)} if sources else None)
    trace = Trace(output=output, steps=steps)
    (signal,) = asyncio.run((judge or CitationAccuracy()).judge(case, trace))
    for piece in signal.evidence:
        assert piece.field == "output"
        assert piece.start is not None
        assert piece.text == trace.answer[piece.start : piece.end]
    return signal


def test_right() -> None:
    signal = judged("The tower opened in 1889 [1]. Bees make honey [2].", TOWER, HONEY)
    assert (signal.value, signal.level) == (1.0, "excellent")
    assert signal.reason.startswith("2 of 2 citations are right")


@pytest.mark.parametrize(
    ("output", "value", "word"),
    [
        ("The tower opened in 1899 [1].", 0.0, "1899"),
        ("The tower opened in 1889 [7].", 0.0, "no source has this number"),
        ("The tower opened in 1889 (https://a.org/other).", 0.0, "address"),
        ("The tower opened in 1889 (Smith, 2001).", 0.0, "authors"),
        ("Bees make honey [1].", 0.0, "unsupported"),
        ('It "opened in the year of 1889" [1].', 0.0, "misquoted"),
        ('It says "the tower, opened in 1889" [1].', 0.8, "flawed"),
        ("The tower opened in 1889 [1][2].", 0.5, "[2]"),
        ("The tower opened in 1889. Bees make honey.\n\nSources: [1][2]", 0.5, "partial"),
        ("The tower opened in 1889. Bees make honey. [1][2]", 0.75, "earlier sentence"),
        ("The tower opened in 1889 [1]. Bees make honey from nectar.", 1 / 1.5, "missing"),
    ],
)
def test_what_is_wrong_is_named(output: str, value: float, word: str) -> None:
    signal = judged(output, TOWER, HONEY)
    assert signal.value == pytest.approx(value)
    assert word in signal.reason
    assert signal.evidence


def test_kinds_are_reported_apart() -> None:
    text = (
        "It opened in 1889 [1]. It is 400 m tall [1]. It is red [9]. Bees make honey from nectar."
    )
    reason = judged(text, TOWER, HONEY).reason
    assert "1 dangling" in reason
    assert "1 unsupported" in reason
    assert "1 missing" in reason


def test_one_citation_at_the_end_of_a_paragraph_vouches_for_all_of_it() -> None:
    assert judged("The tower opened in 1889. It is 330 m tall [1].", TOWER).value == 1.0


def test_nothing_cited() -> None:
    given = judged("The tower opened in 1889.", TOWER, question="When?")
    asked = judged("The tower opened in 1889.", question="When? 请注明出处")
    used = judged(
        "The tower opened in 1889 and is 330 m tall.",
        question="When?",
        steps=(ToolCall(name="fetch", result=TOWER),),
    )
    for signal in (given, asked, used, judged("", TOWER)):
        assert (signal.value, signal.level) == (0.0, "failed")
    assert judged("The tower opened in 1889.", question="When?").value is None
    unused = judged("Hello!", question="Hi", steps=(ToolCall(name="fetch", result=TOWER),))
    assert unused.value is None


def test_what_cannot_be_checked_is_dangling_and_said_so() -> None:
    signal = judged("The tower opened in 1889 (https://a.org/t).")
    assert signal.value == 0.0
    assert "no sources in the case or the trace" in signal.reason
    assert "confidence: low" in signal.reason


def test_a_source_without_text_can_only_be_pointed_to() -> None:
    signal = judged("The tower opened in 1889 [1].", {"id": 1, "url": "https://a.org"})
    assert signal.value == 1.0
    assert "confidence: low" in signal.reason


def test_weights_are_options() -> None:
    judge = CitationAccuracy(missing=1.0)
    text = "The tower opened in 1889 [1]. Bees make honey from nectar."
    assert judged(text, TOWER, HONEY, judge=judge).value == 0.5
    with pytest.raises(ValueError, match="partial"):
        CitationAccuracy(partial=2)
    assert pickle.loads(pickle.dumps(judge)) == judge
    assert (judge.names, judge.runs) == (("citation_accuracy",), "inline")


@pytest.mark.parametrize("sources", [5, "x", [{"id": 1, "text": 3}], [{"url": ["x"]}]])
def test_a_broken_case_is_no_zero(sources: Any) -> None:
    case = Case(id="x", input="q", expected={"sources": sources})
    with pytest.raises(CaseError, match="sources"):
        asyncio.run(CitationAccuracy().judge(case, Trace(output="x [1]")))


# Attacks


def test_copying_a_right_citation_earns_nothing() -> None:
    once = "The tower opened in 1889 [1]. It is 400 m tall [1]."
    fair = judged(once, TOWER, HONEY).value
    many = "The tower opened in 1889 [1]. " * 1000 + "It is 400 m tall [1]."
    varied = "".join(f"The tower opened in 1889, as noted {n} [1]. " for n in "abcdefgh")
    spread = "\n\n".join(["- The tower opened in 1889 [1]"] * 50) + "\n\nIt is 400 m tall [1]."
    assert fair == 0.5
    for text in (many, spread, f"{varied} It is 400 m tall [1]."):
        assert judged(text, TOWER, HONEY).value == fair
    assert judged("The tower opened in 1889 " + "[1]" * 500, TOWER, HONEY).value == 1.0


def test_sources_that_only_the_output_names_are_none() -> None:
    text = (
        "The moon is made of cheese [1].\n\nReferences\n"
        "[1] https://cheese.org: The moon is made of cheese."
    )
    assert judged(text).value == 0.0
    assert judged(text, TOWER).value == 0.0
    # Nor are those it asked a tool for without getting anything.
    failed = ToolCall(name="fetch", arguments={"url": "https://cheese.org"}, error="404")
    assert judged(text, steps=(failed,)).value == 0.0


def test_markers_on_everything_earn_nothing() -> None:
    assert judged("The tower is nice [1][2][3][4][5][6][7][8].", TOWER, HONEY).level == "failed"


def test_the_question_with_markers_earns_nothing() -> None:
    question = "How tall is the tower that opened in 1889? Cite sources."
    pasted = "How tall is the tower that opened in 1889 [1]? Cite sources [1]."
    assert judged(pasted, TOWER, question=question).value == 0.0


def test_citations_in_code_and_images_are_none() -> None:
    text = "```\nThe tower opened in 1889 [1].\n```\n![x](https://a.org/t) `The tower [1]`"
    assert judged(text, TOWER).value == 0.0


def test_what_stands_beyond_the_limit_earns_nothing() -> None:
    signal = judged("x " * 60_000 + "The tower opened in 1889 [1].", TOWER)
    assert signal.value == 0.0
    assert "first 100,000 characters" in signal.reason


@pytest.mark.parametrize(
    "piece",
    [
        "[1]",
        "[[1]",
        "[1-999]",
        "The tower opened in 1889 [1]. ",
        "see see ",
        "“ab",
        "a,",
        "not ",
        "tower and ",
        "| a [1] | b |\n",
        "References:\n[1] http://a.org/t\n",
        "[^a] ",
        "1889 ",
        "不",
    ],
)
def test_hostile_outputs_are_judged_in_time(piece: str) -> None:
    text = piece * (10_000_000 // len(piece)) if piece == "[1]" else piece * (100_000 // len(piece))
    began = time.process_time()
    judged(f"{text}The tower opened in 1889 [1].", TOWER, HONEY)
    assert time.process_time() - began < 10


# Labels


def _levels(name: str) -> list[tuple[str, str, str]]:
    found = []
    for line in (LABELLED / name).read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        case = Case(id=row["id"], input=row["input"], expected=row["expected"])
        steps = tuple(ToolCall(**step) for step in row.get("steps", ()))
        trace = Trace(output=row["output"], steps=steps)
        (signal,) = asyncio.run(CitationAccuracy().judge(case, trace))
        found.append((row["id"], row["level"], signal.level))
    return found


def _check(name: str, exact: float) -> None:
    levels = _levels(name)
    missed = [item for item in levels if item[1] != item[2]]
    far = [
        item
        for item in missed
        if not item[2] or abs(ORDER.index(item[1]) - ORDER.index(item[2])) > 1
    ]
    assert len(missed) <= (1 - exact) * len(levels), missed
    assert len(far) <= 0.05 * len(levels), far


def test_worked_labels() -> None:
    _check("worked.jsonl", 0.85)
