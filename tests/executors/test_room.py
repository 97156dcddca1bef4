"""Calls that hang leave room for the others."""

import asyncio
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from fourscore.core import Case, Rubric, Score, Trace, judge, score
from fourscore.executors.local import Local
from fourscore.executors.threads import Threads

CASE = Case(id="c", input="?")
LONG = 10.0


@pytest.fixture
def released() -> Iterator[threading.Event]:
    event = threading.Event()
    yield event
    event.set()


def statuses(given: list[Score]) -> list[str]:
    return [str(scored.status) for scored in given]


def test_two_calls_for_one_idle_thread_take_two_threads(released: threading.Event) -> None:
    async def wait() -> Any:
        return released.wait()

    async def quick() -> str:
        return "through"

    async def main() -> Any:
        pool = Threads(4)
        await pool.run(quick)
        await asyncio.sleep(0.1)  # its thread is idle now
        hanging = asyncio.ensure_future(pool.run(wait))
        try:
            return await asyncio.wait_for(pool.run(quick), 5)
        finally:
            released.set()
            await hanging

    assert asyncio.run(main()) == "through"


def test_a_call_in_the_queue_gets_the_place_of_a_stuck_one(released: threading.Event) -> None:
    async def wait() -> Any:
        return released.wait()

    async def quick() -> str:
        return "through"

    async def main() -> Any:
        pool = Threads(1)
        hanging = asyncio.ensure_future(pool.run(wait))
        await asyncio.sleep(0.1)
        waiting = asyncio.ensure_future(pool.run(quick))
        await asyncio.sleep(0.1)
        hanging.cancel()
        return await asyncio.wait_for(waiting, 5)

    assert asyncio.run(main()) == "through"


def test_hanging_outputs_of_a_group_leave_room_for_the_others(released: threading.Event) -> None:
    @judge
    def hangs(case: Case, trace: Trace) -> bool:
        return trace.output == "good" or released.wait()

    traces = [Trace(output="bad")] * 40 + [Trace(output="good")]
    given = asyncio.run(score(Rubric.from_judge(hangs), CASE, traces, executor=Local(1.0)))
    assert statuses(given) == ["judge_error"] * 40 + ["scored"]


def test_cancelled_by_itself_without_a_deadline() -> None:
    """Bug: `f"{None:g}"` raises TypeError out of Local.run."""

    @judge
    async def odd(case: Case, trace: Trace) -> bool:
        raise asyncio.CancelledError

    given = asyncio.run(score(Rubric.from_judge(odd), CASE, [Trace()], executor=Local(None)))
    assert statuses(given) == ["judge_error"]


def test_outputs_of_a_group_are_judged_side_by_side() -> None:
    together = threading.Barrier(4)

    @judge
    def meets(case: Case, trace: Trace) -> bool:
        together.wait(LONG)
        return True

    assert (
        statuses(
            asyncio.run(score(Rubric.from_judge(meets), CASE, [Trace()] * 4, executor=Local(LONG)))
        )
        == ["scored"] * 4
    )
