"""`record`: reported steps are in the agent's own trace, and recording never raises."""

import asyncio
import contextvars
import sys
import threading
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest

from fourscore.agents import step_recorder as recorder
from fourscore.agents.agent import attempt_case, load_agent
from fourscore.agents.step_recorder import record
from fourscore.core import Case, Message, ToolCall, Trace, Usage


def tried(agent: Any, deadline: float | None = 60.0) -> Trace:
    return asyncio.run(attempt_case(load_agent(agent), Case(input="?"), 0, deadline))


def report() -> None:
    record.message("user", "find it")
    record.tool("search", {"q": "it"}, result=["a", "b"], seconds=0.25)
    record.tool("open", {"url": "x"}, error=OSError("no route"), exit_code=1)
    record.usage(input_tokens=100, output_tokens=10, dollars=0.5)
    record.usage({"prompt_tokens": 7, "completion_tokens": 1})
    record.usage(SimpleNamespace(input_tokens=1, output_tokens=2, cache=None))


REPORTED = (
    Message(role="user", content="find it"),
    ToolCall(name="search", arguments={"q": "it"}, result=["a", "b"], seconds=0.25),
    ToolCall(name="open", arguments={"url": "x"}, error="OSError: no route", exit_code=1),
)


def plain(_: Any) -> str:
    report()
    return "done"


async def waits(_: Any) -> str:
    await asyncio.sleep(0)
    await asyncio.to_thread(report)
    return "done"


@pytest.mark.parametrize("agent", [plain, waits, lambda _: waits(_)])
def test_recorded_steps_are_in_the_trace(agent: Any) -> None:
    trace = tried(agent)
    assert (trace.output, trace.fault) == ("done", None)
    assert trace.steps == REPORTED
    assert trace.usage == Usage(calls=3, input_tokens=108, output_tokens=13, dollars=0.5)


def test_record_does_nothing_outside_of_a_run() -> None:
    report()
    with record.tool_call("search", {"q": 1}) as call:
        call.result = 5
    with pytest.raises(ValueError, match="mine"), record.tool_call("search"):
        raise ValueError("mine")
    assert recorder.CURRENT.get() is None


def test_tool_call_block_is_timed_and_in_order() -> None:
    async def agent(_: Any) -> str:
        with record.tool_call("outer", {"a": 1}) as outer:
            with record.tool_call("inner") as inner:
                inner.result, inner.exit_code = {"rows": 3}, 0
            outer.error = "half of it"
            await asyncio.sleep(0.01)
        return "done"

    outer, inner = tried(agent).tool_calls
    assert (outer.name, outer.arguments, outer.error) == ("outer", {"a": 1}, "half of it")
    assert (inner.name, inner.result, inner.exit_code) == ("inner", {"rows": 3}, 0)
    assert outer.seconds is not None
    assert inner.seconds is not None
    assert outer.seconds >= 0.009 > 0 <= inner.seconds


def test_exception_in_a_tool_call_block_is_recorded_and_raised() -> None:
    def agent(_: Any) -> str:
        try:
            with record.tool_call("search"):
                raise KeyError("q")
        except KeyError:
            return "handled"

    trace = tried(agent)
    assert trace.output == "handled"
    assert trace.tool_calls[0].error == "KeyError: 'q'"


def test_tool_call_open_at_the_deadline_is_marked() -> None:
    release = threading.Event()

    def agent(_: Any) -> str:
        with record.tool_call("browse", {"url": "slow"}):
            release.wait()
        record.tool("too late")
        return "done"

    trace = tried(agent, 0.05)
    release.set()
    (call,) = trace.tool_calls
    assert (call.name, call.error) == ("browse", "the attempt ended before the call did")


def test_concurrent_attempts_do_not_mix_steps() -> None:
    async def agent(asked: str) -> str:
        for n in range(5):
            record.tool(f"{asked}-{n}")
            await asyncio.sleep(0)
        return asked

    def in_thread(asked: str) -> str:
        for n in range(5):
            record.tool(f"{asked}-{n}")
        return asked

    async def main() -> list[Trace]:
        agents = [load_agent(agent), load_agent(in_thread)]
        return await asyncio.gather(
            *[attempt_case(agents[n % 2], Case(input=f"c{n}")) for n in range(100)]
        )

    for number, trace in enumerate(asyncio.run(main())):
        assert [call.name for call in trace.tool_calls] == [f"c{number}-{n}" for n in range(5)]
    assert recorder.CURRENT.get() is None


def test_thread_of_the_agent_records_with_its_context() -> None:
    def agent(_: Any) -> str:
        context = contextvars.copy_context()
        thread = threading.Thread(target=context.run, args=(record.tool, "there"))
        thread.start()
        thread.join()
        return "done"

    assert [call.name for call in tried(agent).tool_calls] == ["there"]


def test_returned_steps_win_over_recorded_ones() -> None:
    def agent(_: Any) -> Any:
        report()
        return {"output": "x", "steps": [{"name": "own"}], "usage": {"calls": 1}}

    trace = tried(agent)
    assert trace.steps == (ToolCall(name="own"),)
    assert trace.usage == Usage(calls=1)


def test_recorded_values_are_copied_at_once() -> None:
    def agent(_: Any) -> str:
        arguments, result = {"q": "before"}, ["before"]
        record.tool("a", arguments, result)
        with record.tool_call("b", arguments):
            arguments["q"] = "after"
        result.clear()
        return "done"

    first, second = tried(agent).tool_calls
    assert (first.arguments, first.result) == ({"q": "before"}, ["before"])
    assert second.arguments == {"q": "before"}


class Bites:
    def __str__(self) -> str:
        sys.exit(3)

    def __getattr__(self, name: str) -> Any:
        raise OSError("bites")


def test_recording_any_value_never_raises() -> None:
    endless: list[Any] = []
    endless.append(endless)

    def agent(_: Any) -> str:
        record.tool(5, {1: Bites(), "n": float("nan")}, result=object())  # type: ignore[arg-type]
        record.tool("t", endless, result=Bites(), seconds=-1, exit_code="no", error=5)  # type: ignore[arg-type]
        record.message(None, {"s": {1}, "lone": "\ud800"})  # type: ignore[arg-type]
        record.usage(Bites())
        record.usage(input_tokens=-5)
        record.usage("lots")
        return "done"

    trace = tried(agent)
    assert trace.fault is None
    first, second, third = trace.steps
    assert isinstance(first, ToolCall)
    assert isinstance(second, ToolCall)
    assert isinstance(third, Message)
    assert first.name == "5"
    assert first.arguments == {"1": "(a Bites that cannot be shown)", "n": "nan"}
    assert first.result.startswith("<object object")
    assert (second.seconds, second.exit_code, second.error) == (None, None, "5")
    assert third.content == {"s": [1], "lone": "\ufffd"}
    assert trace.usage is None
    assert [note.split(":")[0] for note in trace.metadata["fourscore"]["notes"]] == [
        "record.usage"
    ] * 3
    msgspec.json.encode(trace)


def test_endless_recording_is_bounded() -> None:
    def agent(_: Any) -> str:
        for _n in range(30):
            with record.tool_call("read") as call:
                call.result = "x" * 10_000_000
        for _n in range(20_000):
            record.message("assistant", "again")
        return "done"

    trace = tried(agent)
    assert trace.output == "done"
    assert len(msgspec.json.encode(trace)) < 20_000_000
    notes = trace.metadata["fourscore"]["notes"]
    assert notes[0] == "result of 'read' is cut: 10000000 characters, 4194304 kept"
    assert notes[-1].endswith("further steps were dropped")


def test_importing_record_loads_no_heavy_modules() -> None:
    import subprocess

    script = "import fourscore.agents.step_recorder, sys; print(*sys.modules)"
    loaded = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    ).stdout.split()
    assert not {"asyncio", "subprocess", "httptools", "ruamel.yaml"} & set(loaded)
