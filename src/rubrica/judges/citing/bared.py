"""An answer without its marks, and its sentences; every place stays what it was."""

import re
from collections.abc import Sequence

from rubrica.judges.citing.find import Citation
from rubrica.judges.citing.prose import blank
from rubrica.judges.citing.references import Reference, is_heading, runs
from rubrica.judges.text.sentences import Sentence, sentences

_FENCE = re.compile(r"(?m)^[ \t]{0,3}(?:```|~~~)")
_EMPTY = re.compile(r"[(（\[【]\s*[;；,，、&]?\s*[)）\]】]")
#: Signs before a mark that may end a sentence, and what may follow the mark without being glued.
_STOPS = frozenset(".!?…\"'”’)]）」』】》*_` ")
_FOLLOWS = frozenset(("", "[", " ", "\n", "\t", "\r"))


def parts_of(text: str, bare: str, shown: str, found: Sequence[Citation]) -> list[Sentence]:
    """The sentences without their marks.

    All judges split the output as it stands: marks such as `[1]` change nothing of that, so the
    sentences are taken from there. Other marks hold words and stops.
    """
    fenced = "```" in text or "~~~" in text
    if not fenced and all(_is_plain(text, one.start, one.end) for one in found):
        return _bared(bare, sentences(text))
    if not any(citation.form in ("author_year", "name") for citation in found):
        return sentences(bare)
    parts = sentences(without(shown, found, keep_words=True))
    return [Sentence(bare[start:end].strip(), start, end) for _, start, end in parts]


def _is_plain(text: str, start: int, end: int) -> bool:
    """Whether this is `[1]`, and not glued to what follows a stop: `long.[1]It was`."""
    if end - start > 5 or text[start] != "[" or not text[start + 1 : end - 1].isdecimal():
        return False
    return text[end : end + 1] in _FOLLOWS or text[start - 1 : start] not in _STOPS


def _bared(bare: str, parts: Sequence[Sentence]) -> list[Sentence]:
    found: list[Sentence] = []
    for part in parts:
        text, start, end = part
        if bare.startswith(text, start):
            found.append(part)
            continue
        words = bare[start:end]
        text = words.strip()
        if text and any(map(str.isalnum, text)):
            start += len(words) - len(words.lstrip())
            found.append(Sentence(text, start, start + len(text)))
    return found


def hidden(text: str, listed: list[Reference]) -> str:
    """Without reference list, its heading, and fenced code; offsets stay."""
    pieces: list[str] = []
    at = 0
    for start, end in runs(listed):
        above = max(0, start - 1)
        head = text.rfind("\n", 0, above) + 1
        start = head if head >= at and is_heading(text[head:above]) else start
        pieces += (text[at:start], blank(text, start, end))
        at = end
    text = "".join(pieces) + text[at:] if pieces else text
    if "```" not in text and "~~~" not in text:
        return text
    fences = [match.start() for match in _FENCE.finditer(text)]
    for start, end in zip(fences[::2], [*fences[1::2], len(text)], strict=False):
        stop = text.find("\n", end)
        stop = len(text) if stop < 0 else stop
        text = text[:start] + blank(text, start, stop) + text[stop:]
    return text


def without(text: str, found: Sequence[Citation], keep_words: bool) -> str:
    """The text with markers blanked; words of links and names of authors stay for the sentences."""
    pieces: list[str] = []
    at = 0
    for citation in found:
        start, end = citation.start, citation.end
        if start < at:
            continue
        marker = text[start:end]
        shown = " " * len(marker)
        if citation.form == "link":
            close = marker.rindex("](")
            shown = " " + marker[1:close] + " " * (len(marker) - close)
        elif keep_words and citation.form in ("author_year", "name") and marker[0] not in "(（[【":
            shown = marker
        pieces += (text[at:start], shown)
        at = end
    text = "".join(pieces) + text[at:]
    if not any(map(text.__contains__, "([（【")):
        return text
    return _EMPTY.sub(lambda match: " " * len(match[0]), text)
