"""Finding the words that a model quotes: evidence that is not there is no evidence."""

import re
from functools import lru_cache

from rubrica.core import Evidence
from rubrica.judges.dimensions.finding import quote as cut
from rubrica.judges.prompted.defences import is_off
from rubrica.judges.prompted.fence import INVISIBLE

#: What a model writes for words it leaves out.
_GAP = re.compile(r"\s*(?:\.\.\.|…|\[\.\.\.\]|\[…\])\s*")
_MARKS = str.maketrans("“”„‟‘’‚‛–—－，：；！？（）", "\"\"\"\"''''---,:;!?()")
_EDGES = " \t\n\"'*_`.,;:"
#: Shorter quotations stand in any text.
SHORTEST = 2


def located(words: str, text: str, field: str = "output") -> Evidence | None:
    """Where in the text the quoted words stand, whatever became of spaces, case and dashes.

    Of a quotation with gaps every part has to be there, in order; the evidence is the whole span.
    """
    if is_off("evidence"):
        return Evidence(text=words, field=field)
    parts = [part for piece in _GAP.split(words) if (part := _plain(piece)[0].strip(_EDGES))]
    if not parts or sum(map(len, parts)) < SHORTEST:
        return None
    plain, places = _plain(text)
    start = end = -1
    for part in parts:
        at = plain.find(part, max(end, 0))
        if at < 0:
            return None
        start, end = (at if start < 0 else start), at + len(part)
    return cut(text, places[start], places[end - 1] + 1, field)


@lru_cache(maxsize=32)
def _plain(text: str) -> tuple[str, list[int]]:
    """The text with one space for many and one form for each mark, and where each sign was."""
    signs: list[str] = []
    places: list[int] = []
    for place, sign in enumerate(text.translate(_MARKS)):
        if sign.isspace():
            if signs and signs[-1] != " ":
                signs.append(" ")
                places.append(place)
        elif not INVISIBLE.match(sign):
            low = sign.lower()
            signs.append(low if len(low) == 1 else sign)
            places.append(place)
    return "".join(signs), places
