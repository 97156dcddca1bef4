"""The threads that agents block in, one pool for all of them.

An idle thread is kept for the next call, and a pool has no end; so there is one, not one per agent.
How many attempts are under way is the runner's decision: to wait here would cost them their
deadline. After a fork the child has none of the threads, and begins anew.
"""

import os
from typing import Any

from fourscore.core import FourscoreError
from fourscore.executors.threads import MAX_STUCK, Threads, Work

NO_LIMIT = 1 << 30


class AgentStuckError(FourscoreError):
    """No attempt can be made any more, and none was: this is not a failure of the case at hand."""


class _Pool:
    def __init__(self) -> None:
        self.threads = Threads(NO_LIMIT)

    def renew(self) -> None:
        self.threads = Threads(NO_LIMIT)


POOL = _Pool()
os.register_at_fork(after_in_child=POOL.renew)


async def in_thread(work: Work) -> Any:
    """The result of `work`, driven in a thread; cancelling leaves it behind there."""
    threads = POOL.threads
    if threads.stuck >= MAX_STUCK:
        words = f"{threads.stuck} calls of agents hang in their threads"
        raise AgentStuckError(f"{words}: no more are made")
    return await threads.run(work)
