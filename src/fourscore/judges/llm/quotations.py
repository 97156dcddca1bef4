"""Find the words that a model quotes: a quotation that is not in the text is no evidence."""

import re
from bisect import bisect_right
from functools import lru_cache
from typing import NamedTuple

from fourscore.core import Evidence
from fourscore.judges.chat_tokens import join_chat_tokens
from fourscore.judges.dimensions.signals import quote as cut
from fourscore.judges.hidden_text import INVISIBLE
from fourscore.judges.reader.support import judge_claims
from fourscore.judges.reader.text import MAX_READ, read_text

#: Marks for words that a model left out of its quotation.
_GAP = re.compile(r"\[\.\.\.\]|\[…\]|\.\.\.|…")
_MARKS = str.maketrans("“”„‟‘’‚‛–—－，：；！？（）", "\"\"\"\"''''---,:;!?()")
_EDGES = " \t\n\"'*_`.,;:"
_PIECE = re.compile(rf"[^\s{INVISIBLE.pattern[1:-1]}]+")
_SPACE = re.compile(r"\s")
#: Shorter quotations occur in any text. ASCII words need 3 characters; with digits or other
#: scripts 2 are enough.
SHORTEST, SHORTEST_OTHER = 3, 2


def find_supporting_sentence(claim: str, text: str, field: str = "output") -> Evidence | None:
    """Return the sentence of the text that best supports a claim; without a claim, the first.

    Used in the brief form, in which the model does not quote.
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
    """Return where the quoted words are in the text; spaces, case and dashes may differ.

    If the quotation has gaps ("..."), all its parts must occur in order; the evidence spans them.
    """
    found = _find_quotation(words, text, field)
    joined = join_chat_tokens(words)  # the model was shown chat tokens in broken form
    return _find_quotation(joined, text, field) if found is None and joined != words else found


def _find_quotation(words: str, text: str, field: str) -> Evidence | None:
    exact = words.strip(_EDGES)
    if _is_long_enough(exact, text) and (at := text.find(exact)) >= 0:  # nearly always
        return cut(text, at, at + len(exact), field)
    for start in dict.fromkeys((0, max(0, len(text) - MAX_READ))):  # what a model is shown at most
        span = _find_normalized(words, text[start : start + MAX_READ])
        if span is not None:
            return cut(text, start + span[0], start + span[1], field)
    return None


def _find_normalized(words: str, text: str) -> tuple[int, int] | None:
    """Return start and end of the quoted words in the text, compared in their normal form."""
    parts = [part for piece in _GAP.split(words) if (part := _normalize(piece).text.strip(_EDGES))]
    if not _is_long_enough("".join(parts), text):
        return None
    normalized = _normalize(text)
    start = end = -1
    for part in parts:
        at = normalized.text.find(part, max(end, 0))
        if at < 0:
            return None
        start, end = (at if start < 0 else start), at + len(part)
    return normalized.find_original(start), normalized.find_original(end - 1) + 1


def _is_long_enough(words: str, text: str) -> bool:
    """Whether the words are long enough to be a quotation, or are the whole text."""
    is_word = words.isascii() and not any(map(str.isdigit, words))
    least = SHORTEST if is_word else SHORTEST_OTHER
    return len(words) >= min(least, max(1, len(text.strip(_EDGES))))


class NormalizedText(NamedTuple):
    """A text in lower case with single spaces and plain marks, and its words' original places."""

    text: str
    starts: list[int]
    places: list[int]

    def find_original(self, at: int) -> int:
        """Return the position in the original text of the normalized text's character `at`."""
        word = bisect_right(self.starts, at) - 1
        return self.places[word] + at - self.starts[word]


@lru_cache(maxsize=32)
def _normalize(text: str) -> NormalizedText:
    marked = text.translate(_MARKS)
    low = marked.lower()
    if len(low) != len(marked):  # a few capitals become two letters, which shifts positions
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
    return NormalizedText("".join(pieces), starts, places)
