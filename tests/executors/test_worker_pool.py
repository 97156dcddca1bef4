"""Real processes, really killed. No test has a tight upper limit: a slow machine must pass too."""

import asyncio
import importlib
import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from pathlib import Path
from typing import Any

import pytest

from fourscore.executors import pool_thread
from fourscore.executors.worker_pool import (
    WorkerDied,
    WorkerError,
    WorkerPool,
    WorkerTimeout,
    frame_load,
)

HERE = Path(__file__).parent
sys.path.append(str(HERE))  # workers get our sys.path, and must find the jobs on it
jobs = importlib.import_module("worker_jobs")

LONG = 60.0
pytestmark = pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")


@pytest.fixture
def pool() -> Iterator[WorkerPool]:
    with WorkerPool(2, memory=2**29, warm=["worker_jobs"]) as workers:
        yield workers


def until(condition: Callable[[], Any], limit: float = LONG) -> Any:
    ends = time.monotonic() + limit
    while not (value := condition()):
        assert time.monotonic() < ends, "waited in vain"
        time.sleep(0.01)
    return value


def running(pid: int) -> bool:
    """Whether it still executes; an orphan's zombie is init's business, not ours."""
    try:
        os.kill(pid, 0)
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (ProcessLookupError, FileNotFoundError):
        return False
    return state not in "ZX"


def children() -> set[int]:
    """Every child of this process, zombies too."""
    listed = subprocess.run(["ps", "-A", "-o", "pid=,ppid=,comm="], capture_output=True, text=True)
    rows = [line.split(None, 2) for line in listed.stdout.splitlines()]
    return {int(row[0]) for row in rows if int(row[1]) == os.getpid() and row[2] != "ps"}


def noted(path: Path) -> int:
    until(path.exists)
    return int(path.read_text())


# One job.


def test_returns_result_from_call_submit_and_run(pool: WorkerPool) -> None:
    assert pool.call(jobs.add, 2, 3, deadline=LONG) == 5
    assert pool.submit(jobs.add, 2, 3, deadline=LONG).result() == 5
    assert asyncio.run(pool.run(jobs.add, 2, 3, deadline=LONG)) == 5
    assert pool.call(os.getpid, deadline=LONG) != os.getpid()


def both(pool: WorkerPool, function: Callable[..., Any], *args: Any, deadline: float = LONG) -> Any:
    """What call() raises, after seeing that submit() raises the same."""
    queued = pool.submit(function, *args, deadline=deadline).exception()
    with pytest.raises(Exception) as caught:  # noqa: PT011
        pool.call(function, *args, deadline=deadline)
    assert type(queued) is type(caught.value)
    assert str(queued) == str(caught.value)
    return caught.value


def test_starts_no_process_before_the_first_job() -> None:
    before = children()
    threads = threading.active_count()
    with WorkerPool(2) as pool:
        assert children() == before
        assert threading.active_count() == threads
        pool.call(jobs.add, 1, 1, deadline=LONG)
        assert len(children() - before) == 1
    assert children() == before
    assert threading.active_count() == threads


def test_raises_the_jobs_exception_with_the_workers_traceback(pool: WorkerPool) -> None:
    error = both(pool, jobs.fail, "not there")
    assert isinstance(error, LookupError)
    assert error.args == ("not there",)
    assert any("in fail" in note and "worker_jobs.py" in note for note in error.__notes__)


@pytest.mark.parametrize(
    ("job", "words"),
    [
        ("shy", "returned a worker_jobs.Shy, which cannot be pickled: I stay here"),
        ("thread_lock", "which cannot be pickled"),
        ("stubborn", "raised worker_jobs.Stubborn: 1 and 2 (which cannot be pickled)"),
        ("leave", "raised SystemExit: 3"),
        ("stop", "raised StopIteration: enough"),
    ],
)
def test_unpicklable_result_is_an_error_and_the_worker_goes_on(
    pool: WorkerPool, job: str, words: str
) -> None:
    pid = pool.call(os.getpid, deadline=LONG)
    error = both(pool, getattr(jobs, job))
    assert type(error) is WorkerError
    assert words in str(error)
    assert pool.call(os.getpid, deadline=LONG) == pid


def test_unpicklable_arguments_fail_in_the_caller(pool: WorkerPool) -> None:
    before = pool.call(os.getpid, deadline=LONG)
    with pytest.raises(TypeError, match="pickle"):
        pool.call(jobs.add, threading.Lock(), 1, deadline=LONG)
    with pytest.raises(TypeError, match="pickle"):
        pool.submit(jobs.add, threading.Lock(), 1, deadline=LONG)
    assert pool.call(os.getpid, deadline=LONG) == before


@pytest.mark.parametrize("deadline", [0, -1, float("nan"), float("inf")])
def test_refuses_deadline_that_is_not_a_positive_number(pool: WorkerPool, deadline: float) -> None:
    with pytest.raises(ValueError, match="deadline"):
        pool.call(jobs.add, 1, 1, deadline=deadline)


def test_refuses_function_of_main(pool: WorkerPool) -> None:
    def lost() -> None: ...

    lost.__module__ = "__main__"
    with pytest.raises(ValueError, match="__main__"):
        pool.submit(lost, deadline=LONG)


def test_printing_does_not_corrupt_the_result(
    pool: WorkerPool, capfd: pytest.CaptureFixture[str]
) -> None:
    pids = {pool.call(jobs.speak, deadline=LONG) for _ in range(3)}
    assert len(pids) == 1
    captured = capfd.readouterr()
    assert captured.out == ""
    assert captured.err.count("to descriptor 1") == 3


def test_worker_ignores_ctrl_c_and_clears_alarms_between_jobs(pool: WorkerPool) -> None:
    pid = pool.call(os.getpid, deadline=LONG)
    assert pool.call(jobs.interruptible, deadline=LONG)
    pool.call(jobs.alarm, deadline=LONG)
    assert pool.call(jobs.nap, 1.5, pid, deadline=LONG) == pid
    assert pool.call(os.getpid, deadline=LONG) == pid


def test_worker_has_sys_path_of_parent_and_warm_modules() -> None:
    with WorkerPool(1, warm=["colorsys", "no_such_module"]) as pool:
        assert pool.call(jobs.path, deadline=LONG) == sys.path
        assert "colorsys" in pool.call(jobs.modules, deadline=LONG)


# Deadlines and deaths.


@pytest.mark.parametrize("way", ["call", "submit", "run"])
def test_deadline_kills_a_call_that_holds_the_gil(
    pool: WorkerPool, way: str, tmp_path: Path
) -> None:
    pool.call(jobs.add, 1, 1, deadline=LONG)
    note, started = tmp_path / "pid", time.monotonic()
    ways = {
        "call": lambda: pool.call(jobs.grind, str(note), deadline=0.5),
        "submit": lambda: pool.submit(jobs.grind, str(note), deadline=0.5).result(),
        "run": lambda: asyncio.run(pool.run(jobs.grind, str(note), deadline=0.5)),
    }
    with pytest.raises(WorkerTimeout, match=r"deadline of 0\.5 s") as caught:
        ways[way]()
    assert time.monotonic() - started >= 0.5
    assert isinstance(caught.value, TimeoutError)
    pid = noted(note)
    until(lambda: not running(pid))
    until(lambda: pid not in children())
    assert pool.call(jobs.add, 1, 1, deadline=LONG) == 2


def test_start_of_a_worker_does_not_count_to_the_deadline(tmp_path: Path, monkeypatch: Any) -> None:
    (tmp_path / "slow_to_import.py").write_text("import time; time.sleep(1)")
    monkeypatch.syspath_prepend(str(tmp_path))
    with WorkerPool(1, warm=["slow_to_import"]) as pool:
        assert pool.call(os.getppid, deadline=0.9) == os.getpid()


def answers(pool: WorkerPool) -> bool:
    try:
        return bool(pool.call(jobs.add, 1, 1, deadline=LONG))
    except WorkerTimeout:
        return False


def test_patience_bounds_the_wait_for_a_worker(tmp_path: Path) -> None:
    with WorkerPool(1, patience=0.3) as pool:
        until(lambda: answers(pool))  # starting takes as long as it takes
        busy = pool.submit(jobs.nap_after, str(tmp_path / "taken"), deadline=LONG)
        assert until((tmp_path / "taken").exists)  # or the call below may find the worker idle
        with pytest.raises(WorkerTimeout, match=r"within 0\.3 s; the job never ran"):
            pool.call(jobs.add, 1, 1, deadline=LONG)
        assert busy.cancel()


@pytest.mark.parametrize(
    ("job", "args", "words"),
    [
        (os._exit, (7,), "exited with status 7"),
        (jobs.segfault, (), "SIGSEGV (Segmentation fault)"),
        (os.abort, (), "SIGABRT"),
        (jobs.kill_self, (signal.SIGKILL,), "killed (SIGKILL), from outside or"),
        (jobs.kill_self, (signal.SIGTERM,), "SIGTERM (Terminated)"),
        (jobs.bomb, (), "ran out of memory"),
    ],
)
def test_error_describes_how_the_worker_died_and_it_is_replaced(
    pool: WorkerPool, job: Callable[..., Any], args: tuple[Any, ...], words: str
) -> None:
    before = pool.call(os.getpid, deadline=LONG)
    error = both(pool, job, *args)
    assert type(error) is WorkerDied
    assert words in str(error)
    assert pool.call(os.getpid, deadline=LONG) != before


@pytest.mark.parametrize("way", ["call", "submit"])
def test_busy_worker_killed_from_outside_fails_its_job(
    pool: WorkerPool, way: str, tmp_path: Path
) -> None:
    pool.call(jobs.add, 1, 1, deadline=LONG)
    note = tmp_path / "pid"
    with ThreadPoolExecutor() as threads:
        job = threads.submit(getattr(pool, way), jobs.grind, str(note), deadline=LONG)
        if way == "submit":
            job = job.result()
        os.kill(noted(note), signal.SIGKILL)
        with pytest.raises(WorkerDied, match="SIGKILL"):
            job.result()


def test_idle_worker_killed_from_outside_fails_no_job(pool: WorkerPool) -> None:
    for _ in range(10):
        pid = pool.call(os.getpid, deadline=LONG)
        os.kill(pid, signal.SIGKILL)
        while running(pid):
            time.sleep(0.001)
        assert pool.call(os.getpid, deadline=LONG) != pid
        while pid in children():
            time.sleep(0.01)


def test_cpu_time_is_limited_for_each_job() -> None:
    with WorkerPool(1, cpu_seconds=1) as pool, pytest.raises(WorkerDied, match="CPU time"):
        pool.call(jobs.burn, deadline=LONG)


def test_only_a_worker_that_grew_is_recycled() -> None:
    with WorkerPool(1, recycle=2) as pool:
        first = pool.call(os.getpid, deadline=LONG)
        for _ in range(5):
            assert pool.call(os.getpid, deadline=LONG) == first
        pool.call(jobs.hoard, 2**28, deadline=LONG)
        until(lambda: pool.call(os.getpid, deadline=LONG) != first)


def test_children_of_a_job_die_with_its_worker(pool: WorkerPool, tmp_path: Path) -> None:
    with pytest.raises(WorkerTimeout):
        pool.call(jobs.fork_and_grind, str(tmp_path / "pid"), deadline=1)
    until(lambda: not running(noted(tmp_path / "pid.child")))
    orphan = pool.call(jobs.fork_and_return, deadline=LONG)
    with pytest.raises(WorkerDied):
        pool.call(os._exit, 0, deadline=LONG)
    until(lambda: not running(orphan))
    assert pool.call(jobs.fork_and_fall_through, deadline=LONG) == "parent"
    assert pool.call(jobs.add, 1, 1, deadline=LONG) == 2


def test_job_fails_when_no_worker_can_start(monkeypatch: Any, tmp_path: Path) -> None:
    with monkeypatch.context() as patch, WorkerPool(1) as pool:
        patch.setattr(sys, "executable", "/bin/false")
        with pytest.raises(WorkerDied, match=r"no worker could start.*status 1"):
            pool.call(jobs.add, 1, 1, deadline=LONG)
        patch.setattr(sys, "executable", str(tmp_path / "nowhere"))
        with pytest.raises(WorkerDied, match=r"no worker could start.*nowhere"):
            pool.call(jobs.add, 1, 1, deadline=LONG)
        patch.undo()
        assert pool.call(jobs.add, 1, 1, deadline=LONG) == 2


def test_failure_of_the_pool_thread_fails_waiting_jobs(pool: WorkerPool, monkeypatch: Any) -> None:
    monkeypatch.setattr(threading, "excepthook", lambda *_: None)
    pid = pool.call(os.getpid, deadline=LONG)
    with monkeypatch.context() as patch:
        patch.setattr(pool_thread.PoolThread, "assign_jobs", lambda *_: 1 / 0)
        with pytest.raises(WorkerDied):
            pool.submit(jobs.add, 1, 1, deadline=LONG).result(LONG)
    until(lambda: pid not in children())
    assert pool.call(jobs.add, 1, 1, deadline=LONG) == 2


# Threads and event loops.


def test_64_threads_share_one_pool(pool: WorkerPool) -> None:
    def ask(number: int) -> list[int]:
        calls = [pool.call(jobs.square, number + i, deadline=LONG) for i in range(20)]
        queued = [pool.submit(jobs.square, number + i, deadline=LONG) for i in range(20)]
        return calls + [job.result() for job in queued]

    before = children()
    with ThreadPoolExecutor(64) as threads:
        answers = list(threads.map(ask, range(64)))
    assert answers == [[(n + i) ** 2 for i in range(20)] * 2 for n in range(64)]
    assert len(children() - before) <= 2


def test_each_thread_gets_its_own_failure(pool: WorkerPool) -> None:
    def ask(number: int) -> str:
        try:
            if number % 4 == 0:
                return str(pool.call(os._exit, number, deadline=LONG))
            if number % 4 == 1:
                return str(pool.call(pow, 10, 10**10, deadline=0.2))
            if number % 4 == 2:
                return str(pool.call(jobs.fail, str(number), deadline=LONG))
            return str(pool.call(jobs.square, number, deadline=LONG))
        except (WorkerError, LookupError) as error:
            return f"{type(error).__name__} {error}"

    with ThreadPoolExecutor(16) as threads:
        for number, answer in enumerate(threads.map(ask, range(48))):
            assert (
                answer
                == [
                    f"WorkerDied the worker exited with status {number}",
                    "WorkerTimeout the job was killed at its deadline of 0.2 s",
                    f"LookupError {number}",
                    str(number**2),
                ][number % 4]
            )


def test_runs_jobs_in_order_of_submission() -> None:
    with WorkerPool(1) as pool:
        order: list[int] = []
        futures = [pool.submit(jobs.square, n, deadline=LONG) for n in range(50)]
        for future in futures:
            future.add_done_callback(lambda done: order.append(done.result()))
        wait(futures)
        until(lambda: len(order) == 50)
        assert order == sorted(order)


def test_cancelling_a_task_kills_its_job(pool: WorkerPool, tmp_path: Path) -> None:
    async def main() -> None:
        task = asyncio.create_task(pool.run(jobs.grind, str(tmp_path / "pid"), deadline=LONG))
        while not (tmp_path / "pid").exists():  # noqa: ASYNC110 - another process makes it
            await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main())
    pid = noted(tmp_path / "pid")
    until(lambda: pid not in children())
    assert pool.call(jobs.add, 1, 1, deadline=LONG) == 2


def test_cancelled_job_in_the_queue_never_runs(tmp_path: Path) -> None:
    with WorkerPool(1) as pool:
        blocker = pool.submit(jobs.nap, 0.5, deadline=LONG)
        queued = pool.submit(jobs.grind, str(tmp_path / "pid"), deadline=LONG)
        assert queued.cancel()
        assert wait([blocker, queued], timeout=LONG).not_done == set()
        assert pool.call(jobs.add, 1, 1, deadline=LONG) == 2
        assert not (tmp_path / "pid").exists()


def test_serves_two_event_loops_at_once(pool: WorkerPool) -> None:
    async def ask(start: int) -> Any:
        return await asyncio.gather(
            *(pool.run(jobs.square, start + i, deadline=LONG) for i in range(50))
        )

    with ThreadPoolExecutor(2) as threads:
        answers = list(threads.map(lambda start: asyncio.run(ask(start)), [0, 100]))
    assert answers == [[(s + i) ** 2 for i in range(50)] for s in (0, 100)]


def test_callback_may_submit_but_not_wait(pool: WorkerPool) -> None:
    seen: Future[Any] = Future()

    def follow(_: Future[Any]) -> None:
        try:
            pool.call(jobs.add, 1, 1, deadline=LONG)
        except RuntimeError as error:
            seen.set_result((str(error), pool.submit(jobs.add, 1, 1, deadline=LONG)))

    pool.submit(jobs.nap, 0.2, deadline=LONG).add_done_callback(follow)
    words, second = seen.result(LONG)
    assert "use submit()" in words
    assert second.result(LONG) == 2


# map


def test_map_keeps_order_and_limits_jobs_under_way(pool: WorkerPool) -> None:
    taken = 0

    def forever() -> Iterator[int]:
        nonlocal taken
        while True:
            yield taken
            taken += 1

    results = pool.map(jobs.square, forever(), deadline=LONG, window=5)
    for number in range(200):
        assert next(results) == number**2
        assert taken - number <= 5
    results.close()  # type: ignore[attr-defined]
    assert list(pool.map(jobs.square, range(3), deadline=LONG, window=50)) == [0, 1, 4]
    assert list(pool.map(jobs.square, [], deadline=LONG)) == []


def test_map_stops_at_a_failure_and_kills_jobs_under_way(pool: WorkerPool, tmp_path: Path) -> None:
    note = tmp_path / "pid"
    work = [(jobs.nap, 1), (os._exit, 3), (jobs.grind, str(note))]
    with pytest.raises(WorkerDied, match="status 3"):
        list(pool.map(jobs.apply, work, deadline=LONG))
    if note.exists():
        until(lambda: not running(noted(note)))
    assert pool.call(jobs.add, 1, 1, deadline=LONG) == 2


def test_sends_megabytes_both_ways(pool: WorkerPool) -> None:
    chunks = [bytes([n]) * 3_000_000 for n in range(8)]
    assert list(pool.map(bytes.upper, chunks, deadline=LONG, window=3)) == chunks
    assert pool.call(bytes.upper, chunks[5], deadline=LONG) == chunks[5]


# Processes.


def test_forked_child_starts_its_own_workers(pool: WorkerPool) -> None:
    ours = pool.call(os.getpid, deadline=LONG)
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            theirs = [pool.call(os.getpid, deadline=LONG), pool.call(os.getppid, deadline=LONG)]
            grown = asyncio.run(pool.run(jobs.add, 1, 1, deadline=LONG))
            pool.close()
            os.write(writer, repr([*theirs, grown, os.getpid()]).encode())
        finally:
            os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as stream:
        worker, parent, grown, forked = eval(stream.read())
    assert (worker != ours, parent, grown) == (True, forked, 2)
    assert os.waitpid(child, 0)[1] == 0
    assert not running(worker)
    assert pool.call(os.getpid, deadline=LONG) == ours


def test_fork_while_64_threads_are_busy(pool: WorkerPool) -> None:
    stop = threading.Event()

    def ask() -> None:
        while not stop.is_set():
            assert pool.call(jobs.add, 1, 1, deadline=LONG) == 2

    with ThreadPoolExecutor(64) as threads:
        asking = [threads.submit(ask) for _ in range(64)]
        statuses = []
        for _ in range(10):
            child = os.fork()
            if child == 0:
                os._exit(0 if pool.call(jobs.add, 2, 2, deadline=LONG) == 4 else 1)
            statuses.append(os.waitpid(child, 0)[1])
        stop.set()
        for job in asking:
            job.result(LONG)
    assert statuses == [0] * 10


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
@pytest.mark.parametrize("daemon", [False, True])
def test_works_in_a_multiprocessing_child(pool: WorkerPool, method: str, daemon: bool) -> None:
    pool.call(jobs.add, 1, 1, deadline=LONG)
    context = multiprocessing.get_context(method)
    answers = context.SimpleQueue()
    process = context.Process(target=jobs.in_child, args=(pool, answers), daemon=daemon)  # type: ignore[attr-defined]
    process.start()
    assert answers.get() == (42, process.pid)
    process.join(LONG)
    assert process.exitcode == 0
    assert pool.call(jobs.add, 1, 1, deadline=LONG) == 2


def test_pickled_pool_is_its_settings() -> None:
    with WorkerPool(3, memory=None, warm=["json"], recycle=7, patience=9) as pool:
        pool.call(os.getpid, deadline=LONG)
        with pickle.loads(pickle.dumps(pool)) as copy:
            assert copy._settings == pool._settings
            assert copy._pool_thread is None


PARENT = """
import os, signal, sys, threading, time
sys.path[:0] = {path!r}
from fourscore.executors.worker_pool import WorkerPool
import worker_jobs as jobs
pool = WorkerPool(2)
idle = [pool.submit(jobs.nap, 0.3, deadline=60) for _ in range(2)]
[job.result() for job in idle]
threading.Thread(target=pool.{way}, args=({job}, {note!r}), kwargs={{"deadline": 600}},
                 daemon=True).start()
while not os.path.exists({note!r}):
    time.sleep(0.01)
{end}
"""

ENDS = {
    "SIGKILL": "os.kill(os.getpid(), signal.SIGKILL)",
    "SIGTERM": "os.kill(os.getpid(), signal.SIGTERM); time.sleep(600)",
    "os._exit": "os._exit(5)",
    "normal": "",
    "exception": "raise SystemExit(1)",
    "fork": (
        "child = os.fork()\n"
        "if child == 0: time.sleep(600)\n"  # holds copies of all our descriptors, or should not
        "print(child, flush=True)\n"
        "os.kill(os.getpid(), signal.SIGKILL)"
    ),
}


@pytest.mark.parametrize("way", ["call", "submit"])
@pytest.mark.parametrize("end", ENDS)
def test_no_worker_outlives_its_parent(tmp_path: Path, end: str, way: str) -> None:
    note = tmp_path / "pid"
    path = [str(Path(pool_thread.__file__).parents[2]), str(HERE), str(tmp_path)]
    code = PARENT.format(
        path=path, note=str(note), end=ENDS[end], way=way, job="jobs.fork_and_grind"
    )
    parent = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    worker = noted(note)
    group = f"ps -A -o sid=,stat= | awk '$1 == {worker} && $2 !~ /Z/'"
    assert parent.stdout is not None
    first = parent.stdout.readline()  # "" once every process that shares its stdout is gone
    parent.wait(LONG)
    parent.stdout.close()
    until(lambda: not running(worker))
    until(lambda: not running(noted(tmp_path / "pid.child")))
    until(lambda: not subprocess.check_output(group, shell=True))
    until(lambda: not workers_of(tmp_path))
    if end == "fork":
        assert running(int(first))
        os.kill(int(first), signal.SIGKILL)


@pytest.mark.parametrize("job", ["jobs.nap_after", "jobs.grind"])
def test_thread_or_cpu_limit_ends_worker_without_kernel_signal(tmp_path: Path, job: str) -> None:
    """What happens where F_SETSIG does not exist: the worker is told that it is on a Mac."""
    elsewhere = tmp_path / "python"
    elsewhere.write_text(
        f"#!{sys.executable}\nimport sys\nsys.platform = 'darwin'\nexec(sys.argv[2])"
    )
    elsewhere.chmod(0o755)
    note = tmp_path / "pid"
    path = [str(Path(pool_thread.__file__).parents[2]), str(HERE), str(tmp_path)]
    code = PARENT.format(path=path, note=str(note), end=ENDS["SIGKILL"], way="call", job=job)
    code = code.replace("pool = ", f"sys.executable = {str(elsewhere)!r}\npool = ")
    code = code.replace('"deadline": 600', '"deadline": 1')
    parent = subprocess.Popen([sys.executable, "-c", code])
    assert parent.wait(LONG) == -signal.SIGKILL
    worker = noted(note)
    until(lambda: not running(worker))
    until(lambda: not workers_of(tmp_path))


def workers_of(place: Path) -> list[str]:
    """The workers whose sys.path, and so whose command line, has this folder in it."""
    listed = subprocess.check_output(["ps", "-A", "-ww", "-o", "stat=,args="], text=True)
    lines = [line for line in listed.splitlines() if "executors.worker import serve" in line]
    return [line for line in lines if str(place) in line and line[0] != "Z"]


def test_garbage_collected_pool_ends_its_workers() -> None:
    before = children()
    job = WorkerPool(1).submit(jobs.nap, 0.2, 7, deadline=LONG)
    assert job.result() == 7
    assert len(children() - before) == 1
    del job
    until(lambda: children() <= before)


def test_pool_can_be_closed_twice_and_refuses_later_jobs() -> None:
    pool = WorkerPool(1)
    pool.close()
    pool = WorkerPool(1)
    pid = pool.call(os.getpid, deadline=LONG)
    pool.close()
    pool.close()
    assert pid not in children()
    for use in (pool.call, pool.submit):
        with pytest.raises(RuntimeError, match="closed"):
            use(jobs.add, 1, 1, deadline=LONG)


@pytest.mark.parametrize("way", ["call", "submit"])
def test_close_fails_jobs_under_way(way: str, tmp_path: Path) -> None:
    before = children()
    pool = WorkerPool(1)
    pool.call(jobs.add, 1, 1, deadline=LONG)

    def ask() -> Any:
        answer = getattr(pool, way)(jobs.grind, str(tmp_path / "pid"), deadline=LONG)
        return answer.result() if way == "submit" else answer

    with ThreadPoolExecutor() as threads:
        busy = threads.submit(ask)
        noted(tmp_path / "pid")
        queued = pool.submit(jobs.add, 1, 1, deadline=LONG)
        pool.close()
        for job in (busy, queued):
            with pytest.raises(WorkerDied, match="pool was closed"):
                job.result(LONG)
    assert children() == before


RAY = """
import os, sys
sys.path[:0] = {path!r}
import ray
from fourscore.executors.worker_pool import WorkerPool, WorkerTimeout
ray.init(num_cpus=1, include_dashboard=False, log_to_driver=False, logging_level="error")

@ray.remote
def score(pool):
    sys.path[:0] = {path!r}
    import worker_jobs as jobs
    try:
        pool.call(pow, 10, 10**10, deadline=0.5)
    except WorkerTimeout:
        answer = pool.call(jobs.add, 1, 2, deadline=60)
        return answer, pool.call(os.getppid, deadline=60), os.getpid()

answer, parent, worker = ray.get(score.remote(WorkerPool(1)))
assert (answer, parent) == (3, worker)
ray.shutdown()
"""


def test_works_in_a_ray_worker(tmp_path: Path) -> None:
    pytest.importorskip("ray")
    path = [str(Path(pool_thread.__file__).parents[2]), str(HERE), str(tmp_path)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path)}
    done = subprocess.run(
        [sys.executable, "-c", RAY.format(path=path)],
        env=environment,
        capture_output=True,
        text=True,
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stderr
    until(lambda: not workers_of(tmp_path))


@pytest.mark.parametrize("template", [False, True])
def test_each_worker_loads_before_its_first_deadline(tmp_path: Path, template: bool) -> None:
    load = frame_load(jobs.load, "model", str(tmp_path))
    with WorkerPool(1, memory=None, template=template, load=load) as pool:
        for _ in range(3):  # loading takes longer than the deadline
            assert pool.call(jobs.get_loaded, deadline=0.4) == ["model"]
            with pytest.raises(WorkerTimeout):
                pool.call(jobs.nap, 60, deadline=0.4)
    assert len([*tmp_path.glob("loaded-*")]) == 3


def test_load_that_fails_fails_the_waiting_jobs_with_its_reason(tmp_path: Path) -> None:
    (tmp_path / "broken").touch()
    load = frame_load(jobs.load, "model", str(tmp_path))
    with WorkerPool(1, memory=None, load=load) as pool:
        with pytest.raises(WorkerDied, match="no worker could start: the model file is gone"):
            pool.call(jobs.get_loaded, deadline=LONG)
        (tmp_path / "broken").unlink()
        assert pool.call(jobs.get_loaded, deadline=LONG) == ["model"]


def test_jobs_do_not_wait_behind_jobs_that_hang(tmp_path: Path) -> None:
    """Of five jobs that hang, four fill the pool and its spare workers, and one of them ends."""
    folder = str(tmp_path)
    with WorkerPool(2, memory=None, spare=2, template=True, warm=["worker_jobs"]) as pool:
        assert pool.call(jobs.add, 1, 2, deadline=LONG) == 3
        hanging = [pool.submit(jobs.hang_or, -1, folder, deadline=12) for _ in range(5)]
        others = [pool.submit(jobs.hang_or, n, folder, deadline=12) for n in range(20)]
        assert [other.result(LONG) for other in others] == list(range(20))
        assert len([*tmp_path.glob("begun-*")]) == 5
        (tmp_path / "go").touch()
        ends = [job.exception(LONG) for job in hanging]
        killed = [end for end in ends if isinstance(end, WorkerTimeout)]
        assert killed
        assert "because other jobs waited" in str(killed[0])


def test_jobs_that_hang_are_not_killed_where_nobody_waits(tmp_path: Path) -> None:
    folder = str(tmp_path)
    with WorkerPool(1, memory=None, spare=1, warm=["worker_jobs"]) as pool:
        job = pool.submit(jobs.hang_or, -1, folder, deadline=LONG)
        until(lambda: [*tmp_path.glob("begun-*")])
        thread = pool._pool_thread
        assert thread is not None
        thread.make_way(time.monotonic() + 0.9 * LONG)
        (tmp_path / "go").touch()
        assert job.result(LONG) == -1


def test_spare_workers_end_when_they_have_been_idle(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pool_thread, "_KEEP_SPARE", 0.2)
    with WorkerPool(1, memory=None, spare=2, template=True, warm=["worker_jobs"]) as pool:
        job = pool.submit(jobs.hang_or, -1, str(tmp_path), deadline=8)
        assert pool.call(jobs.add, 1, 2, deadline=8) == 3
        (tmp_path / "go").touch()
        assert job.result(LONG) == -1
        thread = pool._pool_thread
        assert thread is not None
        until(lambda: len(thread.workers) == 1)
        assert pool.call(jobs.add, 1, 2, deadline=LONG) == 3
