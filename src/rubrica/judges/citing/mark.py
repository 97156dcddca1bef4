"""One citation's mark, and which of several marks count."""

from collections.abc import Sequence

import msgspec
from msgspec.structs import replace

from rubrica.judges.citing.passages import passage_of, share
from rubrica.judges.citing.sources import Source

#: Two statements with this share of words in common are one; how many earlier ones are compared.
_COPY, _COMPARED = 0.75, 50


class Mark(msgspec.Struct, frozen=True, gc=False):
    """How one citation fared."""

    label: str
    verdict: str
    why: str
    start: int
    end: int
    sentence: int  # the statement it stands in, -1 for none
    claim: str = ""
    source: Source | None = None
    weak: bool = False  # it rests on little
    covers: tuple[int, ...] = ()  # statements before a clump for which it vouches
    about: frozenset[str] = frozenset()  # what of the statement the source has
    flaw: str = ""  # what is wrong with its form
    settled: bool = False  # whatever the source's words mean


def joined(marks: Sequence[Mark]) -> list[Mark]:
    """A clause that goes on with what its sentence cites the same source for is of one piece.

    Only where words are all that is lacking: a wrong number or a denial stays wrong.
    """
    if not any(mark.weak and mark.verdict == "unsupported" for mark in marks):
        return list(marks)
    held = {(mark.sentence, mark.source) for mark in marks if mark.verdict in ("right", "flawed")}
    return [
        replace(mark, verdict="right", why="", about=frozenset())
        if mark.verdict == "unsupported"
        and mark.weak
        and (mark.sentence, mark.source) in held
        and not passage_of(mark.claim).quantities
        else mark
        for mark in marks
    ]


def distinct(marks: Sequence[Mark]) -> list[Mark]:
    """Each citation of a source for one thing once: a right one copied 1,000 times is one."""
    found: list[Mark] = []
    seen: set[tuple[str, str]] = set()
    rights: dict[Source, list[Mark]] = {}
    for mark in marks:
        place = (mark.label.casefold(), mark.claim)
        if place in seen:
            continue
        seen.add(place)
        if mark.verdict in ("right", "flawed") and mark.source is not None and mark.about:
            had = rights.setdefault(mark.source, [])
            if any(_copies(mark, other) for other in had[-_COMPARED:]):
                continue
            had.append(mark)
        found.append(mark)
    return found


def _copies(mark: Mark, other: Mark) -> bool:
    """Whether it has nothing from the source that the other has not, in much the same words."""
    if not mark.about <= other.about:
        return False
    mine, theirs = passage_of(mark.claim), passage_of(other.claim)
    return share(mine, theirs) >= _COPY or share(theirs, mine) >= _COPY
