"""Which way round two sides stand: which is the cheaper, and who beats whom.

A comparison has two sides whatever its words are. With its sides exchanged it says the reverse, and
so it does with the opposite quality; with both it says the same. `order.py` is for names.
"""

import re
from collections.abc import Iterator

from rubrica.judges.text.compared import MARKS, compared
from rubrica.judges.text.pieces import Piece
from rubrica.judges.text.reading import Reading
from rubrica.judges.text.sides import Sides, Terms, apart, clause_rest, clause_start, terms_of
from rubrica.judges.text.voice import among_nouns, is_noun, is_passive

#: Ideas of verbs that are done by one to another, in whatever words the two are told.
_DONE = frozenset(
    ("@acquire", "@defeat", "@sue", "@infringe", "@compensate", "@cause", "@own", "@teach")
) | frozenset(("@invade", "@employ", "@lend", "@exceed", "@orbit", "@feed_on", "@criticise"))
_OBJECT_END = re.compile(
    r"\b(?:when|as|after|because|from|if|with|for|since|where|which|who|that|in|on|at)\b"
)


def sides_of(claim: Reading) -> Sides | None:
    """The comparison of a claim, or its verb with one side and another; only what tells them
    apart.
    """
    text = claim.text
    found = next(compared(claim), None) if any(map(text.__contains__, MARKS)) else None
    if found is None:
        found = next(_done(claim, _DONE), None)
    if found is None:
        return None
    one, other = apart(found.one, found.other), apart(found.other, found.one)
    return found._replace(one=one, other=other) if one and other else None


def says(mine: Sides, reading: Reading) -> bool | None:
    """Whether a sentence says the same of the two sides, or the reverse; None where neither."""
    kept = _DONE.intersection(mine.said)
    if kept and not kept.isdisjoint(reading.whole.terms):
        turned = [_turned(mine, found) for found in _done(reading, kept)]
        return False if -1 in turned and 1 not in turned else None
    if kept or not any(map(reading.text.__contains__, MARKS)):
        return None
    ways = {_turned(mine, found) * _alike(mine, found) for found in compared(reading)} - {0}
    return ways == {1} if len(ways) == 1 else None


def _turned(mine: Sides, found: Sides) -> int:
    """1 where the sides are those of the claim, -1 where they are exchanged, or else 0."""
    same = bool(mine.one & found.one), bool(mine.other & found.other)
    changed = bool(mine.one & found.other), bool(mine.other & found.one)
    if not found.one or not found.other:  # it
        return any(same) - any(changed)
    return all(same) - all(changed)


def _alike(mine: Sides, found: Sides) -> int:
    """1 where the quality is the same, -1 where it is the opposite, or else 0."""
    if mine.things and mine.things.isdisjoint(found.things | found.one | found.other):
        return 0
    if found.things and found.things.isdisjoint(mine.things | mine.one | mine.other):
        return 0
    ways = {side * found.said.get(word, 0) for word, side in mine.said.items()} - {0}
    return ways.pop() if len(ways) == 1 else 0


def _done(reading: Reading, ideas: frozenset[str]) -> Iterator[Sides]:
    """The verbs of a sentence that are done by one to another."""
    text = reading.text
    for piece in reading.pieces:
        if not piece.ideas or piece.sign < 0:
            continue
        mine = [idea for idea, _ in piece.ideas if idea in ideas]
        if not mine:
            continue
        if is_noun(piece, text) if piece.han else among_nouns(piece, text):
            continue
        found = _han_done(text, piece) if piece.han else _english_done(text, piece)
        if found is not None and all(found):
            yield Sides(*found, dict.fromkeys(mine, 1))


def _english_done(text: str, verb: Piece) -> tuple[Terms, Terms] | None:
    end = verb.start + len(verb.word)
    left, right = text[clause_start(text, verb.start) : verb.start], clause_rest(text, end)
    if is_passive(verb, text):
        _, by, agent = right.partition("by ")
        return (terms_of(agent), terms_of(left)) if by else None
    return terms_of(left), terms_of(_OBJECT_END.split(right, maxsplit=1)[0])


def _han_done(text: str, verb: Piece) -> tuple[Terms, Terms] | None:
    left = text[clause_start(text, verb.start) : verb.start]
    right = clause_rest(text, verb.start + len(verb.word))
    patient, by, agent = left.partition("被")
    if by:
        return terms_of(agent), terms_of(patient)
    if not _MARKED.isdisjoint(left):
        return None
    return terms_of(left), terms_of(right)


#: Signs of another order than one, verb, other.
_MARKED = frozenset("由向对给把将是让使")
