"""The cache's file between an event loop that must not wait and a disk that makes it wait.

Reading is done on the spot: a reader never waits for a writer, and takes some microseconds. Writing
is left on the desk for a thread, which takes all it finds there into one transaction; until it is
written, a reply is read from the desk.
"""

import os
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

from fourscore.models.cache_file import CacheFile

#: Seconds to wait where a reader has to after all: someone is mending the file.
PATIENCE = 0.5
#: Seconds that the thread waits for more: a transaction costs the same for one reply and for fifty.
LINGER = 0.01


class WriteBehindCache:
    """A reader, a writer and what lies between. After a fork there is no thread: make another."""

    def __init__(self, path: Path, max_bytes: int) -> None:
        self.pid = os.getpid()
        self._reader = CacheFile(path, max_bytes, patience=PATIENCE)
        self._writer = CacheFile(path, max_bytes)
        self._thread = ThreadPoolExecutor(1, "fourscore-cache")
        self._reading, self._lock = threading.Lock(), threading.Lock()
        self._left: dict[str, bytes] = {}
        self._at_hand: dict[str, bytes] = {}
        self._touched: set[str] = set()
        self._busy = False

    def get(self, key: str) -> bytes | None:
        with self._lock:
            reply = self._left.get(key) or self._at_hand.get(key)
        if reply is not None:
            return reply
        with self._reading:
            found = self._reader.get(key)
        if found is None:
            return None
        if found.stale:
            with self._lock:
                self._touched.add(key)
                self._wake()
        return found.reply

    def put(self, key: str, reply: bytes) -> None:
        if self._reader.off:  # what cannot be read need not be written, nor said twice
            return
        with self._lock:
            self._left[key] = reply
            self._wake()

    def close(self) -> None:
        """Write what was left, and close the file."""
        self._thread.shutdown()
        self._work()
        self._reader.close()
        self._writer.close()

    def _wake(self) -> None:
        if not self._busy:
            with suppress(RuntimeError):  # the interpreter is ending
                self._thread.submit(self._come)
                self._busy = True

    def _come(self) -> None:
        time.sleep(LINGER)
        self._work()

    def _work(self) -> None:
        while True:
            with self._lock:
                self._at_hand, self._left = self._left, {}
                touched, self._touched = self._touched, set()
                if not self._at_hand and not touched:
                    self._busy = False
                    return
            try:
                self._writer.put(list(self._at_hand.items()), touched)
            except Exception:
                # Only a warning that was made an error gets here; the next reply tries again.
                with self._lock:
                    self._busy, self._at_hand = False, {}
                raise
