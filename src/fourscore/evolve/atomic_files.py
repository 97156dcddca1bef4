"""Files that are written completely or not at all, even if the process is killed."""

import fcntl
import os
import time
import weakref
from pathlib import Path

from fourscore.core import DataError

_held: "weakref.WeakSet[Lock]" = weakref.WeakSet()


def prepare(path: Path, data: bytes) -> Path:
    """Write the data to a hidden draft file beside `path`; return the path of the draft."""
    draft = get_draft_path(path)
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
    try:
        _write_all(descriptor, data)
    finally:
        os.close(descriptor)
    return draft


def get_draft_path(path: Path) -> Path:
    return path.with_name(f".{path.name}.tmp")


def move_into_place(draft: Path, path: Path) -> None:
    """Rename a draft to `path`, which may be in another folder, and sync both folders."""
    draft.replace(path)
    for folder in {path.parent, draft.parent}:
        sync_folder(folder)


def write(path: Path, data: bytes) -> None:
    move_into_place(prepare(path, data), path)


def append(path: Path, line: bytes) -> None:
    """Append one line and sync it to disk; where the disk is full, no part of it is written."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    try:
        before = os.fstat(descriptor).st_size
        try:
            _write_all(descriptor, line)
        except OSError:
            os.ftruncate(descriptor, before)
            raise
    finally:
        os.close(descriptor)
    if not before:
        sync_folder(path.parent)


def drop_partial_line(path: Path) -> bool:
    """Cut off an unfinished last line of a killed process; return whether the file is now empty."""
    data = path.read_bytes()
    end = data.rfind(b"\n") + 1
    if end < len(data):
        descriptor = os.open(path, os.O_WRONLY)
        try:
            os.ftruncate(descriptor, end)
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
    return not end


def sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _write_all(descriptor: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]
    os.fsync(descriptor)


class Lock:
    """A lock for one writer at a time; the kernel releases it however the process ends.

    The lock file is never removed: otherwise two processes could lock two files of the same name.
    """

    def __init__(self, path: Path) -> None:
        self._descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
        try:
            self._take(path)
        except BaseException:
            self.release()
            raise
        _held.add(self)

    def _take(self, path: Path) -> None:
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = os.pread(self._descriptor, 100, 0).decode("ascii", "replace").strip()
            who = holder if holder.isprintable() and holder else "another process"
            message = f"{who} is working on this evolution; wait for it, or stop it"
            raise DataError(message, file=str(path)) from None
        os.ftruncate(self._descriptor, 0)
        since = time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime())
        os.pwrite(self._descriptor, f"process {os.getpid()} (since {since})\n".encode(), 0)

    def release(self) -> None:
        descriptor, self._descriptor = self._descriptor, -1
        if descriptor >= 0:
            os.close(descriptor)


def _release_in_child() -> None:
    """Release inherited locks in a forked child, where they would outlive their process."""
    for lock in list(_held):
        lock.release()


os.register_at_fork(after_in_child=_release_in_child)
