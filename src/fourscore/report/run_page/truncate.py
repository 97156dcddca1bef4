"""How long the texts of a row may be so that the report keeps its size limit.

One number decides: no text is longer than it, a text of a step no longer than a quarter of it.
Where it is small, a row is shown in brief: question, answer and values only. It is estimated from
the lengths of all texts, and corrected while rows are written, when they compress better or worse
than estimated. Failures get their space first.
"""

from typing import NamedTuple

#: The longest and the shortest cut, in characters. No page is quick with a text of a million.
LONGEST, SHORTEST = 1 << 17, 1 << 6
#: From here down a row is shown in brief.
BRIEF = 1 << 8
#: What a row takes beside its texts, and a signal, a piece of evidence, a step of it.
ROW, SIGNAL, PIECE, STEP = 150, 70, 40, 50


class TextLimits(NamedTuple):
    """Characters of a text, characters of a step's text, number of steps; or all in brief."""

    text: int
    step: int
    steps: int
    brief: bool

    @classmethod
    def at(cls, cap: int) -> "TextLimits":
        return cls(cap, cap // 4, min(200, cap // 32), cap <= BRIEF)


class RowSizes(NamedTuple):
    """The lengths of a row's texts, signal reasons and step texts, and of the JSON around them."""

    texts: list[int]
    reasons: list[int]
    steps: list[int]
    frame: int


class TextLengths:
    """The lengths of all texts of a run, as counts and sums by powers of two."""

    def __init__(self) -> None:
        self.rows = self._frames = 0
        self._kept: tuple[dict[int, tuple[int, int]], ...] = ({}, {}, {})

    def add(self, row: RowSizes) -> None:
        self.rows += 1
        self._frames += row.frame
        for kept, lengths in zip(self._kept, row[:3], strict=True):
            for length in lengths:
                count, total = kept.get(length.bit_length(), (0, 0))
                kept[length.bit_length()] = (count + 1, total + length)

    def total_under(self, cap: int) -> int:
        """Return how many characters are left when each text is cut at `cap`."""
        cut, (texts, reasons, steps) = TextLimits.at(cap), self._kept
        if cut.brief:
            return ROW * self.rows + _sum_under(texts, cap)
        return (
            self._frames
            + _sum_under(texts, cap)
            + _sum_under(reasons, cap)
            + _sum_under(steps, cut.step)
        )


def _sum_under(kept: dict[int, tuple[int, int]], cap: int) -> int:
    return sum(
        total if 1 << bits <= cap else min(total, count * cap)
        for bits, (count, total) in kept.items()
    )


class SizeBudget:
    """The bytes of the file that passed or failed rows may use, and where their texts are cut."""

    def __init__(self, lengths: TextLengths, room: float, ratio: float) -> None:
        self.lengths, self.room = lengths, max(1.0, room)
        self.used = self.done = 0
        self._estimated = 0.0
        self.plan(ratio)

    def add(self, size: int) -> None:
        self.used += size
        self.done += 1
        self._estimated += self._each

    def is_full(self, ratio: float) -> bool:
        return self.used * ratio >= 1.02 * self.room

    def plan(self, ratio: float) -> None:
        """Set the longest `cap` with which the remaining rows fit into the remaining bytes."""
        rows = max(1, self.lengths.rows)
        left = (rows - self.done) / rows
        if self._estimated:
            left *= self.used / self._estimated
        self.cap, room = LONGEST, self.room - self.used * ratio
        while self.cap > SHORTEST and self.lengths.total_under(self.cap) * left * ratio > room:
            self.cap //= 2
        self._each = self.lengths.total_under(self.cap) / rows
