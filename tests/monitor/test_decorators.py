"""Watched functions return and raise as before, and are observed."""

import asyncio
import threading
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest

from fourscore import Case, Message, ProductionMonitor, ToolCall, Trace, judge, record
from fourscore.monitor.sample import FullText, read_text
from fourscore.monitor.settings import JudgingSettings


@judge
def good(_case: Case, trace: Trace) -> bool:
    return "good" in trace.answer


def texts(monitor: ProductionMonitor) -> list[FullText]:
    monitor.flush(600)
    found = []
    for row in reversed(monitor.store.samples("default")):
        kept = monitor.store.sample("default", row.id)
        assert kept is not None
        assert kept.text is not None
        found.append(read_text(kept.text))
    return found


@pytest.fixture
def monitor() -> ProductionMonitor:
    return ProductionMonitor(
        1.0, rubric=good, judging=JudgingSettings(workers=1)
    )  # one worker keeps the order


def test_watches_a_plain_function(monitor: ProductionMonitor) -> None:
    @monitor.watch
    def answer(question: str, *, politely: bool = False) -> str:
        """Answers."""
        record.tool("search", {"q": question}, result="found", seconds=0.1)
        return f"good: {question}"

    assert answer("why?", politely=True) == "good: why?"
    assert answer(question="how?") == "good: how?"
    assert (answer.__name__, answer.__doc__) == ("answer", "Answers.")
    first, second = texts(monitor)
    assert (first.case.input, first.trace.output, first.score.passed) == (
        "why?",
        "good: why?",
        True,
    )
    assert [call.name for call in first.trace.tool_calls] == ["search"]
    assert first.trace.seconds is not None
    assert second.case.input == "how?"


def test_exception_is_observed_and_raised_on(monitor: ProductionMonitor) -> None:
    @monitor.watch
    def answer(question: str) -> str:
        record.message("user", question)
        raise KeyError(question)

    with pytest.raises(KeyError, match="why"):
        answer("why")
    (text,) = texts(monitor)
    assert text.trace.fault is not None
    assert text.trace.fault.message == "KeyError: 'why'"
    assert text.trace.steps == (Message(role="user", content="why"),)
    assert str(text.score.status) == "agent_error"


def test_watches_an_async_method(monitor: ProductionMonitor) -> None:
    class Agent:
        @monitor.watch(id="request", tags=("chat",), output=lambda reply: reply["text"])
        async def run(self, question: str, request: str = "none") -> dict[str, str]:
            await asyncio.sleep(0)
            record.tool(question)
            return {"text": f"good {question}"}

    async def several() -> list[dict[str, str]]:
        agent = Agent()
        return await asyncio.gather(*(agent.run(f"q{n}", f"r{n}") for n in range(5)))

    assert [reply["text"] for reply in asyncio.run(several())] == [f"good q{n}" for n in range(5)]
    found = {text.case.id: text for text in texts(monitor)}
    assert set(found) == {f"r{n}" for n in range(5)}
    assert all(text.case.tags == ("chat",) for text in found.values())
    assert [found["r3"].trace.output] == ["good q3"]
    assert [call.name for call in found["r3"].trace.tool_calls] == ["q3"]  # each has its own steps


def test_cancelled_call_is_not_observed(monitor: ProductionMonitor) -> None:
    @monitor.watch
    async def answer(question: str) -> str:
        await asyncio.Event().wait()
        return question

    async def cancel() -> None:
        task = asyncio.create_task(answer("why"))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(cancel())
    assert texts(monitor) == []


def test_generator_pieces_are_passed_on_as_they_come(monitor: ProductionMonitor) -> None:
    made = []

    @monitor.watch
    def answer(question: str) -> Iterator[str]:
        for piece in ("good ", question):
            made.append(piece)
            record.tool("piece")
            yield piece

    stream = answer("why")
    assert next(stream) == "good "
    assert made == ["good "]
    record.tool("not the agent's")
    assert list(stream) == ["why"]
    left = answer("left half-way")
    next(left)
    left.close()  # type: ignore[attr-defined]
    (text,) = texts(monitor)
    assert text.trace.output == "good why"
    assert [call.name for call in text.trace.tool_calls] == ["piece", "piece"]


def test_async_generator_pieces_are_passed_on_as_they_come(monitor: ProductionMonitor) -> None:
    ended = []

    @monitor.watch
    async def answer(question: str) -> AsyncIterator[Any]:
        try:
            yield "good "
            if question == "break":
                raise ValueError("broken")
            yield {"text": question}
        finally:
            ended.append(question)

    async def consume() -> None:
        assert [piece async for piece in answer("why")] == ["good ", {"text": "why"}]
        with pytest.raises(ValueError, match="broken"):
            [piece async for piece in answer("break")]
        stream = answer("left")
        await anext(stream)
        await stream.aclose()  # type: ignore[attr-defined]

    asyncio.run(consume())
    assert ended == ["why", "break", "left"]
    first, second = texts(monitor)
    assert first.trace.output == ["good ", {"text": "why"}]
    assert second.trace.fault is not None


def test_calls_from_many_threads_are_kept_separate(monitor: ProductionMonitor) -> None:
    @monitor.watch
    def answer(question: str) -> str:
        record.tool(question)
        return "good"

    threads = [threading.Thread(target=answer, args=(f"q{n}",)) for n in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    found = {
        text.case.input: [call.name for call in text.trace.tool_calls] for text in texts(monitor)
    }
    assert found == {f"q{n}": [f"q{n}"] for n in range(20)}


def test_monitor_errors_never_reach_the_function(monitor: ProductionMonitor) -> None:
    def broken(*_: Any, **__: Any) -> Any:
        raise ZeroDivisionError

    @monitor.watch(query=broken)
    def one(question: str) -> str:
        return question

    @monitor.watch(output=broken, tags=broken)
    def two() -> str:
        return "good"

    @monitor.watch(query=lambda *args: " ".join(args), steps=False)
    def three(*words: str) -> str:
        record.tool("not recorded")
        return "good"

    assert (one("a"), two(), three("a", "b")) == ("a", "good", "good")
    (text,) = texts(monitor)
    assert (text.case.input, text.trace.steps) == ("a b", ())
    assert monitor.get_metrics()["counts"]["failed"] == 2
    with pytest.raises(TypeError, match="one has no parameter 'nothing'"):
        monitor.watch(id="nothing")(one)


def test_nested_watched_call_records_into_the_outer_trace(monitor: ProductionMonitor) -> None:
    """One watched call inside another: the steps are in the outer trace, as in a test run."""

    @monitor.watch
    def inner(question: str) -> str:
        record.tool("inside")
        return "good"

    @monitor.watch
    def outer(question: str) -> str:
        return inner(question)

    outer("why")
    first, second = texts(monitor)
    assert first.trace.steps == ()
    assert second.trace.steps == (ToolCall(name="inside"),)
