"""Statements that are plainly taken from a source and carry no citation."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from rubrica.judges.citing.agreement import taken_from
from rubrica.judges.citing.library import Library
from rubrica.judges.citing.mark import Mark
from rubrica.judges.citing.passages import passage_of
from rubrica.judges.citing.shelf import Shelf
from rubrica.judges.citing.sources import Source
from rubrica.judges.citing.statements import Reading, Statement

#: Statements that are looked at, and the share of one that a cited one must hold to vouch for it.
_MOST, _REPEATS = 300, 0.85


class Uncited(NamedTuple):
    """A statement without the citation it owes, and the source it is taken from."""

    statement: Statement
    source: Source


def uncited(reading: Reading, marks: Sequence[Mark], known: Library) -> list[Uncited]:
    """The statements that owe a citation, each text once."""
    statements = reading.statements
    cited = {mark.sentence for mark in marks}
    cited.update([use.sentence for use in reading.uses if use.citation.form != "name"])
    settled = cited.union(*[mark.covers for mark in marks])
    marked = _by_paragraph(reading, marks)
    said: Shelf | None = None
    found: list[Uncited] = []
    seen: set[str] = set()
    for number, statement in enumerate(statements[:_MOST]):
        text = statement.text
        if number in settled or statement.bare or text in seen:
            continue
        seen.add(text)
        source = taken_from(text, known)
        if source is None:
            continue
        beside = marked.get(statement.paragraph)
        if beside is not None and _next_cites(beside, number, source):
            continue
        if said is None:
            said = Shelf([passage_of(statements[at].text) for at in sorted(cited) if at >= 0])
        if not said.shares(passage_of(text), _REPEATS):
            found.append(Uncited(statement, source))
    return found


def _by_paragraph(reading: Reading, marks: Sequence[Mark]) -> Mapping[int, list[Mark]]:
    """The marks of each paragraph, in order of their sentences."""
    found: dict[int, list[Mark]] = {}
    for mark in sorted(marks, key=lambda mark: mark.sentence):
        if mark.sentence >= 0:
            found.setdefault(reading.statements[mark.sentence].paragraph, []).append(mark)
    return found


def _next_cites(marks: Sequence[Mark], number: int, source: Source) -> bool:
    """Whether the next citation of the same paragraph is of this source: it vouches for both."""
    first = next((mark.sentence for mark in marks if mark.sentence > number), -1)
    return any(mark.source == source for mark in marks if mark.sentence == first)
