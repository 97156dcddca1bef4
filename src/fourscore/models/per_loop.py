"""Things that belong to one event loop: connections, queues, calls under way.

A model is one value for a whole process, and may be asked from several loops, one after the other
or in threads, and in a child after a fork. Each loop gets its own; a child begins with nothing.
"""

import asyncio
import os
from collections.abc import Callable
from typing import Any, Generic, TypeVar
from weakref import WeakKeyDictionary

Thing = TypeVar("Thing")

_PARENTS: list[Any] = []


def leave_alone(thing: Any) -> None:
    """Keep what a child has of its parent untouched: to close it here would disturb the parent."""
    _PARENTS.append(thing)


class PerLoop(Generic[Thing]):
    """One thing for each running loop, made when it is first needed there."""

    def __init__(self, make: Callable[[], Thing]) -> None:
        self._make = make
        self._pid = os.getpid()
        self._things: WeakKeyDictionary[asyncio.AbstractEventLoop, Thing] = WeakKeyDictionary()

    def get(self) -> Thing:
        loop = asyncio.get_running_loop()
        if self._pid != os.getpid():
            leave_alone(list(self._things.items()))
            self._pid, self._things = os.getpid(), WeakKeyDictionary()
        thing = self._things.get(loop)
        if thing is None:
            for other in [other for other in self._things if other.is_closed()]:
                del self._things[other]  # what a thing holds may hold its loop
            thing = self._things[loop] = self._make()
        return thing

    def drop(self) -> Thing | None:
        """Forget the thing of the running loop, and return it."""
        return self._things.pop(asyncio.get_running_loop(), None)
