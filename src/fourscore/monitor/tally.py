"""Counting without a lock: how many interactions were seen, and what became of them."""

from itertools import count
from threading import Lock


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
