"""Shell commands as agents: real processes that are killed, and none is left."""

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fourscore.agents import shell_command as agent_shell
from fourscore.agents.agent import attempt_case, load_agent
from fourscore.agents.trace_values import MAX_TEXT
from fourscore.core import Case, Fault, Trace

MB = 2**20


def tried(command: str, asked: Any = "six times seven?", deadline: float | None = 60.0) -> Trace:
    case = Case(id="c", input=asked, expected="SECRET", metadata={"hint": "SECRET"})
    return asyncio.run(attempt_case(load_agent(f"shell: {command}"), case, 0, deadline))


def until(true: Callable[[], bool]) -> bool:
    """Whether it becomes true, with time enough for a slow machine."""
    end = time.monotonic() + 30
    while not true() and time.monotonic() < end:
        time.sleep(0.005)
    return true()


def alive(marker: str) -> list[int]:
    """Return the processes whose command line or environment has the marker."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            text = (folder / "cmdline").read_bytes() + (folder / "environ").read_bytes()
        except OSError:
            continue
        if marker.encode() in text and int(folder.name) != os.getpid():
            found.append(int(folder.name))
    return found


@pytest.fixture
def marker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A marker in the environment of every process that the test starts."""
    monkeypatch.setenv("FOURSCORE_TEST_MARKER", str(tmp_path))
    return f"FOURSCORE_TEST_MARKER={tmp_path}"


@pytest.mark.parametrize("prefix", ["shell: ", "shell:", "cmd:", "cmd: "])
def test_input_goes_to_stdin_and_output_from_stdout(prefix: str) -> None:
    agent = load_agent(f"{prefix}tr a-z A-Z")
    assert agent.name == "shell: tr a-z A-Z"
    trace = asyncio.run(attempt_case(agent, Case(input="héllo\n")))
    assert (trace.output, trace.fault) == ("HéLLO", None)
    assert trace.seconds is not None


def test_input_that_is_not_text_goes_in_as_json() -> None:
    assert tried("cat", {"q": ["é", 1]}).output == '{"q":["é",1]}'
    assert tried("cat", None).output == "null"
    assert tried("cat", "").output == ""


def test_command_sees_neither_expected_nor_metadata() -> None:
    assert "SECRET" not in str(tried("cat; env; tr '\\0' ' ' < /proc/$$/cmdline").output)


def test_large_input_and_output_do_not_deadlock() -> None:
    text = "x" * (3 * MB)
    assert tried("cat", text).output == text


def test_command_may_ignore_its_input() -> None:
    assert tried("echo done", "x" * (3 * MB)).output == "done"
    assert tried("exec <&-; sleep 0.05; echo done", "x" * (3 * MB)).output == "done"


def test_exit_code_is_a_fault_with_the_end_of_stderr() -> None:
    trace = tried("echo partial; echo no key >&2; exit 3")
    assert trace.fault == Fault("error", "it exited with status 3: no key")
    assert trace.output == "partial"
    assert tried("exit 4").fault == Fault("error", "it exited with status 4")
    missing = tried("true && no-such-command-here").fault
    assert missing is not None
    assert "status 127" in missing.message
    killed = tried("kill -SEGV $$").fault
    assert killed is not None
    assert "SIGSEGV" in killed.message


def test_stderr_alone_is_no_fault_and_only_its_end_is_kept() -> None:
    trace = tried("head -c 5000000 /dev/zero | tr '\\0' x >&2; echo the end >&2; echo fine")
    assert (trace.output, trace.fault) == ("fine", None)
    words = trace.metadata["fourscore"]["stderr"]
    assert words.endswith("the end")
    assert len(words) <= 2_000


def test_long_output_is_cut_with_a_note() -> None:
    trace = tried(f"head -c {10 * MB} /dev/zero | tr '\\0' x")
    assert trace.fault is None
    assert trace.output == "x" * MAX_TEXT
    assert trace.metadata["fourscore"]["notes"] == [
        f"the output is cut: {10 * MB} bytes, {MAX_TEXT} kept"
    ]


def test_endless_output_is_stopped(monkeypatch: pytest.MonkeyPatch, marker: str) -> None:
    monkeypatch.setattr(agent_shell, "MAX_STDOUT", 8 * MB)
    trace = tried("yes", deadline=None)
    assert trace.fault == Fault("error", "it wrote more than 8 MiB")
    assert until(lambda: not alive(marker))


def test_invalid_utf8_is_replaced() -> None:
    assert tried("printf '\\377ok\\n\\n'").output == "\ufffdok"


#: Ignores every polite signal, starts children and grandchildren that do too, and hangs.
STUBBORN = """
trap '' TERM INT HUP QUIT
(trap '' TERM; while :; do sleep 300; done) &
sh -c "trap '' TERM; sleep 300 & sleep 300" &
echo started
sleep 300
"""


def test_process_group_is_killed_at_the_deadline(marker: str) -> None:
    trace = tried(STUBBORN, deadline=0.5)
    assert trace.fault == Fault("timeout", "no answer within 0.5 s")
    assert until(lambda: not alive(marker))


def test_process_group_is_killed_on_cancellation(marker: str) -> None:
    async def main() -> None:
        task = asyncio.ensure_future(
            attempt_case(load_agent(f"shell: {STUBBORN}"), Case(input="?"))
        )
        assert await asyncio.to_thread(until, lambda: len(alive(marker)) >= 4)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main())
    assert until(lambda: not alive(marker))


def test_cancellation_at_any_moment_leaves_no_process(marker: str) -> None:
    async def main() -> None:
        agent = load_agent("shell: sleep 300 & sleep 300")
        tasks = [asyncio.ensure_future(attempt_case(agent, Case(input="?"))) for _ in range(24)]
        for number, task in enumerate(tasks):
            if number % 3:
                await asyncio.sleep(0.0007 * number)
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    asyncio.run(main())
    assert until(lambda: not alive(marker))


def test_background_children_end_with_the_command(marker: str) -> None:
    trace = tried("sleep 300 & (sleep 300; echo late) & echo now")
    assert (trace.output, trace.fault) == ("now", None)
    assert until(lambda: not alive(marker))


def test_daemon_outside_the_group_does_not_delay_the_answer(marker: str) -> None:
    program = "import os, time; os.setsid(); print('ready', flush=True); time.sleep(300)"
    trace = tried(f'{sys.executable} -c "{program}" & sleep 2; echo now')
    assert trace.fault is None
    assert str(trace.output).endswith("now")
    for pid in alive(marker):  # ours to end: its own session is beyond the agent's reach
        os.kill(pid, signal.SIGKILL)
    assert until(lambda: not alive(marker))


def test_command_that_closes_stdout_is_waited_for() -> None:
    assert tried("echo out; exec >&- 2>&-; sleep 0.2; exit 5").fault == Fault(
        "error", "it exited with status 5"
    )


def test_shell_agent_works_without_pidfd(monkeypatch: pytest.MonkeyPatch, marker: str) -> None:
    monkeypatch.setattr(agent_shell, "_open_pidfd", lambda _: None)
    assert tried("cat").output == "six times seven?"
    assert tried("sleep 300 & echo now").output == "now"
    fault = tried(STUBBORN, deadline=0.3).fault
    assert fault is not None
    assert fault.kind == "timeout"
    assert until(lambda: not alive(marker))


def test_concurrent_commands_leak_no_descriptor_or_process(marker: str) -> None:
    async def main() -> list[Trace]:
        agent = load_agent("shell: cat")
        return await asyncio.gather(
            *[attempt_case(agent, Case(input=f"c{n}"), 0, 60) for n in range(60)]
        )

    asyncio.run(main())
    before = len(list(Path("/proc/self/fd").iterdir()))
    assert [trace.output for trace in asyncio.run(main())] == [f"c{n}" for n in range(60)]
    assert until(lambda: not alive(marker))
    assert len(list(Path("/proc/self/fd").iterdir())) <= before


def test_interrupting_the_runner_kills_the_command(marker: str) -> None:
    program = (
        "import asyncio\n"
        "from fourscore.core import Case\n"
        "from fourscore.agents.agent import load_agent, attempt_case\n"
        "asyncio.run(attempt_case(load_agent('shell: trap \"\" INT TERM; sleep 300 & sleep 300'),"
        " Case(input='?')))\n"
    )
    runner = subprocess.Popen(
        [sys.executable, "-c", program],
        stderr=subprocess.DEVNULL,
    )
    assert until(lambda: len(alive(marker)) >= 4)
    runner.send_signal(signal.SIGINT)
    runner.wait(60)
    assert until(lambda: not alive(marker))
