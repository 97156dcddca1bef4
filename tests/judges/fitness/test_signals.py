"""The five signals: the worked examples, a table computed by hand, the literal switches, abuse."""

import asyncio
import json
import pickle
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from fourscore import (
    GRADES,
    Case,
    ConfigError,
    Message,
    Signal,
    ToolCall,
    Trace,
    grade_of,
    has_code_block,
    score,
    score_accuracy,
    score_completeness,
    score_structure,
)
from fourscore.judges.fitness.efficiency import Efficiency, Limit
from fourscore.judges.fitness.error_rate import ErrorRate
from fourscore.judges.fitness.output_quality import OutputQuality, StructureScore
from fourscore.judges.fitness.rubric import get_fitness, make_fitness_rubric
from fourscore.judges.fitness.tool_success import ToolSuccessRate
from fourscore.judges.loading import load_judge
from fourscore.judges.rubric_file import read_rubric

TABLE = Path(__file__).parents[2] / "labelled" / "fitness" / "executions.jsonl"
ROWS = [json.loads(line) for line in TABLE.read_text().splitlines()]
RUBRIC = make_fitness_rubric()
YAML = Path(str(import_module(make_fitness_rubric.__module__).__file__)).with_name("fitness.yaml")


def signal(judge: Any, trace: Trace, **case: Any) -> Signal:
    (found,) = asyncio.run(judge.judge(Case(id="t", input="do it", **case), trace))
    assert isinstance(found, Signal)
    return found


def calls(*counts: tuple[str, int | None, int]) -> tuple[ToolCall, ...]:
    return tuple(ToolCall(name=name, exit_code=code) for name, code, n in counts for _ in range(n))


def test_tool_success_rate_of_nine_in_ten() -> None:
    steps = calls(("Read", 0, 5), ("Write", 0, 2), ("Bash", 0, 2), ("Bash", 1, 1))
    found = signal(ToolSuccessRate(), Trace(steps=steps))
    assert found.value == 0.9
    assert found.reason == "1 of 10 calls failed: Bash exit 1"


def test_efficiency_of_half_the_time() -> None:
    found = signal(Efficiency(), Trace(seconds=60.0), complexity="medium")
    assert (found.value, found.reason) == (0.5, "60 s of 120 s for a medium task")


def test_efficiency_of_eight_in_fifteen_tools() -> None:
    found = signal(Efficiency(), Trace(steps=calls(("Read", 0, 8))), complexity="medium")
    assert found.value is not None
    assert round(found.value, 2) == 0.47
    both = Trace(steps=calls(("Read", 0, 8)), seconds=60.0)
    tools = signal(Efficiency(efficiency="tools"), both).value
    assert tools == found.value
    assert signal(Efficiency(efficiency="min"), both).value == tools
    assert signal(Efficiency(efficiency="mean"), both).value == pytest.approx((0.5 + 7 / 15) / 2)
    assert signal(Efficiency(efficiency="time"), both).value == 0.5
    assert signal(Efficiency(), both).value == 0.5


def test_error_rate_of_three_errors() -> None:
    stated_errors = Trace(metadata={"errors": {"tool_fail": 2, "retry": 1}})
    found = signal(ErrorRate(), stated_errors)
    assert found.value == 0.7
    assert found.reason == "3 errors (10 give 0): failed call (2 times), retry"


@pytest.mark.parametrize("row", ROWS, ids=lambda row: str(row["name"]))
def test_matches_hand_computed_table(row: dict[str, Any]) -> None:
    metadata = {"retries": row["retries"], "user_corrections": row["corrections"]}
    steps = calls(*(tuple(line) for line in row["calls"]))
    trace = Trace(steps=steps, seconds=row["seconds"], output=row["output"], metadata=metadata)
    case = Case(id="t", input="x", complexity=row["complexity"], task_type=row["task_type"])
    (found,) = asyncio.run(score(RUBRIC, case, [trace]))
    expected = row["expected"]
    for each in found.signals:
        assert each.value == pytest.approx(expected[each.name], abs=1e-6), each.name
        assert each.reason
    assert found.coverage == pytest.approx(expected["coverage"])
    assert get_fitness(found) == expected["score"]
    assert grade_of(expected["score"]).letter == expected["grade"]


def test_table_covers_all_grades() -> None:
    assert len(ROWS) >= 40
    assert {row["expected"]["grade"] for row in ROWS} == {grade.letter for grade in GRADES}


def test_rubric_weights_match_formula() -> None:
    weights = {line.name: line.weight for line in RUBRIC.dimensions}
    assert weights == {
        "tool_success_rate": 0.35,
        "output_quality": 0.25,
        "efficiency": 0.20,
        "error_rate": 0.15,
        "structure_score": 0.05,
    }


@pytest.mark.parametrize(
    ("points", "letter"),
    [
        (100, "A+"),
        (90, "A+"),
        (89.99, "A"),
        (80, "A"),
        (79.99, "B"),
        (70, "B"),
        (60, "C"),
        (59.99, "D"),
        (50, "D"),
        (49.99, "F"),
        (0, "F"),
    ],
)
def test_grades_start_at_their_lower_bound(points: float, letter: str) -> None:
    assert grade_of(points).letter == letter


def test_grades_give_advice() -> None:
    text = {grade.letter: f"{grade.interpretation} {grade.advice}".lower() for grade in GRADES}
    assert "seldom" in text["A+"]
    assert "mutation" in text["C"]
    assert "mutation" in text["D"]
    assert "rolling back" in text["F"]


# What does not apply, and the literal switches.


def test_tool_signals_do_not_apply_without_calls() -> None:
    trace = Trace(output="Paris.", steps=(Message(role="user", content="?"),))
    (found,) = asyncio.run(score(RUBRIC, Case(id="t", input="x"), [trace]))
    values = {each.name: each.value for each in found.signals}
    assert values["tool_success_rate"] is None
    assert values["efficiency"] is None
    assert values["error_rate"] == 1.0
    assert found.coverage == pytest.approx(0.45)


def test_no_signal_applies_to_empty_trace() -> None:
    (found,) = asyncio.run(score(RUBRIC, Case(id="t", input="x"), [Trace()]))
    assert (found.status, found.value) == ("skipped", None)


def test_missing_exit_option() -> None:
    steps = calls(("Read", 0, 3), ("Bash", None, 1))
    assert signal(ToolSuccessRate(), Trace(steps=steps)).value == 1.0
    literal = signal(ToolSuccessRate(missing_exit="fail"), Trace(steps=steps))
    assert literal.value == 0.75
    assert "1 without an exit code count as failed" in literal.reason
    assert signal(ErrorRate(missing_exit="fail"), Trace(steps=steps)).value == 0.9


def test_record_without_exit_code_leaves_success_rate() -> None:
    steps = (
        ToolCall(name="Read", exit_code=0, result="fine"),
        ToolCall(name="Bash", result="fine"),
        ToolCall(name="Bash", result="ValueError: no"),
        ToolCall(name="Edit", error="success is false"),
    )
    trace = Trace(steps=steps, metadata={"exit_codes": True})
    rate = signal(ToolSuccessRate(), trace)
    assert rate.value == 1.0
    assert "3 without an exit code are left out" in rate.reason
    assert signal(ToolSuccessRate(missing_exit="fail"), trace).value == 0.25
    # What they say of themselves are errors all the same: two, or three where none may be missing.
    assert signal(ErrorRate(), trace).value == 0.8
    assert "Bash: ValueError: no" in signal(ErrorRate(), trace).reason
    assert signal(ErrorRate(errors="literal"), trace).value == 0.8
    assert signal(ErrorRate(missing_exit="fail"), trace).value == 0.7
    assert signal(ErrorRate(missing_exit="fail", errors="literal"), trace).value == 0.7


def test_checks_requested_format() -> None:
    judge, trace = OutputQuality(), Trace(output="Sure! Here you go: [1, 2]")
    case = Case(id="t", input="List the ids. Reply with JSON only.")
    free, asked = Case(id="t", input="List the ids."), [{"role": "user", "content": case.input}]
    stated_errors = Case(id="t", input=[{"role": "system", "content": "x"}, *asked])
    values = []
    for each in (case, stated_errors, free, Case(id="t", input={"a": 1})):
        (found,) = asyncio.run(judge.judge(each, trace))
        values.append(("asked for: " in found.reason, found.value or 0.0))
    assert [broken for broken, _ in values] == [True, True, False, False]
    assert values[0] == values[1]
    assert values[0][1] < values[2][1] == values[3][1]


def test_result_without_exit_code_is_success() -> None:
    good, bad = ToolCall(name="f", result="42"), ToolCall(name="f", result="Error: no such user")
    assert signal(ToolSuccessRate(), Trace(steps=(good, bad))).value == 0.5


def test_error_in_output_fails_call_with_exit_zero() -> None:
    text = "Traceback (most recent call last):\n  File 'x'\nValueError: no"
    trace = Trace(steps=(ToolCall(name="Bash", exit_code=0, result=text),))
    found = signal(ToolSuccessRate(), trace)
    assert found.value == 0.0
    assert "Traceback" in found.reason


def test_failure_seen_twice_counts_once() -> None:
    call = ToolCall(name="Bash", exit_code=1, result="ValueError: no", arguments={"a": 1})
    assert signal(ErrorRate(), Trace(steps=(call,))).value == 0.9
    assert signal(ErrorRate(errors="literal"), Trace(steps=(call,))).value == 0.8
    again = ToolCall(name="Bash", exit_code=0, arguments={"a": 1})
    assert signal(ErrorRate(), Trace(steps=(call, again))).value == 0.8  # the retry is another


def test_completeness_without_coding() -> None:
    whole = "It is 42, because six times seven is 42. Next steps: I recommend a check."
    assert score_completeness(whole, "research") == 1.0
    assert score_completeness(whole, "research", "literal") == 0.7
    assert score_completeness(whole, "coding") == 0.7


def test_accuracy_without_code() -> None:
    assert score_accuracy("Paris is the capital of France.") == 1.0
    assert score_accuracy("") == 0.0
    assert score_accuracy("ValueError: no") == 0.5
    assert score_accuracy("ValueError: no", "literal") == 0.7


def test_structure_by_markdown_and_literal_patterns() -> None:
    assert score_structure("# A\n\n- b\n\n```\nc\n```\n") == 1.0
    hidden = "```\n# no header\n- no list\n```\n"
    assert score_structure(hidden) == 0.3
    assert score_structure(hidden, "literal") == 1.0
    assert score_structure("5 apples") == 0.0
    assert score_structure("5 apples", "literal") == 0.3
    for item in ("- a", "* a", "+ a", "1. a", "1) a", "  - a"):
        assert score_structure(item) == 0.3, item
    assert has_code_block("~~~\na\n~~~")
    assert not has_code_block("no `code` block")


def test_limits_of_rubric_override_those_of_log() -> None:
    trace = Trace(seconds=60.0, metadata={"max_expected": {"time": 240, "tools": 5}})
    assert signal(Efficiency(), trace).value == 0.75
    own = Efficiency(limits={"medium": Limit(time=80.0)})
    assert signal(own, trace).value == 0.25
    assert signal(Efficiency(), Trace(seconds=60.0), complexity="epic").value == 0.5


def test_rejects_unknown_options() -> None:
    judge = load_judge(
        "efficiency", None, {"efficiency": "min", "limits": {"simple": {"time": 10}}}
    )
    assert judge.limits["simple"].time == 10
    with pytest.raises(ConfigError, match="efficiency"):
        load_judge("efficiency", None, {"efficiency": "fast"})
    with pytest.raises(ConfigError, match="did you mean missing_exit"):
        load_judge("tool_success_rate", None, {"missing_exits": "fail"})


@pytest.mark.parametrize(
    "judge",
    [ToolSuccessRate(), OutputQuality(), Efficiency(), ErrorRate(), StructureScore()],
    ids=lambda judge: str(judge.names[0]),
)
def test_judges_pickle(judge: Any) -> None:
    assert pickle.loads(pickle.dumps(judge)) == judge
    assert judge.runs == "inline"


@pytest.mark.parametrize(
    "text",
    ["# " * 50_000, "> " * 50_000, "- " * 50_000, "`" * 100_000, "[" * 100_000, "#\n" * 50_000],
    ids=repr,
)
def test_hostile_markdown_terminates(text: str) -> None:
    assert 0.0 <= score_structure(text) <= 1.0
    assert 0.0 <= score_accuracy(text) <= 1.0


def test_rubric_equals_fitness_yaml() -> None:
    written = read_rubric(str(YAML))
    assert written == RUBRIC
    assert written.provenance == RUBRIC.provenance


def test_broken_code_without_a_fence_costs_the_syntax_part_where_taken_literally() -> None:
    assert score_accuracy("def f(:\n    return", accuracy="literal") == pytest.approx(0.6)
    assert score_accuracy("def f():\n    return 1", accuracy="literal") == pytest.approx(1.0)
    assert score_accuracy("It is seven.", accuracy="literal") == pytest.approx(1.0)
