"""What is kept of too many failures: the first by name, and the worst."""

from heapq import nsmallest
from typing import Any

from fourscore.core import Score

#: Characters of a reason that a summary keeps.
LONGEST = 300


class First:
    """The smallest so many of the pairs it was shown."""

    __slots__ = ("_items", "_last", "limit")

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self._items: list[tuple[str, int]] = []
        self._last: tuple[str, int] | None = None  # once there are enough: nothing behind it counts

    def add(self, item: tuple[str, int]) -> None:
        if self._last is None or item < self._last:
            self._items.append(item)
            if len(self._items) > 2 * self.limit:
                self._trim()

    def items(self) -> list[tuple[str, int]]:
        self._trim()
        return list(self._items)

    def _trim(self) -> None:
        self._items = nsmallest(self.limit, self._items)
        if self._items and len(self._items) == self.limit:
            self._last = self._items[-1]


class Worst:
    """The failures with the lowest values, by id where equal, and what was said of them."""

    __slots__ = ("_items", "_last", "limit")

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self._items: dict[tuple[float, str, int], tuple[str, str]] = {}
        self._last: tuple[float, str, int] | None = None

    def add(self, case_id: str, repeat: int, score: Score) -> None:
        key = (score.value or 0.0, case_id, repeat)
        if self._last is None or key < self._last:
            self._items[key] = (str(score.status), why(score))
            if len(self._items) > 2 * self.limit:
                self._trim()

    def document(self) -> list[dict[str, Any]]:
        self._trim()
        return [
            {"id": case_id, "repeat": repeat, "value": value, "status": status, "reason": reason}
            for (value, case_id, repeat), (status, reason) in self._items.items()
        ]

    def _trim(self) -> None:
        self._items = dict(nsmallest(self.limit, self._items.items()))
        if len(self._items) == self.limit:
            self._last = max(self._items)


def why(score: Score) -> str:
    """The reason for a score in a line: its own, else that of its lowest signal."""
    if score.reason:
        return score.reason[:LONGEST]
    measured = [(signal.value, signal) for signal in score.signals if signal.value is not None]
    if not measured:
        return ""
    value, lowest = min(measured, key=lambda pair: pair[0])
    told = f": {lowest.reason}" if lowest.reason else ""
    return f"{lowest.name} {value:.2f}{told}"[:LONGEST]
