"""A run's summary: what counts, in any order, in little memory."""

import json
import random
import tracemalloc
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fourscore.core import Case, Fault, Score, Signal, Status, Trace, Usage
from fourscore.stats.intervals import wilson
from fourscore.stats.summary import FAILURES, GROUPS, Summary

TAU = json.loads((Path(__file__).parent / "data" / "tau_airline.json").read_text())["successes"]
Row = tuple[Case, int, Score]


def scored(value: float, passed: bool | None = None, **signals: float | None) -> Score:
    return Score(
        status=Status.SCORED,
        value=value,
        passed=value >= 0.7 if passed is None else passed,
        reward=value,
        coverage=1.0,
        signals=tuple(Signal(name=name, value=each) for name, each in signals.items()),
    )


def failed(status: Status = Status.AGENT_ERROR) -> Score:
    return Score(status=status, value=0.0, passed=False, reward=0.0)


def unmeasured(name: str) -> Signal:
    return Signal(name=name, fault=Fault(kind="error", message="broken"))


def case(name: str, *tags: str, complexity: str | None = None) -> Case:
    return Case(id=name, input="?", tags=tags, complexity=complexity)


def summed(rows: list[Row], **options: Any) -> dict[str, Any]:
    summary = Summary(**options)
    for each, repeat, score in rows:
        summary.add(each, repeat, score)
    return summary.document()


def test_specified_keys_come_first() -> None:
    found = summed([(case("a"), 0, scored(1.0, accuracy=1.0)), (case("b"), 0, scored(0.5))])
    keys = ["total_tests", "passed", "failed", "pass_rate", "dimension_averages", "failures"]
    assert list(found)[:6] == keys
    assert [found[key] for key in keys] == [2, 1, 1, 0.5, {"accuracy": 1.0}, found["failures"]]
    assert found["failures"] == [{"id": "b", "repeat": 0}]


def test_counts_scored_rows_and_agent_failures() -> None:
    """The agent's failures are zeros; what was not measured stands beside the rate."""
    rows: list[Row] = [
        (case("a"), 0, scored(0.9, accuracy=0.9, style=None)),
        (case("b"), 0, scored(0.8, accuracy=0.8, style=0.4)),
        (case("c"), 0, failed()),
        (case("d"), 0, failed(Status.TIMEOUT)),
        (
            case("e"),
            0,
            Score(
                status=Status.JUDGE_ERROR,
                signals=(Signal(name="style", value=1.0), unmeasured("accuracy")),
            ),
        ),
        (case("f"), 0, Score(status=Status.SKIPPED, coverage=0.2)),
        (case("g"), 0, Score(status=Status.REFUSED)),
        (case("h"), 0, Score(status=Status.CANCELLED)),
    ]
    found = summed(rows, planned=10, dimensions=["style", "accuracy", "never"])
    assert (found["total_tests"], found["passed"], found["failed"]) == (4, 2, 2)
    assert found["pass_rate"] == 0.5
    assert found["pass_rate_interval"] == list(wilson(2, 4))
    assert found["statuses"] == {
        "scored": 2,
        "agent_error": 1,
        "timeout": 1,
        "judge_error": 1,
        "refused": 1,
        "cancelled": 1,
        "skipped": 1,
    }
    assert (found["planned"], found["unmeasured"], found["not_run"]) == (10, 4, 2)
    assert (found["average_score"], found["average_score_n"]) == (pytest.approx(1.7 / 4), 4)
    assert found["dimension_averages"] == {"style": 0.7, "accuracy": pytest.approx(0.85)}
    lines = found["dimensions"].values()
    assert [(line["n"], line["not_measured"]) for line in lines] == [(2, 0), (2, 1), (0, 0)]
    assert found["dimensions"]["never"]["average"] is None
    assert found["coverage"] == 1.0
    assert [line["id"] for line in found["failures"]] == ["c", "d"]


def test_nothing_measured_is_null_never_0() -> None:
    for rows in ([], [(case("a"), 0, Score(status=Status.JUDGE_ERROR))]):
        found = summed(rows, planned=1)
        assert found["total_tests"] == 0
        empty = ("pass_rate", "pass_rate_interval", "average_score", "coverage", "pass_rate_error")
        assert [found[key] for key in empty] == [None] * 5
        assert found["dimension_averages"] == {}


def test_rankings_are_left_out() -> None:
    """They have no value outside of their group."""
    rank = Signal(name="rank", value=1.0, relative=True)
    ranked = Score(status=Status.SCORED, passed=True, reward=1.0, coverage=1.0, signals=(rank,))
    found = summed([(case("a"), 0, ranked)])
    assert (found["passed"], found["average_score"], found["dimensions"]) == (1, None, {})


def test_tags_and_complexity() -> None:
    rows: list[Row] = [
        (case("a", "hard", "billing", "hard"), 0, scored(1.0)),
        (case("b", "hard", complexity="very_complex"), 0, scored(0.0)),
        (case("c", complexity="odd"), 0, scored(1.0)),
        (case("d", "hard", complexity="simple"), 0, Score(status=Status.SKIPPED)),
    ]
    found = summed(rows)
    assert list(found["by_tag"]) == ["billing", "hard"]
    assert found["by_tag"]["hard"] == {
        "total_tests": 2,
        "passed": 1,
        "pass_rate": 0.5,
        "pass_rate_interval": list(wilson(1, 2)),
    }
    assert list(found["by_complexity"]) == ["medium", "very_complex", "odd"]
    assert found["groups_left_out"] is False


@pytest.mark.parametrize("status", [each for each in Status if not each.measured])
@pytest.mark.parametrize("repeats", [1, 3])
def test_measured_dimensions_count_whatever_became_of_the_row(status: Status, repeats: int) -> None:
    half = Score(status=status, signals=(Signal(name="a", value=0.5), unmeasured("b")))
    rows: list[Row] = [
        *((case("x"), repeat, half) for repeat in range(repeats)),
        *((case("y"), repeat, scored(1.0, a=1.0, b=1.0)) for repeat in range(repeats)),
    ]
    found = summed(rows, repeats=repeats)
    assert found["total_tests"] == repeats
    a, b = found["dimensions"]["a"], found["dimensions"]["b"]
    assert (a["average"], a["n"], a["not_measured"]) == (0.75, 2 * repeats, 0)
    assert (b["average"], b["n"], b["not_measured"]) == (1.0, repeats, repeats)
    assert summed(rows, repeats=repeats, dimensions=["b", "a"])["dimensions"] == {"b": b, "a": a}


def test_repeats_on_tau_bench() -> None:
    """The golden numbers again, through the whole accumulator."""
    rows: list[Row] = [
        (case(f"task-{i}", "airline"), repeat, scored(float(repeat < successes)))
        for i, successes in enumerate(TAU)
        for repeat in range(4)
    ]
    found = summed(rows, planned=200, repeats=4)
    hats = [line["rate"] for line in found["pass^k"].values()]
    assert hats == pytest.approx([0.420, 0.273, 0.220, 0.200], abs=5e-4)
    assert list(found["pass@k"]) == ["1", "2", "3", "4"]
    assert found["pass@k"]["4"]["rate"] == sum(s > 0 for s in TAU) / 50
    assert found["pass_rate_error"] == pytest.approx(0.052216, abs=5e-7)
    assert found["average_score_error"] == pytest.approx(0.052216, abs=5e-7)
    assert found["by_tag"]["airline"]["pass_rate_interval"] == found["pass_rate_interval"]
    assert (found["cases"], found["total_tests"], found["repeats"]) == (50, 200, 4)
    assert "pass^k" not in summed(rows[::4])


def test_an_unfinished_run_with_repeats() -> None:
    """Open cases count with what they have; an attempt that was not judged is no attempt."""
    rows: list[Row] = [
        (case("a"), 0, scored(1.0, accuracy=1.0)),
        (case("a"), 1, scored(0.5, accuracy=0.5)),
        (case("a"), 2, Score(status=Status.JUDGE_ERROR)),
        (case("b"), 0, scored(0.0, accuracy=0.0)),
    ]
    found = summed(rows, planned=6, repeats=3)
    assert (found["not_run"], found["cases"], found["pass_rate"]) == (2, 2, pytest.approx(1 / 3))
    assert found["pass^k"]["1"]["rate"] == 0.25
    assert (found["pass^k"]["2"]["cases"], found["pass^k"]["3"]["rate"]) == (1, None)
    # Residuals 0.5 and -0.5 of the two cases' sums: √(2 · 0.5 / 9)
    assert found["dimensions"]["accuracy"]["error"] == pytest.approx(1 / 3)
    assert found["average_score_error"] == pytest.approx(1 / 3)
    assert summed(rows, planned=6, repeats=3) == found


marks = st.sampled_from(["pass", "near", "fail", "crash", "unjudged", "skip"])


def of_mark(mark: str, value: float) -> Score:
    if mark == "crash":
        return failed()
    if mark in ("unjudged", "skip"):
        signals = (Signal(name="b", value=value), unmeasured("a")) if value < 0.5 else ()
        status = Status.JUDGE_ERROR if mark == "unjudged" else Status.SKIPPED
        return Score(status=status, signals=signals)
    return scored(value, mark == "pass", a=value, **({} if mark == "near" else {"b": value / 3}))


@settings(max_examples=50)
@given(
    st.lists(st.tuples(marks, st.floats(0, 1)), max_size=40), st.sampled_from([1, 4]), st.randoms()
)
def test_any_order_gives_the_same_bytes(
    drawn: list[tuple[str, float]], repeats: int, rng: random.Random
) -> None:
    rows: list[Row] = []
    for i, (mark, value) in enumerate(drawn):
        of = case(f"c{i // repeats}", f"t{i // repeats % 3}", complexity="simple")
        rows.append((of, i % repeats, of_mark(mark, value)))
    first = msgspec.json.encode(summed(rows, repeats=repeats))
    rng.shuffle(rows)
    assert msgspec.json.encode(summed(rows, repeats=repeats)) == first
    found = msgspec.json.decode(first)
    assert found["planned"] == sum(found["statuses"].values()) == len(rows)
    assert found["total_tests"] == found["passed"] + found["failed"]
    assert found["total_tests"] + found["unmeasured"] == found["planned"]


def test_document_can_be_read_before_the_run_ends() -> None:
    rows: list[Row] = [(case(f"c{i % 5}"), i // 5, scored(i / 14)) for i in range(15)]
    summary = Summary(repeats=3)
    for row in rows:
        summary.add(*row)
        assert summary.document() == summary.document()
    assert summary.document() == summed(rows, repeats=3)


@pytest.mark.parametrize("step", [1, -1])
def test_too_many_failures_and_tags_keep_the_first_by_name(step: int) -> None:
    n = 3 * GROUPS
    rows: list[Row] = [(case(f"{i:06}", f"t{i:06}", "all"), 0, scored(0.0)) for i in range(n)]
    found = summed(rows[::step])
    assert [line["id"] for line in found["failures"]] == [f"{i:06}" for i in range(FAILURES)]
    assert found["failures_left_out"] == n - FAILURES
    assert list(found["by_tag"]) == ["all", *(f"t{i:06}" for i in range(GROUPS - 1))]
    assert found["by_tag"]["all"]["total_tests"] == n
    assert found["groups_left_out"] is True


def test_cost_and_time() -> None:
    summary = Summary()
    cost = Usage(calls=1, input_tokens=10, dollars=0.1)
    judged = msgspec.structs.replace(scored(1.0), cost=cost)
    trace = Trace(output="x", seconds=0.5, usage=Usage(calls=2, output_tokens=7, dollars=0.2))
    summary.add(case("a"), 0, judged, trace)
    summary.add(case("b"), 0, judged, Trace(output="x", seconds=1.5))
    summary.add(case("c"), 0, failed(), Trace(fault=Fault("error", "no")))
    found = summary.document()
    judges = {"calls": 2, "input_tokens": 20, "output_tokens": 0, "dollars": 0.2}
    agent = {"calls": 2, "input_tokens": 0, "output_tokens": 7, "dollars": 0.2}
    assert found["cost"] == {"agent": agent, "judges": judges}
    assert found["time"] == {"n": 2, "seconds": 2.0, "mean": 1.0, "longest": 1.5}
    assert list(found)[-3:] == ["run_facts", "cost", "time"]


def test_absurd_costs_do_not_break_the_document() -> None:
    summary = Summary()
    usage = Usage(calls=2**63 - 1, dollars=1.7e308)
    for name in "abc":
        trace = Trace(output="x", seconds=1.7e308, usage=usage)
        summary.add(case(name), 0, scored(5e-324), trace)
    found = msgspec.json.decode(msgspec.json.encode(summary.document()))
    assert found["cost"]["agent"]["calls"] == 2**63 - 1
    assert found["cost"]["agent"]["dollars"] == pytest.approx(1.797e308, rel=1e-3)
    assert found["time"]["mean"] == pytest.approx(1.7e308)


@pytest.mark.parametrize("repeats", [1, 4])
def test_memory_does_not_grow_with_the_run(repeats: int) -> None:
    """Rows that come case by case, as a store gives them."""
    score = scored(0.5, a=0.5, b=0.5)

    def feed(summary: Summary, cases: range) -> int:
        for i in cases:
            each = case(f"case-{i}", f"t{i % 7}")
            for repeat in range(repeats):
                summary.add(each, repeat, score)
        return tracemalloc.get_traced_memory()[0]

    summary = Summary(repeats=repeats)
    tracemalloc.start()
    try:
        before = feed(summary, range(1000))
        assert feed(summary, range(1000, 6000)) - before < 50_000
    finally:
        tracemalloc.stop()


def test_memory_is_bounded_in_the_worst_order_of_repeats() -> None:
    score, summary = scored(0.5, a=0.5, b=0.5), Summary(repeats=2)
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        for i in range(20_000):
            summary.add(case(f"case-{i}"), 0, score)
        held = tracemalloc.get_traced_memory()[0] - before
    finally:
        tracemalloc.stop()
    assert held / 20_000 < 300, "bytes a case"


def test_open_case_without_measurement_does_not_count() -> None:
    rows: list[Row] = [
        (case("a"), 0, scored(1.0)),
        (case("b"), 0, scored(0.5)),
        (case("c"), 0, Score(status=Status.JUDGE_ERROR, cost=Usage(calls=1))),
    ]
    found = summed(rows, repeats=2)
    assert (found["cases"], found["average_score_n"], found["unmeasured"]) == (2, 2, 1)
    assert found["average_score_error"] == 0.25
    assert found["cost"]["judges"]["calls"] == 1


@pytest.mark.parametrize("step", [1, -1])
def test_lists_first_unmeasured_rows_with_reason(step: int) -> None:
    lost = Score(value=None, status=Status.JUDGE_ERROR, passed=None, reason="short: TypeError")
    rows: list[Row] = [(case(f"{i:02}"), 0, lost if i % 2 else scored(0.0)) for i in range(20)]
    found = summed(rows[::step])
    assert found["unmeasured"] == 10
    assert found["unmeasured_first"] == [
        {"id": name, "repeat": 0, "status": "judge_error", "reason": "short: TypeError"}
        for name in ("01", "03", "05")
    ]
    assert [line["id"] for line in found["worst"]] == ["00", "02", "04"]
