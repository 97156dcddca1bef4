"""Which way round: who acquired whom, and which of two is the larger."""

import re
from collections.abc import Sequence

from rubrica.judges.text.lexicon import lexicon
from rubrica.judges.text.pieces import Piece
from rubrica.judges.text.slots import terms_of
from rubrica.judges.text.wanted import Wanted

_PASSIVE = frozenset(("was", "were", "is", "are", "been", "being", "be"))
_CLAUSE_END = re.compile(r"[,;:.(]")


def turned_round(want: Wanted, pieces: Sequence[Piece], text: str, idea: str) -> bool:
    """Whether agent and object of an idea have changed places."""
    mine = _sides(want.claim.pieces, want.claim.text, idea)
    theirs = _sides(pieces, text, idea)
    if mine is None or theirs is None:
        return False
    left, right = mine[0] - mine[1], mine[1] - mine[0]
    straight = len(left & theirs[0]) + len(right & theirs[1])
    there, here = left & theirs[1] - theirs[0], right & theirs[0] - theirs[1]
    return bool(there and here) or (bool(there or here) and not straight)


def _sides(
    pieces: Sequence[Piece], text: str, idea: str
) -> tuple[frozenset[str], frozenset[str]] | None:
    """The terms before and after an idea as who does it and to whom, whatever the voice."""
    at = next(
        (n for n, piece in enumerate(pieces) if any(name == idea for name, _ in piece.ideas)), -1
    )
    if at < 0:
        return None
    verb = pieces[at]
    before = list(pieces[:at])
    # Only the nearest clauses: what stands far off belongs to other verbs.
    far = 0 if idea in lexicon().comparing else 1
    before = [piece for piece in before if piece.clause >= verb.clause - far]
    after = [piece for piece in pieces[at + 1 :] if piece.clause == verb.clause]
    left, right = terms_of(before), terms_of(after)
    if verb.han:
        return _han_sides(before, after, verb, text)
    between = _CLAUSE_END.split(text[verb.start : verb.start + 80], maxsplit=1)[0].split()
    words = [word.lower() for word in text[: verb.start].split()[-3:]]
    passive = "by" in [w.lower().strip(",.") for w in between] and not _PASSIVE.isdisjoint(words)
    if (passive and verb.word.endswith(("ed", "en", "n", "t"))) or between[1:2] == ["by"]:
        return right, left
    if verb.word.endswith(("ed", "en")) and words and words[-1] in _PASSIVE:
        return frozenset(), left  # done to it, by nobody knows whom
    return left, right


def _han_sides(
    before: list[Piece], after: list[Piece], verb: Piece, text: str
) -> tuple[frozenset[str], frozenset[str]]:
    """Chinese marks the agent with 被 or 由, and the object with 向, 对, 给, 把 or 比."""
    agent: list[Piece] = []
    patient: list[Piece] = []
    plain: list[Piece] = []
    marker = ""
    for piece in before:
        lead = text[max(0, piece.start - 1) : piece.start]
        if lead in ("被", "由", "向", "对", "给", "把", "比", "将", "较"):
            marker = lead
        elif piece.clause != verb.clause:
            marker = ""
        if not marker:
            plain.append(piece)
        elif marker in ("被", "由"):
            agent.append(piece)
        else:
            patient.append(piece)
    if agent:
        return terms_of(agent), terms_of(plain + patient + after)
    return terms_of(plain), terms_of(patient + after)
