"""Python functions, and objects with `run(input)`, as agents.

An async function runs on the caller's event loop, where its clients and connection pools live. A
plain one runs in a thread, which cannot be stopped: past the deadline it is abandoned. The input is
a private copy, so an agent may change it.
"""

import asyncio
import contextvars
import inspect
from collections.abc import Awaitable, Callable, Coroutine
from functools import partial
from typing import Any

from fourscore.agents.blocking_calls import (
    AGENT_CODE,
    WatchedCall,
    exit_if_forked,
    get_fork_depth,
    replace_os_exit,
    run_in_thread,
)
from fourscore.agents.reply import AgentError, read_reply
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
        self.on_loop = _is_async(function) and not own_thread
        replace_os_exit()

    async def run(self, case_id: str, input: Any) -> Trace:  # noqa: A002, ARG002
        if self.on_loop:
            return read_reply(await self.function(thaw(input)))
        context = contextvars.copy_context()
        work = partial(_call, self.function, thaw(input), context)
        trace: Trace = await run_in_thread(work)
        return trace


def _call(
    function: Callable[[Any], Any],
    input: Any,  # noqa: A002
    context: contextvars.Context,
) -> Trace | Coroutine[Any, Any, Trace]:
    """Call the function in the caller's context, and read its reply under the same deadline."""
    before = get_fork_depth()
    try:
        with AGENT_CODE:
            returned = context.run(function, input)
        if inspect.isawaitable(returned):
            return _finish(returned, context)
        return read_reply(returned)
    except SystemExit as error:
        raise _make_exit_error(error) from error
    finally:
        exit_if_forked(before)


async def _finish(returned: Awaitable[Any], context: contextvars.Context) -> Trace:
    """Await what a call returned, on its thread's own event loop."""
    work = _await_watched(WatchedCall(lambda: returned))
    return read_reply(await asyncio.get_running_loop().create_task(work, context=context))


async def _await_watched(call: WatchedCall) -> Any:
    try:
        return await call
    except SystemExit as error:  # out of a task it would end the thread's loop
        raise _make_exit_error(error) from error


def _make_exit_error(error: SystemExit) -> AgentError:
    return AgentError(f"it exited: SystemExit({error.code!r})")


def _is_async(function: object) -> bool:
    call = getattr(type(function), "__call__", None)  # noqa: B004 - of an object
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(call)
