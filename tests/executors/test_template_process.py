"""Workers forked from a warm template: the same promises, and a quick replacement."""

import asyncio
import importlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from fourscore.executors.worker_pool import WorkerDied, WorkerPool, WorkerTimeout

HERE = Path(__file__).parent
sys.path.append(str(HERE))  # workers get our sys.path, and must find the jobs on it
jobs = importlib.import_module("worker_jobs")
LONG = 60.0


def until(true: Callable[[], bool]) -> bool:
    end = time.monotonic() + LONG
    while not true() and time.monotonic() < end:
        time.sleep(0.01)
    return true()


def gone(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except FileNotFoundError:
        return True


@pytest.fixture
def pool() -> Iterator[WorkerPool]:
    with WorkerPool(2, warm=["decimal"], template=True) as workers:
        yield workers


def test_result_comes_from_a_forked_worker(pool: WorkerPool) -> None:
    first = pool.call(os.getpid, deadline=LONG)
    assert first != os.getpid()
    assert pool.call(pow, 2, 10, deadline=LONG) == 1024
    assert pool.call(os.getsid, 0, deadline=LONG) == first  # a session of its own
    assert pool.call(os.getppid, deadline=LONG) not in (os.getpid(), 1)  # the template


def test_warm_modules_are_loaded_before_the_fork(pool: WorkerPool) -> None:
    loaded = pool.call(eval, "'decimal' in __import__('sys').modules", deadline=LONG)
    assert loaded is True


def test_deadline_kills_worker_and_next_job_runs(pool: WorkerPool) -> None:
    before = pool.call(os.getpid, deadline=LONG)
    with pytest.raises(WorkerTimeout):
        pool.call(time.sleep, 3600, deadline=0.2)
    assert pool.call(os.getpid, deadline=LONG) != before
    assert until(lambda: gone(before))


@pytest.mark.parametrize(
    ("number", "words"), [(signal.SIGSEGV, "SIGSEGV"), (signal.SIGABRT, "SIGABRT")]
)
def test_crash_message_names_the_signal(
    pool: WorkerPool, number: signal.Signals, words: str
) -> None:
    with pytest.raises(WorkerDied, match=words):
        pool.call(signal.raise_signal, number, deadline=LONG)
    assert pool.call(abs, -1, deadline=LONG) == 1


def test_exit_message_names_the_status(pool: WorkerPool) -> None:
    with pytest.raises(WorkerDied, match="exited with status 5"):
        pool.call(os._exit, 5, deadline=LONG)


def test_dead_template_is_replaced(pool: WorkerPool) -> None:
    worker, template = pool.call(os.getpid, deadline=LONG), pool.call(os.getppid, deadline=LONG)
    os.kill(template, signal.SIGKILL)
    assert until(lambda: gone(template))
    with pytest.raises(WorkerTimeout):
        pool.call(time.sleep, 3600, deadline=0.2)
    assert pool.call(os.getpid, deadline=LONG) != worker
    assert pool.call(os.getppid, deadline=LONG) != template


def test_close_ends_template_and_workers() -> None:
    with WorkerPool(2, template=True) as pool:
        numbers = [pool.call(os.getpid, deadline=LONG), pool.call(os.getppid, deadline=LONG)]
    assert until(lambda: all(map(gone, numbers)))


def test_killed_parent_leaves_no_template_and_no_workers() -> None:
    code = (
        "import os, time; from fourscore.executors.worker_pool import WorkerPool\n"
        "pool = WorkerPool(1, template=True)\n"
        "print(pool.call(os.getpid, deadline=60), pool.call(os.getppid, deadline=60), flush=True)\n"
        "pool.submit(pow, 10, 10**9, deadline=3600); time.sleep(3600)"
    )
    parent = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert parent.stdout is not None
    numbers = [int(word) for word in parent.stdout.readline().split()]
    parent.kill()
    parent.wait()
    parent.stdout.close()
    assert len(numbers) == 2
    assert until(lambda: all(map(gone, numbers)))


def test_forked_child_starts_its_own_template(pool: WorkerPool) -> None:
    ours = pool.call(os.getppid, deadline=LONG)
    child = os.fork()
    if not child:
        theirs = pool.call(os.getppid, deadline=LONG)
        pool.close()
        os._exit(0 if theirs != ours else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert pool.call(os.getppid, deadline=LONG) == ours


def test_runs_jobs_of_an_event_loop(pool: WorkerPool) -> None:
    async def many() -> list[int]:
        return await asyncio.gather(*[pool.run(pow, n, 2, deadline=LONG) for n in range(50)])

    assert asyncio.run(many()) == [n * n for n in range(50)]
