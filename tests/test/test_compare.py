"""Comparison of two runs: which cases are paired, and which are left out."""

import asyncio
from pathlib import Path

import pytest

from fourscore.core import Case, ConfigError, Provenance, Score, Status, Trace
from fourscore.stats.paired_verdict import VerdictRules
from fourscore.stores.run import RunInfo
from fourscore.stores.sqlite import Store
from fourscore.test.compare import (
    MAX_LISTED,
    RunComparison,
    ScoredRun,
    check_same_rubric,
    compare_runs,
)

#: Case id, input, and for each attempt whether it passed (None: not measured).
Rows = list[tuple[str, str, list[bool | None]]]


def store_run(store: Store, rows: Rows, rubric: str = "r") -> str:
    info = store.start(RunInfo(rubric_fingerprint=rubric, planned=len(rows)))

    async def write() -> None:
        with store.writer(info.id) as writer:
            for position, (name, question, attempts) in enumerate(rows):
                case = Case(id=name, input=question, tags=("even" if position % 2 == 0 else "odd",))
                for repeat, passed in enumerate(attempts, 1):
                    await writer.put_trace(position, case, repeat, Trace(output="."))
                    await writer.put_score(name, repeat, rubric, make_score(passed))

    asyncio.run(write())
    return info.id


def make_score(passed: bool | None) -> Score:
    if passed is None:
        return Score(status=Status.JUDGE_ERROR, reason="no", provenance=Provenance(rubric="r"))
    value = float(passed)
    return Score(
        status=Status.SCORED, value=value, reward=value, passed=passed, coverage=1.0,
        provenance=Provenance(rubric="r"),
    )  # fmt: skip


def compare_rows(folder: Path, a: Rows, b: Rows) -> RunComparison:
    with Store(folder / "s.db") as store:
        one, other = store_run(store, a), store_run(store, b)
        judge = check_same_rubric(store, one, store, other)
        rules = VerdictRules(margin=0.02)
        return compare_runs(
            ScoredRun(store=store, run=one, judge=judge),
            ScoredRun(store=store, run=other, judge=judge),
            rules,
        )


def rows(*passed: bool | None) -> Rows:
    return [(f"c{n:03}", f"q{n}", [one]) for n, one in enumerate(passed)]


def test_pairs_cases_by_id_and_lists_those_that_flipped(tmp_path: Path) -> None:
    found = compare_rows(
        tmp_path, rows(*[False] * 30, *[True] * 32), rows(*[True] * 60, *[False] * 2)
    )
    assert (found.gained[0], len(found.gained)) == ("c000", 30)
    assert found.lost == ["c060", "c061"]
    assert found.whole.verdict.kind == "better"
    assert found.whole.passes.n == 62
    assert set(found.by_tag) == {"even", "odd"}
    assert found.by_tag["even"].passes.n == 31


def test_lists_some_of_many_flipped_cases_and_counts_the_rest(tmp_path: Path) -> None:
    found = compare_rows(tmp_path, rows(*[True] * 70), rows(*[False] * 70))
    assert (len(found.lost), found.lost_left_out) == (MAX_LISTED, 70 - MAX_LISTED)
    assert found.lost == sorted(found.lost)


def test_counts_cases_that_cannot_be_paired(tmp_path: Path) -> None:
    a: Rows = [("same", "q", [True]), ("gone", "q", [True]), ("other", "q", [True]), *rows(None)]
    b: Rows = [("same", "q", [True]), ("new", "q", [True]), ("other", "Q!", [False]), *rows(True)]
    found = compare_rows(tmp_path, a, b)
    assert (found.only_a, found.only_b, found.changed) == (1, 1, 1)
    assert found.whole.passes.n == 1
    assert found.whole.passes.left_out == 1
    assert found.lost == []


def test_pairs_the_repeats_of_a_case_as_one(tmp_path: Path) -> None:
    a: Rows = [("x", "q", [True, True, True, False]), ("y", "q", [False] * 4)]
    b: Rows = [("x", "q", [False, False, True, False]), ("y", "q", [True, True, True, None])]
    found = compare_rows(tmp_path, a, b)
    assert found.whole.passes.n == 2
    assert (found.gained, found.lost) == (["y"], ["x"])
    assert found.whole.passes.rate_a == pytest.approx(0.375)
    assert found.whole.passes.rate_b == pytest.approx(0.625)


def test_refuses_runs_scored_by_different_rubrics(tmp_path: Path) -> None:
    with Store(tmp_path / "s.db") as store:
        one, other = store_run(store, rows(True)), store_run(store, rows(True), rubric="another")
        with pytest.raises(ConfigError, match="different rubrics"):
            check_same_rubric(store, one, store, other)
