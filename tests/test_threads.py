"""No background thread dies unseen: an exception in it is logged, and nobody waits for it."""

import ast
import asyncio
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import fourscore
from fourscore.core import Case, Trace
from fourscore.executors import pool_thread, thread_pool
from fourscore.executors.portal import Portal
from fourscore.executors.thread_pool import ThreadPool
from fourscore.executors.worker_pool import WorkerDied, WorkerPool
from fourscore.models.cache_writer import WriteBehindCache
from fourscore.monitor import delivery
from fourscore.monitor.delivery import Deliverer
from fourscore.monitor.otel import trace_scoring
from fourscore.monitor.otel.receiver import Receipt, SpanReceiver
from fourscore.monitor.otel.trace_scoring import TraceAssembler
from fourscore.monitor.queue import Background
from fourscore.server.large_bodies import LargeBodies
from fourscore.stores.errors import StoreError
from fourscore.stores.monitor import MonitorStore
from fourscore.stores.run import RunInfo
from fourscore.stores.sqlite import Store

#: Every place that starts threads, with the test that makes each fail. A new one needs a test.
KNOWN = {
    "executors/pool_thread.py": "test_worker_pool_outlives_its_thread",
    "executors/portal.py": "test_portal_goes_on_after_a_task_that_ends_its_loop",
    "executors/thread_pool.py": "test_thread_of_a_blocking_call_fails_its_caller",
    "executors/worker_main.py": "only elsewhere than on Linux: it kills its process at once",
    "models/cache_writer.py": "test_cache_writer_tries_again",
    "monitor/delivery.py": "test_delivery_goes_on_after_a_sink_that_exits",
    "monitor/otel/receiver.py": "test_span_receiver_goes_on",
    "monitor/otel/trace_scoring.py": "test_trace_scoring_goes_on",
    "monitor/queue.py": "test_queue_goes_on_after_an_item_that_fails",
    "monitor/termination.py": "test_process_ends_though_the_last_save_fails",
    "server/large_bodies.py": "test_a_large_body_that_cannot_be_read_fails_its_request",
    "stores/writer.py": "test_writer_of_a_run_fails_its_rows",
}
ERRORS = [MemoryError("none left"), SystemExit(3), KeyboardInterrupt(), ValueError("a bug")]
each_error = pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
#: Seconds after which a waiter counts as forgotten; nothing here takes that long.
FORGOTTEN = 60.0


def failing_once(function: Callable[..., Any], error: BaseException) -> Callable[..., Any]:
    """Return the function, whose first call raises."""
    errors = [error]

    def call(*args: Any, **more: Any) -> Any:
        if errors:
            raise errors.pop()
        return function(*args, **more)

    return call


def wait_for(condition: Callable[[], Any]) -> None:
    ends = time.monotonic() + FORGOTTEN
    while not condition():
        assert time.monotonic() < ends
        time.sleep(0.01)


def test_every_thread_of_the_package_is_known() -> None:
    root = Path(fourscore.__file__).parent
    found: Counter[str] = Counter()
    for path in root.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call):
                name = ast.unparse(node.func).rpartition(".")[2]
                if name in ("Thread", "ThreadPoolExecutor", "Timer", "start_new_thread"):
                    found[str(path.relative_to(root))] += 1
    assert set(found) == set(KNOWN)
    tests = {name for name in KNOWN.values() if name.startswith("test_")}
    assert tests <= set(globals())


@each_error
def test_worker_pool_outlives_its_thread(
    error: BaseException, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    with WorkerPool(1, memory=None) as pool:
        assert pool.call(divmod, 7, 2, deadline=FORGOTTEN) == (3, 1)
        job = pool.submit(time.sleep, 3600, deadline=3600)
        # The thread is waiting now; what wakes it is the next job.
        broken = failing_once(pool_thread.PoolThread.handle_wake, error)
        monkeypatch.setattr(pool_thread.PoolThread, "handle_wake", lambda self: broken(self))
        other = pool.submit(time.sleep, 3600, deadline=3600)
        for each in (job, other):
            with pytest.raises(WorkerDied, match="the worker pool failed"):
                each.result(FORGOTTEN)
        assert pool.call(divmod, 9, 2, deadline=FORGOTTEN) == (4, 1)
    assert "the thread of a worker pool failed" in caplog.text


@each_error
def test_portal_goes_on_after_a_task_that_ends_its_loop(
    error: BaseException, caplog: pytest.LogCaptureFixture
) -> None:
    portal = Portal()

    async def fail() -> None:
        raise error

    async def succeed() -> int:
        return 1

    with pytest.raises(type(error)):
        portal.run(fail(), FORGOTTEN)
    assert portal.run(succeed(), FORGOTTEN) == 1
    if not isinstance(error, Exception):
        assert "goes on" in caplog.text


@each_error
def test_thread_of_a_blocking_call_fails_its_caller(
    error: BaseException, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    broken = failing_once(ThreadPool._end_job, error)
    monkeypatch.setattr(ThreadPool, "_end_job", lambda self, job: broken(self, job))
    pool = ThreadPool(1)

    async def call() -> list[Any]:
        calls = (asyncio.wait_for(pool.run(lambda: 1), FORGOTTEN) for _ in range(3))
        return await asyncio.gather(*calls, return_exceptions=True)

    results = asyncio.run(call())
    assert [result for result in results if result == 1] == [1, 1]
    assert "a thread for blocking calls failed" in caplog.text


def test_calls_wait_for_the_threads_there_are_where_no_more_can_start(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As under `ulimit -v` or `ulimit -u`."""
    pool, started = ThreadPool(), list[int]()
    start = thread_pool._Thread.__init__

    def start_two(self: Any, pool: ThreadPool) -> None:
        if len(started) == 2:
            raise RuntimeError("can't start new thread")
        started.append(1)
        start(self, pool)

    monkeypatch.setattr(thread_pool._Thread, "__init__", start_two)

    async def call(work: Callable[[], Any], n: int) -> list[Any]:
        calls = (asyncio.wait_for(pool.run(work), FORGOTTEN) for _ in range(n))
        return await asyncio.gather(*calls, return_exceptions=True)

    assert asyncio.run(call(lambda: time.sleep(0.01), 20)) == [None] * 20
    started[:] = [1, 1]
    pool = ThreadPool()
    (failure,) = asyncio.run(call(lambda: 1, 1))
    assert "can't start new thread" in str(failure)


def test_calls_wait_for_the_event_loops_there_are_where_no_more_can_open(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As under `ulimit -n`."""
    opened = list[int]()
    real = asyncio.new_event_loop

    def open_two() -> asyncio.AbstractEventLoop:
        if threading.current_thread().name == "fourscore-judge":
            if len(opened) >= 2:
                raise OSError(24, "Too many open files")
            opened.append(1)
        return real()

    monkeypatch.setattr(asyncio.events, "new_event_loop", open_two)

    async def work() -> int:
        await asyncio.sleep(0.01)
        return 1

    async def call(pool: ThreadPool, n: int) -> list[Any]:
        calls = (asyncio.wait_for(pool.run(work), FORGOTTEN) for _ in range(n))
        return await asyncio.gather(*calls, return_exceptions=True)

    pool = ThreadPool()
    assert asyncio.run(call(pool, 30)) == [1] * 30
    assert pool.most <= 2
    (failure,) = asyncio.run(call(ThreadPool(), 1))
    assert "Too many open files" in str(failure)


@each_error
def test_cache_writer_tries_again(
    error: BaseException,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    cache = WriteBehindCache(tmp_path / "cache.db", 1 << 20)
    monkeypatch.setattr(cache._writer, "put", failing_once(cache._writer.put, error))
    cache.put("a", b"1")
    wait_for(lambda: "replies are not cached" in caplog.text)
    cache.put("b", b"2")
    cache.close()
    assert WriteBehindCache(tmp_path / "cache.db", 1 << 20).get("b") == b"2"


@each_error
def test_delivery_goes_on_after_a_sink_that_exits(
    error: BaseException, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(delivery, "PAUSE_AFTER_ERROR", 0.01)
    called = threading.Event()

    class AnySink:
        name, together, policy = "any", 1, None

    with MonitorStore(None) as store:
        deliverer = Deliverer(store, "m", [AnySink()], pause=0.01)  # type: ignore[list-item]
        once = failing_once(lambda now: called.set(), error)
        monkeypatch.setattr(deliverer, "deliver_due", once)
        deliverer.start()
        assert called.wait(FORGOTTEN)
        deliverer.close(FORGOTTEN)
    assert "alerts are not sent" in caplog.text


@each_error
@pytest.mark.parametrize("where", ["_collect", "_store"])
def test_span_receiver_goes_on(
    error: BaseException, where: str, caplog: pytest.LogCaptureFixture
) -> None:
    with MonitorStore(None) as store:
        receiver = SpanReceiver(store.spans, "m")

        async def send() -> Any:
            return await asyncio.wait_for(receiver.put(1, list), FORGOTTEN)

        assert isinstance(asyncio.run(send()), Receipt)
        setattr(receiver, where, failing_once(getattr(receiver, where), error))
        results = []
        for _ in range(3):
            try:
                results.append(asyncio.run(send()))
            except (MemoryError, RuntimeError, ValueError) as raised:
                results.append(raised)
        assert isinstance(results[-1], Receipt)
        receiver.close()
    assert "spans cannot be stored" in caplog.text


@each_error
def test_trace_scoring_goes_on(
    error: BaseException, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(trace_scoring, "PAUSE", 0.01)
    monkeypatch.setattr(trace_scoring, "PAUSE_AFTER_ERROR", 0.01)
    called = threading.Event()
    with MonitorStore(None) as store:
        assembler = TraceAssembler(store.spans, "m", lambda seen: {})

        def look(now: float) -> int:
            called.set()
            return 0

        monkeypatch.setattr(assembler, "score_ready", failing_once(look, error))
        assembler.start()
        assert called.wait(FORGOTTEN)
        assembler.close(FORGOTTEN)
    assert "are tried again" in caplog.text


@each_error
def test_queue_goes_on_after_an_item_that_fails(
    error: BaseException, caplog: pytest.LogCaptureFixture
) -> None:
    done: list[int] = []
    background = Background(failing_once(done.append, error), most=10, threads=1)
    assert all(background.put(n, 1) for n in range(3))
    assert background.flush(FORGOTTEN)
    assert done == [1, 2]
    assert "an item of the queue failed" in caplog.text


def test_queue_refuses_items_where_no_thread_can_start(monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[int] = []
    background = Background(done.append, most=10, threads=2)

    def refuse(_: Any) -> None:
        raise RuntimeError("can't start new thread")

    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "start", refuse)
        assert not background.put(0, 1)
    assert background.put(1, 1)
    assert background.flush(FORGOTTEN)
    assert done == [1]


@each_error
@pytest.mark.parametrize("where", ["_collect", "_commit"])
def test_writer_of_a_run_fails_its_rows(error: BaseException, where: str, tmp_path: Path) -> None:
    async def put() -> str:
        with Store(tmp_path / "store.db") as store:
            run = RunInfo()
            store.start(run)
            with store.writer(run.id) as writer:
                failing = failing_once(getattr(writer, where), error)
                setattr(writer, where, failing)
                case = Case(id="a", input="q")
                reason = ""
                for n in range(3):  # the thread is in the real `_collect` at first
                    try:
                        row = writer.put_trace(n, case, 1, Trace(output="x"))
                        await asyncio.wait_for(row, FORGOTTEN)
                    except StoreError as problem:
                        reason = problem.message
                return reason

    assert "the writer failed" in asyncio.run(put())


@each_error
def test_a_large_body_that_cannot_be_read_fails_its_request(error: BaseException) -> None:
    bodies = LargeBodies()

    def fail(body: bytes) -> int:
        raise error

    async def ask() -> int:
        with pytest.raises((RuntimeError, type(error))):
            await asyncio.wait_for(bodies.read(fail, b""), FORGOTTEN)
        return await asyncio.wait_for(bodies.read(len, b"abc"), FORGOTTEN)

    assert asyncio.run(ask()) == 3


@pytest.mark.parametrize("error", ["MemoryError", "SystemExit", "KeyboardInterrupt", "ValueError"])
def test_process_ends_though_the_last_save_fails(error: str) -> None:
    code = f"""
import os, signal, time
from fourscore.monitor.termination import save_on_sigterm

def save():
    raise {error}

save_on_sigterm(save, lambda: 1.0)
os.kill(os.getpid(), signal.SIGTERM)
time.sleep({FORGOTTEN})
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, timeout=FORGOTTEN)
    assert done.returncode == -signal.SIGTERM
