"""How much of a row is kept: all of it, or the beginnings of its texts and their lengths.

Failures come first. One number rules: no text is longer than it, a text of a step no longer than a
quarter, and where it is small the row is told in brief, by its question, answer and values alone.
It is found from the lengths of all texts, and corrected on the way where they pack better or worse
than was thought.
"""

from typing import NamedTuple

#: The longest and the shortest cut, in characters. No page is quick with a text of a million.
LONGEST, SHORTEST = 1 << 17, 1 << 6
#: From here down a row is told in brief.
BRIEF = 1 << 8
#: What a row takes beside its texts, and a signal, a piece of evidence, a step of it.
ROW, SIGNAL, PIECE, STEP = 150, 70, 40, 50


class Cut(NamedTuple):
    """So many characters of a text, so many of a step's, so many steps; or all in brief."""

    text: int
    step: int
    steps: int
    brief: bool

    @classmethod
    def at(cls, cap: int) -> "Cut":
        return cls(cap, cap // 4, min(200, cap // 32), cap <= BRIEF)


class Sizes(NamedTuple):
    """A row: the lengths of its texts, of the reasons of its signals, of the texts of its steps,
    and what stands around them.
    """

    texts: list[int]
    reasons: list[int]
    steps: list[int]
    frame: int


class Lengths:
    """How long the texts of a run are: counts and sums by powers of two."""

    def __init__(self) -> None:
        self.rows = self._frames = 0
        self._kept: tuple[dict[int, tuple[int, int]], ...] = ({}, {}, {})

    def add(self, row: Sizes) -> None:
        self.rows += 1
        self._frames += row.frame
        for kept, lengths in zip(self._kept, row[:3], strict=True):
            for length in lengths:
                count, total = kept.get(length.bit_length(), (0, 0))
                kept[length.bit_length()] = (count + 1, total + length)

    def under(self, cap: int) -> int:
        """Characters that are left of them."""
        cut, (texts, reasons, steps) = Cut.at(cap), self._kept
        if cut.brief:
            return ROW * self.rows + _under(texts, cap)
        return self._frames + _under(texts, cap) + _under(reasons, cap) + _under(steps, cut.step)


def _under(kept: dict[int, tuple[int, int]], cap: int) -> int:
    return sum(
        total if 1 << bits <= cap else min(total, count * cap)
        for bits, (count, total) in kept.items()
    )


class Share:
    """What one kind of rows may take of the file, and where its texts are cut so that it does."""

    def __init__(self, lengths: Lengths, room: float, ratio: float) -> None:
        self.lengths, self.room = lengths, max(1.0, room)
        self.used = self.done = 0
        self._thought = 0.0
        self.plan(ratio)

    def add(self, size: int) -> None:
        self.used += size
        self.done += 1
        self._thought += self._each

    def full(self, ratio: float) -> bool:
        return self.used * ratio >= 1.02 * self.room

    def plan(self, ratio: float) -> None:
        """The longest cut with which the rows that are left fit into the room that is left."""
        rows = max(1, self.lengths.rows)
        left = (rows - self.done) / rows
        if self._thought:
            left *= self.used / self._thought
        self.cap, room = LONGEST, self.room - self.used * ratio
        while self.cap > SHORTEST and self.lengths.under(self.cap) * left * ratio > room:
            self.cap //= 2
        self._each = self.lengths.under(self.cap) / rows
