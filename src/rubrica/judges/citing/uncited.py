"""Statements that are plainly taken from a source and carry no citation."""

from collections.abc import Sequence
from typing import NamedTuple

from rubrica.judges.citing.agreement import taken_from, vocabulary
from rubrica.judges.citing.mark import Mark
from rubrica.judges.citing.passages import Passage, share
from rubrica.judges.citing.sources import Source
from rubrica.judges.citing.statements import Reading, Statement

#: Statements that are looked at, and the share of one that a cited one must hold to vouch for it.
_MOST, _REPEATS = 300, 0.85


class Uncited(NamedTuple):
    """A statement without the citation it owes."""

    label: str
    source: str
    start: int
    end: int


def uncited(reading: Reading, marks: Sequence[Mark], sources: Sequence[Source]) -> list[Uncited]:
    """The statements that owe a citation, each text once."""
    cited = {mark.sentence for mark in marks} | {use.sentence for use in reading.plain_uses}
    vouched = {number for mark in marks for number in mark.covers}
    said = [Passage(reading.statements[number].text) for number in sorted(cited) if number >= 0]
    found: list[Uncited] = []
    seen: set[str] = set()
    known = vocabulary(sources)
    for number, statement in enumerate(reading.statements[:_MOST]):
        if number in cited or number in vouched or statement.bare or statement.text in seen:
            continue
        seen.add(statement.text)
        source = taken_from(statement.text, sources, known)
        if source is None or _next_cites(reading, marks, number, source):
            continue
        mine = Passage(statement.text)
        if any(share(mine, other) >= _REPEATS for other in said):
            continue
        found.append(_owed(statement, source, sources))
    return found


def _next_cites(reading: Reading, marks: Sequence[Mark], number: int, source: Source) -> bool:
    """Whether the next citation of the same paragraph is of this source: it vouches for both."""
    paragraph = reading.statements[number].paragraph
    later = [
        mark
        for mark in marks
        if mark.sentence > number and reading.statements[mark.sentence].paragraph == paragraph
    ]
    if not later:
        return False
    first = min(mark.sentence for mark in later)
    return any(mark.source == source for mark in later if mark.sentence == first)


def _owed(statement: Statement, source: Source, sources: Sequence[Source]) -> Uncited:
    name = source.id or source.url or str(sources.index(source) + 1)
    short = statement.text if len(statement.text) <= 60 else f"{statement.text[:57]}..."
    return Uncited(f"'{short}'", f"source {name}", statement.start, statement.end)
