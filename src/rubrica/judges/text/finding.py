"""The sentences of a text that may state or deny a claim, found without reading them.

It goes by their gists and figures, and says a little too much rather than too little.
"""

from rubrica.judges.text.amount import Quantity, agrees, twisted
from rubrica.judges.text.covering import NEARBY
from rubrica.judges.text.gist import DOUBT
from rubrica.judges.text.ledger import Ledger, family, vaguer
from rubrica.judges.text.told import Told
from rubrica.judges.text.wanted import Part, Wanted

#: Shares of a claim that are worth a reading: of its key, beside another figure, of what is given.
_KEY, _FIGURED, _GIVEN = 0.28, 0.4, 0.6
_NONE: frozenset[str] = frozenset()


def met(want: Wanted, text: Told) -> list[tuple[int, bool]]:
    """The places of the sentences that are worth reading, and whether all figures agree. Those
    behind a place of -1 only have another figure: they matter where none has the claim's.
    """
    return _by_figures(want, text) if want.quantities else _by_words(want, text)


def _by_words(want: Wanted, text: Told) -> list[tuple[int, bool]]:
    common, least = want.common, min(want.need, _KEY)
    return [
        (index, False)
        for index, gist in enumerate(text.gists)
        if not common.isdisjoint(gist)
        and (share(want.key, text, index) >= least or _given(want, text, index) >= _GIVEN)
    ]


def _by_figures(want: Wanted, text: Told) -> list[tuple[int, bool]]:
    """Those that have a figure of the claim, or another of its kind beside the claim's words."""
    same: dict[int, int] = {}
    other: dict[int, None] = {}
    near: dict[int, bool] = {}
    amounts = want.amounts
    for number, mine in enumerate(amounts):
        for index, theirs in text.figured(family(mine)):
            mark = theirs.mark(mine)
            if mark or (text.passages[index].text[0] == "|" and _in_table(mine, theirs)):
                done = same.get(index, 0)
                same[index] = done + 1 if done == number else done
            elif mine.date is not None and _vaguely(mine, theirs):
                same.setdefault(index, 0)
            elif mark is False and index not in same and index not in other:
                if index not in near:
                    near[index] = _beside(want, text, index)
                if near[index] or any(twisted(mine, amount) for amount in theirs.amounts):
                    other[index] = None
    if want.year_before:
        same.update((index, 0) for index, _ in _by_words(want, text))
    found = [(index, done == len(amounts)) for index, done in same.items()]
    if other:
        found.append((-1, False))
        found += [(index, False) for index in other if index not in same]
    return found


def plain_score(want: Wanted, text: Told, index: int) -> float:
    """How well a sentence with all the figures of a claim states it where there is nothing to
    weigh: neither side denies or doubts or turns on a name. 0 where it has to be read.
    """
    gist = text.gist(index)
    if not want.plain or DOUBT in gist:
        return 0.0
    if any(idea in gist and term not in gist for term, idea in want.polar):
        return 0.0
    return 0.55 + 0.45 * share(want.key, text, index)


def _in_table(mine: Quantity, theirs: Ledger) -> bool:
    """Whether a number stands there without its unit, or the other way round."""
    return any("number" in (mine.kind, amount.kind) for amount in theirs.bare(mine))


def _vaguely(mine: Quantity, theirs: Ledger) -> bool:
    """Whether the month or the year of a date stands there."""
    return any(vaguer(mine, amount) and agrees(mine, amount) for amount in theirs.amounts)


def _beside(want: Wanted, text: Told, index: int) -> bool:
    """Whether another figure stands beside enough of the claim's words to count against it."""
    if share(want.key, text, index) >= _FIGURED:
        return True
    return _given(want, text, index, alone=True) >= 0.5


def _given(want: Wanted, text: Told, index: int, alone: bool = False) -> float:
    return share(want.rest, text, index, alone) if want.rest[1] else 0.0


def share(
    parts: tuple[float, tuple[Part, ...]], text: Told, index: int, alone: bool = False
) -> float:
    """The most that a sentence can have of the key, or of what is given; with help from the
    sentence before unless it is taken alone.
    """
    whole, units = parts
    gist = text.gist(index)
    before = _NONE if alone else None
    shared = 0.0
    for terms, weight in units:
        if not terms.isdisjoint(gist):
            shared += weight
            continue
        if before is None:
            before = text.before(index)
        if not terms.isdisjoint(before):
            shared += weight * NEARBY
    return shared / whole if whole else 1.0
