"""What a command does with an error that nobody expected: one sentence, and a saved traceback.

Nobody can do anything with a traceback on the terminal, and Python's own exit code for one is 1,
which here means that a gate failed. Threads and tasks of event loops end unseen without this.
"""

import logging
import os
import platform
import sys
import sysconfig
import tempfile
import threading
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any

from fourscore import __version__
from fourscore.core.judge import safe_repr
from fourscore.core.secrets import hide_secrets
from fourscore.report.streams import print_message

OURS = str(Path(__file__).parents[1])
STDLIB = sysconfig.get_path("stdlib")
#: Characters of an error in the sentence.
LONGEST = 300


class Crash:
    """An unexpected error: the `message` for the user, and the `path` of the saved traceback.

    `group` is the exception group that it was in.
    """

    def __init__(
        self, error: BaseException, where: str = "", *, group: BaseException | None = None
    ) -> None:
        self.path = save_traceback(group or error)
        self.is_ours = _is_ours(error.__traceback__)
        saved = f"the traceback is in {self.path}" if self.path else "it could not be saved"
        whose = "a mistake in fourscore" if self.is_ours else "unexpected error"
        self.message = f"{whose}{where}: {describe_error(error)}; {saved}"


def describe_error(error: BaseException) -> str:
    """Return the kind and the message of an error without secrets; its `__str__` may fail."""
    text = safe_repr(error) if not error.args else f"{type(error).__name__}: {safe_text(error)}"
    text = hide_secrets(text)  # before it is cut
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}…"


def safe_text(error: BaseException) -> str:
    """Return `str(error)`, or its `repr` where that raises."""
    try:
        return str(error)
    except Exception:
        return safe_repr(error)


def save_traceback(error: BaseException) -> str | None:
    """Write the traceback to a file that only this user can read; return its path."""
    about = f"fourscore {__version__}, Python {platform.python_version()}, {platform.platform()}"
    try:
        lines = hide_secrets("".join(traceback.format_exception(error)))
        handle, path = tempfile.mkstemp(prefix="fourscore-crash-", suffix=".txt")
        with os.fdopen(handle, "w", encoding="utf-8", errors="backslashreplace") as stream:
            stream.write(f"{about}\n\n{lines}")
    except Exception:  # no space, or an error that cannot even be shown
        return None
    return path


def _is_ours(trace: TracebackType | None) -> bool:
    """Whether our code, and not a thread or task of an agent or a judge, was running."""
    for frame, _ in traceback.walk_tb(trace):
        file = frame.f_code.co_filename
        if not file.startswith(("<", STDLIB)) or "site-packages" in file:
            return file.startswith(OURS)
    return True


@contextmanager
def watch_background() -> Iterator[list[Crash]]:
    """Print errors of threads, tasks and loggers as one sentence; yield the crashes of our own."""
    crashes: list[Crash] = []

    def report(error: BaseException, where: str) -> None:
        crash = Crash(error, where)
        if crash.is_ours:
            crashes.append(crash)
        print_message(f"fourscore: {crash.message}")

    def on_thread(given: threading.ExceptHookArgs) -> None:
        if given.exc_value is not None and not isinstance(given.exc_value, SystemExit):
            report(given.exc_value, f" in the thread {given.thread and given.thread.name}")

    def on_unraisable(given: Any) -> None:
        if given.exc_value is not None and not isinstance(given.exc_value, KeyboardInterrupt):
            print_message(f"fourscore: {Crash(given.exc_value, ' while closing').message}")

    before = threading.excepthook, sys.unraisablehook, logging.lastResort
    threading.excepthook, sys.unraisablehook = on_thread, on_unraisable
    logging.lastResort = _OneLine(report)
    try:
        yield crashes
    finally:
        threading.excepthook, sys.unraisablehook, logging.lastResort = before


class _OneLine(logging.Handler):
    """Prints records that no other handler takes, such as those of asyncio."""

    def __init__(self, report: Any) -> None:
        super().__init__(logging.WARNING)
        self._report = report

    def emit(self, record: logging.LogRecord) -> None:
        error = record.exc_info[1] if record.exc_info else None
        if error is None:
            print_message(f"fourscore: {record.getMessage()}")
        elif not isinstance(error, KeyboardInterrupt | SystemExit):
            self._report(error, " in the background")
