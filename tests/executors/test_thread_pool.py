"""The thread pool for blocking calls: results, abandoned calls, limits."""

import asyncio
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Coroutine, Iterator
from functools import partial
from typing import Any

import pytest

from fourscore.executors import thread_pool as threads
from fourscore.executors.thread_pool import ThreadPool


@pytest.fixture
def released() -> Iterator[threading.Event]:
    """What work hangs on; set when the test is over, so that no thread outlives it."""
    event = threading.Event()
    yield event
    event.set()


def work(function: Callable[[], Any]) -> Callable[[], Coroutine[Any, Any, Any]]:
    async def once() -> Any:
        return function()

    return once


def until(true: Callable[[], bool]) -> bool:
    """Whether it becomes true, with all the time that a slow machine may need."""
    end = time.monotonic() + 30
    while not true() and time.monotonic() < end:
        time.sleep(0.005)
    return true()


async def abandoned(pool: ThreadPool, released: threading.Event) -> None:
    """One call that is running, hangs, and is given up."""
    started = threading.Event()

    def hang() -> None:
        started.set()
        released.wait()

    call = asyncio.ensure_future(pool.run(work(hang)))
    await asyncio.sleep(0)
    assert await asyncio.to_thread(started.wait, 30)
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call


def test_each_caller_gets_its_own_result() -> None:
    async def many() -> list[Any]:
        pool = ThreadPool(4)
        return await asyncio.gather(*[pool.run(work(partial(pow, n, 2))) for n in range(200)])

    assert asyncio.run(many()) == [n * n for n in range(200)]


def test_never_runs_more_calls_than_its_size() -> None:
    lock, now, most = threading.Lock(), 0, 0

    def count() -> None:
        nonlocal now, most
        with lock:
            now += 1
            most = max(most, now)
        time.sleep(0.002)
        with lock:
            now -= 1

    async def many() -> None:
        pool = ThreadPool(3)
        await asyncio.gather(*[pool.run(work(count)) for _ in range(60)])

    asyncio.run(many())
    assert 1 <= most <= 3


def test_exception_is_raised_in_the_caller_and_the_pool_goes_on() -> None:
    def fail() -> None:
        raise ValueError("mine")

    async def two() -> Any:
        pool = ThreadPool(1)
        with pytest.raises(ValueError, match="mine"):
            await pool.run(work(fail))
        return await pool.run(work(lambda: "next"))

    assert asyncio.run(two()) == "next"


@pytest.mark.parametrize("error", [SystemExit(3), KeyboardInterrupt(), BaseException("odd")])
def test_exit_exceptions_do_not_end_the_thread(error: BaseException) -> None:
    def fail() -> None:
        raise error

    async def two() -> Any:
        pool = ThreadPool(1)
        with pytest.raises(RuntimeError, match=type(error).__name__):
            await pool.run(work(fail))
        return await pool.run(work(lambda: "next"))

    assert asyncio.run(two()) == "next"


def test_work_may_await_on_its_own_loop() -> None:
    async def waits() -> tuple[str, asyncio.AbstractEventLoop]:
        await asyncio.sleep(0.001)
        return threading.current_thread().name, asyncio.get_running_loop()

    async def main() -> None:
        name, loop = await ThreadPool(1).run(waits)
        assert name == "fourscore-judge"
        assert loop is not asyncio.get_running_loop()

    asyncio.run(main())


def test_stuck_thread_is_replaced(released: threading.Event) -> None:
    async def main() -> Any:
        pool = ThreadPool(1)
        for _ in range(3):
            await abandoned(pool, released)
        return await pool.run(work(lambda: "through"))

    assert asyncio.run(main()) == "through"


def test_cancelled_call_in_the_queue_never_runs(released: threading.Event) -> None:
    made = []
    started = threading.Event()

    def hang() -> None:
        started.set()
        released.wait()
        made.append("first")

    async def main() -> None:
        pool = ThreadPool(1)
        first = asyncio.ensure_future(pool.run(work(hang)))
        await asyncio.sleep(0)
        assert await asyncio.to_thread(started.wait, 30)
        second = asyncio.ensure_future(pool.run(work(lambda: made.append("second"))))
        await asyncio.sleep(0)
        second.cancel()
        with pytest.raises(asyncio.CancelledError):
            await second
        released.set()
        await first
        await pool.run(work(lambda: made.append("third")))

    asyncio.run(main())
    assert made == ["first", "third"]


def test_stuck_threads_are_bounded_and_recover(
    monkeypatch: pytest.MonkeyPatch, released: threading.Event
) -> None:
    monkeypatch.setattr(threads, "MAX_STUCK", 3)
    before = threading.active_count()

    async def main() -> Any:
        pool = ThreadPool(2)
        for _ in range(3):
            await abandoned(pool, released)
        with pytest.raises(TimeoutError, match="3 blocking calls are stuck"):
            await pool.run(work(lambda: "no"))
        assert threading.active_count() - before <= 6  # one may be asyncio's own
        released.set()
        assert await asyncio.to_thread(until, lambda: pool.stuck == 0)
        return await pool.run(work(lambda: "again"))

    assert asyncio.run(main()) == "again"


def test_result_for_a_closed_loop_is_dropped(
    released: threading.Event,
) -> None:
    pool = ThreadPool(1)

    async def leave() -> None:
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(pool.run(work(released.wait)), 0.05)

    asyncio.run(leave())
    released.set()
    assert asyncio.run(pool.run(work(lambda: "fine"))) == "fine"


def test_serves_64_threads_with_their_own_loops() -> None:
    pool, results = ThreadPool(8), {}

    def ask(n: int) -> None:
        results[n] = asyncio.run(pool.run(work(lambda: n + 1)))

    askers = [threading.Thread(target=ask, args=(n,)) for n in range(64)]
    for asker in askers:
        asker.start()
    for asker in askers:
        asker.join(60)
    assert results == {n: n + 1 for n in range(64)}


def test_stuck_thread_does_not_keep_python_alive() -> None:
    program = (
        "import asyncio, threading\n"
        "from fourscore.executors.thread_pool import ThreadPool\n"
        "async def hang(): threading.Event().wait()\n"
        "async def main():\n"
        "    try: await asyncio.wait_for(ThreadPool(1).run(hang), 0.1)\n"
        "    except TimeoutError: print('left')\n"
        "asyncio.run(main())\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.stdout, done.stderr, done.returncode) == ("left\n", "", 0)


def test_quick_calls_share_a_thread_and_a_hanging_call_blocks_none(
    released: threading.Event,
) -> None:
    async def many() -> int:
        pool = ThreadPool(1000)
        for n in range(100):  # the pool learns that calls are quick
            assert await pool.run(partial(pow, n, 2)) == n * n
        hanging = asyncio.ensure_future(pool.run(released.wait))
        answers = await asyncio.gather(*[pool.run(partial(pow, n, 2)) for n in range(500)])
        assert answers == [n * n for n in range(500)]
        assert not hanging.done()
        released.set()
        assert await hanging is True
        return pool._alive

    assert asyncio.run(many()) < 500


def test_long_calls_run_concurrently() -> None:
    barrier = threading.Barrier(40)

    async def many() -> set[int]:
        pool = ThreadPool(1000)
        for n in range(100):
            await pool.run(partial(pow, n, 2))
        return set(await asyncio.gather(*[pool.run(partial(barrier.wait, 60)) for _ in range(40)]))

    assert asyncio.run(many()) == set(range(40))


def test_two_calls_with_one_idle_thread_use_two_threads(released: threading.Event) -> None:
    async def wait() -> Any:
        return released.wait()

    async def quick() -> str:
        return "through"

    async def main() -> Any:
        pool = ThreadPool(4)
        await pool.run(quick)
        await asyncio.sleep(0.1)  # its thread is idle now
        hanging = asyncio.ensure_future(pool.run(wait))
        try:
            return await asyncio.wait_for(pool.run(quick), 5)
        finally:
            released.set()
            await hanging

    assert asyncio.run(main()) == "through"


def test_queued_call_replaces_an_abandoned_one(released: threading.Event) -> None:
    async def wait() -> Any:
        return released.wait()

    async def quick() -> str:
        return "through"

    async def main() -> Any:
        pool = ThreadPool(1)
        hanging = asyncio.ensure_future(pool.run(wait))
        await asyncio.sleep(0.1)
        waiting = asyncio.ensure_future(pool.run(quick))
        await asyncio.sleep(0.1)
        hanging.cancel()
        return await asyncio.wait_for(waiting, 5)

    assert asyncio.run(main()) == "through"
