"""The store of a monitor: counts that add up among processes, nothing twice, nothing lost."""

import json
import os
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import pytest

from fourscore.stores.errors import StoreError
from fourscore.stores.monitor import DAY, KEPT, MonitorStore
from fourscore.stores.monitor_rows import NewAlert, SampleRow, Spending
from fourscore.stores.sqlite import Store

NOW = 1_800_000_000.0


def make_row(
    n: int | str, *, passed: bool = True, drawn: bool = True, at: float = NOW
) -> SampleRow:
    value = 1.0 if passed else 0.0
    text = json.dumps({"full": n}).encode()
    return SampleRow(
        id=str(n),
        at=at,
        drawn=drawn,
        status="scored",
        passed=passed,
        value=value,
        body=json.dumps({"n": n}).encode(),
        text=text,
    )


def fold(state: bytes | None, rows: Sequence[SampleRow]) -> tuple[bytes, Sequence[NewAlert]]:
    """Counts; every tenth sample is an alert."""
    n = int(state or b"0")
    raised = []
    for one in rows:
        n += 1
        if n % 10 == 0:
            raised.append(
                NewAlert(stream="overall", at=one.at, open=n % 20 != 0, body=str(n).encode())
            )
    return str(n).encode(), raised


@pytest.fixture(params=["file", "memory"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> MonitorStore:
    return MonitorStore(tmp_path / "monitor.db" if request.param == "file" else None)


def test_new_samples_are_folded_once(store: MonitorStore) -> None:
    assert store.state("m") is None
    batch = [make_row(1), make_row(2), make_row(1)]
    assert [one.id for one in store.commit("m", batch, fold)] == ["1", "2"]
    assert [one.id for one in store.commit("m", [make_row(2), make_row(3)], fold)] == ["3"]
    assert store.state("m") == b"3"
    assert [kept.id for kept in store.samples("m")] == ["3", "2", "1"]
    store.commit("other", [make_row(1)], fold)
    assert (store.state("m"), store.state("other")) == (b"3", b"1")
    assert store.monitors() == ["m", "other"]


def test_samples_not_drawn_are_stored_and_not_folded(store: MonitorStore) -> None:
    store.commit("m", [make_row(1), make_row(2, drawn=False)], fold)
    store.commit("m", [make_row(3, drawn=False)], fold)
    assert store.state("m") == b"1"
    assert [(kept.id, kept.drawn) for kept in store.samples("m")] == [
        ("3", False),
        ("2", False),
        ("1", True),
    ]


def test_failed_fold_rolls_everything_back(store: MonitorStore) -> None:
    def broken(
        _state: bytes | None, _rows: Sequence[SampleRow]
    ) -> tuple[bytes, Sequence[NewAlert]]:
        raise ZeroDivisionError

    store.commit("m", [make_row(1)], fold)
    with pytest.raises(ZeroDivisionError):
        store.commit("m", [make_row(2)], broken, counts={"observed": 5})
    assert store.state("m") == b"1"
    assert store.counts("m") == {}
    assert [one.id for one in store.commit("m", [make_row(2)], fold)] == ["2"]


def test_counts_add_up(store: MonitorStore) -> None:
    store.commit("m", [], fold, counts={"observed": 5, "dropped": 1})
    store.commit("m", [], fold, counts={"observed": 2})
    assert store.counts("m") == {"dropped": 1, "observed": 7}
    assert store.monitors() == ["m"]


def test_samples_by_page_and_worst_first(store: MonitorStore) -> None:
    store.commit("m", [make_row(n, passed=n != 3) for n in range(10)], fold)
    first = store.samples("m", limit=4)
    assert [kept.id for kept in first] == ["9", "8", "7", "6"]
    assert [kept.id for kept in store.samples("m", before=first[-1].number, limit=2)] == ["5", "4"]
    assert [kept.id for kept in store.worst("m", limit=2)] == ["3", "9"]


def test_texts_expire_and_samples_stay(store: MonitorStore) -> None:
    store.commit("m", [make_row(1)], fold, now=NOW)
    kept = store.sample("m", "1", now=NOW + 6 * DAY)
    assert kept is not None
    assert (kept.body, kept.text) == (b'{"n": 1}', b'{"full": 1}')
    late = store.sample("m", "1", now=NOW + 8 * DAY)  # before anything was cleaned up
    assert late is not None
    assert late.text is None
    store.commit("m", [], fold, now=NOW + 8 * DAY)
    again = store.sample("m", "1", now=NOW)
    assert again is not None
    assert again.text is None
    assert store.sample("m", "2") is None


def test_texts_are_not_stored_without_keep_text(store: MonitorStore) -> None:
    store.commit("m", [make_row(1)], fold, keep_text=None)
    kept = store.sample("m", "1")
    assert kept is not None
    assert kept.text is None


def test_old_samples_are_deleted(tmp_path: Path) -> None:
    with MonitorStore(tmp_path / "monitor.db") as store:
        store.commit("m", [make_row(1, at=NOW - KEPT - 1), make_row(2)], fold, now=NOW)
        assert [kept.id for kept in store.samples("m")] == ["2"]
        assert store.state("m") == b"2"


def test_store_in_memory_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fourscore.stores.monitor.KEPT_IN_MEMORY", 50)
    monkeypatch.setattr("fourscore.stores.monitor.TEXTS_IN_MEMORY", 10)
    with MonitorStore(None) as store:
        for start in range(0, 200, 20):
            store.commit("m", [make_row(n) for n in range(start, start + 20)], fold)
        assert [kept.id for kept in store.samples("m")] == [str(n) for n in range(199, 149, -1)]
        assert store.state("m") == b"200"
        found = [store.sample("m", kept.id) for kept in store.samples("m")]
        assert [kept.text is not None for kept in found if kept] == [True] * 10 + [False] * 40


def test_reservations_never_exceed_the_budget(store: MonitorStore) -> None:
    def fits(spent: Spending) -> bool:
        return spent.calls <= 10

    taken = [store.reserve("m", 7, Spending(calls=3), fits) for _ in range(5)]
    assert taken == [True, True, True, False, False]
    store.commit("m", [], fold, spent={7: Spending(calls=-4, dollars=0.5)})
    assert store.spent("m", 7) == Spending(5, 0, 0.5)
    assert store.reserve("m", 7, Spending(calls=3), fits)
    assert store.reserve("m", 8, Spending(calls=10), fits)
    assert store.spent("m", 9) == Spending()


# Files


def test_store_of_runs_is_refused_as_a_monitor_store(tmp_path: Path) -> None:
    Store(tmp_path / "runs.db").close()
    with pytest.raises(StoreError, match="a store of runs; expected a store of a monitor"):
        MonitorStore(tmp_path / "runs.db")
    MonitorStore(tmp_path / "monitor.db").close()
    with pytest.raises(StoreError, match="a store of a monitor; expected a store of runs"):
        Store(tmp_path / "monitor.db")


def test_closed_store_raises(tmp_path: Path) -> None:
    for path in (None, tmp_path / "monitor.db"):
        store = MonitorStore(path)
        store.close()
        with pytest.raises(StoreError, match="the store is closed"):
            store.commit("m", [make_row(1)], fold)
    with pytest.raises(StoreError, match="there is no such store"):
        MonitorStore(tmp_path / "none.db", make=False)


def test_reading_does_not_wait_for_a_writer(tmp_path: Path) -> None:
    path = tmp_path / "monitor.db"
    with MonitorStore(path) as store, closing(sqlite3.connect(path)) as other:
        store.commit("m", [make_row(1)], fold)
        other.isolation_level = None
        other.execute("BEGIN IMMEDIATE")
        assert store.state("m") == b"1"
        other.execute("ROLLBACK")


def test_limit_wait_bounds_the_wait_for_a_lock(tmp_path: Path) -> None:
    path = tmp_path / "monitor.db"
    with MonitorStore(path) as store, closing(sqlite3.connect(path)) as other:
        other.isolation_level = None
        other.execute("BEGIN IMMEDIATE")
        with store.limit_wait(0.01), pytest.raises(StoreError, match="locked the file"):
            store.commit("m", [make_row(1)], fold)
        with (
            store._file._writing,
            store.limit_wait(0.01),
            pytest.raises(StoreError, match="another thread has locked the file"),
        ):
            store.commit("m", [make_row(1)], fold)
        other.execute("ROLLBACK")
        store.commit("m", [make_row(1)], fold)
        writer, _ = store._file._connect()
        assert writer.execute("PRAGMA busy_timeout").fetchone() == (60_000,)


# Processes

WORK = """
import json, sys
sys.path.insert(0, sys.argv[4])
from test_monitor_store import fold, make_row
from fourscore.stores.monitor import MonitorStore

path, first, count = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
with MonitorStore(path) as store:
    for n in range(first, first + count):
        store.commit("m", [make_row(n)], fold, counts={"observed": 1})
        print(n, flush=True)
"""


def start(path: Path, first: int, count: int) -> "subprocess.Popen[str]":
    argv = [
        sys.executable,
        "-c",
        WORK,
        str(path),
        str(first),
        str(count),
        str(Path(__file__).parent),
    ]
    return subprocess.Popen(argv, stdout=subprocess.PIPE, text=True)


def test_commits_of_two_processes_add_up(tmp_path: Path) -> None:
    path = tmp_path / "monitor.db"
    MonitorStore(path).close()
    both = [start(path, 0, 150), start(path, 100, 150)]  # 50 interactions are seen by both
    for process in both:
        process.communicate()
        assert process.returncode == 0
    with MonitorStore(path) as store:
        assert store.state("m") == b"250"
        assert store.counts("m") == {"observed": 300}
        assert len(store.samples("m", limit=1000)) == 250
        alerts = store.outbox.alerts("m")
        assert [int(alert.body) for alert in alerts] == list(range(250, 0, -10))
        assert sum(alert.open for alert in alerts) == 1


def test_kill_loses_nothing_that_was_committed(tmp_path: Path) -> None:
    path = tmp_path / "monitor.db"
    process = start(path, 0, 100_000)
    assert process.stdout is not None
    lines = [process.stdout.readline() for _ in range(30)]
    os.kill(process.pid, signal.SIGKILL)
    lines += process.stdout.readlines()
    process.wait()
    process.stdout.close()
    lines = [line for line in lines if line.endswith("\n")]
    with MonitorStore(path) as store:
        kept = {one.id for one in store.samples("m", limit=100_000)}
        assert {line.strip() for line in lines} <= kept
        assert store.state("m") == str(len(kept)).encode()
        assert store.counts("m") == {"observed": len(kept)}


@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")  # of threads and fork
@pytest.mark.parametrize("where", ["file", "memory"])
def test_forked_process_has_its_own_connection(where: str, tmp_path: Path) -> None:
    store = MonitorStore(tmp_path / "monitor.db" if where == "file" else None)
    store.commit("m", [make_row(1)], fold)
    with store._file._writing:  # held by a thread that does not exist in the child
        child = os.fork()
        if child == 0:  # pragma: no cover
            try:
                store.commit("m", [make_row(2)], fold)
                expected = b"2" if where == "file" else b"1"
                os._exit(0 if store.state("m") == expected else 1)
            finally:
                os._exit(2)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    store.commit("m", [make_row(3)], fold)
    assert store.state("m") == (b"3" if where == "file" else b"2")
    store.close()
