"""Canaries of a run are counted for each judge, whatever became of the row."""

from fourscore.core import Canary, Case, Score, Signal, Status
from fourscore.stats.summary import Summary

CASE = Case(id="c", input="?")


def signal(name: str, passed: bool | None) -> Signal:
    canary = None if passed is None else Canary("off topic", passed)
    return Signal(name=name, value=1.0, canary=canary)


def scored(*signals: Signal) -> Score:
    return Score(
        status=Status.SCORED, value=1.0, passed=True, reward=1.0, coverage=1.0, signals=signals
    )


def test_document_is_empty_without_canaries() -> None:
    summary = Summary()
    summary.add(CASE, 1, scored(signal("a", None)))
    assert not {"canaries", "judge_compromised"} & summary.document().keys()


def test_canaries_are_counted_per_judge() -> None:
    summary = Summary(repeats=3)
    summary.add(CASE, 1, scored(signal("b", False), signal("a", None)))
    summary.add(CASE, 2, scored(signal("b", False), signal("a", False)))
    document = summary.document()
    assert document["canaries"] == {
        "a": {"asked": 1, "passed": 0},
        "b": {"asked": 2, "passed": 0},
    }
    assert document["judge_compromised"] is False


def test_one_passed_canary_marks_the_judge_even_on_a_failed_row() -> None:
    summary = Summary()
    failed = Score(status=Status.JUDGE_ERROR, reason="other", signals=(signal("a", True),))
    summary.add(CASE, 1, failed)
    document = summary.document()
    assert document["canaries"] == {"a": {"asked": 1, "passed": 1}}
    assert document["judge_compromised"] is True
