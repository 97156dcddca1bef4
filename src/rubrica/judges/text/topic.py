"""Whether a sentence speaks of another than was asked of: another name, year or place in its stead.

An answer need not repeat what the question names. One that names another in its place, and the one
asked for nowhere, answers something else.
"""

import re
from functools import lru_cache
from itertools import takewhile

from rubrica.judges.text.items import part_with
from rubrica.judges.text.lexicon import lexicon, related
from rubrica.judges.text.pieces import Piece
from rubrica.judges.text.reading import Reading, read
from rubrica.judges.text.told import Told
from rubrica.judges.text.wanted import Wanted
from rubrica.judges.text.word import word_of
from rubrica.judges.text.words import fold

_IT = ("It ", "He ", "She ", "They ", "This ")
_NAME = re.compile(r"(?:The )?(?!It|This|The|In|They|He|She)[A-Z][a-z]")
_SAYS_IT = re.compile(r"\b(?:it|its|this|these|they|their|he|his|she|her|that)\b", re.IGNORECASE)
#: When and where, but not what it is compared with.
_WHEN = re.compile(
    r"(?<!than )(?<!from )\b[Ii]n ((?:19|20)\d\d)\b|((?:19|20)\d\d)年(?![的报发公末底初])"
)
_WHERE = re.compile(r"(?<!than )(?<!from )\b[Ii]n (?:the )?([A-Z][a-z]+)\b(?!')")
#: Without any of these there is neither.
_IN = ("in ", "In ", "年")


def off_topic(want: Wanted, text: Told, index: int, question: str) -> bool:
    """Whether a sentence that would state a claim says it of another than was asked."""
    asked = _subject(want)
    if asked and asked.isdisjoint(text.gist(index)) and _NAME.match(text.passages[index].text):
        reading = read(text.passages[index].text)
        if _named_other(want, reading, asked) and not text.has(asked):
            return True
    return _set_elsewhere(want, text, index, question)


def _named_other(want: Wanted, reading: Reading, asked: frozenset[str]) -> bool:
    """Whether it is the claim but for its subject, which is another name."""
    pieces = reading.pieces
    if not pieces or pieces[0].han or _SAYS_IT.search(reading.text):
        return False
    mine = want.claim.whole.terms
    other = list(takewhile(lambda piece: piece is pieces[0] or _is_name(piece), pieces))
    rest = pieces[len(other) :]
    if not rest or rest[-1].clause or not all(map(_is_name, other)):
        return False
    if any(p.term in mine or p.term in want.context.terms for p in other):
        return False
    comparing = lexicon().comparing
    for piece in rest:
        measures = want.quantities and any(idea in comparing for idea, _ in piece.ideas)
        if piece.term not in mine and not measures and not _in_figure(piece, reading):
            return False
    return not _short_for(other, asked, want.claim.text)


def _subject(want: Wanted) -> frozenset[str]:
    """What was asked of: the first word of a claim, if the question has it, or else its names."""
    if want.claim.text.startswith(_IT):
        return want.context.names
    first = want.units[0] if want.units and want.given[0] else None
    return first.meaning.sure if first is not None else frozenset()


def _is_name(piece: Piece) -> bool:
    """Whether a word is a name: it has a capital, and no list knows it."""
    if piece.name and piece.start:
        return not piece.ideas
    return piece.word[0].isupper() and not piece.ideas and not related(piece.term)


def _in_figure(piece: Piece, reading: Reading) -> bool:
    return any(one.start <= piece.start < one.end for one in reading.quantities)


def _short_for(other: list[Piece], asked: frozenset[str], claim: str) -> bool:
    """Whether one may be short for the other: ECB, CPython."""
    letters = "".join(piece.word[0] for piece in other).lower()
    return any(term == letters or _is_part(piece, term, claim) for term in asked for piece in other)


def _is_part(piece: Piece, term: str, claim: str) -> bool:
    """Whether one word has the other in it; methanol has no ethanol in it, CPython has Python."""
    if term not in piece.term and piece.term not in term:
        return False
    if 1 not in (piece.term.find(term), term.find(piece.term)):
        return True
    return term.capitalize() in piece.word or piece.word in claim


def _set_elsewhere(want: Wanted, text: Told, index: int, question: str) -> bool:
    """Whether it is of another year or place than the one asked for."""
    asked = _settings(question)
    if not asked:
        return False
    sentence = fold(text.passages[index].text)
    part = part_with(want.quantities, sentence)
    for pattern, when in asked:
        found = {name for pair in pattern.findall(part) for name in _names(pair)}
        if not found or found & when or any(name in want.claim.text for name in found):
            continue
        # The years of a text are not in its gists.
        if pattern is _WHEN and any(year in sentence for year in when):
            continue
        if not text.has(frozenset([word_of(name).term[:5] for name in when])):
            return True
    return False


@lru_cache(maxsize=256)
def _settings(question: str) -> tuple[tuple[re.Pattern[str], frozenset[str]], ...]:
    """The years and places that a question sets."""
    folded = fold(question)
    if not any(map(folded.__contains__, _IN)):
        return ()
    found = []
    for pattern in (_WHEN, _WHERE):
        names = frozenset([name for pair in pattern.findall(folded) for name in _names(pair)])
        if names:
            found.append((pattern, names))
    return tuple(found)


def _names(found: str | tuple[str, ...]) -> list[str]:
    return [found] if isinstance(found, str) else [name for name in found if name]
