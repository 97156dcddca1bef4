"""The cache file behind a write queue, so that an event loop never waits for the disk.

Reads are done at once: a reader never waits for a writer, and takes some microseconds. Writes are
queued for a thread, which writes all that is queued in one transaction; until then a reply is read
from the queue.
"""

import logging
import os
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

from fourscore.models.cache_file import CacheFile

LOG = logging.getLogger("fourscore.models")
#: Seconds that a reader waits at most: while another process repairs the file.
READ_TIMEOUT = 0.5
#: Seconds to wait for more replies: a transaction costs the same for one and for fifty.
BATCH_SECONDS = 0.01


class WriteBehindCache:
    """A cache file with a write queue. It belongs to one process: a forked child needs its own."""

    def __init__(self, path: Path, max_bytes: int) -> None:
        self.pid = os.getpid()
        self._reader = CacheFile(path, max_bytes, timeout=READ_TIMEOUT)
        self._writer = CacheFile(path, max_bytes)
        self._thread = ThreadPoolExecutor(1, "fourscore-cache")
        self._reading, self._lock = threading.Lock(), threading.Lock()
        self._queued: dict[str, bytes] = {}
        self._writing: dict[str, bytes] = {}
        self._touched: set[str] = set()
        self._is_writing = False

    def get(self, key: str) -> bytes | None:
        with self._lock:
            reply = self._queued.get(key) or self._writing.get(key)
        if reply is not None:
            return reply
        with self._reading:
            found = self._reader.get(key)
        if found is None:
            return None
        if found.needs_touch:
            with self._lock:
                self._touched.add(key)
                self._wake_thread()
        return found.reply

    def put(self, key: str, reply: bytes) -> None:
        if self._reader.disabled:  # it cannot be read, which was warned of already
            return
        with self._lock:
            self._queued[key] = reply
            self._wake_thread()

    def close(self) -> None:
        """Write what is queued, and close the file."""
        self._thread.shutdown()
        self._write_queued()
        self._reader.close()
        self._writer.close()

    def _wake_thread(self) -> None:
        if not self._is_writing:
            with suppress(RuntimeError):  # the interpreter is ending
                self._thread.submit(self._run_thread)
                self._is_writing = True

    def _run_thread(self) -> None:
        time.sleep(BATCH_SECONDS)
        self._write_queued()

    def _write_queued(self) -> None:
        while True:
            with self._lock:
                self._writing, self._queued = self._queued, {}
                touched, self._touched = self._touched, set()
                if not self._writing and not touched:
                    self._is_writing = False
                    return
            try:
                self._writer.put(list(self._writing.items()), touched)
            except BaseException:
                # A warning turned into an error, or no memory; the next reply tries again.
                LOG.exception("replies are not cached")
                with self._lock:
                    self._is_writing, self._writing = False, {}
                return
