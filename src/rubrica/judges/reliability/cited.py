"""The sources that an output cites: addresses, numbers of works, markers and reference entries."""

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from functools import lru_cache
from operator import attrgetter
from typing import NamedTuple

import msgspec

from rubrica.judges.citing.addresses import same_address
from rubrica.judges.citing.find import Citation, Reference, citations_outside, reference_list
from rubrica.judges.citing.prose import prose
from rubrica.judges.citing.resolve import resolve
from rubrica.judges.citing.sources import Source
from rubrica.judges.reliability.entries import publisher_in
from rubrica.judges.reliability.links import links
from rubrica.judges.reliability.rating import identity
from rubrica.judges.reliability.works import Work, works_in, works_in_passing

#: Lines of the kind `Source: Wikipedia` that are read.
_MOST_LINES = 20


class Cited(msgspec.Struct, frozen=True, gc=False):
    """One source: how it is known, what it points at, the source behind it, and its place."""

    key: str
    target: str
    form: str  # address, work, marker, entry, name
    start: int
    end: int
    source: Source | None = None


_start = attrgetter("start")


class Reading(NamedTuple):
    """An output read for its sources; `bare` is its prose with addresses and numbers left out."""

    cited: list[Cited]
    bare: str
    dangling: int


_ATTRIBUTED = re.compile(
    r"\b(?:per|according to|see|defined (?:in|by)|specified (?:in|by)|under|as required by|sources?"
    r"|pursuant to|references?|set out in|laid down in|in line with|from)\b"
    r"|按|依据|根据|依照|参见|见|规定|来源|参考|出处",
    re.IGNORECASE,
)
#: Words before a colon after which sources are named.
_SAID = re.compile(
    r"(?:\bsources?|\breferences?|来源|出处|参考(?:资料|文献)?|依据)\s?\Z", re.IGNORECASE
)
#: What ends a sentence, and characters looked at on either side.
_STOPS, _NEAR = ("。", "\n", ". ", "；"), 400
_SAID_WORDS = ("ource", "eference")
#: A colon behind what such a word ends with; the colon first, as it is rare and found fast.
_COLON = re.compile(r"[:：](?<=[eEsSſ源处考料献据\s].)\s?(?=\S)")
_YEARED = re.compile(r"(?:1[5-9]|20)\d\d[a-z]?\s?[)）\]】]")
_MARKS = re.compile(r"[\[【［〔¹²³⁴-⁹]|\d[a-z]?\s?[)）]")


def read(text: str, sources: Sequence[Source]) -> Reading:
    """Everything the text cites, in order; the same source may come several times."""
    body = prose(text)
    listed = reference_list(text)
    found = [
        Cited(key_of(url), url, "address", start, start + len(url)) for start, url in links(body)
    ]
    bare = _without(body, found)
    if works := [_cited(*work) for work in works_in(bare)]:
        works.sort(key=_start)
        bare = _without(bare, works)
        found += works
    found += list(_in_passing(bare, found))
    found += list(_entries(listed, found, sources))
    marked, dangling = _marked(text, listed, sources, bare, not found)
    found += marked
    found += list(_said(bare, found))
    found.sort(key=_start)
    return Reading(found, bare, dangling)


def _cited(work: Work, start: int, end: int) -> Cited:
    return Cited(work.key, work.text, "work", start, end)


@lru_cache(maxsize=512)
def key_of(url: str) -> str:
    """What is the same for all addresses of one document."""
    return identity(url) or same_address(url).replace(".m.wikipedia", ".wikipedia").casefold()


def _without(text: str, found: Sequence[Cited]) -> str:
    if not found:
        return text
    pieces: list[str] = []
    at = 0
    for cited in found:
        pieces += (text[at : cited.start], " " * (cited.end - cited.start))
        at = max(at, cited.end)
    return "".join(pieces) + text[at:]


def _in_passing(bare: str, found: Sequence[Cited]) -> Iterator[Cited]:
    """Standards and statutes: cited where the sentence leans on them and has no other source."""
    starts: list[int] | None = None
    for work, start, end in works_in_passing(bare):
        starts = _starts(found) if starts is None else starts
        low, high = _sentence(bare, start, end)
        if _within(starts, low, high):
            continue
        if work.scheme == "statute" or _ATTRIBUTED.search(bare, low, high):
            yield _cited(work, start, end)


def _starts(found: Sequence[Cited]) -> list[int]:
    return sorted(cited.start for cited in found)


def _within(starts: list[int], low: int, high: int) -> bool:
    """Whether a source begins between two places."""
    at = bisect_left(starts, low)
    return at < len(starts) and starts[at] < high


def _sentence(text: str, start: int, end: int) -> tuple[int, int]:
    """Where the sentence begins and ends, as far as one looks."""
    near, far = max(0, start - _NEAR), min(len(text), end + _NEAR)
    begins = [text.rfind(stop, near, start) + 1 for stop in _STOPS]
    ends = [at for stop in _STOPS if (at := text.find(stop, end, far)) >= 0]
    return max(near, *begins), min(ends, default=far)


def _entries(
    listed: Sequence[Reference], found: Sequence[Cited], sources: Sequence[Source]
) -> Iterator[Cited]:
    """Entries of the reference list that have no address or number of their own."""
    starts = _starts(found)
    for entry in listed:
        if _within(starts, entry.start, entry.end):
            continue
        marker = Citation("number", entry.key, entry.start, entry.end)
        met = resolve(marker, {entry.key: entry.text}, sources) if sources else None
        source = met.source if met else None
        key = (
            key_of(source.url) if source and source.url else " ".join(entry.text.casefold().split())
        )
        yield Cited(key, entry.text, "entry", entry.start, entry.end, source)


def _marked(
    text: str, listed: list[Reference], sources: Sequence[Source], bare: str, alone: bool
) -> tuple[list[Cited], int]:
    """Markers that lead to sources of the case or the trace, and how many lead nowhere."""
    # Without sources given only `(WHO, 2023)` and a lone [1] matter.
    if not (sources or alone or _YEARED.search(bare)) or not _MARKS.search(bare):
        return [], 0
    own = {entry.key: entry.text for entry in listed if entry.key}
    found: list[Cited] = []
    dangling = 0
    for citation in citations_outside(text, listed):
        if citation.form in ("link", "url", "doi"):
            continue
        if citation.form in ("number", "footnote", "name") and citation.marker.casefold() in own:
            continue  # its entry is read where it stands
        met = resolve(citation, own, sources)
        if met is not None:
            source = met.source
            key = key_of(source.url) if source.url else f"source {source.id or source.title}"
            found.append(Cited(key, source.url, "marker", citation.start, citation.end, source))
        elif citation.form in ("author_year", "name") and publisher_in(citation.marker):
            name = citation.marker
            found.append(Cited(name.casefold(), name, "name", citation.start, citation.end))
        elif citation.form != "name" and not (citation.form == "author_year" and listed):
            dangling += 1
    return found, dangling


def _said(bare: str, found: Sequence[Cited]) -> Iterator[Cited]:
    """`Source: Wikipedia`, `来源：新华社`, where nothing in that line leads anywhere."""
    if bare.isascii() and not any(map(bare.lower().__contains__, _SAID_WORDS)):
        return
    starts: list[int] | None = None
    end = lines = 0
    for colon in _COLON.finditer(bare):
        start = colon.end()
        if start < end or not _SAID.search(bare[max(0, colon.start() - 14) : colon.start()]):
            continue
        lines += 1
        if lines > _MOST_LINES:
            return
        line = bare[start : start + 300].partition("\n")[0]
        end = start + len(line)
        starts = _starts(found) if starts is None else starts
        if _within(starts, start, end):
            continue
        for piece in re.finditer(r"[^;；,，、。]+", line):
            if publisher_in(piece[0]):
                name = piece[0].strip()
                yield Cited(
                    name.casefold(), name, "name", start + piece.start(), start + piece.end()
                )
