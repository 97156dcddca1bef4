"""Scored interactions on their way into the store, many in one transaction.

A store that fails for a while loses nothing that memory has room for: what waits is tried again
with the next sample, on `flush` and at the end. What cannot be folded fails alone.
"""

import logging
import threading
from collections import deque
from collections.abc import Callable, Sequence
from itertools import count
from threading import Lock
from typing import NamedTuple

from fourscore.agents.recorder_values import text_of
from fourscore.core import FourscoreError
from fourscore.monitor.budget import Reservation
from fourscore.monitor.redaction import redact
from fourscore.monitor.sample import Sample
from fourscore.stores.monitor import MonitorStore
from fourscore.stores.monitor_rows import Entry, Fold, Raised, Spending

LOG = logging.getLogger("fourscore.monitor")
#: Samples that wait for the store; past this the oldest go, and are counted.
ROOM = 2000
#: Seconds that the last attempt to save may take when time is up.
SHORT = 0.5
#: Samples in one transaction.
BATCH = 256

#: The state before and new samples; the state after, and the alerts that came of them.
FoldSamples = Callable[[bytes | None, Sequence[Sample]], tuple[bytes, Sequence[Raised]]]


class Tally:
    """A count that any thread may raise with `add()`, in one call of C."""

    def __init__(self) -> None:
        self._count = count(1)
        self.add = self._count.__next__
        self._read = self._taken = 0
        self._lock = Lock()

    def take(self) -> int:
        """How much was added since the last time."""
        with self._lock:
            self._read += 1  # reading adds one itself
            total = self.add() - self._read
            fresh, self._taken = total - self._taken, total
            return fresh

    def give_back(self, n: int) -> None:
        """What was taken could not be stored: it counts as not taken."""
        with self._lock:
            self._taken -= n

    @property
    def open(self) -> int:
        """How much was added and not taken."""
        with self._lock:
            self._read += 1
            return self.add() - self._read - self._taken


class Tallies:
    """What a monitor counts beside its samples; the words are those of its metrics.

    `observed` interactions came by, and of those that were sampled some were `dropped` (the queue
    was full), `over_budget`, `failed` (a mistake of ours or of the application) or `unsaved` (the
    store did not take them); `extra` were taken by a rule and do not count in the rates.
    """

    WORDS = ("observed", "dropped", "over_budget", "failed", "unsaved", "extra", "twice")

    def __init__(self) -> None:
        self.observed, self.dropped, self.over_budget = Tally(), Tally(), Tally()
        self.failed, self.unsaved, self.extra, self.twice = Tally(), Tally(), Tally(), Tally()

    def take(self) -> dict[str, int]:
        taken = {word: getattr(self, word).take() for word in self.WORDS}
        return {word: n for word, n in taken.items() if n}

    def give_back(self, taken: dict[str, int]) -> None:
        for word, n in taken.items():
            getattr(self, word).give_back(n)

    def open(self) -> dict[str, int]:
        return {word: getattr(self, word).open for word in self.WORDS}


class Parcel(NamedTuple):
    """A sample, its row, and what it cost of which hour."""

    sample: Sample
    entry: Entry
    hour: int
    spent: Spending


class Saving:
    """The one way into the store for all threads of a process."""

    def __init__(
        self,
        store: MonitorStore,
        name: str,
        fold: FoldSamples,
        tallies: Tallies,
        keep_text: float | None,
    ) -> None:
        self.store, self.name, self.tallies = store, name, tallies
        self._fold, self._keep_text = fold, keep_text
        self._waiting: deque[Parcel] = deque()
        self._saving = threading.Lock()
        self._told: set[str] = set()

    def put(self, sample: Sample, entry: Entry, reserved: Reservation) -> None:
        """Keep it until `save`."""
        spent = reserved.settle(sample.cost)
        self._waiting.append(Parcel(sample, entry, reserved.hour, spent))
        while len(self._waiting) > ROOM:
            self._waiting.popleft()
            self.tallies.unsaved.add()

    def __len__(self) -> int:
        return len(self._waiting)

    def save(self) -> bool:
        """Commit what waits, unless another thread is at it and will; whether all is saved."""
        while self._waiting:
            if not self._saving.acquire(blocking=False):
                return False
            try:
                if not self._save():
                    return False
            finally:
                self._saving.release()
        return True

    def save_all(self, timeout: float) -> bool:
        """Commit what waits and all counts, after whoever is at it, if that is soon enough."""
        patience = max(timeout, SHORT)
        if not self._saving.acquire(timeout=patience):
            return False
        try:
            with self.store.hurrying(patience):
                while self._waiting:
                    if not self._save():
                        return False
                return self._commit([])
        finally:
            self._saving.release()

    def _save(self) -> bool:
        """One batch, as a whole or else one by one; False where the store takes nothing now."""
        batch = [self._waiting.popleft() for _ in range(min(BATCH, len(self._waiting)))]
        try:
            return self._commit(batch)
        except Exception as error:  # a mistake of ours, on one of them
            if len(batch) == 1:
                return self._lose(error)
        for at, parcel in enumerate(batch):
            try:
                saved = self._commit([parcel])
            except Exception as error:
                saved = self._lose(error)
            if not saved:
                self._waiting.extendleft(reversed(batch[at + 1 :]))
                return False
        return True

    def _lose(self, error: Exception) -> bool:
        self.tallies.failed.add()
        self.tell(error, "a sample cannot be kept")
        return True

    def _commit(self, batch: list[Parcel]) -> bool:
        """False where the store does not take anything now; then all of it waits again."""
        counts = self.tallies.take()
        if not (batch or counts):
            return True
        try:
            kept = self.store.commit(
                self.name,
                [parcel.entry for parcel in batch],
                self._folding(batch),
                counts=counts,
                spent=_spent(batch),
                keep_text=self._keep_text,
            )
        except BaseException as error:
            self.tallies.give_back(counts)
            if not isinstance(error, FourscoreError):
                raise
            self._waiting.extendleft(reversed(batch))
            self.tell(error, "samples wait for the store")
            return False
        for _ in range(len(batch) - len(kept)):
            self.tallies.twice.add()
        return True

    def _folding(self, batch: list[Parcel]) -> Fold:
        samples = {id(parcel.entry): parcel.sample for parcel in batch}

        def fold(state: bytes | None, entries: Sequence[Entry]) -> tuple[bytes, Sequence[Raised]]:
            return self._fold(state, [samples[id(entry)] for entry in entries])

        return fold

    def tell(self, error: BaseException, words: str) -> None:
        """Log a kind of problem once: a service that fails a thousand times a second knows.

        An error may quote what a user wrote, and a log is a store too.
        """
        kind = f"{words}: {type(error).__name__}"
        if kind not in self._told and len(self._told) < 100:
            self._told.add(kind)
            LOG.warning("monitor %s: %s: %s", self.name, kind, redact(text_of(error)[:500]))

    def forked(self, tallies: Tallies) -> None:
        """In a child: what waits is the parent's to save."""
        self.tallies, self._waiting, self._saving = tallies, deque(), threading.Lock()


def _spent(batch: list[Parcel]) -> dict[int, Spending]:
    hours: dict[int, Spending] = {}
    for parcel in batch:
        if any(parcel.spent):
            hours[parcel.hour] = hours.get(parcel.hour, Spending()).plus(parcel.spent)
    return hours
