"""Statements that are plainly taken from a source and carry no citation."""

from bisect import bisect
from collections.abc import Sequence
from operator import attrgetter
from typing import NamedTuple

from rubrica.judges.citing.agreement import taken_from
from rubrica.judges.citing.library import Library
from rubrica.judges.citing.mark import Mark
from rubrica.judges.citing.passages import passage_of
from rubrica.judges.citing.shelf import Shelf
from rubrica.judges.citing.sources import Source
from rubrica.judges.citing.statements import Reading, is_bare
from rubrica.judges.text.sentences import Sentence

#: Statements that are looked at, and the share of one that a cited one must hold to vouch for it.
_MOST, _REPEATS = 300, 0.85


class Uncited(NamedTuple):
    """A statement without the citation it owes, and the source it is taken from."""

    statement: Sentence
    source: Source


def uncited(reading: Reading, marks: Sequence[Mark], known: Library) -> list[Uncited]:
    """The statements that owe a citation, each text once."""
    statements, taken = reading.statements, known.taken
    cited = {mark.sentence for mark in marks}
    cited.update([use.sentence for use in reading.uses if use.citation.form != "name"])
    settled = cited.union(*[mark.covers for mark in marks])
    marks = sorted(marks, key=attrgetter("sentence"))
    places = [mark.sentence for mark in marks]
    said: Shelf | None = None
    found: list[Uncited] = []
    seen: set[str] = set()
    for number, statement in enumerate(statements[:_MOST]):
        text = statement.text
        if number in settled or text in seen:
            continue
        seen.add(text)
        if text not in taken:
            taken[text] = taken_from(text, known)
        source = taken[text]
        if source is None or is_bare(statement):
            continue
        after = bisect(places, number)
        if after < len(places) and reading.beside(number, places[after]):
            # The next citation of the same paragraph vouches for both, if it is of this source.
            last = bisect(places, places[after])
            if any(mark.source == source for mark in marks[after:last]):
                continue
        if said is None:
            said = Shelf([passage_of(statements[at].text) for at in sorted(cited) if at >= 0])
        if not any(said.shares(passage_of(text), _REPEATS)):
            found.append(Uncited(statement, source))
    return found
