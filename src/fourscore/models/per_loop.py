"""Values that belong to one event loop: connections, queues, calls under way.

A model is one value for a whole process, and may be used from several loops, one after the other or
in threads, and in a child after a fork. Each loop gets its own value; a child begins with none.
"""

import asyncio
import os
from collections.abc import Callable
from typing import Any, Generic, TypeVar
from weakref import WeakKeyDictionary

Value = TypeVar("Value")

_KEPT_FOR_PARENT: list[Any] = []


def keep_for_parent(value: Any) -> None:
    """Keep a parent's value alive in a forked child: to close it here would disturb the parent."""
    _KEPT_FOR_PARENT.append(value)


class PerLoop(Generic[Value]):
    """One value for each running loop, made on first use there."""

    def __init__(self, make: Callable[[], Value]) -> None:
        self._make = make
        self._pid = os.getpid()
        self._values: WeakKeyDictionary[asyncio.AbstractEventLoop, Value] = WeakKeyDictionary()

    def get(self) -> Value:
        loop = asyncio.get_running_loop()
        if self._pid != os.getpid():
            keep_for_parent(list(self._values.items()))
            self._pid, self._values = os.getpid(), WeakKeyDictionary()
        value = self._values.get(loop)
        if value is None:
            for other in [other for other in self._values if other.is_closed()]:
                del self._values[other]  # a value may keep its loop alive
            value = self._values[loop] = self._make()
        return value

    def drop(self) -> Value | None:
        """Remove and return the value of the running loop."""
        return self._values.pop(asyncio.get_running_loop(), None)
