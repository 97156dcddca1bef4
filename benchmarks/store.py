"""How fast rows reach the disk, against one commit per row in the same run.

    python benchmarks/store.py [--rows 2000 20000 200000] [--folder DIR]

A row is a case, a trace and an exact-match score, with 256 of them in flight; `both` puts trace and
score together, `apart` waits for the trace first, as a runner does. `by hand` is the plain way:
insert, commit, next. Memory is the peak of the process, each of which does one line of the table.
"""

import argparse
import asyncio
import os
import resource
import sqlite3
import subprocess
import sys
import tempfile
import time
from contextlib import closing
from pathlib import Path

from fourscore.core import Case, Provenance, Score, Signal, Status, Trace
from fourscore.stores.run import RunInfo
from fourscore.stores.sqlite import Store

IN_FLIGHT = 256
JUDGE = "f" * 32
PROVENANCE = Provenance(rubric=JUDGE, judges={"exact": "a" * 32})


def record(position: int, size: int = 0) -> tuple[Case, Trace, Score]:
    case = Case(input=f"What is {position} + {position}?", expected=str(2 * position))
    trace = Trace(output="x" * size or str(2 * position), started=float(position), seconds=0.01)
    score = Score(
        status=Status.SCORED,
        value=1.0,
        passed=True,
        reward=1.0,
        signals=(Signal(name="exact", value=1.0),),
        provenance=PROVENANCE,
    )
    return case, trace, score


async def store_rows(path: Path, rows: int, how: str, size: int, in_flight: int) -> None:
    with Store(path) as store:
        run = store.start(RunInfo(rubric_fingerprint=JUDGE))
        left = iter(range(rows))
        with store.writer(run.id) as writer:

            async def work() -> None:
                for position in left:
                    case, trace, score = record(position, size)
                    if how == "both":
                        await writer.put_both(position, case, 1, trace, judge=JUDGE, score=score)
                    else:
                        await writer.put_trace(position, case, 1, trace)
                        await writer.put_score(case.id, 1, JUDGE, score)

            await asyncio.gather(*(work() for _ in range(in_flight)))


def read_rows(path: Path, rows: int) -> None:
    with Store(path, make=False) as store:
        assert sum(row.score is not None for row in store.rows(store.runs()[0].id)) == rows


def by_hand(path: Path, rows: int) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("CREATE TABLE rows (id TEXT PRIMARY KEY, trace TEXT, value REAL)")
        for position in range(rows):
            case, trace, score = record(position)
            connection.execute(
                "INSERT INTO rows VALUES (?, ?, ?)", (case.id, trace.output, score.value)
            )
            connection.commit()


def syncs(folder: Path, size: int, seconds: float = 1.0) -> float:
    """Return how many appends of this size the disk can sync in a second."""
    with (folder / "syncs").open("wb", buffering=0) as file:
        block, count, begun = os.urandom(size), 0, time.perf_counter()
        while time.perf_counter() - begun < seconds:
            file.write(block)
            os.fsync(file.fileno())
            count += 1
    (folder / "syncs").unlink()
    return count / seconds


def disk(folder: Path) -> str:
    small, large = syncs(folder, 4096), syncs(folder, 1 << 20)
    return f"fsync a second: {small:.0f} of 4 KB, {large:.0f} of 1 MB"


def line(what: str, path: Path, rows: int) -> None:
    """Measure one line of the table; called in another process."""
    begun = time.perf_counter()
    if what == "by hand":
        by_hand(path, rows)
    elif what == "read":
        read_rows(path, rows)
    elif what == "1 MB":
        asyncio.run(store_rows(path, rows, "both", 1 << 20, 16))
    else:
        asyncio.run(store_rows(path, rows, what, 0, IN_FLIGHT))
    seconds = time.perf_counter() - begun
    usage = resource.getrusage(resource.RUSAGE_SELF)
    busy = (usage.ru_utime + usage.ru_stime) / rows * 1e6
    print(
        f"{what:8} {rows:8,} rows {rows / seconds:9,.0f} a second {busy:8.0f} µs of processor each"
        f" {usage.ru_maxrss / 1024:6.0f} MB",
        flush=True,
    )


def start(what: str, path: Path, rows: int) -> "subprocess.Popen[bytes]":
    return subprocess.Popen([sys.executable, __file__, "--line", what, str(path), str(rows)])


def main() -> None:
    if sys.argv[1:2] == ["--line"]:
        line(sys.argv[2], Path(sys.argv[3]), int(sys.argv[4]))
        return
    parser = argparse.ArgumentParser(description="How fast rows reach the disk.")
    parser.add_argument("--rows", type=int, nargs="+", default=[2_000, 20_000, 200_000])
    parser.add_argument("--folder", type=Path, help="the disk to use")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=given.folder) as name:
        folder = Path(name)
        print(disk(folder))
        start("by hand", folder / "hand.db", 500).wait()
        for how in ("both", "apart"):
            for rows in given.rows:
                start(how, folder / f"{how}-{rows}.db", rows).wait()
        start("read", folder / f"both-{given.rows[-1]}.db", given.rows[-1]).wait()
        for rows in (50, 400):
            start("1 MB", folder / f"large-{rows}.db", rows).wait()
        print("two processes, each its own run of one file:")
        Store(folder / "shared.db").close()
        for process in [start("both", folder / "shared.db", given.rows[0]) for _ in range(2)]:
            process.wait()
        print(disk(folder))


if __name__ == "__main__":
    main()
