"""A passage with what it tells, and where an aspect is covered."""

import msgspec

from rubrica.judges.dimensions.coverage.passages import Passage
from rubrica.judges.dimensions.coverage.plan import Told
from rubrica.judges.dimensions.finding import Sure


class Cover(msgspec.Struct, frozen=True, gc=False):
    """Where an aspect is covered, and how sure that is."""

    start: int
    end: int
    sure: Sure


class Read(msgspec.Struct, frozen=True, gc=False):
    """A passage with what it tells, and the aspects that a label over it names."""

    passage: Passage
    told: Told
    labelled: frozenset[int]
