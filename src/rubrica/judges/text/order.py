"""Which way round: who acquired whom, and which of two is the larger."""

import re
from collections.abc import Sequence
from operator import add
from typing import NamedTuple

from rubrica.judges.text.lexicon import lexicon, related
from rubrica.judges.text.pieces import Piece
from rubrica.judges.text.reading import Reading
from rubrica.judges.text.voice import is_done, is_noun, is_passive, is_verb

_COMPARES = re.compile(
    r"\bthan\b|比|[高低多少早晚大小优重轻快慢]于|超过|不及|不如|exceed|surpass|outperform"
)


_NONE: frozenset[str] = frozenset()


class Turn(NamedTuple):
    """A verb or comparison of a claim: the terms that would say it, who does it, and to whom."""

    terms: frozenset[str]
    agent: frozenset[str]
    patient: frozenset[str]
    #: Whether it is listed as one that has a direction; of others more is asked.
    sure: bool


class Found(NamedTuple):
    """A verb of a claim that a sentence has too, with who does it there and to whom."""

    turn: Turn
    agent: frozenset[str]
    patient: frozenset[str]


def turns_of(claim: Reading) -> tuple[Turn, ...]:
    """The verbs and comparisons of a claim with something named on either side."""
    pieces = claim.pieces
    named = [at for at, piece in enumerate(pieces) if _entity(piece, claim)]
    marked = "由" in claim.text or "被" in claim.text
    if len(named) < 2 and not marked:
        return ()
    first, last = (named[0], named[-1]) if named else (0, 0)
    found = []
    for at, verb in enumerate(pieces):
        if not (verb.han or first < at < last) or at in named or is_noun(verb, claim.text):
            continue
        ideas = _ways(verb, claim.text) if verb.ideas else _NONE
        if not ideas and (verb.han or not is_verb(verb, claim.text)):
            continue
        agent, patient = _sides(claim, at)
        one, two = agent - patient, patient - agent
        if one and (two or (marked and verb.han)):
            words = (verb.term, *related(verb.term)) if not verb.han else ()
            found.append(Turn(ideas.union(words), one, two, bool(ideas)))
    return tuple(found)


def _ways(verb: Piece, claim: str) -> frozenset[str]:
    """The ideas of a verb that have a direction: to be larger has one where the claim compares."""
    known, ideas = lexicon(), _ideas(verb)
    ways, compares = known.directed.intersection(ideas), known.comparing.intersection(ideas)
    return ways | compares if compares and _COMPARES.search(claim) else ways


def found_in(reading: Reading, turns: Sequence[Turn]) -> list[Found]:
    """The verbs that a sentence has too, where it has any of those whom they are said of."""
    terms = reading.whole.terms.keys()
    found = []
    for turn in turns:
        if turn.terms.isdisjoint(terms):
            continue
        if turn.patient and turn.patient.isdisjoint(terms) and turn.agent.isdisjoint(terms):
            continue
        for at, piece in enumerate(reading.pieces):
            says = piece.term in turn.terms or (
                piece.ideas and not turn.terms.isdisjoint(_ideas(piece))
            )
            if says and not is_noun(piece, reading.text):
                found.append(Found(turn, *_sides(reading, at)))
                break
    return found


def turned_round(found: Sequence[Found]) -> bool:
    """Whether agent and object of a verb have changed places."""
    for turn, agent, patient in found:
        there, here = turn.agent & patient - agent, turn.patient & agent - patient
        if there and here:
            return True
        if turn.sure and (there or here) and not turn.agent & agent and not turn.patient & patient:
            return True
    return False


def somebody_else(found: Sequence[Found]) -> bool:
    """Whether another does the same to the same, and who does it in the claim is not there."""
    for turn, agent, patient in found:
        if (
            turn.sure
            and agent
            and not (turn.patient and turn.patient.isdisjoint(patient))
            and turn.agent.isdisjoint(agent | patient)
        ):
            return True
    return False


def _ideas(piece: Piece) -> list[str]:
    return [idea for idea, _ in piece.ideas]


def _entity(piece: Piece, reading: Reading) -> bool:
    """Whether a piece is a name, or in Chinese may be one."""
    if not piece.han:
        return piece.name or (piece.word[0].isupper() and (not piece.start or len(piece.word) == 1))
    if piece.ideas or len(piece.term) < 2:
        return piece.name
    return all(not q.start <= piece.start < q.end for q in reading.quantities)


def _sides(reading: Reading, at: int) -> tuple[frozenset[str], frozenset[str]]:
    """What is named before and after a verb as who does it and to whom, whatever the voice."""
    pieces, text = reading.pieces, reading.text
    verb = pieces[at]
    # Only the nearest clauses: what stands far off belongs to other verbs.
    compares = verb.ideas and not lexicon().comparing.isdisjoint(_ideas(verb))
    far = 0 if compares else 1
    before = [p for p in pieces[:at] if p.clause >= verb.clause - far]
    after = [p for p in pieces[at + 1 :] if p.clause == verb.clause and _entity(p, reading)]
    if verb.han:
        return _han_sides(before, after, verb, reading)
    before = [p for p in before if _entity(p, reading)]
    left, right = _terms(before), _terms(after)
    if is_passive(verb, text):
        return right, left
    if is_done(verb, text):
        return _NONE, left
    return left, right


_AGENT, _PATIENT = "被由", "向对给把比将较"


def _han_sides(
    before: list[Piece], after: list[Piece], verb: Piece, reading: Reading
) -> tuple[frozenset[str], frozenset[str]]:
    """Chinese marks the agent with 被 or 由, and the object with 向, 对, 给, 把 or 比."""
    agent: list[Piece] = []
    patient: list[Piece] = []
    plain: list[Piece] = []
    marker, text = "", reading.text
    for piece in before:
        lead = text[piece.start - 1 : piece.start] if piece.start else ""
        if lead and lead in _AGENT + _PATIENT:
            marker = lead
        elif piece.clause != verb.clause:
            marker = ""
        if marker and marker in _AGENT:
            agent.append(piece)  # marked, so whatever it is
        elif _entity(piece, reading):
            (patient if marker else plain).append(piece)
    if agent:
        return _terms(agent), _terms(plain + patient + after)
    copula = text.find("是", 0, verb.start)
    if copula >= 0 and text.startswith("的", verb.start + len(verb.word)):
        agent = [piece for piece in plain if piece.start > copula]  # 地动仪是张衡发明的
        return _terms(agent), _terms([piece for piece in plain if piece.start < copula])
    return _terms(plain), _terms(patient + after)


def _terms(pieces: Sequence[Piece]) -> frozenset[str]:
    found: set[str] = set()
    for piece in pieces:
        if piece.han:
            found.update(map(add, piece.term, piece.term[1:]) if piece.term[1:] else (piece.term,))
        else:
            found.add(piece.term)
    return frozenset(found)
