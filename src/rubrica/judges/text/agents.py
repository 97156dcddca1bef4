"""Who does it: the name before a verb or after its `by`, and whether the claim names another."""

from collections.abc import Sequence
from functools import lru_cache

from rubrica.judges.text.covering import Cover, cover
from rubrica.judges.text.pieces import Piece
from rubrica.judges.text.reading import Reading, read
from rubrica.judges.text.wanted import Wanted


def other_agent(want: Wanted, reading: Reading) -> bool:
    """Whether somebody else does it: the verb is the same, and so is most of the rest."""
    for ideas, mine in _agents(want.claim.text):
        others: list[frozenset[str]] = []
        for other in reading.pieces:
            if other.name or all(idea not in ideas for idea, _ in other.ideas):
                continue
            agent = _agent(reading.pieces, reading.text, other)
            if not agent or (_THING in mine and not mine.isdisjoint(reading.whole.terms)):
                continue
            if (_THING in mine) is not (_THING in agent):
                continue  # a name is not compared with a thing
            if not agent.isdisjoint(want.claim.whole.terms) or _initials(mine, agent):
                return False
            if not _named_before(reading.pieces, other, mine):
                others.append(agent)
        if not others:
            continue
        return _others_covered(want, cover(want, reading.whole), mine) >= 0.5
    return False


@lru_cache(maxsize=2048)
def _agents(claim: str) -> tuple[tuple[frozenset[str], frozenset[str]], ...]:
    """The verbs of a claim by their ideas, each with who does it."""
    pieces = read(claim).pieces
    found = []
    for verb in pieces:
        if verb.name or not verb.ideas:
            continue
        agent = _agent(pieces, claim, verb)
        # The court and its judge are one: only names that are nothing but names tell.
        plain = not any(piece.name and piece.ideas for piece in pieces if piece.term in agent)
        if agent and plain:
            found.append((frozenset(idea for idea, _ in verb.ideas), agent))
    return tuple(found)


def torn(want: Wanted, reading: Reading) -> bool:
    """Whether part of what is claimed of a name is said of another one, in a clause of its own."""
    if len(reading.clauses) < 2:
        return False
    names = {u.options[0][0] for u in want.units if u.name and len(u.options) == 1}
    firsts: dict[int, Piece] = {}
    named: set[int] = set()
    for piece in reading.pieces:
        firsts.setdefault(piece.clause, piece)
        if piece.term in names:
            named.add(piece.clause)
    if not named:
        return False
    own: set[str] = set()
    other: set[str] = set()
    for piece in reading.pieces:
        terms = {piece.term, *(idea for idea, _ in piece.ideas)}
        first = firsts[piece.clause]
        if piece.clause in named:
            own |= terms
        elif first.name and not first.ideas and first.term not in want.claim.whole.terms:
            other |= terms
    whole = lost = shared = 0.0
    for unit in want.units:
        if not unit.name:
            terms = {option[0] for option in unit.options if option[1] > 0.6}
            whole += unit.weight
            lost += unit.weight if terms & other and not terms & own else 0.0
            shared += unit.weight if terms & other and terms & own else 0.0
    # The same is said of both: `Reed plays the one, and Finch plays the other`.
    return bool(shared) and lost > 0.3 * whole


def _others_covered(want: Wanted, here: Cover, without: frozenset[str]) -> float:
    whole = shared = 0.0
    for unit, credit in zip(want.units, here.credits, strict=True):
        if unit.options[0][0] in without or (unit.word and unit.word in without):
            continue
        whole += unit.weight
        shared += unit.weight * credit
    return shared / whole if whole else 0.0


def _named_before(pieces: Sequence[Piece], verb: Piece, names: frozenset[str]) -> bool:
    """Whether the doer of the claim stands before the verb, if not right before it."""
    return any(piece.term in names for piece in pieces if piece.start < verb.start)


def _agent(pieces: Sequence[Piece], text: str, verb: Piece) -> frozenset[str]:
    """The names right before a verb, or after its `by`: nobody where that cannot be told."""
    at = next(n for n, piece in enumerate(pieces) if piece is verb)
    after = [p for p in pieces[at + 1 : at + 5] if p.clause == verb.clause]
    if not verb.han and after:
        gap = text[verb.start : after[0].start].lower().split()
        if "by" in gap:
            return _run(after) or frozenset(
                (_THING, after[0].term, *(i for i, _ in after[0].ideas))
            )
    before = [p for p in pieces[max(0, at - 6) : at] if p.clause == verb.clause]
    names = _run(list(reversed(before)))
    if not names or verb.han:
        return names
    first, last = before[-len(names)], before[-1]
    if len(names) == 1 and last.word.endswith(_OF_A_PLACE):
        return _NOBODY  # the Russian poet
    gap = text[last.start + len(last.word) : verb.start].lower().split()
    if gap and gap[-1] in _BE and verb.word.endswith(("ed", "en", "n", "t")):
        return _NOBODY  # done to it, not by it
    lead = text[max(0, first.start - 12) : first.start].lower().split()
    if not _AUXILIARIES.issuperset(gap) or (lead and lead[-1] in _PREPOSITIONS):
        return _NOBODY
    return names


_NOBODY: frozenset[str] = frozenset()
#: Marks a doer that is no name: `spread by ticks`.
_THING = "~"
_OF_A_PLACE = ("an", "ish", "ese", "ic", "French", "Dutch", "Greek", "Swiss", "Best")
_BE = frozenset(("is", "are", "was", "were", "been", "being", "be"))
_AUXILIARIES = (
    _BE
    | frozenset(("has", "have", "had", "also", "later", "first", "then", "a", "an", "the", "its"))
    | frozenset(("as", "who", "will", "would", "now", "once", "still", "in", "'s", "s", "his"))
    | frozenset(("her", "their", "to"))
)
_PREPOSITIONS = frozenset(
    ("of", "for", "with", "from", "to", "at", "by", "on", "and", "or", "like")
)


def _run(pieces: Sequence[Piece]) -> frozenset[str]:
    found: list[str] = []
    for piece in pieces:
        capital = piece.word[0].isupper() and not piece.ideas
        if not (piece.name or capital):
            break
        found.append(piece.term)
    return frozenset(found)


def _initials(one: frozenset[str], other: frozenset[str]) -> bool:
    """Whether one name is the initials of the other: IBM."""
    for short, long in ((one, other), (other, one)):
        if len(short) == 1 and len(long) > 1:
            letters = sorted(next(iter(short)))
            if letters == sorted(word[0] for word in long):
                return True
    return False
