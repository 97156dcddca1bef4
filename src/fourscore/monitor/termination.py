"""SIGTERM: what waits in memory is saved before the process ends.

The default action of SIGTERM ends a process at once, without `atexit`. Where nobody else handles
the signal, our handler saves first and then lets the default action end the process, so that its
exit status stays the same. A second SIGTERM ends it at once.

A handler of somebody else stays as it is: what it ends properly runs `atexit`. Only uvicorn ends
its shutdown with the default action, by sending the signal to itself. There the signal is held back
from the moment it arrives until `atexit` has saved everything.
"""

import signal
import threading
from collections.abc import Callable
from contextlib import suppress
from types import FrameType

#: Seconds that saving may take beyond what the monitors wait for their judges.
SLACK = 5.0

_held = False


def save_on_sigterm(save: Callable[[], object], wait: Callable[[], float]) -> None:
    """Call `save` when SIGTERM ends this process, for `wait()` seconds and a little more.

    Only the main thread can do that, and not on Windows. Calling it again changes nothing.
    """
    if threading.current_thread() is not threading.main_thread():
        return
    if not hasattr(signal, "pthread_sigmask"):
        return
    handler = signal.getsignal(signal.SIGTERM)
    if handler is signal.SIG_DFL:
        signal.signal(signal.SIGTERM, _SaveAndEnd(save, wait))
    elif callable(handler) and _is_of_uvicorn(handler):
        signal.signal(signal.SIGTERM, _HoldBack(handler))


def _is_of_uvicorn(handler: object) -> bool:
    owner = type(getattr(handler, "__self__", None))
    return any(one.__module__.partition(".")[0] == "uvicorn" for one in owner.__mro__)


class _SaveAndEnd:
    """Saves in a thread, as the main thread may hold a lock of ours, then ends the process."""

    def __init__(self, save: Callable[[], object], wait: Callable[[], float]) -> None:
        self._save, self._wait = save, wait

    def __call__(self, number: int, _frame: FrameType | None) -> None:
        signal.signal(number, signal.SIG_DFL)
        thread = threading.Thread(target=self._save, daemon=True, name="fourscore-last-save")
        with suppress(RuntimeError):  # no thread can be started any more
            thread.start()
            thread.join(self._wait() + SLACK)
        signal.raise_signal(number)


class _HoldBack:
    """Calls the handler, then holds the signal back that its owner sends at the end."""

    def __init__(self, handler: Callable[[int, FrameType | None], object]) -> None:
        self._handler = handler

    def __call__(self, number: int, frame: FrameType | None) -> None:
        global _held
        self._handler(number, frame)
        _held = True
        signal.pthread_sigmask(signal.SIG_BLOCK, {number})  # of this thread, the main one


def release_sigterm() -> None:
    """Let a SIGTERM that was held back end the process."""
    if _held:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM})
