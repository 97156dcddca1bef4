"""The sources of an answer, and what has been found out about each statement so far.

Several answers to one case have the same sources, and often the same statements.
"""

from functools import lru_cache
from typing import Literal

import msgspec

from rubrica.judges.citing.passages import Passage, source_passage
from rubrica.judges.citing.shelf import Shelf
from rubrica.judges.citing.sources import Source

Kind = Literal["supported", "partial", "unsupported"]
#: Findings that are kept for one set of sources.
_KEPT = 2048


class Agreement(msgspec.Struct, frozen=True, gc=False):
    """How a statement and a source go together."""

    kind: Kind
    why: str = ""
    weak: bool = False  # it rests on little
    about: frozenset[str] = frozenset()  # what both speak of
    unnamed: Kind = "supported"  # what it is where the source lacks a name of the statement


class Library:
    """The sources, and on the shelf what they say: of those that say the same, the first."""

    __slots__ = ("agreed", "shelf", "shelved", "sources", "taken")

    def __init__(self, sources: tuple[Source, ...]) -> None:
        self.sources = sources
        first: dict[Passage, Source] = {}
        for source in sources:
            first.setdefault(source_passage(source), source)
        self.shelf = Shelf(list(first))
        self.shelved = list(first.values())
        self.agreed: dict[tuple[str, Source], Agreement] = {}
        self.taken: dict[str, Source | None] = {}

    def trim(self) -> None:
        """Forget what has been found where it has become much."""
        for kept in (self.agreed, self.taken):
            if len(kept) > _KEPT:
                kept.clear()


_library = lru_cache(maxsize=16)(Library)


def library(sources: tuple[Source, ...]) -> Library:
    """The library of these sources."""
    found = _library(sources)
    found.trim()
    return found
