"""The event loop of a command that asks models: uvloop, and less garbage collection.

The collector would otherwise walk again and again over what was loaded before the work began.
"""

import asyncio
import gc
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

Result = TypeVar("Result")

#: New objects between two collections. A case makes hundreds, none of them part of a cycle.
GC_THRESHOLD = 20_000


def run(work: Coroutine[Any, Any, Result]) -> Result:
    """Like `asyncio.run`, for a command: it changes the garbage collection of the process."""
    gc.collect()
    gc.freeze()
    before = gc.get_threshold()
    gc.set_threshold(GC_THRESHOLD, *before[1:])
    try:
        with asyncio.Runner(loop_factory=_find_loop_factory()) as runner:
            return runner.run(work)
    finally:
        gc.set_threshold(*before)
        gc.unfreeze()


def _find_loop_factory() -> Callable[[], asyncio.AbstractEventLoop] | None:
    try:
        import uvloop
    except ImportError:
        return None
    factory: Callable[[], asyncio.AbstractEventLoop] = uvloop.new_event_loop
    return factory
