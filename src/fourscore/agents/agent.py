"""Agents under test: what an agent is, how it is loaded by name, and one attempt at a case.

An agent gets the input of a case and nothing else: never what is expected, nor the metadata.
Whatever it does (raise, hang, exit, return nothing, or far too much) becomes a trace, here and
nowhere else. What ends the process itself (a signal, a crash in C) cannot be caught inside of it:
run such an agent in processes of its own, or behind `shell:` or HTTP.
"""

import asyncio
import sys
import time
import traceback
from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager, nullcontext, redirect_stdout
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from msgspec.structs import replace

from fourscore.agents.blocking_calls import BLOCKING, AgentStuckError, AttemptDeadline, WatchedCall
from fourscore.agents.function import FunctionAgent
from fourscore.agents.http import HttpAgent
from fourscore.agents.model import ModelAgent, is_model_spec
from fourscore.agents.replay import RecordedAgent
from fourscore.agents.reply import AgentError, ConnectionLostError, add_notes
from fourscore.agents.shell_command import ShellAgent, check_command
from fourscore.agents.step_recorder import CURRENT, Recording
from fourscore.agents.trace_values import MAX_MESSAGE, to_text
from fourscore.core import Case, ConfigError, Fault, Trace
from fourscore.judges import user_modules
from fourscore.models.messages import ModelError

#: Seconds in which a cancelled agent may clean up; then it is abandoned.
GRACE = 1.0
#: Stack frames shown of where an agent raised.
FRAMES = 8
EXPECTED = (
    "file.py:function, module:function, http://…, shell: COMMAND, openai:MODEL, anthropic:MODEL "
    "or recorded"
)


class Agent(Protocol):
    """Answers an input. May also have a `version`, and be an async context manager."""

    @property
    def name(self) -> str: ...

    async def run(self, case_id: str, input: Any) -> Trace: ...  # noqa: A002


@runtime_checkable
class OwnDeadlineAgent(Protocol):
    """An agent that makes the whole attempt elsewhere, and keeps the deadline itself."""

    async def attempt(self, case_id: str, input: Any, deadline: float | None) -> Trace: ...  # noqa: A002


def load_agent(given: object, *, folders: Sequence[str] = (), own_thread: bool = False) -> Agent:
    """Return the agent of a name, or of a callable or an object with `run(input)`.

    A name comes from a person, never from a case. With `own_thread` an async function has a thread
    and an event loop for each call: slower, but one that blocks delays only its own case.
    """
    if isinstance(given, str):
        return _load_named(given.strip(), folders, own_thread)
    if isinstance(given, FunctionAgent | HttpAgent | ModelAgent | RecordedAgent | ShellAgent):
        return given
    return _make_function_agent(given, None, "", own_thread)


def open_agent(agent: Agent) -> AbstractAsyncContextManager[Any]:
    """Return a context manager around a run: what the agent keeps open is closed at its end."""
    return agent if isinstance(agent, AbstractAsyncContextManager) else nullcontext()


def _load_named(spec: str, folders: Sequence[str], own_thread: bool) -> Agent:
    if spec == "recorded":
        return RecordedAgent()
    if spec.lower().startswith(("http://", "https://")):
        return HttpAgent(spec)
    prefix, colon, rest = spec.partition(":")
    if colon and prefix in ("shell", "cmd"):
        check_command(rest)
        return ShellAgent(rest)
    if is_model_spec(spec):
        return ModelAgent(spec)
    where, colon, attribute = spec.rpartition(":")
    if not colon or not where or not attribute:
        raise ConfigError(f"{spec!r} is not an agent: expected {EXPECTED}")
    folders = (*folders, str(Path.cwd()))
    load = (
        user_modules.load_file_module if where.endswith(".py") else user_modules.import_named_module
    )
    with redirect_stdout(sys.stderr):  # stdout is for our own results
        module = load(where, folders)
        found = user_modules.get_attribute(module, attribute, spec)
        return _make_function_agent(found, spec, user_modules.digest_source(module), own_thread)


def _make_function_agent(given: object, name: str | None, version: str, own_thread: bool) -> Agent:
    if isinstance(given, type) and callable(getattr(given, "run", None)):
        kind = given.__name__
        try:
            given = given()
        except Exception as error:
            reason = f"{type(error).__name__}: {to_text(error)}"
            raise ConfigError(f"the agent {kind} could not be made: {reason}") from error
    run = getattr(given, "run", None)
    function = run if callable(run) else given
    if not callable(function):
        kind = type(given).__name__
        message = f"{kind} is not an agent: expected a function or an object with run(input)"
        raise ConfigError(message)
    if name is None:
        shown = given if hasattr(given, "__qualname__") else type(given)
        name = f"{getattr(shown, '__module__', None) or 'builtins'}:{shown.__qualname__}"
    return FunctionAgent(function, name, version=version, own_thread=own_thread)


async def attempt_case(
    agent: Agent, case: Case, repeat: int = 0, deadline: float | None = None
) -> Trace:
    """Return the trace of one attempt at the case, in at most `deadline` seconds.

    Raises only what is no failure of the agent: `CaseError` where a case has no recorded output,
    `AgentStuckError` where no thread is left to call it in, `ModelError` of the kind `budget` where
    the budget for the agent's model is used up.
    """
    if isinstance(agent, RecordedAgent):
        try:
            return agent.replay(case, repeat)
        except AgentError as error:
            return Trace(fault=Fault("error", str(error)))
    if isinstance(agent, OwnDeadlineAgent):
        return await agent.attempt(case.id, case.input, deadline)
    recording, call = Recording(), WatchedCall(agent.run, case.id, case.input)
    started, begun = time.time(), time.perf_counter()
    outcome = await _run_within(deadline, call, recording)
    seconds = time.perf_counter() - begun
    if deadline is not None and call.blocked and seconds - call.lost > deadline:
        outcome = _make_deadline_error(deadline)  # it blocked the loop, and so its own timer
    if isinstance(outcome, ModelError) and outcome.kind == "budget":
        recording.close()
        raise outcome
    trace = _make_trace(outcome)
    steps = recording.close()
    notes = recording.notes
    if call.blocked >= 5 * BLOCKING:
        notes.append(f"it blocked the event loop for {call.blocked:.2g} s")
    trace = replace(
        trace,
        steps=trace.steps or steps,
        usage=recording.usage if trace.usage is None else trace.usage,
        started=started,
        seconds=seconds,
    )
    return add_notes(trace, notes=notes) if notes else trace


class _DeadlineError(Exception):
    """The deadline passed."""


def _make_deadline_error(deadline: float | None) -> _DeadlineError:
    return _DeadlineError(f"no answer within {deadline:g} s")


async def _run_within(deadline: float | None, call: WatchedCall, recording: Recording) -> object:
    """Return the agent's trace, or the exception that it raised.

    The agent runs in its own task: it may cancel itself, or refuse to be cancelled.
    """
    over = AttemptDeadline(deadline, call)
    token = CURRENT.set(recording)
    task = asyncio.get_running_loop().create_task(_catch_errors(call, over))
    CURRENT.reset(token)
    try:
        await over.wait()
    except asyncio.CancelledError:
        await _cancel(task)
        raise
    if not task.done():
        await _cancel(task)
        return _make_deadline_error(deadline)
    if task.cancelled():
        return AgentError("it cancelled itself")
    return task.result()


async def _catch_errors(call: WatchedCall, over: AttemptDeadline) -> object:
    """Return exceptions as results: `SystemExit` out of a task would end the event loop."""
    try:
        return await call
    except (AgentStuckError, asyncio.CancelledError, GeneratorExit, KeyboardInterrupt):
        raise
    except BaseException as error:
        return error
    finally:
        over.settle()


async def _cancel(task: "asyncio.Task[object]") -> None:
    """Cancel the agent's task; one that does not end within `GRACE` is abandoned."""
    task.cancel()
    try:
        await asyncio.wait((task,), timeout=GRACE)
    finally:
        if task.done():
            task.cancelled() or task.exception()  # marks it as retrieved: asyncio does not log it
        else:
            # Otherwise `asyncio.run` would wait for it, perhaps for ever.
            asyncio._unregister_task(task)
            task._log_destroy_pending = False  # type: ignore[attr-defined]


def _make_trace(outcome: object) -> Trace:
    if isinstance(outcome, Trace):
        return outcome
    if isinstance(outcome, _DeadlineError):
        return Trace(fault=Fault("timeout", str(outcome)))
    if isinstance(outcome, ModelError):
        return Trace(fault=_make_model_fault(outcome), usage=outcome.usage)
    if isinstance(outcome, ConnectionLostError):
        return Trace(fault=Fault("connection", to_text(outcome)))
    if isinstance(outcome, AgentError):
        return Trace(fault=Fault("error", to_text(outcome)))
    if isinstance(outcome, SystemExit):
        return Trace(fault=Fault("error", f"it exited: SystemExit({to_text(outcome.code)})"))
    if isinstance(outcome, BaseException):
        fault = Fault("error", f"{type(outcome).__name__}: {to_text(outcome)}")
        return add_notes(Trace(fault=fault), traceback=_format_frames(outcome))
    return Trace(fault=Fault("error", f"it returned a {type(outcome).__name__}, expected a Trace"))


def _make_model_fault(error: ModelError) -> Fault:
    if error.fault_kind == "connection":
        return Fault("connection", str(ConnectionLostError(error.message)))
    return Fault("timeout" if error.kind == "timeout" else "error", error.message)


def _format_frames(error: BaseException) -> str:
    """Return the agent's own stack frames of an error; `str(error)` is not called again."""
    ours = str(Path(__file__).parents[1])
    frames = [
        frame
        for frame in traceback.extract_tb(error.__traceback__)
        if not frame.filename.startswith(ours)
    ]
    return "".join(traceback.format_list(frames[-FRAMES:]))[-MAX_MESSAGE:]
