"""Judges in this process: on the loop, in threads, and not longer than their deadline."""

import asyncio
import threading
from collections.abc import Awaitable, Iterator
from typing import Any

import pytest

from fourscore.core import (
    Call,
    Case,
    Executor,
    FunctionJudge,
    Rubric,
    Score,
    Signal,
    Status,
    Trace,
    judge,
    score,
)
from fourscore.executors.local import LocalExecutor

CASE = Case(id="c", input="?")
#: Long enough for anything here that is not meant to hang.
LONG = 60.0


@pytest.fixture
def released() -> Iterator[threading.Event]:
    """What a judge hangs on; set when the test is over, so that no thread outlives it."""
    event = threading.Event()
    yield event
    event.set()


def scores(judge: Any, *answers: str, executor: Executor | None = None) -> list[Score]:
    traces = [Trace(output=answer) for answer in answers]
    return asyncio.run(
        score(Rubric.from_judge(judge), CASE, traces, executor=executor or LocalExecutor(LONG))
    )


def statuses(given: list[Score]) -> list[str]:
    return [scored.status for scored in given]


def test_runs_plain_judge_in_a_thread_and_async_judge_on_the_loop() -> None:
    names = []

    @judge
    def plain(case: Case, trace: Trace) -> bool:
        names.append(threading.current_thread().name)
        return True

    @judge
    async def waits(case: Case, trace: Trace) -> bool:
        names.append(threading.current_thread().name)
        await asyncio.sleep(0)
        return True

    assert statuses(scores(plain, "a") + scores(waits, "a")) == ["scored"] * 2
    assert names == ["fourscore-judge", threading.current_thread().name]


def test_blocking_judge_does_not_block_the_loop(released: threading.Event) -> None:
    """The async half of this pair releases the blocking one: both have to run at once."""

    @judge
    def blocks(case: Case, trace: Trace) -> bool:
        return released.wait(LONG)

    @judge
    async def releases(case: Case, trace: Trace) -> bool:
        released.set()
        return True

    async def both() -> Any:
        calls = [Call(each, CASE, (Trace(),)) for each in (blocks, releases)]
        return await LocalExecutor(LONG).run(calls)

    blocked, released_it = asyncio.run(both())
    assert blocked[0].value == released_it[0].value == 1.0


def test_plain_function_may_return_an_awaitable() -> None:
    async def later(value: float) -> float:
        await asyncio.sleep(0.001)
        return value

    @judge
    def hands_over(case: Case, trace: Trace) -> Awaitable[float]:
        return later(0.5)

    (scored,) = scores(hands_over, "a")
    assert (scored.status, scored.reward) == (Status.SCORED, 0.5)


def test_hanging_thread_times_out_and_other_judges_are_scored(
    released: threading.Event,
) -> None:
    @judge
    def hangs(case: Case, trace: Trace) -> bool:
        return trace.answer == "good" or released.wait()

    given = scores(hangs, "good", "good", "bad", executor=LocalExecutor(1.0))
    assert statuses(given) == ["scored", "scored", "judge_error"]
    (signal,) = given[2].signals
    assert signal.fault is not None
    assert signal.fault.kind == "timeout"
    assert "within 1 s" in signal.fault.message
    assert not released.is_set()


def test_hanging_async_judge_is_cancelled_and_other_judges_are_scored() -> None:
    ended = []

    @judge
    async def hangs(case: Case, trace: Trace) -> bool:
        try:
            await asyncio.sleep(0 if trace.answer == "good" else 3600)
        except asyncio.CancelledError:
            ended.append(trace.answer)
            raise
        return True

    given = scores(hangs, "good", "bad", "good", executor=LocalExecutor(0.5))
    assert statuses(given) == ["scored", "judge_error", "scored"]
    assert ended == ["bad"]


def test_async_judge_that_ignores_cancellation_is_abandoned() -> None:
    @judge
    async def stubborn(case: Case, trace: Trace) -> bool:
        for _ in range(3):
            try:
                await asyncio.sleep(3600)
            except asyncio.CancelledError:
                continue
        return True

    async def measured() -> list[Score]:
        traces = [Trace()]
        return await score(Rubric.from_judge(stubborn), CASE, traces, executor=LocalExecutor(0.2))

    loop = asyncio.new_event_loop()
    try:
        (scored,) = loop.run_until_complete(measured())
        assert scored.status == Status.JUDGE_ERROR
        assert "within 0.2 s" in scored.reason
        for left in asyncio.all_tasks(loop):
            while not left.done():
                left.cancel()
                loop.run_until_complete(asyncio.wait([left], timeout=0.01))
    finally:
        loop.close()


def test_exception_or_exit_of_a_judge_becomes_its_fault() -> None:
    @judge
    def breaks(case: Case, trace: Trace) -> bool:
        if trace.answer == "raise":
            raise ValueError("broken")
        if trace.answer == "exit":
            raise SystemExit(7)
        return True

    given = scores(breaks, "raise", "good", "exit", "good")
    assert statuses(given) == ["judge_error", "scored", "judge_error", "scored"]
    assert "ValueError: broken" in given[0].reason
    assert "SystemExit(7)" in given[2].reason


def test_cancelling_the_caller_cancels_the_judges() -> None:
    ended = []

    @judge
    async def waits(case: Case, trace: Trace) -> bool:
        try:
            await asyncio.sleep(3600)
        finally:
            ended.append(trace.answer)
        return True

    async def abandoned() -> None:
        traces = [Trace(output="a"), Trace(output="b")]
        work = asyncio.ensure_future(
            score(Rubric.from_judge(waits), CASE, traces, executor=LocalExecutor(LONG))
        )
        await asyncio.sleep(0.01)
        work.cancel()
        with pytest.raises(asyncio.CancelledError):
            await work
        await asyncio.sleep(0)

    asyncio.run(abandoned())
    assert sorted(ended) == ["a", "b"]


def test_waits_without_a_deadline() -> None:
    @judge
    def slow(case: Case, trace: Trace) -> bool:
        return not threading.Event().wait(0.05)

    assert statuses(scores(slow, "a", executor=LocalExecutor(None))) == ["scored"]


def test_inline_judges_use_no_thread() -> None:
    class Bounded:
        names = ("bounded",)
        runs = "inline"

        async def judge(self, case: Case, trace: Trace) -> list[Signal]:
            thread = threading.current_thread()
            return [Signal(name="bounded", value=1.0, reason=thread.name)]

    (scored,) = scores(Bounded(), "a")
    assert scored.reason == threading.current_thread().name


def test_one_executor_serves_64_threads() -> None:
    """Each thread has a loop of its own; every one gets the answers to its own questions."""
    executor, results = LocalExecutor(LONG), {}

    def echo(case: Case, trace: Trace) -> float:
        return float(trace.answer)

    shared = Rubric.from_judge(FunctionJudge(echo))

    def ask(n: int) -> None:
        traces = [Trace(output=str(n)), Trace(output=str(n + 0.5))]
        given = asyncio.run(score(shared, CASE, traces, executor=executor))
        results[n] = [scored.reward for scored in given]

    threads = [threading.Thread(target=ask, args=(n,)) for n in range(64)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(LONG)
    assert results == {n: [n, n + 0.5] for n in range(64)}


class Asks:
    """Like a judge that asks a model: it ends as soon as it is cancelled."""

    names, runs = ("asks",), "asks"

    def __init__(self) -> None:
        self.tasks: list[Any] = []
        self.ended = False

    async def judge(self, case: Case, trace: Trace) -> Any:
        self.tasks.append(asyncio.current_task())
        if trace.output == "hang":
            try:
                await asyncio.sleep(LONG)
            finally:
                self.ended = True
        return (Signal(name="asks", value=1.0),)


def test_judge_that_asks_a_model_runs_in_the_callers_task() -> None:
    asks = Asks()

    async def run() -> bool:
        await score(
            Rubric.from_judge(asks), CASE, [Trace(output="x")], executor=LocalExecutor(LONG)
        )
        return asks.tasks == [asyncio.current_task()]

    assert asyncio.run(run())


def test_judge_that_asks_a_model_has_the_same_deadline() -> None:
    asks = Asks()
    (given,) = scores(asks, "hang", executor=LocalExecutor(0.02))
    assert (given.status, asks.ended) == (Status.JUDGE_ERROR, True)
    assert "no answer within 0.02 s" in given.reason


def test_cancelling_the_caller_cancels_a_judge_that_asks_a_model() -> None:
    asks = Asks()

    async def run() -> None:
        task = asyncio.ensure_future(
            score(
                Rubric.from_judge(asks), CASE, [Trace(output="hang")], executor=LocalExecutor(LONG)
            )
        )
        await asyncio.sleep(0.02)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(run())
    assert asks.ended


def test_other_outputs_of_a_group_are_judged_while_some_hang(released: threading.Event) -> None:
    @judge
    def hangs(case: Case, trace: Trace) -> bool:
        return trace.output == "good" or released.wait()

    traces = [Trace(output="bad")] * 40 + [Trace(output="good")]
    given = asyncio.run(score(Rubric.from_judge(hangs), CASE, traces, executor=LocalExecutor(1.0)))
    assert statuses(given) == ["judge_error"] * 40 + ["scored"]


def test_judge_that_cancels_itself_times_out_without_a_deadline() -> None:
    """The message of a timeout has no number of seconds without a deadline."""

    @judge
    async def odd(case: Case, trace: Trace) -> bool:
        raise asyncio.CancelledError

    given = asyncio.run(
        score(Rubric.from_judge(odd), CASE, [Trace()], executor=LocalExecutor(None))
    )
    assert statuses(given) == ["judge_error"]


def test_outputs_of_a_group_are_judged_concurrently() -> None:
    together = threading.Barrier(4)

    @judge
    def meets(case: Case, trace: Trace) -> bool:
        together.wait(LONG)
        return True

    assert (
        statuses(
            asyncio.run(
                score(Rubric.from_judge(meets), CASE, [Trace()] * 4, executor=LocalExecutor(LONG))
            )
        )
        == ["scored"] * 4
    )
