"""Agents written in Python: whatever one does, only its own case fails."""

import asyncio
import gc
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Iterator
from contextvars import ContextVar
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from fourscore.agents import blocking_calls
from fourscore.agents.agent import Agent, attempt_case, load_agent, open_agent
from fourscore.agents.blocking_calls import THREAD_POOL, AgentStuckError
from fourscore.core import Case, ConfigError, Fault, Trace, Usage

CASE = Case(
    id="c1",
    input={"question": "six times seven?", "numbers": [6, 7]},
    expected="SECRET-EXPECTED",
    metadata={"hint": "SECRET-METADATA"},
    tags=("SECRET-TAG",),
)


def tried(given: Any, case: Case = CASE, deadline: float | None = 60.0, **options: Any) -> Trace:
    return asyncio.run(attempt_case(load_agent(given, **options), case, 0, deadline))


def fault(trace: Trace) -> Fault:
    assert trace.fault is not None
    return trace.fault


@pytest.fixture
def released() -> Iterator[threading.Event]:
    """An event that agents wait for; set at the end of the test, so that no thread outlives it."""
    event = threading.Event()
    yield event
    event.set()


def plain(asked: Any) -> str:
    return f"about {asked['question']}"


async def waits(asked: Any) -> str:
    await asyncio.sleep(0)
    return f"about {asked['question']}"


class Runs:
    def run(self, asked: Any) -> str:
        return plain(asked)


class RunsAsync:
    async def run(self, asked: Any) -> str:
        return await waits(asked)


class Called:
    async def __call__(self, asked: Any) -> str:
        return await waits(asked)


def hidden(asked: Any) -> Any:
    """Returns an awaitable, though it is no coroutine function."""
    return waits(asked)


@pytest.mark.parametrize(
    "given",
    [plain, waits, Runs(), Runs, RunsAsync(), Called(), hidden, partial(waits), lambda x: plain(x)],
)
@pytest.mark.parametrize("own_thread", [False, True])
def test_every_kind_of_callable_is_an_agent(given: Any, own_thread: bool) -> None:
    before = time.time()
    trace = tried(given, own_thread=own_thread)
    assert (trace.output, trace.fault) == ("about six times seven?", None)
    assert trace.started is not None
    assert trace.seconds is not None
    assert before <= trace.started <= trace.started + trace.seconds <= time.time() + 1


def test_plain_functions_run_in_threads_and_async_ones_on_the_loop() -> None:
    def where(_: Any) -> str:
        return threading.current_thread().name

    async def where_async(_: Any) -> str:
        return threading.current_thread().name

    here = threading.current_thread().name
    assert tried(where).output != here
    assert tried(where_async).output == here
    assert tried(where_async, own_thread=True).output != here


def test_agent_gets_the_input_and_nothing_else() -> None:
    seen: list[Any] = []

    def look(*args: Any, **kwargs: Any) -> str:
        frame, names = sys._getframe(), {}
        while frame is not None:
            names.update({name: repr(value) for name, value in frame.f_locals.items()})
            frame = frame.f_back  # type: ignore[assignment]
        seen.append((args, kwargs, "SECRET" in repr(names)))
        return "ok"

    async def look_async(*args: Any, **kwargs: Any) -> str:
        return look(*args, **kwargs)

    for given in (look, look_async):
        asyncio.run(asyncio.wait_for(attempt_case(load_agent(given), CASE), 60))
    given_to_both: Any = (({"question": "six times seven?", "numbers": [6, 7]},), {})
    assert [entry[:2] for entry in seen] == [given_to_both] * 2
    assert not seen[0][2]  # in a thread; on the loop the test's own frames hold the case


def test_agent_may_change_its_input() -> None:
    async def writes(asked: Any) -> str:
        asked["numbers"].clear()
        asked["question"] = "another"
        return "done"

    for _ in range(2):
        assert tried(writes).output == "done"
    assert CASE.input == {"question": "six times seven?", "numbers": [6, 7]}


def test_agent_that_raises_gets_an_error_fault_with_traceback() -> None:
    def raises(_: Any) -> str:
        raise ValueError("no idea")

    async def raises_async(_: Any) -> str:
        raises(_)
        return ""

    for given in (raises, raises_async):
        trace = tried(given)
        assert trace.fault == Fault("error", "ValueError: no idea")
        assert trace.output is None
        assert 'raise ValueError("no idea")' in trace.metadata["fourscore"]["traceback"]
        assert "agent_guard" not in trace.metadata["fourscore"]["traceback"]
        assert trace.seconds is not None


def test_error_message_is_cut_and_may_be_missing() -> None:
    class Mute(Exception):
        def __str__(self) -> str:
            raise SystemExit(3)

    def mute(_: Any) -> str:
        raise Mute

    async def loud(_: Any) -> str:
        raise ValueError("x" * 10_000_000)

    assert fault(tried(mute)).message == "Mute: (a Mute that cannot be shown)"
    assert len(fault(tried(loud)).message) < 3_000


@pytest.mark.parametrize("own_thread", [False, True])
@pytest.mark.parametrize("error", [SystemExit(3), BaseException("odd"), StopAsyncIteration()])
def test_agent_cannot_end_the_event_loop(error: BaseException, own_thread: bool) -> None:
    async def ends(_: Any) -> str:
        raise error

    def ends_plainly(_: Any) -> str:
        raise error

    async def both() -> list[Trace]:
        guilty = [load_agent(ends, own_thread=own_thread), load_agent(ends_plainly)]
        return await asyncio.gather(
            *[
                attempt_case(agent, CASE)
                for agent in [*guilty, load_agent(plain), load_agent(waits)]
            ]
        )

    *guilty, first, second = asyncio.run(both())
    assert all(fault(trace).kind == "error" for trace in guilty)
    assert first.output == second.output == "about six times seven?"


def test_sys_exit_of_an_agent_is_a_fault() -> None:
    def leaves(_: Any) -> str:
        sys.exit(3)

    async def leaves_async(_: Any) -> str:
        sys.exit(3)

    for given in (leaves, leaves_async):
        assert fault(tried(given)).message == "it exited: SystemExit(3)"


@pytest.mark.parametrize("own_thread", [False, True])
def test_agent_that_hangs_gets_a_timeout_fault(released: threading.Event, own_thread: bool) -> None:
    async def hangs(_: Any) -> str:
        await asyncio.Event().wait()
        return "never"

    def hangs_plainly(_: Any) -> str:
        released.wait()
        return "late"

    for given in (hangs, hangs_plainly):
        trace = tried(given, deadline=0.05, own_thread=own_thread)
        assert trace.fault == Fault("timeout", "no answer within 0.05 s")
        assert (trace.seconds or 0) >= 0.05


def test_timeout_raised_by_the_agent_is_an_error() -> None:
    async def gives_up(_: Any) -> str:
        async with asyncio.timeout(0.01):
            await asyncio.sleep(60)
        return ""

    assert fault(tried(gives_up)).kind == "error"


def test_answer_during_cancellation_is_too_late() -> None:
    async def clings(_: Any) -> str:
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            return "just in time?"
        return ""

    assert fault(tried(clings, deadline=0.02)).kind == "timeout"


def test_agent_that_cancels_itself_gets_an_error_fault() -> None:
    async def cancels(_: Any) -> str:
        task = asyncio.current_task()
        assert task is not None
        task.cancel()
        await asyncio.sleep(0)
        return ""

    async def raises(_: Any) -> str:
        raise asyncio.CancelledError

    assert fault(tried(cancels)).message == "it cancelled itself"
    assert fault(tried(raises)).message == "it cancelled itself"


def test_cancelling_an_attempt_cancels_the_agent() -> None:
    ended = []

    async def hangs(_: Any) -> str:
        try:
            await asyncio.sleep(60)
        finally:
            ended.append(True)
        return ""

    async def main() -> None:
        task = asyncio.ensure_future(attempt_case(load_agent(hangs), CASE, 0, 60))
        await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert ended == [True]
        assert asyncio.all_tasks() == {asyncio.current_task()}

    asyncio.run(main())


def run_program(program: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_agent_that_refuses_cancellation_is_abandoned() -> None:
    stdout = run_program("""
        import asyncio, gc, os
        from fourscore.core import Case
        from fourscore.agents.agent import load_agent, attempt_case

        async def refuses(_):
            while True:
                try: await asyncio.sleep(60)
                except asyncio.CancelledError: pass

        async def main():
            trace = await attempt_case(load_agent(refuses), Case(input="?"), 0, 0.05)
            print(trace.fault.kind)

        asyncio.run(main())
        print("over", flush=True)
        os._exit(0)
        """)
    assert stdout == "timeout\nover\n"


@pytest.mark.parametrize("kind", ["def", "async def"])
@pytest.mark.parametrize("ending", ["return 'child'", "sys.exit(5)", "await asyncio.sleep(0.01)"])
def test_forked_child_of_an_agent_does_not_continue_the_run(kind: str, ending: str) -> None:
    if kind == "def" and ending.startswith("await"):
        ending = "raise ValueError"
    stdout = run_program(f"""
        import asyncio, os, sys, warnings
        from fourscore.core import Case
        from fourscore.agents.agent import load_agent, attempt_case
        warnings.simplefilter("ignore")

        {kind} forks(_):
            child = os.fork()
            if child == 0:
                {ending}
                return "child"
            return "parent %d" % os.waitpid(child, 0)[1]

        async def main():
            trace = await attempt_case(load_agent(forks), Case(input="?"), 0, 60)
            os.write(1, (str(trace.output) + "\\n").encode())

        asyncio.run(main())
        os.write(1, b"over\\n")
        """)
    assert stdout == "parent 0\nover\n"


@pytest.mark.parametrize("kind", ["def", "async def"])
def test_os_exit_of_an_agent_ends_only_its_attempt(kind: str) -> None:
    stdout = run_program(f"""
        import asyncio, os
        from fourscore.core import Case
        from fourscore.agents.agent import load_agent, attempt_case

        {kind} leaves(_):
            os._exit(7)

        {kind} child_leaves(_):
            child = os.fork()
            if child == 0:
                os._exit(5)
            return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])

        async def main():
            trace = await attempt_case(load_agent(leaves), Case(input="?"), 0, 60)
            print(trace.fault.kind, trace.fault.message)
            print((await attempt_case(load_agent(child_leaves), Case(input="?"), 0, 60)).output)

        asyncio.run(main())
        print("over", flush=True)
        os._exit(0)
        """)
    assert stdout == "error it exited: SystemExit(7)\n5\nover\n"


def test_blocked_loop_time_is_not_charged_to_other_agents() -> None:
    async def blocks(_: Any) -> str:
        await asyncio.sleep(0.01)
        time.sleep(1.5)  # noqa: ASYNC251 - the fault under test
        return "blocked"

    async def innocent(_: Any) -> str:
        await asyncio.sleep(0.1)
        return "fine"

    async def both() -> list[Trace]:
        agents = [load_agent(innocent), load_agent(blocks)]
        return await asyncio.gather(*[attempt_case(agent, CASE, 0, 1.0) for agent in agents])

    fine, guilty = asyncio.run(both())
    assert (fine.output, fine.fault) == ("fine", None)
    assert guilty.fault == Fault("timeout", "no answer within 1 s")
    assert guilty.metadata["fourscore"]["notes"][0].startswith("it blocked the event loop for")


def test_blocking_async_agent_in_its_own_thread_is_abandoned(released: threading.Event) -> None:
    async def blocks(_: Any) -> str:
        released.wait()
        return "late"

    assert fault(tried(blocks, deadline=0.05, own_thread=True)).kind == "timeout"


def test_too_many_hanging_threads_raise_agent_stuck_error(
    monkeypatch: pytest.MonkeyPatch, released: threading.Event
) -> None:
    THREAD_POOL.renew()  # as if nothing hung from before
    monkeypatch.setattr(blocking_calls, "MAX_STUCK", 2)

    def hangs(_: Any) -> str:
        released.wait()
        return ""

    async def main() -> None:
        agent = load_agent(hangs)
        for _ in range(2):
            assert fault(await attempt_case(agent, CASE, 0, 0.05)).kind == "timeout"
        with pytest.raises(AgentStuckError, match="2 calls of agents hang"):
            await attempt_case(agent, CASE, 0, 0.05)

    asyncio.run(main())


def test_hundred_plain_agents_run_concurrently() -> None:
    barrier = threading.Barrier(150)

    def meets(_: Any) -> int:
        return barrier.wait(60) * 0 + 1

    async def main() -> list[Trace]:
        agent = load_agent(meets)
        return await asyncio.gather(*[attempt_case(agent, CASE, 0, 60) for _ in range(150)])

    assert [trace.output for trace in asyncio.run(main())] == [1] * 150


WHO: ContextVar[str] = ContextVar("who")


async def who(_: Any) -> str:
    return WHO.get()


@pytest.mark.parametrize("given", [lambda _: WHO.get(), lambda _: who(_), who])
def test_context_variables_reach_the_agent(given: Any) -> None:
    async def main() -> Trace:
        WHO.set("me")
        return await attempt_case(load_agent(given), CASE)

    assert asyncio.run(main()).output == "me"


def test_printed_text_is_not_the_output(capfd: pytest.CaptureFixture[str]) -> None:
    def prints(_: Any) -> str:
        print("thinking")  # noqa: T201
        return "42"

    assert tried(prints).output == "42"
    assert capfd.readouterr().out == "thinking\n"


def test_attempt_without_a_deadline_waits() -> None:
    assert tried(waits, deadline=None).output == "about six times seven?"


def test_custom_agent_that_returns_no_trace_gets_an_error_fault() -> None:
    class Wrong:
        name = "wrong"

        async def run(self, case_id: str, input: Any) -> Trace:  # noqa: A002
            return "text"  # type: ignore[return-value]

    agent: Agent = Wrong()
    trace = asyncio.run(attempt_case(agent, CASE))
    assert fault(trace).message == "it returned a str, expected a Trace"


def test_agents_are_loaded_by_name(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = """
        print("loading")
        class Team:
            def __init__(self): self.greeting = "hi "
            async def run(self, input): return self.greeting + input
        team = Team()
        def echo(input): return input
        nothing = 5
        class Broken:
            def __init__(self): raise RuntimeError("no key")
            def run(self, input): ...
        """
    (tmp_path / "mine_agents.py").write_text(textwrap.dedent(source))
    case, folders = Case(input="you"), [str(tmp_path)]
    for name, expected in [("echo", "you"), ("Team", "hi you"), ("team", "hi you")]:
        spec = f"mine_agents.py:{name}"
        assert tried(spec, case, folders=folders).output == expected
        assert load_agent(spec, folders=folders).name == spec
    assert tried(f"{tmp_path}/mine_agents.py:team.run", case).output == "hi you"
    assert capsys.readouterr().out == ""
    for name, words in [
        ("mine_agents.py:nothing", "int is not an agent"),
        ("mine_agents.py:ekho", "did you mean echo"),
        ("mine_agents.py:Broken", "Broken could not be made: RuntimeError: no key"),
        ("missing.py:echo", "missing.py"),
        ("no_such_module_here:echo", "there is no module no_such_module_here"),
    ]:
        with pytest.raises(ConfigError, match=words):
            load_agent(name, folders=folders)


def test_version_of_a_named_agent_is_the_digest_of_its_file(tmp_path: Path) -> None:
    assert tried("textwrap:dedent", Case(input="  x")).output == "x"
    file = tmp_path / "a.py"
    versions = []
    for body in ("return 1", "return 2"):
        file.write_text(f"def agent(input): {body}\n")
        versions.append(load_agent(f"{file}:agent").version)  # type: ignore[attr-defined]
    assert all(versions)
    assert versions[0] != versions[1]


@pytest.mark.parametrize(
    "given", ["", "agent", "agent.py", ":x", "x:", "shell:", "cmd:  ", 5, None]
)
def test_unusable_agent_is_refused(given: Any) -> None:
    with pytest.raises(ConfigError, match=r"agent|shell"):
        load_agent(given)


def test_loading_an_agent_returns_it() -> None:
    agent = load_agent(plain)
    assert load_agent(agent) is agent
    assert agent.name == f"{__name__}:plain"
    assert load_agent(Runs()).name == f"{__name__}:Runs"
    assert load_agent(partial(plain)).name == "functools:partial"
    assert load_agent(str.upper).name == "builtins:str.upper"


def test_open_agent_works_for_agents_without_resources() -> None:
    async def main() -> None:
        async with open_agent(load_agent(plain)):
            pass

    asyncio.run(main())


def test_recorded_steps_and_usage_survive_a_failure() -> None:
    from fourscore.agents.step_recorder import record

    async def fails(_: Any) -> str:
        record.tool("search", {"q": 1}, result=["a"])
        record.usage(input_tokens=5)
        with record.tool_call("browse"):
            await asyncio.sleep(60)
        return ""

    trace = tried(fails, deadline=0.05)
    assert fault(trace).kind == "timeout"
    assert [call.name for call in trace.tool_calls] == ["search", "browse"]
    assert (trace.tool_calls[1].error or "").startswith("CancelledError")
    assert trace.usage == Usage(calls=1, input_tokens=5)


def test_ten_thousand_attempts_do_not_leak() -> None:
    async def trivial(_: Any) -> str:
        return "42"

    async def main() -> int:
        agent, cases = load_agent(trivial), iter(range(10_000))
        gc.collect()
        before = len(gc.get_objects())

        async def work() -> None:
            for number in cases:
                trace = await attempt_case(agent, Case(id=str(number), input="?"), 0, 3600)
                assert trace.output == "42"

        await asyncio.gather(*[work() for _ in range(16)])
        gc.collect()
        return len(gc.get_objects()) - before

    assert asyncio.run(main()) < 2_000
