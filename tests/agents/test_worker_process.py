"""Agents in worker processes: a crash fails one attempt."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from fourscore.agents.agent import attempt_case, open_agent
from fourscore.agents.worker_process import ProcessAgent
from fourscore.core import Case, ConfigError, Trace

AGENT = """
import os, signal, time
from fourscore import record

def answer(asked):
    if asked == "exit":
        os._exit(3)
    if asked == "killed":
        os.kill(os.getpid(), signal.SIGKILL)
    if asked == "crash":
        os.abort()
    if asked == "hold":
        9**9**9**2
    if asked == "sleep":
        time.sleep(600)
    if asked == "raise":
        raise ValueError("no")
    record.tool("look", {"for": asked}, "found")
    record.usage(input_tokens=7)
    return f"about {asked}"

async def waits(asked):
    return answer(asked)
"""


def tried(folder: Path, name: str, asked: list[str], deadline: float | None = 60.0) -> list[Trace]:
    (folder / "agent.py").write_text(AGENT)

    async def all_of_them() -> list[Trace]:
        agent = ProcessAgent(f"agent.py:{name}", [str(folder)], 4)
        async with open_agent(agent):
            tries: list[Any] = [attempt_case(agent, Case(input=one), 0, deadline) for one in asked]
            traces: list[Trace] = await asyncio.gather(*tries)
            return traces

    return asyncio.run(all_of_them())


@pytest.mark.parametrize("name", ["answer", "waits"])
def test_process_agent_answers_and_records(tmp_path: Path, name: str) -> None:
    for trace, asked in zip(tried(tmp_path, name, ["a", "b"]), ["a", "b"], strict=True):
        assert (trace.fault, trace.output) == (None, f"about {asked}")
        assert [call.name for call in trace.tool_calls] == ["look"]
        assert trace.usage is not None
        assert trace.usage.input_tokens == 7


def test_crashed_process_loses_one_attempt(tmp_path: Path) -> None:
    asked = ["exit", "killed", "crash", "raise", "a", "b", "c", "d"]
    traces = tried(tmp_path, "answer", asked)
    faults = [trace.fault.message if trace.fault else "" for trace in traces]
    assert faults[0] == "it exited: SystemExit(3)"
    assert faults[1].startswith("it crashed its process: it was killed (SIGKILL)")
    assert faults[2].startswith("it crashed its process: it was ended by SIGABRT")
    assert faults[3] == "ValueError: no"
    assert [trace.output for trace in traces[4:]] == ["about a", "about b", "about c", "about d"]


@pytest.mark.parametrize("asked", ["hold", "sleep"])
def test_hanging_process_is_killed(tmp_path: Path, asked: str) -> None:
    late, fine = tried(tmp_path, "answer", [asked, "a"], deadline=5.0)
    assert late.fault is not None
    assert late.fault.kind == "timeout"
    assert fine.output == "about a"


def test_agent_file_that_does_not_load_is_refused(tmp_path: Path) -> None:
    (tmp_path / "agent.py").write_text("this is no Python")
    with pytest.raises(ConfigError):
        ProcessAgent("agent.py:answer", [str(tmp_path)], 2)
