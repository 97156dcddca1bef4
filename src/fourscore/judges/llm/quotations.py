"""Finding the words that a model quotes: evidence that is not there is no evidence."""

import re
from bisect import bisect_right
from functools import lru_cache
from typing import NamedTuple

from fourscore.core import Evidence
from fourscore.judges.dimensions.signals import MAX_QUOTE
from fourscore.judges.dimensions.signals import quote as cut
from fourscore.judges.hidden_text import INVISIBLE
from fourscore.judges.llm.defences import is_off
from fourscore.judges.reader.support import judge_claims
from fourscore.judges.reader.text import MAX_READ, read_text

#: What a model writes for words it leaves out.
_GAP = re.compile(r"\s*(?:\.\.\.|…|\[\.\.\.\]|\[…\])\s*")
_MARKS = str.maketrans("“”„‟‘’‚‛–—－，：；！？（）", "\"\"\"\"''''---,:;!?()")
_EDGES = " \t\n\"'*_`.,;:"
_PIECE = re.compile(rf"[^\s{INVISIBLE.pattern[1:-1]}]+")
_SPACE = re.compile(r"\s")
#: Shorter quotations stand in any text: a word of three letters, a figure or two Chinese signs.
SHORTEST, SHORTEST_SIGNS = 3, 2


def find_supporting_sentence(claim: str, text: str, field: str = "output") -> Evidence | None:
    """The sentence of the text that says most of a claim, for a model that was not asked to quote.

    Without a claim it is the first sentence.
    """
    read = read_text(text[:MAX_READ])
    if not read.sentences:
        return None
    start, end = read.sentences[0].start, read.sentences[0].end
    if claim.strip():
        (found,) = judge_claims([claim], read)
        start, end = found.start, found.end
    return cut(text, start, end, field) if start < end else None


def find_quotation(words: str, text: str, field: str = "output") -> Evidence | None:
    """Where in the text the quoted words stand, whatever became of spaces, case and dashes.

    Of a quotation with gaps every part has to be there, in order; the evidence is the whole span.
    """
    found = _located(words, text, field)
    if found is None and words.strip() and is_off("evidence"):
        return Evidence(text=words[:MAX_QUOTE], field=field)  # believed
    return found


def _located(words: str, text: str, field: str) -> Evidence | None:
    exact = words.strip(_EDGES)
    if _tells(exact, text) and (at := text.find(exact)) >= 0:  # nearly always
        return cut(text, at, at + len(exact), field)
    parts = [part for piece in _GAP.split(words) if (part := _plain(piece).text.strip(_EDGES))]
    if not _tells("".join(parts), text):
        return None
    plain = _plain(text)
    start = end = -1
    for part in parts:
        at = plain.text.find(part, max(end, 0))
        if at < 0:
            return None
        start, end = (at if start < 0 else start), at + len(part)
    return cut(text, plain.place(start), plain.place(end - 1) + 1, field)


def _tells(words: str, text: str) -> bool:
    """Whether the words are long enough to mean this place, or are all there is."""
    spoken = words.isascii() and not any(map(str.isdigit, words))
    least = SHORTEST if spoken else SHORTEST_SIGNS
    return len(words) >= min(least, max(1, len(text.strip(_EDGES))))


class Plain(NamedTuple):
    """A text with one space for many and one form for each mark, and where its words were."""

    text: str
    starts: list[int]
    places: list[int]

    def place(self, at: int) -> int:
        """Where in the original a sign of the plain text stood."""
        word = bisect_right(self.starts, at) - 1
        return self.places[word] + at - self.starts[word]


@lru_cache(maxsize=32)
def _plain(text: str) -> Plain:
    marked = text.translate(_MARKS)
    low = marked.lower()
    if len(low) != len(marked):  # a few capitals become two letters
        low = marked
    pieces: list[str] = []
    starts: list[int] = []
    places: list[int] = []
    at = end = 0
    for piece in _PIECE.finditer(low):
        begin, gap = piece.start(), low[end : piece.start()]
        if pieces and (gap == " " or _SPACE.search(gap)):  # else something invisible is between
            pieces.append(" ")
            starts.append(at)
            places.append(end)
            at += 1
        pieces.append(piece[0])
        starts.append(at)
        places.append(begin)
        end = piece.end()
        at += end - begin
    return Plain("".join(pieces), starts, places)
