"""The event loop of a command that asks a lot.

It is uvloop's where there is one. And the collector of garbage does not walk again and again over
what was loaded before the work began.
"""

import asyncio
import gc
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

Answer = TypeVar("Answer")

#: New objects between two collections: a case makes hundreds, of which none is part of a cycle.
YOUNG = 20_000


def run(work: Coroutine[Any, Any, Answer]) -> Answer:
    """`asyncio.run`, for a process that is ours alone."""
    gc.collect()
    gc.freeze()
    before = gc.get_threshold()
    gc.set_threshold(YOUNG, *before[1:])
    try:
        with asyncio.Runner(loop_factory=_factory()) as runner:
            return runner.run(work)
    finally:
        gc.set_threshold(*before)
        gc.unfreeze()


def _factory() -> Callable[[], asyncio.AbstractEventLoop] | None:
    try:
        import uvloop
    except ImportError:
        return None
    factory: Callable[[], asyncio.AbstractEventLoop] = uvloop.new_event_loop
    return factory
