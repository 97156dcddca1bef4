"""Writes scored samples and counters to the store, many samples in one transaction.

While the store fails, up to `MAX_WAITING` samples wait in memory. Saving is tried again with the
next sample, on `flush` and at the end. If one sample of a batch cannot be folded into the state,
only that sample is lost.
"""

import logging
import threading
from collections import deque
from collections.abc import Callable, Sequence
from itertools import count
from typing import NamedTuple

from fourscore.agents.trace_values import to_text
from fourscore.core import FourscoreError
from fourscore.monitor.budget import Reservation
from fourscore.monitor.redaction import redact
from fourscore.monitor.sample import Sample
from fourscore.stores.monitor import MonitorStore
from fourscore.stores.monitor_rows import Fold, NewAlert, SampleRow, Spending

LOG = logging.getLogger("fourscore.monitor")
#: Samples that wait for the store; past this the oldest are dropped and counted as `unsaved`.
MAX_WAITING = 2000
#: Seconds that `save_all` has at least, even if its timeout is shorter.
LAST_ATTEMPT = 0.5
#: Samples in one transaction.
BATCH = 256

#: Takes the stored state and new samples; returns the new state and the alerts they cause.
FoldSamples = Callable[[bytes | None, Sequence[Sample]], tuple[bytes, Sequence[NewAlert]]]


class EventCounter:
    """A counter that any thread may increase with `add()`, without a lock: it is one C call."""

    def __init__(self) -> None:
        self._count = count(1)
        self.add = self._count.__next__
        self._read = self._taken = 0
        self._lock = threading.Lock()

    def take(self) -> int:
        """Return the number of `add()` calls since the last `take()`."""
        with self._lock:
            self._read += 1  # reading the counter increases it by one
            total = self.add() - self._read
            fresh, self._taken = total - self._taken, total
            return fresh

    def give_back(self, n: int) -> None:
        """Undo `take()` for `n` events, because they could not be stored."""
        with self._lock:
            self._taken -= n

    @property
    def pending(self) -> int:
        """The number of `add()` calls that `take()` has not returned yet."""
        with self._lock:
            self._read += 1
            return self.add() - self._read - self._taken


class Counters:
    """What a monitor counts beside its samples; the names are those of its metrics.

    `observed` counts all interactions. Of the sampled ones, some were `dropped` (the queue was
    full), `over_budget`, `failed` (a bug here or in the application), `unsaved` (the store failed
    for too long) or stored already (`twice`). `extra` were sampled by a rule and do not count in
    the rates.
    """

    NAMES = ("observed", "dropped", "over_budget", "failed", "unsaved", "extra", "twice")

    def __init__(self) -> None:
        self.observed = EventCounter()
        self.dropped = EventCounter()
        self.over_budget = EventCounter()
        self.failed = EventCounter()
        self.unsaved = EventCounter()
        self.extra = EventCounter()
        self.twice = EventCounter()

    def take(self) -> dict[str, int]:
        """Return the counts since the last call, by name, without zeros."""
        taken = {name: getattr(self, name).take() for name in self.NAMES}
        return {name: n for name, n in taken.items() if n}

    def give_back(self, taken: dict[str, int]) -> None:
        """Undo `take()` for these counts, because they could not be stored."""
        for name, n in taken.items():
            getattr(self, name).give_back(n)

    def pending(self) -> dict[str, int]:
        """Return the counts that `take()` has not returned yet, by name."""
        return {name: getattr(self, name).pending for name in self.NAMES}


class PendingSample(NamedTuple):
    """A sample to be saved, with its row, its cost, and the hour that pays for it."""

    sample: Sample
    row: SampleRow
    hour: int
    spent: Spending


class BatchWriter:
    """Writes to the store for all threads of a process."""

    def __init__(
        self, store: MonitorStore, name: str, *, fold: FoldSamples, keep_text: float | None
    ) -> None:
        self.store, self.name, self.keep_text = store, name, keep_text
        self._fold = fold
        self._logged: set[str] = set()
        self.reset_after_fork()

    def reset_after_fork(self) -> None:
        """Start with nothing pending in a forked child: the parent saves its own samples."""
        self.counters = Counters()
        self._waiting: deque[PendingSample] = deque()
        self._saving = threading.Lock()

    def put(self, sample: Sample, row: SampleRow, reserved: Reservation) -> None:
        """Keep a sample in memory until `save`."""
        spent = reserved.settle(sample.cost)
        self._waiting.append(PendingSample(sample, row, reserved.hour, spent))
        while len(self._waiting) > MAX_WAITING:
            self._waiting.popleft()
            self.counters.unsaved.add()

    def __len__(self) -> int:
        return len(self._waiting)

    def save(self) -> bool:
        """Commit pending samples unless another thread is doing it; return whether none is left."""
        while self._waiting:
            if not self._saving.acquire(blocking=False):
                return False
            try:
                if not self._save_batch():
                    return False
            finally:
                self._saving.release()
        return True

    def save_all(self, timeout: float) -> bool:
        """Commit pending samples and all counters; wait up to `timeout` for another thread."""
        seconds = max(timeout, LAST_ATTEMPT)
        if not self._saving.acquire(timeout=seconds):
            return False
        try:
            with self.store.limit_wait(seconds):
                while self._waiting:
                    if not self._save_batch():
                        return False
                return self._commit([])
        finally:
            self._saving.release()

    def _save_batch(self) -> bool:
        """Save one batch, if need be sample by sample. Return False while the store fails."""
        batch = [self._waiting.popleft() for _ in range(min(BATCH, len(self._waiting)))]
        try:
            return self._commit(batch)
        except Exception as error:  # a bug of ours, with one sample of the batch
            if len(batch) == 1:
                return self._drop(error)
        for at, pending in enumerate(batch):
            try:
                is_saved = self._commit([pending])
            except Exception as error:
                is_saved = self._drop(error)
            if not is_saved:
                self._waiting.extendleft(reversed(batch[at + 1 :]))
                return False
        return True

    def _drop(self, error: Exception) -> bool:
        self.counters.failed.add()
        self.log_once(error, "a sample cannot be saved and is dropped")
        return True

    def _commit(self, batch: list[PendingSample]) -> bool:
        """Commit in one transaction. While the store fails, keep all pending and return False."""
        counts = self.counters.take()
        if not (batch or counts):
            return True
        try:
            kept = self.store.commit(
                self.name,
                [pending.row for pending in batch],
                self._make_fold(batch),
                counts=counts,
                spent=_sum_spending(batch),
                keep_text=self.keep_text,
            )
        except BaseException as error:
            self.counters.give_back(counts)
            if not isinstance(error, FourscoreError):
                raise
            self._waiting.extendleft(reversed(batch))
            self.log_once(error, "samples wait for the store")
            return False
        for _ in range(len(batch) - len(kept)):
            self.counters.twice.add()
        return True

    def _make_fold(self, batch: list[PendingSample]) -> Fold:
        samples = {id(pending.row): pending.sample for pending in batch}

        def fold(
            state: bytes | None, rows: Sequence[SampleRow]
        ) -> tuple[bytes, Sequence[NewAlert]]:
            return self._fold(state, [samples[id(row)] for row in rows])

        return fold

    def log_once(self, error: BaseException, what: str) -> None:
        """Log a kind of problem once, not a thousand times a second.

        The text is redacted: an error may quote what a user wrote.
        """
        kind = f"{what}: {type(error).__name__}"
        if kind not in self._logged and len(self._logged) < 100:
            self._logged.add(kind)
            LOG.warning("monitor %s: %s: %s", self.name, kind, redact(to_text(error)[:500]))


def _sum_spending(batch: list[PendingSample]) -> dict[int, Spending]:
    hours: dict[int, Spending] = {}
    for pending in batch:
        if any(pending.spent):
            hours[pending.hour] = hours.get(pending.hour, Spending()).plus(pending.spent)
    return hours
