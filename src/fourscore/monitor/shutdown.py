"""What has to be saved when a process ends: at its exit, or that of a child of multiprocessing.

Such a child leaves by `os._exit`, past everything that `atexit` knows; it has finalizers instead,
and forgets those of its parent when it begins.
"""

import atexit
import weakref
from multiprocessing import process, util
from typing import Protocol


class Ends(Protocol):
    """Something that has to be told of the end, and does not keep it waiting for long."""

    def at_exit(self) -> None: ...


_known: "weakref.WeakSet[Ends]" = weakref.WeakSet()


def tell_at_exit(one: Ends) -> None:
    """Call `one.at_exit()` when this process ends, or a child that was forked from it."""
    _known.add(one)
    if process.parent_process() is not None:
        _in_child(one)
    util.register_after_fork(one, _in_child)


def _in_child(one: Ends) -> None:
    util.Finalize(one, _end, args=(weakref.ref(one),), exitpriority=100)


def _end(reference: "weakref.ref[Ends]") -> None:
    one = reference()
    if one is not None:
        one.at_exit()


@atexit.register
def _at_exit() -> None:
    for one in list(_known):
        one.at_exit()
