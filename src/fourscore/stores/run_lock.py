"""The lock of a run's writer, which the kernel releases however the process ends.

The lock is an `flock` on a file beside the store, which holds the id of the locking process. It is
removed when the lock is released; one that a killed process left is taken over, or removed by the
next process that locks a run of the same store.
"""

import fcntl
import glob
import os
import time
import weakref
from contextlib import suppress
from pathlib import Path

from fourscore.stores.errors import StoreError

#: How often, and after how many seconds, a lock is tried that another process has.
TRIES, INTERVAL = 3, 0.02

_held: "weakref.WeakSet[RunLock]" = weakref.WeakSet()


class RunLock:
    """A lock, held from construction until `release`."""

    def __init__(self, store: Path, run: str) -> None:
        self.path = store.with_name(f"{store.name}-{run}.lock")
        try:
            self._descriptor = self._take(store, run)
        except OSError as error:
            message = f"run {run} cannot be locked for writing: {error.strerror}"
            raise StoreError(message, file=str(store)) from error
        _held.add(self)
        _remove_dead_locks(store)

    def _take(self, store: Path, run: str) -> int:
        tries = 0
        while True:
            descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT, 0o644)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                if (tries := tries + 1) < TRIES:  # it may be about to be removed
                    os.close(descriptor)
                    time.sleep(INTERVAL)
                    continue
                holder = os.pread(descriptor, 32, 0).decode("ascii", "replace").strip()
                os.close(descriptor)
                who = f"process {holder}" if holder else "another process"
                message = f"{who} is writing run {run}; wait for it, or stop it, then resume"
                raise StoreError(message, file=str(store)) from None
            except BaseException:
                os.close(descriptor)
                raise
            if self._is_current(descriptor):
                os.ftruncate(descriptor, 0)
                os.pwrite(descriptor, f"{os.getpid()}\n".encode(), 0)
                return descriptor
            os.close(descriptor)  # its last holder removed it after we had opened it

    def _is_current(self, descriptor: int) -> bool:
        try:
            return os.path.samestat(os.fstat(descriptor), self.path.stat())
        except FileNotFoundError:
            return False

    def release(self) -> None:
        """Remove the file and release the lock."""
        if self._descriptor >= 0:
            self.path.unlink(missing_ok=True)  # while it is still held
            self._close()

    def _close(self) -> None:
        descriptor, self._descriptor = self._descriptor, -1
        if descriptor >= 0:
            os.close(descriptor)


def _remove_dead_locks(store: Path) -> None:
    """Remove the locks of runs of this store that killed processes left."""
    for path in store.parent.glob(f"{glob.escape(store.name)}-*.lock"):
        with suppress(OSError):  # locked, or gone
            descriptor = os.open(path, os.O_RDWR | os.O_NOFOLLOW)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                path.unlink()
            finally:
                os.close(descriptor)


def _close_all() -> None:
    """Close inherited locks in a forked child: they would outlive the process that took them."""
    for lock in list(_held):
        lock._close()


os.register_at_fork(after_in_child=_close_all)
