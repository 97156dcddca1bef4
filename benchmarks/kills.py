"""`kill -9` at random moments of a run that stores records of 1 KB to 1 MB.

    python benchmarks/kills.py [--kills 200] [--rows 300] [--seed 1] [--folder DIR]

A victim process creates or opens the store, resumes the run, and reports through a pipe which rows
its writer has acknowledged: the coroutine has returned. The parent kills it at some moment between
its first instruction and its last row, and then checks the file:

- it opens, and SQLite finds nothing wrong with it;
- every trace and score that was acknowledged is stored with its own content;
- no key is stored twice, and no stored trace was made a second time.

A complete run is compared with an uninterrupted one, and the next one begins. This does not test a
power cut: after a kill, the kernel still writes its memory to the disk. For that the store relies
on SQLite's `synchronous=FULL`.
"""

import argparse
import asyncio
import os
import random
import select
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections import Counter
from contextlib import closing
from pathlib import Path

from fourscore.core import Case, Score, Signal, Status, Trace
from fourscore.stores.errors import StoreError
from fourscore.stores.run import RunInfo
from fourscore.stores.sqlite import Store
from fourscore.stores.writer import Writer

JUDGE = "kills"
IN_FLIGHT = 16
READY = b"ready\n"
COMPLETE = b"complete\n"


def record(position: int) -> tuple[Case, Trace, Score]:
    """Return the same row in every process; sizes are spread evenly over orders of magnitude."""
    chance = random.Random(position)
    size = int(1024 * 1024 ** chance.random())
    text = chance.randbytes(size // 2 + 1).hex()[:size]
    case = Case(id=f"case-{chance.getrandbits(40):x}", input=position)
    value = chance.random()
    signal = Signal(name="size", value=value)
    score = Score(
        status=Status.SCORED, value=value, passed=value > 0.5, reward=value, signals=(signal,)
    )
    return case, Trace(output=text), score


def victim(path: str, run_id: str, rows: int) -> None:
    """Resume the run, and report what is acknowledged."""
    with Store(path) as store:
        try:
            store.run(run_id)
        except StoreError:
            store.start(RunInfo(id=run_id, planned=rows, rubric_fingerprint=JUDGE))
        with store.writer(run_id) as writer:
            asyncio.run(resume(store, writer, rows))
        store.finish(run_id, {"planned": rows})
    os.write(1, COMPLETE)


async def resume(store: Store, writer: Writer, rows: int) -> None:
    os.write(1, READY)
    left = iter(range(rows))

    async def work() -> None:
        for position in left:
            case, trace, score = record(position)
            there = store.statuses(writer.run_id, case.id, JUDGE)
            if 1 not in there and position % 3 == 0:
                await writer.put_both(position, case, 1, trace, judge=JUDGE, score=score)
                os.write(1, b"trace %d\nscore %d\n" % (position, position))
                continue
            if 1 not in there:
                await writer.put_trace(position, case, 1, trace)
                os.write(1, b"trace %d\n" % position)
            if there.get(1) is None:
                await writer.put_score(case.id, 1, JUDGE, score)
                os.write(1, b"score %d\n" % position)

    await asyncio.gather(*(work() for _ in range(IN_FLIGHT)))


def run_victim(path: Path, run_id: str, rows: int, delay: float | None, early: bool) -> bytes:
    """Run a victim and kill it after a delay, from its start or its first row; return its reports.

    Without a delay it may finish.
    """
    command = [sys.executable, __file__, "--victim", str(path), run_id, str(rows)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        pipe, reports = process.stdout.fileno(), b""
        end = time.monotonic() + delay if early and delay is not None else None
        while True:
            wait = None if end is None else max(0.0, end - time.monotonic())
            if not select.select([pipe], [], [], wait)[0]:
                process.kill()
                end = None  # its last reports are still in the pipe
                continue
            reports += (piece := os.read(pipe, 1 << 16))
            if not piece:
                break
            if end is None and delay is not None and process.poll() is None and READY in piece:
                end = time.monotonic() + delay
    return reports


class Acknowledged:
    """The rows of a run that were acknowledged, compared with the file."""

    def __init__(self) -> None:
        self.traces: set[int] = set()
        self.scores: set[int] = set()

    def add(self, reports: bytes) -> None:
        """Read the reports of a victim."""
        for line in reports.splitlines():
            kind, _, number = line.partition(b" ")
            if kind in (b"trace", b"score"):
                (self.traces if kind == b"trace" else self.scores).add(int(number))

    def check(self, path: Path, run_id: str) -> int:
        """Compare the file with the reports, and return how many rows it has."""
        if not path.exists():
            assert not self.traces, "the store is missing"
            return 0
        with closing(sqlite3.connect(path)) as connection:
            (fine,) = connection.execute("PRAGMA quick_check").fetchone()
            assert fine == "ok", fine
        with Store(path, make=False) as store:
            if not store.runs():
                assert not self.traces, "the run is missing"
                return 0
            seen: Counter[str] = Counter()
            traces, scores = set(), set()
            for row in store.rows(run_id):
                case, trace, score = record(row.position)
                assert (row.case, row.trace, row.attempt) == (case, trace, 1), row.position
                assert row.score in (None, score), row.position
                seen[row.case.id] += 1
                traces.add(row.position)
                scores |= {row.position} if row.score else set()
        assert not seen or max(seen.values()) == 1, "doubled"
        assert self.traces <= traces, f"lost traces: {sorted(self.traces - traces)}"
        assert self.scores <= scores, f"lost scores: {sorted(self.scores - scores)}"
        return len(traces)


def suite(kills: int, rows: int, seed: int, folder: Path) -> None:
    chance = random.Random(seed)
    done = runs = acknowledged = unready = 0
    while done < kills:
        path, run_id, rows_seen = folder / f"kills-{runs}.db", f"run-{runs}", Acknowledged()
        longest = 0.6
        while done < kills:
            early = chance.random() < 0.25
            reports = run_victim(path, run_id, rows, chance.random() * longest, early)
            rows_seen.add(reports)
            held = rows_seen.check(path, run_id)
            if COMPLETE in reports:
                break
            done += 1
            unready += READY not in reports
            print(f"kill {done}: {len(rows_seen.traces)} acknowledged, {held} stored", flush=True)
        rows_seen.add(reports := run_victim(path, run_id, rows, None, False))
        assert COMPLETE in reports, "the resume did not complete"
        assert rows_seen.check(path, run_id) == rows
        with Store(path, make=False) as store:
            assert sum(1 for _ in store.done(run_id, JUDGE)) == rows
            assert store.summary(run_id) == {"planned": rows}
        runs, acknowledged = runs + 1, acknowledged + len(rows_seen.traces) + len(rows_seen.scores)
        for file in folder.glob(f"{path.name}*"):
            file.unlink()
        print(f"run {runs} complete", flush=True)
    print(
        f"{done} kills ({unready} before the first row), {runs} runs of {rows} completed, "
        f"{acknowledged} acknowledged rows: none lost, none doubled"
    )


def main() -> None:
    if sys.argv[1:2] == ["--victim"]:
        victim(sys.argv[2], sys.argv[3], int(sys.argv[4]))
        return
    parser = argparse.ArgumentParser(description="Kill a writing process, again and again.")
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--rows", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--folder", type=Path, help="the disk to use")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=given.folder) as folder:
        suite(given.kills, given.rows, given.seed, Path(folder))


if __name__ == "__main__":
    main()
