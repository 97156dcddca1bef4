"""The default rubric, and what a file can change about it."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

import fourscore
from fourscore import Case, Score, ToolCall, Trace, score
from fourscore.core.levels import LEVELS
from fourscore.judges.dimensions.research_rubric import read_research_rubric
from fourscore.judges.rubric_file import RESEARCH, read_rubric

WEIGHTS = {
    "factual_accuracy": 0.30,
    "completeness": 0.25,
    "citation_accuracy": 0.15,
    "source_quality": 0.10,
    "tool_efficiency": 0.20,
}
CASE = Case(
    input="When did the Kestrel bridge open, and who designed it? Cite your sources.",
    expected={
        "claims": [
            {"text": "The Kestrel bridge opened in 1931.", "weight": 2},
            {"text": "It was designed by Ada Moreau."},
        ],
        "aspects": ["opening date", "designer"],
        "sources": [
            {
                "id": 1,
                "url": "https://www.gov.uk/kestrel-bridge",
                "text": "The Kestrel bridge opened in 1931. It was designed by Ada Moreau.",
            }
        ],
        "tools": {"expected": ["search"], "max_calls": 2},
    },
)
GOOD = Trace(
    output="The Kestrel bridge opened in 1931 [1]. It was designed by Ada Moreau [1].",
    steps=(ToolCall(name="search", arguments={"q": "Kestrel bridge"}, result="found"),),
)
BAD = Trace(output="Bridges are interesting.")


def judged(rubric: fourscore.Rubric, trace: Trace, case: Case = CASE) -> Score:
    (given,) = asyncio.run(score(rubric, case, [trace]))
    return given


def test_research_rubric_has_the_specified_weights_and_levels() -> None:
    rubric = read_research_rubric()
    assert {line.name: line.weight for line in rubric.dimensions} == WEIGHTS
    assert all(dict(line.levels) == dict(LEVELS) for line in rubric.dimensions)
    assert rubric.pass_threshold == 0.7
    assert rubric.is_bounded  # no executor need watch over rules


def test_evaluation_dimensions_equal_the_rubric() -> None:
    lines = fourscore.EVALUATION_DIMENSIONS
    assert lines is fourscore.EVALUATION_RUBRIC
    assert {name: line["weight"] for name, line in lines.items()} == WEIGHTS
    for line in lines.values():
        assert line["levels"] == dict(LEVELS)
        assert line["description"]
        assert list(line["level_descriptions"]) == list(LEVELS)
        for words in line["level_descriptions"].values():
            assert set(words) == {"en", "zh"}
            assert words["en"].isascii()
            assert not words["zh"].isascii()
    texts = [
        text
        for line in lines.values()
        for words in line["level_descriptions"].values()
        for text in words.values()
    ]
    assert len(set(texts)) == 50


def test_a_good_answer_passes_and_a_bad_one_fails() -> None:
    good, bad = judged(read_research_rubric(), GOOD), judged(read_research_rubric(), BAD)
    assert good.passed is True
    assert {signal.name for signal in good.signals} == set(WEIGHTS)
    assert all(signal.level and signal.reason for signal in good.signals)
    assert bad.passed is False
    assert good.value is not None
    assert bad.value is not None
    assert good.value > 0.9 > 0.3 > bad.value


def test_evaluation_runner_accepts_evaluation_dimensions() -> None:
    class Agent:
        def run(self, asked: Any) -> Any:
            return {"output": GOOD.output, "steps": list(GOOD.steps)}

    tests = fourscore.TestSet("bridges")
    tests.add_test({"input": CASE.input, "expected": CASE.expected})
    runner = fourscore.EvaluationRunner(tests, fourscore.EVALUATION_RUBRIC, Agent())
    summary = runner.run_all()
    assert summary["passed"] == 1
    assert set(summary["dimension_averages"]) == set(WEIGHTS)
    values = runner.results[0]["evaluation"]["dimension_scores"]
    overall = runner.results[0]["evaluation"]["overall_score"]
    assert overall == pytest.approx(
        fourscore.calculate_overall_score(values, fourscore.EVALUATION_RUBRIC)
    )


def test_evaluate_output_scores_only_applicable_dimensions() -> None:
    given = fourscore.evaluate_output(GOOD.output, CASE.expected, fourscore.EVALUATION_RUBRIC)
    assert given["passed"] is True
    nothing = fourscore.evaluate_output("Hello.", {}, fourscore.EVALUATION_RUBRIC)
    assert nothing["overall_score"] is None  # there is nothing to hold it against


def changed(folder: Path, *lines: str, without: str = "", **files: str) -> fourscore.Rubric:
    """A copy of the default rubric without a dimension and with other lines at its end."""
    parts = Path(RESEARCH).read_text().split("\n  ")
    kept, dropping = [], False
    for part in parts:
        if not part.startswith(" "):
            dropping = bool(without) and part.startswith(f"{without}:")
        if not dropping:
            kept.append(part)
    (folder / "rubric.yaml").write_text("\n  ".join(kept).rstrip() + "\n" + "\n".join(lines))
    for name, text in files.items():
        (folder / f"{name}.py").write_text(text)
    return read_rubric(str(folder / "rubric.yaml"))


def test_a_dimension_can_be_removed(tmp_path: Path) -> None:
    rubric = changed(tmp_path, without="tool_efficiency")
    assert [line.name for line in rubric.dimensions] == list(WEIGHTS)[:-1]
    good = judged(rubric, Trace(output=GOOD.output))
    assert good.passed is True
    assert good.coverage == pytest.approx(1.0)


def test_a_users_dimension_can_be_added(tmp_path: Path) -> None:
    rubric = changed(
        tmp_path,
        "  house_style: {weight: 0.5, judge: checks.py->house_style, levels: {fine: 1, off: 0}}",
        checks="""
from fourscore import judge

@judge
def house_style(case, trace):
    return "!" not in trace.answer
""",
    )
    good = judged(rubric, GOOD)
    style = next(signal for signal in good.signals if signal.name == "house_style")
    assert (style.value, style.level) == (1.0, "fine")
    loud = judged(rubric, Trace(output=GOOD.output + " Wow!", steps=GOOD.steps))
    assert loud.value is not None
    assert good.value is not None
    assert loud.value < good.value


def test_the_math_judge_can_be_a_dimension(tmp_path: Path) -> None:
    rubric = changed(tmp_path, "  answer: {weight: 0.2, judge: math}")
    case = Case(input=CASE.input, expected={**CASE.expected, "answer": "1931"})
    boxed = Trace(output=GOOD.output + " \\boxed{1931}", steps=GOOD.steps)
    assert {s.name: s.value for s in judged(rubric, boxed, case).signals}["answer"] == 1.0
    assert {s.name: s.value for s in judged(rubric, GOOD, case).signals}["answer"] == 0.0


def test_a_gate_fails_the_case_outright(tmp_path: Path) -> None:
    text = Path(RESEARCH).read_text()
    gated = text.replace("    judge: tool_efficiency", "    judge: tool_efficiency\n    gate: 0.5")
    (tmp_path / "rubric.yaml").write_text(gated)
    rubric = read_rubric(str(tmp_path / "rubric.yaml"))
    assert judged(rubric, GOOD).passed is True
    lazy = judged(rubric, Trace(output=GOOD.output))  # it never used the tool it was to use
    assert lazy.passed is False
    assert lazy.reward == 0.0
    assert "tool_efficiency" in lazy.reason
    assert judged(read_research_rubric(), Trace(output=GOOD.output)).passed is True


@pytest.mark.parametrize(
    ("question", "expected", "right", "wrong"),
    [
        ("What is the capital of France?", "Paris", "It is Paris.", "It is Lyon."),
        ("How many legs has a spider?", 8, "A spider has eight legs.", "A spider has six legs."),
        ("法国的首都是哪里？", "巴黎", "法国的首都是巴黎。", "法国的首都是里昂。"),
    ],
)
def test_a_plain_question_with_an_expected_answer_is_scored(
    question: str, expected: Any, right: str, wrong: str
) -> None:
    case = Case(input=question, expected=expected)
    traces = [Trace(output=right), Trace(output=wrong)]
    good, bad = asyncio.run(score(read_research_rubric(), case, traces))
    assert (good.status, good.passed) == (fourscore.Status.SCORED, True)
    assert (bad.status, bad.passed) == (fourscore.Status.SCORED, False)
    assert good.coverage == bad.coverage == pytest.approx(0.3)
