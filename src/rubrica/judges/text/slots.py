"""What stands in a Chinese slot, after a verb or 是.

Chinese marks no names, so another name is only seen by its place.
"""

from itertools import pairwise

from rubrica.judges.text.covering import Cover
from rubrica.judges.text.pieces import Piece
from rubrica.judges.text.reading import Reading
from rubrica.judges.text.wanted import Wanted


def other_place(want: Wanted, reading: Reading, cover: Cover) -> bool:
    """Whether after the same Chinese verb or 是 something else stands: one place, not another."""
    pieces = want.claim.pieces
    if len(pieces) < 2 or not pieces[-1].han or pieces[-1].ideas:
        return False
    last = [n for n, unit in enumerate(want.units) if unit.at == len(pieces) - 1]
    if not last or any(cover.credits[n] > 0.3 or want.given[n] for n in last):
        return False
    if len(want.units[last[0]].word) < 2:
        return False
    before, mine = pieces[-2], pieces[-1]
    link = _between(want.claim.text, before, mine)
    for verb, following in pairwise(reading.pieces):
        same = verb.term == before.term or _share_idea(verb, before)
        if not same or verb.clause != following.clause or following.ideas or not following.han:
            continue
        if not before.ideas and (link not in _COPULAS or not _is_copula(reading, verb, following)):
            continue
        if len(following.term) > 1:
            return not _alike(mine.term, following.term)
    return False


_COPULAS = frozenset(("是", "为", "则是", "就是", "即"))


def _between(text: str, before: Piece, after: Piece) -> str:
    return text[before.start + len(before.word) : after.start].strip()


def _is_copula(reading: Reading, before: Piece, after: Piece) -> bool:
    return _between(reading.text, before, after) in _COPULAS


def _share_idea(one: Piece, other: Piece) -> bool:
    return any(idea in {name for name, _ in other.ideas} for idea, _ in one.ideas)


def _alike(one: str, other: str) -> bool:
    """Whether two Chinese words may mean the same: a pair or half of their characters."""
    common = set(one) & set(other)
    pairs = {one[at : at + 2] for at in range(len(one) - 1)}
    return any(pair in other for pair in pairs) or 2 * len(common) >= min(len(one), len(other))
