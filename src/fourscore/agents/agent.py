"""Agents under test: what one is, how it is named, and one attempt at a case.

An agent is given the input of a case and nothing else: never what is expected, nor the metadata.
Whatever it does about it (raise, hang, exit, return nothing, or far too much) becomes a trace, here
and nowhere else. What ends this process from below (a signal, a crash in C) cannot be contained
inside of it: such an agent belongs in processes of its own, or behind `shell:` or HTTP.
"""

import asyncio
import sys
import time
import traceback
from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager, nullcontext, redirect_stdout
from pathlib import Path
from typing import Any, Literal, Protocol, runtime_checkable

from msgspec.structs import replace

from fourscore.agents.function import FunctionAgent
from fourscore.agents.guard import BLOCKING, Deadline, Guarded
from fourscore.agents.http import HttpAgent
from fourscore.agents.model import ModelAgent, names_model
from fourscore.agents.recorder_values import MAX_WORDS, text_of
from fourscore.agents.replay import RecordedAgent
from fourscore.agents.reply import AgentError, noted
from fourscore.agents.shell import ShellAgent
from fourscore.agents.step_recorder import CURRENT, Recording
from fourscore.agents.threads import AgentStuckError
from fourscore.core import Case, ConfigError, Fault, Trace
from fourscore.judges import loading as protocol
from fourscore.models.messages import ModelError

#: Seconds in which an agent whose time is up may clean up; then it is left behind.
GRACE = 1.0
#: Calls shown of where an agent raised.
FRAMES = 8
EXPECTED = (
    "file.py:function, module:function, http://…, shell: COMMAND, openai:MODEL, anthropic:MODEL "
    "or recorded"
)


class Agent(Protocol):
    """Answers an input. May also have `version`, and be an async context manager."""

    @property
    def name(self) -> str: ...

    async def run(self, case_id: str, input: Any) -> Trace: ...  # noqa: A002


@runtime_checkable
class Contained(Protocol):
    """An agent that makes the whole attempt elsewhere, and keeps the deadline there."""

    async def attempt(self, case_id: str, input: Any, deadline: float | None) -> Trace: ...  # noqa: A002


def agent_of(given: Any, *, folders: Sequence[str] = (), own_thread: bool = False) -> Agent:
    """The agent of that name, or the one made of a callable or an object with `run(input)`.

    A name comes from a person, never from a case. With `own_thread` an async function has a thread
    and an event loop for each call: slower, but one that blocks costs its own case only.
    """
    if isinstance(given, str):
        return _named(given.strip(), folders, own_thread)
    if isinstance(given, FunctionAgent | HttpAgent | ModelAgent | RecordedAgent | ShellAgent):
        return given
    return _made(given, None, "", own_thread)


def opened(agent: Agent) -> AbstractAsyncContextManager[Any]:
    """`async with opened(agent)` around a run: what the agent keeps open, it closes at the end."""
    return agent if isinstance(agent, AbstractAsyncContextManager) else nullcontext()


def _named(spec: str, folders: Sequence[str], own_thread: bool) -> Agent:
    if spec == "recorded":
        return RecordedAgent()
    if spec.lower().startswith(("http://", "https://")):
        return HttpAgent(spec)
    prefix, colon, rest = spec.partition(":")
    if colon and prefix in ("shell", "cmd"):
        return ShellAgent(rest)
    if names_model(spec):
        return ModelAgent(spec)
    where, colon, attribute = spec.rpartition(":")
    if not colon or not where or not attribute:
        raise ConfigError(f"{spec!r} is no agent: expected {EXPECTED}")
    folders = (*folders, str(Path.cwd()))
    load = protocol.load_file_module if where.endswith(".py") else protocol.import_named_module
    with redirect_stdout(sys.stderr):  # what a module prints while loading is no result of ours
        module = load(where, folders)
        found = protocol.get_attribute(module, attribute, spec)
        return _made(found, spec, protocol.digest_source(module), own_thread)


def _made(given: Any, name: str | None, version: str, own_thread: bool) -> Agent:
    if isinstance(given, type) and callable(getattr(given, "run", None)):
        try:
            given = given()
        except Exception as error:
            words = f"{type(error).__name__}: {text_of(error)}"
            message = f"the agent {given.__name__} could not be made: {words}"
            raise ConfigError(message) from error
    run = getattr(given, "run", None)
    function = run if callable(run) else given
    if not callable(function):
        kind = type(given).__name__
        raise ConfigError(f"a {kind} is no agent: expected a function or an object with run(input)")
    if name is None:
        shown = given if hasattr(given, "__qualname__") else type(given)
        name = f"{getattr(shown, '__module__', None) or 'builtins'}:{shown.__qualname__}"
    return FunctionAgent(function, name, version=version, own_thread=own_thread)


async def attempt(
    agent: Agent, case: Case, repeat: int = 0, deadline: float | None = None
) -> Trace:
    """What the agent did about the case, in at most `deadline` seconds.

    Raises only what is no failure of the agent: `CaseError` where a recorded case has none,
    `AgentStuckError` where no thread is left to call it in, `ModelError` of the kind `budget` where
    the agent's model was not asked any more.
    """
    if isinstance(agent, RecordedAgent):
        try:
            return agent.replay(case, repeat)
        except AgentError as error:
            return Trace(fault=Fault("error", str(error)))
    if isinstance(agent, Contained):
        return await agent.attempt(case.id, case.input, deadline)
    recording, guarded = Recording(), Guarded(agent.run, case.id, case.input)
    started, begun = time.time(), time.perf_counter()
    came = await _within(deadline, guarded, recording)
    seconds = time.perf_counter() - begun
    if deadline is not None and guarded.held and seconds - guarded.lost > deadline:
        came = _late(deadline)  # it kept the loop, and so its own deadline, waiting
    if isinstance(came, ModelError) and came.kind == "budget":
        recording.close()
        raise came
    trace = _read(came)
    steps = recording.close()
    notes = recording.notes
    if guarded.held >= 5 * BLOCKING:
        notes.append(f"it blocked the event loop for {guarded.held:.2g} s")
    trace = replace(
        trace,
        steps=trace.steps or steps,
        usage=recording.usage if trace.usage is None else trace.usage,
        started=started,
        seconds=seconds,
    )
    return noted(trace, notes=notes) if notes else trace


class _Late(Exception):  # noqa: N818
    """The deadline passed."""


def _late(deadline: float | None) -> _Late:
    return _Late(f"no answer within {deadline:g} s")


async def _within(deadline: float | None, guarded: Guarded, recording: Recording) -> object:
    """The agent's trace, or the exception that came instead.

    The agent has a task of its own: it may cancel itself, or refuse to be cancelled.
    """
    over = Deadline(deadline, guarded)
    token = CURRENT.set(recording)
    task = asyncio.get_running_loop().create_task(_called(guarded, over))
    CURRENT.reset(token)
    try:
        await over.wait()
    except asyncio.CancelledError:
        await _stopped(task)
        raise
    if not task.done():
        await _stopped(task)
        return _late(deadline)
    if task.cancelled():
        return AgentError("it cancelled itself")
    return task.result()


async def _called(guarded: Guarded, over: Deadline) -> object:
    """Exceptions are results: `SystemExit` out of a task would end the event loop."""
    try:
        return await guarded
    except (AgentStuckError, asyncio.CancelledError, GeneratorExit, KeyboardInterrupt):
        raise
    except BaseException as error:
        return error
    finally:
        over.settle()


async def _stopped(task: "asyncio.Task[object]") -> None:
    """Cancel the agent; one that will not end is left behind."""
    task.cancel()
    try:
        await asyncio.wait((task,), timeout=GRACE)
    finally:
        if task.done():
            task.cancelled() or task.exception()  # seen: asyncio need not complain about it
        else:
            # Or `asyncio.run` would wait for it, and with it for ever, before it returns.
            asyncio._unregister_task(task)
            task._log_destroy_pending = False  # type: ignore[attr-defined]


def _read(came: object) -> Trace:
    if isinstance(came, Trace):
        return came
    if isinstance(came, _Late):
        return Trace(fault=Fault("timeout", str(came)))
    if isinstance(came, ModelError):
        kind: Literal["error", "timeout"] = "timeout" if came.kind == "timeout" else "error"
        return Trace(fault=Fault(kind, came.message), usage=came.usage)
    if isinstance(came, AgentError):
        return Trace(fault=Fault("error", text_of(came)))
    if isinstance(came, SystemExit):
        return Trace(fault=Fault("error", f"it exited: SystemExit({text_of(came.code)})"))
    if isinstance(came, BaseException):
        fault = Fault("error", f"{type(came).__name__}: {text_of(came)}")
        return noted(Trace(fault=fault), traceback=_where(came))
    return Trace(fault=Fault("error", f"it gave a {type(came).__name__} where a trace was due"))


def _where(error: BaseException) -> str:
    """The agent's own lines on the way to an error; its message is not asked for again."""
    ours = str(Path(__file__).parents[1])
    frames = [
        frame
        for frame in traceback.extract_tb(error.__traceback__)
        if not frame.filename.startswith(ours)
    ]
    return "".join(traceback.format_list(frames[-FRAMES:]))[-MAX_WORDS:]
