"""Two runs side by side: who is paired with whom, and what is left out."""

import asyncio
from pathlib import Path

import pytest

from fourscore.core import Case, ConfigError, Provenance, Score, Status, Trace
from fourscore.stats.paired_verdict import Rules
from fourscore.stores.run import RunInfo
from fourscore.stores.sqlite import Store
from fourscore.test.compare import NAMED, Compared, Side, compare, same_judge

#: Case id, what was asked, and for each attempt whether it passed (None: not measured).
Rows = list[tuple[str, str, list[bool | None]]]


def stored(store: Store, rows: Rows, rubric: str = "r") -> str:
    info = store.start(RunInfo(rubric_fingerprint=rubric, planned=len(rows)))

    async def write() -> None:
        with store.writer(info.id) as writer:
            for position, (name, asked, tried) in enumerate(rows):
                case = Case(id=name, input=asked, tags=("even" if position % 2 == 0 else "odd",))
                for repeat, passed in enumerate(tried, 1):
                    await writer.put_trace(position, case, repeat, Trace(output="."))
                    await writer.put_score(name, repeat, rubric, scored(passed))

    asyncio.run(write())
    return info.id


def scored(passed: bool | None) -> Score:
    if passed is None:
        return Score(status=Status.JUDGE_ERROR, reason="no", provenance=Provenance(rubric="r"))
    value = float(passed)
    return Score(
        status=Status.SCORED, value=value, reward=value, passed=passed, coverage=1.0,
        provenance=Provenance(rubric="r"),
    )  # fmt: skip


def compared(folder: Path, a: Rows, b: Rows) -> Compared:
    with Store(folder / "s.db") as store:
        one, other = stored(store, a), stored(store, b)
        judge = same_judge(store, one, store, other)
        rules = Rules(margin=0.02)
        return compare(
            Side(store=store, run=one, judge=judge),
            Side(store=store, run=other, judge=judge),
            rules,
        )


def rows(*passed: bool | None) -> Rows:
    return [(f"c{n:03}", f"q{n}", [one]) for n, one in enumerate(passed)]


def test_pairs_flips_and_verdict(tmp_path: Path) -> None:
    found = compared(tmp_path, rows(*[False] * 30, *[True] * 32), rows(*[True] * 60, *[False] * 2))
    assert (found.gained[0], len(found.gained)) == ("c000", 30)
    assert found.lost == ["c060", "c061"]
    assert found.whole.verdict.kind == "better"
    assert found.whole.passes.n == 62
    assert set(found.by_tag) == {"even", "odd"}
    assert found.by_tag["even"].passes.n == 31


def test_many_flips_are_counted_and_some_named(tmp_path: Path) -> None:
    found = compared(tmp_path, rows(*[True] * 70), rows(*[False] * 70))
    assert (len(found.lost), found.lost_left_out) == (NAMED, 70 - NAMED)
    assert found.lost == sorted(found.lost)


def test_what_is_left_out_is_counted(tmp_path: Path) -> None:
    a: Rows = [("same", "q", [True]), ("gone", "q", [True]), ("other", "q", [True]), *rows(None)]
    b: Rows = [("same", "q", [True]), ("new", "q", [True]), ("other", "Q!", [False]), *rows(True)]
    found = compared(tmp_path, a, b)
    assert (found.only_a, found.only_b, found.changed) == (1, 1, 1)
    assert found.whole.passes.n == 1
    assert found.whole.passes.left_out == 1
    assert found.lost == []


def test_repeats_of_a_case_are_one_pair(tmp_path: Path) -> None:
    a: Rows = [("x", "q", [True, True, True, False]), ("y", "q", [False] * 4)]
    b: Rows = [("x", "q", [False, False, True, False]), ("y", "q", [True, True, True, None])]
    found = compared(tmp_path, a, b)
    assert found.whole.passes.n == 2
    assert (found.gained, found.lost) == (["y"], ["x"])
    assert found.whole.passes.rate_a == pytest.approx(0.375)
    assert found.whole.passes.rate_b == pytest.approx(0.625)


def test_scores_by_two_rubrics_are_not_compared(tmp_path: Path) -> None:
    with Store(tmp_path / "s.db") as store:
        one, other = stored(store, rows(True)), stored(store, rows(True), rubric="another")
        with pytest.raises(ConfigError, match="different rubrics"):
            same_judge(store, one, store, other)
