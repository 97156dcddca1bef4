"""Two stored runs as pairs: who is paired with whom, and what is left out."""

import asyncio
from pathlib import Path

import pytest

from fourscore.core import Case, Provenance, Score, Status, Trace
from fourscore.evolve.comparison import PairedRuns, pair_runs
from fourscore.evolve.split import make_order_key
from fourscore.stores.run import RunInfo
from fourscore.stores.sqlite import Store
from fourscore.test.compare import ScoredRun

#: Case id, what was asked, and the value of each attempt (None: not measured).
Rows = list[tuple[str, str, list[float | None]]]


def scored(value: float | None) -> Score:
    if value is None:
        return Score(status=Status.JUDGE_ERROR, reason="no", provenance=Provenance(rubric="r"))
    return Score(
        status=Status.SCORED, value=value, reward=value, passed=value > 0.5, coverage=1.0,
        provenance=Provenance(rubric="r"),
    )  # fmt: skip


def stored(store: Store, rows: Rows) -> ScoredRun:
    info = store.start(RunInfo(rubric_fingerprint="r", planned=len(rows)))

    async def write() -> None:
        with store.writer(info.id) as writer:
            for position, (name, asked, tried) in enumerate(rows):
                case = Case(id=name, input=asked)
                for repeat, value in enumerate(tried, 1):
                    await writer.put_trace(position, case, repeat, Trace(output="."))
                    await writer.put_score(name, repeat, "r", scored(value))

    asyncio.run(write())
    return ScoredRun(store=store, run=info.id, judge="r")


def paired(folder: Path, old: Rows, new: Rows) -> PairedRuns:
    with Store(folder / "s.db") as store:
        return pair_runs(stored(store, old), stored(store, new))


def test_pairs_cases_by_id(tmp_path: Path) -> None:
    old: Rows = [("a", "1", [0.2]), ("b", "2", [0.4, 0.6]), ("c", "3", [0.9]), ("d", "4", [0.1])]
    new: Rows = [("d", "4", [0.3]), ("b", "2", [0.8, None]), ("c", "other", [0.9]), ("e", "5", [1])]
    found = paired(tmp_path, old, new)
    assert dict(zip(found.cases, found.pairs, strict=True)) == {
        "b": pytest.approx((50.0, 80.0)),
        "d": pytest.approx((10.0, 30.0)),
    }
    assert (found.only_old, found.only_new, found.changed, found.unmeasured) == (1, 1, 1, 0)


def test_unmeasured_cases_are_left_out(tmp_path: Path) -> None:
    found = paired(tmp_path, [("a", "1", [None]), ("b", "2", [0.5])], [("a", "1", [1.0])])
    assert (found.pairs, found.unmeasured, found.only_old) == ((), 1, 1)


def test_order_is_independent_of_file(tmp_path: Path) -> None:
    rows: Rows = [(f"c{n}", str(n), [n / 100]) for n in range(50)]
    found = paired(tmp_path, rows, rows[::-1])
    assert list(found.cases) == sorted(found.cases, key=make_order_key)
    assert list(found.cases) != [name for name, _, _ in rows]
    assert all(old == new for old, new in found.pairs)
