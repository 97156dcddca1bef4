"""Whether a word that could be a verb is one, and who does it: what stands before, or behind."""

import re

from rubrica.judges.text.pieces import Piece

_PASSIVE = frozenset(("was", "were", "is", "are", "been", "being", "be", "got"))
_OF_NOUNS = frozenset(
    ("the", "a", "an", "its", "his", "her", "their", "this", "of", "'s", "whose", "main")
)
_IS = re.compile(r" (?:of|is|are|was|were)\b|'s ")
_CLAUSE_END = re.compile(r"[,;:.(]")
#: Stems of what is the same either way round.
_MUTUAL = frozenset(
    ("marri", "meet", "merg", "border", "equal", "join", "differ", "play", "fac", "sign", "agre")
) | frozenset(("partner", "cooperat", "compet", "talk", "match", "unit", "touch", "link", "tie"))


def is_noun(piece: Piece, text: str) -> bool:
    """Whether a Chinese word is one who does it: 作者是, 的导演."""
    if not piece.han:
        return False
    after = text[piece.start + len(piece.word) : piece.start + len(piece.word) + 1]
    return after in ("是", "为") or text[piece.start - 1 : piece.start] == "的"


def among_nouns(piece: Piece, text: str) -> bool:
    """Whether an English word has the neighbours of a noun: the cause is, the head of."""
    if _IS.match(text, piece.start + len(piece.word)):
        return True
    before = text[max(0, piece.start - 12) : piece.start].split()
    if not before or (before[-1] == "A" and len(before) > 1):
        return False  # Team A beats
    return before[-1].lower() in _OF_NOUNS or before[-1].endswith("'s")


def is_verb(piece: Piece, text: str) -> bool:
    """Whether an English word is a verb, as far as its form and its neighbours tell."""
    if piece.term in _MUTUAL or piece.word.endswith(("ing", "ly")) or among_nouns(piece, text):
        return False
    return piece.word.endswith(("ed", "es", "s")) or piece.term != piece.word


def is_passive(piece: Piece, text: str) -> bool:
    """Whether an English verb is done by what follows: `was paid a sum by`, `written by`."""
    rest = _CLAUSE_END.split(text[piece.start : piece.start + 80], maxsplit=1)[0].lower().split()
    if rest[1:2] == ["by"]:
        return True
    past = piece.word.endswith(("ed", "en", "n", "t", "d"))
    return past and "by" in rest and not _PASSIVE.isdisjoint(_words_before(piece, text))


def is_done(piece: Piece, text: str) -> bool:
    """Whether it is done to what stands before, by nobody knows whom."""
    return piece.word.endswith(("ed", "en")) and not _PASSIVE.isdisjoint(
        _words_before(piece, text)[-1:]
    )


def _words_before(piece: Piece, text: str) -> list[str]:
    return text[max(0, piece.start - 40) : piece.start].lower().split()[-3:]
