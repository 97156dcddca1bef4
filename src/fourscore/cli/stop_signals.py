"""SIGTERM, SIGHUP and SIGQUIT stop a command as Ctrl-C does: it says how to go on.

A second signal of the same kind ends the process at once. What is ignored stays ignored, as under
`nohup`.
"""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

STOPPING = (signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)


def list_stopping() -> list[signal.Signals]:
    """Return the signals that stop this process and are not ignored."""
    return [one for one in STOPPING if signal.getsignal(one) is not signal.SIG_IGN]


@contextmanager
def stop_like_interrupt() -> Iterator[None]:
    """Let the signals raise what Ctrl-C raises, inside the block; in the main thread only."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {one: signal.signal(one, _interrupt) for one in list_stopping()}
    try:
        yield
    finally:
        for one, handler in before.items():
            signal.signal(one, handler)


def _interrupt(number: int, frame: FrameType | None) -> None:
    signal.signal(number, signal.SIG_DFL)
    handler = signal.getsignal(signal.SIGINT)  # an event loop or a server may have its own
    if not callable(handler):  # a shell's background job ignores Ctrl-C
        raise KeyboardInterrupt
    handler(signal.SIGINT, frame)
