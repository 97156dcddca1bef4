"""Check one claim against several sources: choose the excerpts to show, find the quotation."""

import re
from collections.abc import Sequence

from msgspec.structs import replace

from fourscore.core import Case, Trace
from fourscore.core.trace import as_text
from fourscore.judges.dimensions.sources import Source, collect_sources
from fourscore.judges.llm.item_questions import fence_numbered
from fourscore.judges.llm.model_judge import ModelJudge
from fourscore.judges.llm.verdicts import ModelVerdict

#: Maximum number of characters in a piece of a long source, and where a piece may end.
PIECE = 1000
_CUT = re.compile(r"[\n.!?。！？；]\s*|\s")
_WORD = re.compile(r"[^\W\d_㐀-鿿]+|\d+|[㐀-鿿]")
GAP = "\n[…]\n"


def find_source_texts(case: Case, trace: Trace) -> list[Source]:
    """Return the case's sources that have a text; those of the trace if the case has none."""
    known = [source for source in collect_sources(case, trace) if source.text.strip()]
    return [source for source in known if source.origin == "case"] or known


def name_source(source: Source, place: int = 0) -> str:
    """Return the field name of evidence from a source: `source` and its id, address or title."""
    name = source.id or source.url or source.title or str(place + 1)
    return f"source {name[:200]}"


async def check_claim(
    judge: ModelJudge, case: Case, claim: str, sources: Sequence[Source], choices: Sequence[str]
) -> ModelVerdict:
    """Return the model's verdict whether the sources support a claim; evidence is the quotation."""
    own = {"question": as_text(case.input), "claim": claim}
    shown = select_excerpts(claim, sources, judge.max_chars)
    fenced = fence_numbered(judge, own, "source", list(shown.values()), "sources")
    verdict = await judge.decide("grounding", fenced, choices)
    found = (
        judge.find_quotation(verdict.quotation, sources[at].text, name_source(sources[at], at))
        for at in shown
    )
    return replace(verdict, evidence=next((one for one in found if one is not None), None))


def select_excerpts(claim: str, sources: Sequence[Source], limit: int) -> dict[int, str]:
    """Return the excerpts to show of each source, by its position in the list.

    All the text if it fits into `limit` characters; else the pieces that share most words with the
    claim, in the order of the text.
    """
    if sum(len(source.text) for source in sources) <= limit:
        return {at: source.text for at, source in enumerate(sources)}
    mine = set(_WORD.findall(claim.lower()))
    pieces = [
        (len(mine.intersection(_WORD.findall(piece.lower()))), at, start, piece)
        for at, source in enumerate(sources)
        for start, piece in _split_pieces(source.text)
    ]
    kept: dict[int, list[tuple[int, str]]] = {}
    left = limit
    for _, at, start, piece in sorted(pieces, key=lambda one: -one[0]):
        if len(piece) <= left:
            left -= len(piece)
            kept.setdefault(at, []).append((start, piece))
    return {at: GAP.join(piece for _, piece in sorted(kept[at])) for at in sorted(kept)}


def _split_pieces(text: str) -> list[tuple[int, str]]:
    """Return pieces of the text with their positions; each ends after a sentence or a word."""
    found = []
    start = 0
    while start < len(text):
        end = start + PIECE
        if end < len(text):
            cuts = [cut.end() for cut in _CUT.finditer(text, start + PIECE // 2, end)]
            end = cuts[-1] if cuts else end
        found.append((start, text[start:end]))
        start = end
    return found
