"""Aspects that are covered by where something stands: the second answer to the second question."""

import re
from collections.abc import Sequence

from rubrica.judges.dimensions.coverage.emptiness import kind_of
from rubrica.judges.dimensions.coverage.passages import Passage
from rubrica.judges.dimensions.coverage.plan import Plan
from rubrica.judges.dimensions.coverage.spoken import spoken

#: A span of the answer.
Span = tuple[int, int]
_PIECE = re.compile(r"[^;；\n]*[^;；\n\s][^;；\n]*")
_ENDED = re.compile(r"[。！？!?]|\.\s")
_SHORT = re.compile(r"[^，,;；。\n]*[^，,;；。\n\s.][^，,;；。\n]*")
_TITLE = re.compile("《[^》]*》")
_LEAD = re.compile(
    r"\s*(?:\*\*)?[（(]?(?:\d{1,2}|[a-hA-H]|[①-⑨]|[一二三四五六七八九十])[.)、）：:]?\s*"
)
#: Characters for each part within which an answer is a bare list of answers.
_BARE = 50


def by_mark(pieces: Sequence[Passage], plan: Plan) -> dict[int, Span]:
    """Items of the answer that bear the number of a part of the question."""
    given = {piece.mark for piece in pieces if piece.mark}
    marks = _marks(plan) if len(given) > 1 else {}
    if not marks:
        return {}
    spans: dict[str, Span] = {}
    for piece in pieces:
        if piece.mark in marks and not piece.heading and piece.mark not in spans:
            said = _LEAD.sub("", piece.text, count=1) if piece.text else ""
            if any(map(str.isalnum, said)) and not kind_of(said.lower()) and _is_new(said, plan):
                spans[piece.mark] = (piece.start, piece.end)
    if len(given & marks.keys()) < 2 or (not plan.aspects[0].mark and given != marks.keys()):
        return {}
    return {at: spans[mark] for mark, at in marks.items() if mark in spans}


def _marks(plan: Plan) -> dict[str, int]:
    marked = {aspect.mark: at for at, aspect in enumerate(plan.aspects) if aspect.mark}
    if marked or not all(aspect.derived for aspect in plan.aspects):
        return marked
    return {str(at + 1): at for at in range(len(plan.aspects))}


def _is_new(said: str, plan: Plan) -> bool:
    """Whether it is more than the question again; a bare yes or no is."""
    lower = said.lower()
    yes = re.match(r"(?:yes|no|none|never|always|是|否|不|没有|可以|能|有)\b", lower)
    return yes is not None or plan.fresh(spoken(lower)) >= 0.5


def by_place(text: str, plan: Plan) -> dict[int, Span]:
    """The pieces of a bare answer, `Paris, 1889, 330 metres`, one for each part of the question."""
    wanted = len(plan.aspects)
    if wanted < 2 or len(text) > _BARE * wanted or not all(a.derived for a in plan.aspects):
        return {}
    pieces = list(_PIECE.finditer(text))
    if len(pieces) != wanted or _ENDED.search(text.rstrip("。. \n")):
        pieces = [piece for piece in _SHORT.finditer(text) if _is_bare(piece[0])]
        if len(pieces) != wanted or len(_SHORT.findall(text)) != wanted:
            return {}
    found = {}
    for at, piece in enumerate(pieces):
        said = piece[0].strip()
        lower = said.lower()
        others = plan.told(said).speech.named - {at}
        if not others and not kind_of(lower) and plan.fresh(spoken(lower)) >= 0.5:
            begin = piece.start() + len(piece[0]) - len(piece[0].lstrip())
            found[at] = (begin, begin + len(said))
    return found


def _is_bare(piece: str) -> bool:
    """A name or a figure, no clause of a sentence; titles of works do not count."""
    bare = _TITLE.sub("", piece).strip()
    return len(bare.split()) <= 5 if bare.isascii() else len(bare) <= 8
