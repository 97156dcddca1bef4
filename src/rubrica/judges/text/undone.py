"""Whether what a claim tells as done was never done: `the acquisition fell through`."""

import re
from collections.abc import Sequence

from rubrica.judges.text.lexicon import lexicon
from rubrica.judges.text.lists import words_of
from rubrica.judges.text.pieces import Piece
from rubrica.judges.text.reading import Reading
from rubrica.judges.text.sides import clause_rest, clause_start
from rubrica.judges.text.stems import stem
from rubrica.judges.text.voice import among_nouns, is_verb
from rubrica.judges.text.wanted import Wanted

_STOPPED = r"(?:block|reject|veto|abandon|scrapp|abort|scupper|cancel|cancell)ed|called off"
#: What is said of an event that was not: of what stands before, or of what it is done to.
_UNDONE = re.compile(
    r"(?:\bnever|\bnot|n't)(?: \w+)? (?:t(?:ook|ake) place|happen(?:ed)?|occur(?:red)?"
    r"|(?:went|go) (?:ahead|through)|materiali[sz]ed?)\b"
    r"|\b(?:fell|fallen|fall) through\b|\bcollapsed\b"
    rf"|\b(?:was|were|been|being|is|are|got)(?: \w+)? (?:{_STOPPED})\b"
    rf"|\b(?:{_STOPPED}) (?=(?P<object>(?:the|its|his|her|their|this|that|it)\b))"
    r"|(?:没有|并未|从未|未曾|未能)(?:真正|最终)?(?:发生|完成|成功|实现|成真|举行)"
    r"|被[^,;。]{0,10}?(?:否决|拒绝|取消|叫停|阻止|驳回)|告吹|流产|夭折|泡汤"
)
#: Without one of these nothing is undone.
_STEMS = frozenset(map(stem, words_of("undone.txt")))
_HAN = ("没有", "未", "被", "告吹", "流产", "夭折", "泡汤")
#: What comes before the event and was there whether it came or not.
_ATTEMPTS = frozenset(
    map(stem, ("bid", "offer", "attempt", "effort", "proposal", "propose", "plan", "deal"))
) | frozenset((stem("agreement"), "交易", "计划", "方案", "提议", "要约", "尝试", "报价"))
#: One of several, of which another may have come about.
_ONE_OF_SEVERAL = re.compile(
    r"\b(?:an?|another|earlier|first|initial|previous|prior|rival|original|competing|second|some"
    r"|one)\b|首次|此前|最初|另一|曾"
)
_IT = re.compile(r"\s*(?:and |so |then )?(?:it|this|that|which)\s*\Z")
_TO = re.compile(
    r"\b(?:to|would|could)(?: have)?(?: been| be)? \Z"
    r"|(?:试图|计划|拟|打算|企图|欲|寻求|准备|希望|想要?).{0,6}\Z"
)
_HELD = "@hold_event"


def undone(want: Wanted, reading: Reading) -> bool:
    """Whether a sentence says that the event of a claim never came about."""
    terms, text = reading.whole.terms, reading.text
    if _STEMS.isdisjoint(terms) and (text.isascii() or not any(map(text.__contains__, _HAN))):
        return False  # as nearly always
    claim = want.claim
    found = None if want.negative else _UNDONE.search(text)
    if found is None or _UNDONE.search(claim.text):
        return False
    events = _events(claim)
    if not events or not _ATTEMPTS.isdisjoint(claim.whole.terms):
        return False
    if found["object"]:
        start = found.end()
        end = start + len(clause_rest(text, start))
    else:
        start, end = clause_start(text, found.start()), found.start()
    inside = [piece for piece in reading.pieces if start <= piece.start < end]
    told = [piece for piece in reading.pieces if not piece.han or not start <= piece.start < end]
    if any(_is_told(piece, text) for piece in told if _is_of(piece, events)):
        return False
    return _is_event(want, inside, text[start:end], events)


def _is_event(want: Wanted, inside: Sequence[Piece], text: str, events: frozenset[str]) -> bool:
    """Whether it is the event, or the attempt at it, that these words tell of."""
    if _ONE_OF_SEVERAL.search(text):
        return False
    known = want.claim.whole.terms.keys() | want.context.terms.keys()
    if any(piece.name and not piece.han and piece.term not in known for piece in inside):
        return False
    if any(_is_of(piece, events) or piece.term in _ATTEMPTS for piece in inside):
        return True
    return _IT.match(text) is not None


def _events(claim: Reading) -> frozenset[str]:
    """The terms for what a claim tells as done; where it is held, for what is held."""
    verbs = [piece for piece in claim.pieces if not piece.name and _is_done(piece, claim.text)]
    found = {term for piece in verbs for term in _terms(piece)}
    if _HELD in found:
        found.update([piece.term for piece in claim.pieces if not piece.name])
    return frozenset(found)


def _is_done(piece: Piece, text: str) -> bool:
    if piece.han:
        ideas = [idea for idea, _ in piece.ideas]
        return _HELD in ideas or not lexicon().directed.isdisjoint(ideas)
    return piece.word.islower() and (piece.word.endswith("ed") or is_verb(piece, text))


def _terms(piece: Piece) -> list[str]:
    return [piece.term, *[idea for idea, _ in piece.ideas]]


def _is_of(piece: Piece, events: frozenset[str]) -> bool:
    return not events.isdisjoint(_terms(piece))


def _is_told(piece: Piece, text: str) -> bool:
    """Whether a verb tells that it was done: no noun, nothing that was only meant to be."""
    if piece.sign < 0 or _TO.search(text, max(0, piece.start - 30), piece.start):
        return False
    if piece.han:
        return True
    noun = piece.word.endswith(("ion", "ment", "al", "er")) or among_nouns(piece, text)
    return not noun and _is_done(piece, text)
