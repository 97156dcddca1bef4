"""Acknowledged rows are on the disk; a failure reaches every waiting task."""

import asyncio
import contextlib
import os
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from fourscore.core import Trace
from fourscore.stores import run_rows
from fourscore.stores import writer as writing
from fourscore.stores.errors import StoreError
from fourscore.stores.run_lock import RunLock
from fourscore.stores.sqlite import Store

ROOT = Path(__file__).parents[2]


def read_positions(shelf: Any) -> list[int]:
    """As another process would see it."""
    with Store(shelf.path, make=False) as other:
        return [row.position for row in other.rows(shelf.run)]


def count_commits(shelf: Any, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    sizes: list[int] = []
    plain = writing.Writer._commit

    def counted(self: writing.Writer, entries: list[Any]) -> None:
        plain(self, entries)
        sizes.append(len(entries))

    monkeypatch.setattr(writing.Writer, "_commit", counted)
    return sizes


def test_row_is_stored_when_its_task_continues(shelf: Any) -> None:
    async def put() -> None:
        with shelf.store.writer(shelf.run) as writer:
            for n in range(5):
                await writer.put_trace(n, shelf.case(n), 1, shelf.trace(n))
                assert read_positions(shelf)[-1] == n

    asyncio.run(put())


def test_commit_syncs_the_disk(shelf: Any) -> None:
    with shelf.store.writer(shelf.run) as writer:
        assert writer._connection.execute("PRAGMA synchronous").fetchone() == (2,)
        assert writer._connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)


def test_concurrent_rows_share_a_commit(shelf: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    sizes = count_commits(shelf, monkeypatch)

    async def put() -> None:
        with shelf.store.writer(shelf.run) as writer:
            both = [
                writer.put_both(
                    n, shelf.case(n), 1, shelf.trace(n), judge=shelf.judge, score=shelf.score(n)
                )
                for n in range(200)
            ]
            await asyncio.gather(*both)

    asyncio.run(put())
    assert sizes == [200]
    assert read_positions(shelf) == list(range(200))


def test_trace_and_its_score_share_a_commit(shelf: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    sizes = count_commits(shelf, monkeypatch)

    async def put() -> None:
        with shelf.store.writer(shelf.run) as writer:
            await asyncio.gather(
                writer.put_trace(1, shelf.case(1), 1, shelf.trace(1)),
                writer.put_score("case-1", 1, shelf.judge, shelf.score(1)),
            )

    asyncio.run(put())
    assert sizes == [2]
    assert shelf.store.row(shelf.run, "case-1").score == shelf.score(1)


def test_large_rows_end_a_commit_early(shelf: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writing, "BATCH_BYTES", 3 << 20)
    sizes = count_commits(shelf, monkeypatch)

    async def put() -> None:
        with shelf.store.writer(shelf.run) as writer:
            large = Trace(output="x" * (1 << 20))
            await asyncio.gather(*(writer.put_trace(n, shelf.case(n), 1, large) for n in range(8)))

    asyncio.run(put())
    assert sizes == [3, 3, 2]


def test_pending_rows_are_bounded(shelf: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writing, "MAX_PENDING", 10)
    sizes = count_commits(shelf, monkeypatch)

    async def put() -> None:
        with shelf.store.writer(shelf.run) as writer:
            await asyncio.gather(
                *(writer.put_trace(n, shelf.case(n), 1, shelf.trace(n)) for n in range(55))
            )

    asyncio.run(put())
    assert max(sizes) <= 10
    assert sum(sizes) == 55


def test_score_without_a_trace_fails_alone(shelf: Any) -> None:
    async def put() -> Any:
        with shelf.store.writer(shelf.run) as writer:
            return await asyncio.gather(
                writer.put_trace(1, shelf.case(1), 1, shelf.trace(1)),
                writer.put_score("case-2", 1, shelf.judge, shelf.score(2)),
                writer.put_score("\ud800", 1, shelf.judge, shelf.score(2)),
                writer.put_score("case-1", 1, shelf.judge, shelf.score(1)),
                return_exceptions=True,
            )

    first, second, third, fourth = asyncio.run(put())
    assert (first, fourth) == (None, None)
    assert "run run-1, case 'case-2', repeat 1: a score needs a stored trace" in str(second)
    assert isinstance(third, StoreError)
    assert read_positions(shelf) == [1]


def test_value_too_large_for_sqlite_fails_alone(
    shelf: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run_rows, "MAX_BYTES", 1000)

    async def put() -> Any:
        with shelf.store.writer(shelf.run) as writer:
            return await asyncio.gather(
                writer.put_trace(1, shelf.case(1), 1, shelf.trace(1)),
                writer.put_trace(2, shelf.case(2), 1, Trace(output="x" * 1000)),
                return_exceptions=True,
            )

    first, second = asyncio.run(put())
    assert first is None
    assert "case 'case-2', repeat 1: trace: larger than a store can hold" in str(second)
    assert read_positions(shelf) == [1]


def test_cancelled_task_does_not_disturb_others(shelf: Any) -> None:
    async def put() -> None:
        with shelf.store.writer(shelf.run) as writer:
            tasks = [
                asyncio.ensure_future(writer.put_trace(n, shelf.case(n), 1, shelf.trace(n)))
                for n in range(4)
            ]
            await asyncio.sleep(0)
            tasks[1].cancel()
            done = await asyncio.gather(*tasks, return_exceptions=True)
            assert [type(x).__name__ for x in done].count("CancelledError") == 1

    asyncio.run(put())
    assert {0, 2, 3} <= set(read_positions(shelf))


def test_leaving_the_context_commits_pending_rows(shelf: Any) -> None:
    async def put() -> None:
        with shelf.store.writer(shelf.run) as writer:
            tasks = [
                asyncio.ensure_future(writer.put_trace(n, shelf.case(n), 1, shelf.trace(n)))
                for n in range(50)
            ]
            await asyncio.sleep(0)
        assert read_positions(shelf) == list(range(50))
        await asyncio.gather(*tasks)
        with pytest.raises(StoreError, match="the writer of this run is closed"):
            await writer.put_trace(51, shelf.case(51), 1, shelf.trace(51))
        writer.close()  # once more does no harm

    asyncio.run(put())
    assert len(read_positions(shelf)) == 50


def test_ended_event_loop_does_not_break_the_writer(shelf: Any) -> None:
    writer = shelf.store.writer(shelf.run)

    async def leave() -> None:
        task = asyncio.ensure_future(writer.put_trace(1, shelf.case(1), 1, shelf.trace(1)))
        await asyncio.sleep(0)
        task.cancel()

    asyncio.run(leave())
    writer.close()
    asyncio.run(shelf.put(2))
    assert read_positions(shelf)[-1] == 2


# Failures of the disk


def test_full_disk_fails_every_waiting_task(shelf: Any) -> None:
    """SQLite's own "disk is full", by a limit on the pages."""

    async def put() -> None:
        with shelf.store.writer(shelf.run) as writer:
            await writer.put_trace(0, shelf.case(0), 1, shelf.trace(0))
            writer._connection.execute("PRAGMA max_page_count = 40")
            large = Trace(output="x" * 50_000)
            puts = [writer.put_trace(n, shelf.case(n), 1, large) for n in range(1, 20)]
            errors = await asyncio.gather(*puts, return_exceptions=True)
            assert {type(x) for x in errors} == {StoreError}
            assert all("store.db: the disk is full; free some space" in str(x) for x in errors)
            assert len({id(x) for x in errors}) == len(
                errors
            )  # each its own, with its own traceback
            with pytest.raises(StoreError, match="the disk is full"):  # it takes no more
                await writer.put_trace(20, shelf.case(20), 1, shelf.trace(20))

    asyncio.run(put())
    assert read_positions(shelf) == [0]
    asyncio.run(shelf.put(1, 2))  # with space again, the run goes on
    assert read_positions(shelf) == [0, 1, 2]


FILLED = """
import asyncio, resource, sys
from fourscore.core import Case, Trace
from fourscore.stores.errors import StoreError
from fourscore.stores.sqlite import Store

async def put():
    with Store(sys.argv[1]) as store, store.writer("run-1") as writer:
        resource.setrlimit(resource.RLIMIT_FSIZE, (2_000_000, 2_000_000))
        for n in range(1000):
            await writer.put_trace(n, Case(id=f"case-{n}"), 1, Trace(output="x" * 20_000))
            print(n, flush=True)

try:
    asyncio.run(put())
except StoreError as error:
    print(error)
"""


def test_file_size_limit_fails_later_rows_and_keeps_earlier_ones(shelf: Any) -> None:
    """The kernel refuses the bytes; what was acknowledged before stays."""
    command = [sys.executable, "-c", FILLED, str(shelf.path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    *numbers, errors = done.stdout.splitlines()
    assert "store.db: the disk " in errors
    assert len(numbers) > 10
    assert read_positions(shelf) == [int(n) for n in numbers]
    asyncio.run(shelf.put(5000))
    assert read_positions(shelf)[-1] == 5000


def test_exception_in_the_thread_fails_the_waiting_tasks(
    shelf: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> int:
        raise MemoryError("no more")

    async def put() -> Any:
        with shelf.store.writer(shelf.run) as writer:
            monkeypatch.setattr(writer._row_writer, "write", broken)
            first = asyncio.ensure_future(writer.put_trace(1, shelf.case(1), 1, shelf.trace(1)))
            await asyncio.sleep(0)
            writer._hand_over()
            late = asyncio.ensure_future(writer.put_trace(2, shelf.case(2), 1, shelf.trace(2)))
            await asyncio.sleep(0)
            done = await asyncio.gather(first, late, return_exceptions=True)
            writer._failure = None  # as if this one had been on its way
            last = writer.put_trace(3, shelf.case(3), 1, shelf.trace(3))
            return [*done, *await asyncio.gather(last, return_exceptions=True)]

    for errors in asyncio.run(put()):
        assert "the writer failed: MemoryError: no more" in str(errors)
    assert read_positions(shelf) == []


# One writer per run


def test_second_writer_in_this_process_is_refused(shelf: Any) -> None:
    errors = pytest.raises(StoreError, match=f"process {os.getpid()} is writing run run-1")
    with shelf.store.writer(shelf.run), errors:
        shelf.store.writer(shelf.run)
    asyncio.run(shelf.put(1))
    assert not shelf.path.with_name("store.db-run-1.lock").exists()


HOLD = """
import os, sys
from fourscore.stores.sqlite import Store
with Store(sys.argv[1]) as store, store.writer(sys.argv[2]):
    if sys.argv[3] == "fork" and os.fork() == 0:
        print("forked", os.getpid(), flush=True)
        sys.stdin.read()
        os._exit(0)
    print("held", flush=True)
    sys.stdin.read()
"""


@contextlib.contextmanager
def holder(shelf: Any, how: str = "") -> Any:
    command = [sys.executable, "-W", "ignore", "-c", HOLD, str(shelf.path), shelf.run, how]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True) as process:
        assert process.stdout is not None
        try:
            for _ in range(2 if how == "fork" else 1):
                assert process.stdout.readline()
            yield process
        finally:
            process.kill()


def test_second_writer_in_another_process_is_refused(shelf: Any) -> None:
    with holder(shelf) as process:
        with pytest.raises(StoreError, match=f"process {process.pid} is writing run run-1"):
            shelf.store.writer(shelf.run)
        assert list(shelf.store.rows(shelf.run)) == []  # reading is free
        process.kill()
        process.wait()
        asyncio.run(shelf.put(1))  # the kernel gave the lock back
    assert read_positions(shelf) == [1]


def test_forked_child_does_not_keep_the_lock(shelf: Any) -> None:
    with holder(shelf, "fork") as process:
        process.kill()
        process.wait()
        asyncio.run(shelf.put(1))  # its child is still there
    assert read_positions(shelf) == [1]


def test_lock_file_removed_meanwhile_is_created_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = RunLock._is_current
    calls: list[int] = []

    def removed_once(self: RunLock, descriptor: int) -> bool:
        if not calls:
            self.path.unlink()
        calls.append(descriptor)
        return plain(self, descriptor)

    monkeypatch.setattr(RunLock, "_is_current", removed_once)
    lock = RunLock(tmp_path / "store.db", "run")
    assert len(calls) == 2
    assert lock.path.read_text() == f"{os.getpid()}\n"
    lock.release()
    lock.release()
    assert not lock.path.exists()


MANY = """
import asyncio, sys
from fourscore.core import Case, Trace
from fourscore.stores.run import RunInfo
from fourscore.stores.sqlite import Store

async def put():
    with Store(sys.argv[1]) as store:
        run = store.start(RunInfo(id=sys.argv[2])).id
        with store.writer(run) as writer:
            for start in range(0, 2000, 50):
                await asyncio.gather(*(
                    writer.put_trace(n, Case(id=str(n)), 1, Trace(output="x" * 2000))
                    for n in range(start, start + 50)))

asyncio.run(put())
"""


def test_two_runs_can_be_written_at_the_same_time(shelf: Any) -> None:
    names = ["one", "two", "three"]
    processes = [subprocess.Popen([sys.executable, "-c", MANY, shelf.path, x]) for x in names]
    assert [process.wait() for process in processes] == [0, 0, 0]
    for name in names:
        assert [row.position for row in shelf.store.rows(name)] == list(range(2000))


def test_locked_file_is_reported(shelf: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fourscore.stores.sqlite_file.MAX_WAIT", 0.05)
    other = sqlite3.connect(shelf.path, isolation_level=None)
    with contextlib.closing(other):
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreError, match="another process has locked the file"):
            asyncio.run(shelf.put(1))
        other.execute("ROLLBACK")
        asyncio.run(shelf.put(1))
    assert read_positions(shelf) == [1]


# Size


LARGE = """
import asyncio, resource, sys
from fourscore.core import Case, Score, Status, Trace
from fourscore.stores.run import RunInfo
from fourscore.stores.sqlite import Store

async def put(rows):
    with Store(sys.argv[1]) as store:
        run = store.start(RunInfo(id=f"rows-{rows}")).id
        left = iter(range(rows))
        with store.writer(run) as writer:
            async def work():
                for n in left:
                    await writer.put_trace(n, Case(id=str(n)), 1, Trace(output="x" * (1 << 20)))
            await asyncio.gather(*(work() for _ in range(8)))
        assert sum(len(row.trace.output) for row in store.rows(run)) == rows << 20

for rows in (30, 150):
    asyncio.run(put(rows))
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)
"""


def test_memory_does_not_grow_with_the_run(tmp_path: Path) -> None:
    command = [sys.executable, "-c", LARGE, str(tmp_path / "store.db")]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    few, many = map(int, done.stdout.split())
    assert many < few + 40  # 120 MB more were written and read


def test_kill_at_random_moments_loses_no_acknowledged_row() -> None:
    """The short version of benchmarks/kills.py."""
    command = [
        sys.executable,
        str(ROOT / "benchmarks" / "kills.py"),
        "--kills",
        "6",
        "--rows",
        "120",
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    last = done.stdout.splitlines()[-1]
    assert last.startswith("6 kills")
    assert last.endswith("none lost, none doubled")
