"""The sentences of an output that count: what can be seen, no thinking, and none without end."""

import re
from bisect import bisect_right
from operator import itemgetter

from rubrica.judges.answer import Think
from rubrica.judges.text.sentences import Sentence, sentences
from rubrica.judges.visible import INVISIBLE, shown, visible

_OPEN, _CLOSE = "<think>", "</think>"
#: A sentence longer than this is cut: in one long enough, every word stands near every other.
_LONGEST = 320
_CUT = re.compile(r"[,;:，；：、)）\n]\s*|\s")


def passages_of(text: str, think: Think = "drop") -> list[Sentence]:
    """The sentences of an output, with their places in it."""
    if think == "drop" and (_OPEN in text or _CLOSE in text):
        text = blanked(text)
    text = shown(text)
    clean = visible(text)
    return _cut(clean) if len(clean) == len(text) else _placed(_cut(clean), text)


def _cut(text: str) -> list[Sentence]:
    whole = sentences(text)
    if max(map(len, map(itemgetter(0), whole)), default=0) <= _LONGEST:
        return whole
    found: list[Sentence] = []
    for one in whole:
        found.extend((one,) if len(one.text) <= _LONGEST else _pieces(one))
    return found


def _placed(found: list[Sentence], text: str) -> list[Sentence]:
    """Sentences of a text without what nobody sees, with their places in that text."""
    gaps = [gap.start() - number for number, gap in enumerate(INVISIBLE.finditer(text))]
    return [
        Sentence(
            one.text,
            one.start + bisect_right(gaps, one.start),
            one.end + bisect_right(gaps, one.end - 1),
        )
        for one in found
    ]


def blanked(text: str) -> str:
    """The text with spaces in place of its thinking, so that places stay true."""
    spans: list[tuple[int, int]] = []
    place = start = 0
    while True:
        close = text.find(_CLOSE, place)
        if 0 <= start < place or not place:
            start = text.find(_OPEN, place)  # once there is none, do not look again
        if close < 0 and start < 0:
            break
        end = len(text) if close < 0 else close + len(_CLOSE)
        if 0 <= start < end:
            spans.append((start, end))
        else:
            spans = [(0, end)]  # the template wrote the opening tag
        place = end
    kept: list[str] = []
    place = 0
    for start, end in spans:
        kept += (text[place:start], " " * (end - start))
        place = end
    return "".join(kept) + text[place:]


def _pieces(one: Sentence) -> list[Sentence]:
    """A long sentence in parts, cut at commas where there are any."""
    found: list[Sentence] = []
    start = 0
    text = one.text
    while len(text) - start > _LONGEST:
        window = text[start : start + _LONGEST]
        cuts = [match.end() for match in _CUT.finditer(window, _LONGEST // 2)]
        commas = [cut for cut in cuts if not window[:cut].rstrip()[-1:].isalnum()]
        end = start + ((commas or cuts or [_LONGEST])[-1])
        found.append(Sentence(text[start:end], one.start + start, one.start + end))
        start = end
    found.append(Sentence(text[start:], one.start + start, one.end))
    return found
