"""Python functions, and objects with `run(input)`, as agents.

An async function runs on the caller's event loop, where its clients and connection pools live. A
plain one runs in a thread, which cannot be stopped: past the deadline it is left behind. The input
is a private copy, so that an agent that writes on it disturbs nobody.
"""

import asyncio
import contextvars
import inspect
from collections.abc import Awaitable, Callable, Coroutine
from functools import partial
from typing import Any

from fourscore.agents.guard import AGENT_CODE, Guarded, forks, guard_exit, leave_if_forked
from fourscore.agents.reply import AgentError, read_reply
from fourscore.agents.threads import in_thread
from fourscore.core import Trace, thaw


class FunctionAgent:
    """`function(input)`; with `own_thread` an async one has a thread and an event loop per call."""

    def __init__(
        self,
        function: Callable[[Any], Any],
        name: str,
        *,
        version: str = "",
        own_thread: bool = False,
    ) -> None:
        self.function, self.name, self.version = function, name, version
        self.on_loop = _waits(function) and not own_thread
        guard_exit()

    async def run(self, case_id: str, input: Any) -> Trace:  # noqa: A002, ARG002
        if self.on_loop:
            return read_reply(await self.function(thaw(input)))
        context = contextvars.copy_context()
        work = partial(_called, self.function, thaw(input), context)
        trace: Trace = await in_thread(work)
        return trace


def _called(
    function: Callable[[Any], Any],
    input: Any,  # noqa: A002
    context: contextvars.Context,
) -> Trace | Coroutine[Any, Any, Trace]:
    """The call, in the caller's context; what it returns is read here too, under the deadline."""
    before = forks()
    try:
        with AGENT_CODE:
            returned = context.run(function, input)
        if inspect.isawaitable(returned):
            return _finished(returned, context)
        return read_reply(returned)
    except SystemExit as error:
        raise _exited(error) from error
    finally:
        leave_if_forked(before)


async def _finished(returned: Awaitable[Any], context: contextvars.Context) -> Trace:
    """What a call gave to be awaited, on its thread's own event loop."""
    work = _awaited(Guarded(lambda: returned))
    return read_reply(await asyncio.get_running_loop().create_task(work, context=context))


async def _awaited(guarded: Guarded) -> Any:
    try:
        return await guarded
    except SystemExit as error:  # out of a task it would end the thread's loop
        raise _exited(error) from error


def _exited(error: SystemExit) -> AgentError:
    return AgentError(f"it exited: SystemExit({error.code!r})")


def _waits(function: Any) -> bool:
    call = getattr(type(function), "__call__", None)  # noqa: B004 - of an object
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(call)
