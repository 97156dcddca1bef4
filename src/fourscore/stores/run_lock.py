"""One writer per run: a lock that the kernel gives back however its process ends.

The lock is an `flock` on a file beside the store, and the file names the process that holds it.
It is removed when the lock is given back; one that a killed process left is taken over.
"""

import fcntl
import os
import weakref
from pathlib import Path

from fourscore.stores.errors import StoreError

_held: "weakref.WeakSet[RunLock]" = weakref.WeakSet()


class RunLock:
    """Held from its making until `release`."""

    def __init__(self, store: Path, run: str) -> None:
        self.path = store.with_name(f"{store.name}-{run}.lock")
        try:
            self._descriptor = self._take(store, run)
        except OSError as error:
            message = f"run {run} cannot be locked for writing: {error.strerror}"
            raise StoreError(message, file=str(store)) from error
        _held.add(self)

    def _take(self, store: Path, run: str) -> int:
        while True:
            descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT, 0o644)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                holder = os.pread(descriptor, 32, 0).decode("ascii", "replace").strip()
                os.close(descriptor)
                who = f"process {holder}" if holder else "another process"
                message = f"{who} is writing run {run}; wait for it, or stop it, then resume"
                raise StoreError(message, file=str(store)) from None
            except BaseException:
                os.close(descriptor)
                raise
            if self._stands(descriptor):
                os.ftruncate(descriptor, 0)
                os.pwrite(descriptor, f"{os.getpid()}\n".encode(), 0)
                return descriptor
            os.close(descriptor)  # its last holder removed it after we had opened it

    def _stands(self, descriptor: int) -> bool:
        try:
            return os.path.samestat(os.fstat(descriptor), self.path.stat())
        except FileNotFoundError:
            return False

    def release(self) -> None:
        if self._descriptor >= 0:
            self.path.unlink(missing_ok=True)  # while it is still held
            self._forget()

    def _forget(self) -> None:
        descriptor, self._descriptor = self._descriptor, -1
        if descriptor >= 0:
            os.close(descriptor)


def _forget_all() -> None:
    """In a forked child: a lock it inherited would outlive the process that took it."""
    for lock in list(_held):
        lock._forget()


os.register_at_fork(after_in_child=_forget_all)
