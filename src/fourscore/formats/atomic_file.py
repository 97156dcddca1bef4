"""Writes a file completely or not at all: the old one stays until the new one is complete.

A draft is locked while it is written, and the kernel releases the lock however the process ends. So
a draft that can be locked was left by a killed process, and the next writer in its folder removes
it.
"""

import fcntl
import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from fourscore.core import DataError

#: How the name of a draft ends.
DRAFT = ".fourscore-draft"


@contextmanager
def open_atomic(name: str) -> Iterator[BinaryIO]:
    """Open a file for writing (`-`: stdout) that replaces the old one only when all is written."""
    if name == "-":
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    target = Path(name).resolve()  # replace the target of a link, not the link
    try:
        if name.startswith("/dev/") or (target.exists() and not target.is_file()):
            # A pipe, /dev/null or /dev/stdout cannot be replaced: write to it directly.
            with Path(name).open("ab") as stream:
                yield stream
            return
        remove_dead_drafts(target.parent)
        handle, draft = make_draft(target.parent, target.name)
    except OSError as error:
        raise DataError(error.strerror or "cannot be written", file=name) from None
    try:
        with os.fdopen(handle, "wb") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
            mask = os.umask(0)
            os.umask(mask)
            Path(draft).chmod(0o666 & ~mask)
            Path(draft).replace(target)  # while it is locked
    except BaseException:
        Path(draft).unlink(missing_ok=True)
        raise


def make_draft(folder: Path, name: str) -> tuple[int, str]:
    """Make a locked draft in a folder; return its descriptor and path."""
    while True:
        handle, draft = tempfile.mkstemp(DRAFT, f".{name}.", folder)
        lock_draft(handle)
        if Path(draft).exists():
            return handle, draft
        os.close(handle)  # another process removed it before it was locked


def lock_draft(handle: int) -> None:
    """Lock a draft while this process writes or reads it."""
    with suppress(OSError):  # a disk without locks, where nothing is removed either
        fcntl.flock(handle, fcntl.LOCK_EX)


def remove_dead_drafts(folder: Path) -> None:
    """Remove the drafts of killed processes from a folder."""
    for draft in folder.glob(f".*{DRAFT}"):
        with suppress(OSError):  # locked: it is being written; or it is gone, or not ours
            handle = os.open(draft, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                draft.unlink()
            finally:
                os.close(handle)
