"""The event loop of a command that asks a lot.

It is uvloop's where there is one. The collector of garbage does not walk again and again over what
was loaded before the work began. And threads take turns more often, so that the one that writes to
the disk need not wait long for the loop; what that is worth was within the noise when measured.
"""

import asyncio
import gc
import sys
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

Answer = TypeVar("Answer")

#: New objects between two collections: a case makes hundreds, of which none is part of a cycle.
YOUNG = 20_000
#: Seconds that a thread may keep the interpreter while others wait; Python's own is 0.005.
TURN = 0.0005


def run(work: Coroutine[Any, Any, Answer]) -> Answer:
    """`asyncio.run`, for a process that is ours alone."""
    gc.collect()
    gc.freeze()
    before, turn = gc.get_threshold(), sys.getswitchinterval()
    gc.set_threshold(YOUNG, *before[1:])
    sys.setswitchinterval(min(TURN, turn))
    try:
        with asyncio.Runner(loop_factory=_factory()) as runner:
            return runner.run(work)
    finally:
        sys.setswitchinterval(turn)
        gc.set_threshold(*before)
        gc.unfreeze()


def _factory() -> Callable[[], asyncio.AbstractEventLoop] | None:
    try:
        import uvloop
    except ImportError:
        return None
    factory: Callable[[], asyncio.AbstractEventLoop] = uvloop.new_event_loop
    return factory
