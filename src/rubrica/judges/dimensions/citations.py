"""Where an output cites, in which sentence, and which source each citation means.

Read are `[1]`, `[1, 3-5]`, `[^1]`, `【1】`, `[source 1]`, `[@key]`, markdown links, addresses,
DOIs, `(Smith, 2020)`, and a reference list at the end, which says what the numbers stand for.
Code, images and comments cite nothing. Every pattern is linear: the length of each piece is
bounded, and no piece can run into the beginning of the next.
"""

import re
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import groupby
from typing import Literal, NamedTuple

from rubrica.core import Case, Trace
from rubrica.judges.answer import blank_thinking
from rubrica.judges.dimensions.finding import READ
from rubrica.judges.dimensions.known import known
from rubrica.judges.dimensions.sources import Source, canonical_url, case_sources, collect_sources
from rubrica.judges.reader.text import Text, read_text
from rubrica.judges.visible import shown

#: Citations that are read of a text, of one range such as [1-999], and entries of its list.
_CITATIONS, _SPAN, _ENTRIES = 20_000, 12, 200
#: Characters from which on a part of a sentence says something of its own.
_SAYING = 15
_URL = r"[^\s<>\"'`\[\]{}|\\^（）【】「」『』《》“”，。；、！]{1,2000}+"
#: Each branch begins with a letter or sign of its own, so that the search skips to these signs.
_MARK = re.compile(
    r"\[(?P<square>[^\[\]\n]{1,300}+)\](?:\((?P<link>(?:https?://|www\.)[^\s()]{1,2000}+"
    r"(?:\([^\s()]{0,200}+\)[^\s()]{0,500}+)?)(?:\s\"[^\"\n]{0,200}+\")?\))?"
    r"|【(?P<lens>[^【】\n]{1,100}+)】"
    r"|［(?P<wide>[^［］\n]{1,100}+)］"
    rf"|:(?:(?<=http:)|(?<=https:))//(?P<url>{_URL})"
    rf"|www\.(?P<www>{_URL})"
    r"|:(?:(?<=doi:)|(?<=DOI:))\s?(?P<doi>10\.\d{4,9}/[^\s<>\"'，。；、（）\[\]]{1,200}+)"
    r"|:(?:(?<=arXiv:)|(?<=arxiv:))\s?(?P<arxiv>\d{4}\.\d{4,5})"
    r"|\((?P<round>[^()\[\]:\n]{4,120}+)\)"
    r"|（(?P<full>[^（）\[\]：:\n]{4,120}+)）"
)
_NUMBERS = re.compile(
    r"(?:(?:sources?|refs?\.?|references?|docs?|来源|参考|文献|资料)[:：\s#]{0,3})?"
    r"(\d{1,3}(?:\s?[-–—,，、;；&]\s?\d{1,3}){0,40})(?:†.{0,60})?",
    re.IGNORECASE,
)
_RANGE = re.compile(r"(\d{1,3})(?:\s?[-–—]\s?(\d{1,3}))?")
_AUTHORS = re.compile(
    r"\s?(?:see |cf\. |e\.g\. |参见|见)?([^\W\d_a-zß-ÿ]\D{1,80}?)([,，]\s?|\s)"
    r"((?:1[5-9]|20)\d\d)[a-z]?(?:[,，].{0,30})?"
)
_SEVERAL = re.compile(r"et al|等")
_YEAR = re.compile(r"(?:1[5-9]|20)\d\d")
_NARRATED = re.compile(
    r"(?:[^\W\d_a-zß-ÿ][\w'’-]{1,30}(?: et al\.?| (?:and|&) [\w'’-]{1,30})?|[㐀-鿿]{2,4}等?)\s?\Z"
)
_CODE = re.compile(
    r"^ {0,3}(```|~~~).*?(?:^ {0,3}\1|\Z)|(?<!`)`++[^`\n]{1,300}+`++", re.DOTALL | re.MULTILINE
)
_NOTE = re.compile(r"^ {0,3}\[\^([^\]\s]{1,60})\]:[ \t]?(.{0,2000})", re.MULTILINE)
#: `[1] Title`, `1. Title`, `- Title`, or an address.
_ENTRY = re.compile(
    r"\s{0,8}(?:[-*+•]\s)?(?:[\[【［]\^?([^\[\]【】［］\s]{1,60})[\]】］](?!\():?|(\d{1,3})[.)．、]"
    r"|(?<=[-*+•]\s)|(?=https?://))\s?(.{1,2000})"
)
_WORD = re.compile(r"\w+")
_HEADINGS = frozenset([
    "references", "reference", "sources", "source", "bibliography", "works cited", "citations",
    "footnotes", "links",
    "参考文献", "参考资料", "参考来源", "参考", "来源", "资料来源", "数据来源",
    "引用", "引用来源", "出处", "脚注",
])  # fmt: skip
_NUMBERED = {"doi": "https://doi.org/", "arxiv": "https://arxiv.org/abs/"}
_AROUND = " \t\r#*_>-:：[]【】()（）.,;，；、。"
Form = Literal["number", "key", "url", "author", "listed"]


class Target(NamedTuple):
    """What a citation points with. `shown` is what of it belongs to the sentence, as the label of
    a link does. A `weak` one, such as `[draft]`, cites only where a source is called so."""

    form: Form
    text: str
    shown: str = ""
    weak: bool = False


class Citation(NamedTuple):
    """A citation, its place, its sentence's number in the text, and its reference list's entry."""

    form: Form
    target: str
    start: int
    end: int
    sentence: int = -1
    shown: str = ""
    entry: str = ""
    weak: bool = False


def parse_citations(text: str) -> list[Citation]:
    """All citations of a text in order; where there are none, the entries of its list."""
    body, listed = _split_references(_without_code(shown(blank_thinking(text))))
    sentences = read_text(text).sentences
    starts = [sentence.start for sentence in sentences]
    found: list[Citation] = []
    edge = -1  # up to where a sentence holds only markers, which belong to the one before
    for mark in _MARK.finditer(body):
        targets, start, end = _read_mark(body, mark)
        at = bisect_right(starts, start) - 1
        if at > 0 and targets and targets[0].form in ("number", "key"):
            follows = start == starts[at] or start <= edge + 1
            if follows and "\n" not in text[max(edge, sentences[at - 1].end) : start]:
                edge, at = end, at - 1
        for form, target, label, weak in targets:
            entry = listed[target].entry if target in listed and form != "url" else ""
            found.append(Citation(form, target, start, end, at, label, entry, weak))
        if len(found) >= _CITATIONS:
            break
    return found if any(not one.weak for one in found) else [*found, *listed.values()]


def write_statements(citations: Sequence[Citation], text: Text) -> list[str]:
    """What each citation is cited for, without markers; headings of lists say nothing.

    That is its sentence, or of a sentence with several markers what stands since the one before.
    """
    found: list[str] = []
    before = 0  # the end of the last marker, which may stand after the end of its sentence
    for number, group in groupby(citations, key=lambda one: one.sentence):
        sentence = text.sentences[number] if number >= 0 else None
        start, end = (sentence.start, sentence.end) if sentence else (0, 0)
        at, piece = max(start, before), ""
        pieces: list[str] = []
        owners: list[int] = []
        for mark in group:
            if mark.end > at:
                piece += text.raw[at : min(mark.start, end)]
                piece = piece + mark.shown if mark.shown else piece.rstrip()
                at = before = mark.end
            if len(piece) > (_SAYING if piece.isascii() else _SAYING // 3):
                pieces.append(piece)
                piece = ""
            owners.append(max(0, len(pieces) - 1))
        piece += text.raw[at:end]
        if not pieces:
            pieces = [piece]
        elif pieces[-1][-1] not in ".!?。！？":  # else another sentence follows
            pieces[-1] += piece
        said = ["" if is_heading(one) or not _WORD.search(one) else one.strip() for one in pieces]
        found += [said[owner] for owner in owners]
    return found


def is_heading(line: str) -> bool:
    """Whether a line announces a reference list, and says nothing else."""
    return len(line) < 60 and line.strip(_AROUND).lower() in _HEADINGS


def _without_code(text: str) -> str:
    if "`" not in text and "~~~" not in text:
        return text
    return _CODE.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), text)


def _split_references(text: str) -> tuple[str, dict[str, Citation]]:
    """The text before its reference list, and the entries by number or place."""
    found: dict[str, Citation] = {}
    if "[^" in text:
        for note in _NOTE.finditer(text):
            found[note[1].lower()] = Citation("listed", note[2], *note.span(), entry=note[2])
        text = _NOTE.sub(lambda note: " " * len(note[0]), text)
    lines = text.split("\n")
    first = _find_list(lines)
    start = at = max(0, len(text) + 1 - sum(len(line) + 1 for line in lines[first:]))
    for line in lines[first : first + _ENTRIES]:
        if match := _ENTRY.match(line):
            entry = Citation("listed", match[3], at, at + len(line), entry=match[3])
            found.setdefault((match[1] or match[2] or f"at {at}").lower(), entry)
        at += len(line) + 1
    return text[:start], found


def _find_list(lines: Sequence[str]) -> int:
    """The first line of the reference list: under the last heading, or bracketed at the end."""
    first, is_end = len(lines), True
    for number in range(len(lines) - 1, -1, -1):
        line = lines[number]
        if is_heading(line) and any(map(_ENTRY.match, lines[number + 1 : number + 4])):
            return number + 1
        if is_end and line.strip():
            is_end = line.lstrip()[0] in "[【［" and _ENTRY.match(line) is not None
            first = number if is_end else first
        if line.startswith("#"):
            break
    return first


def _read_mark(body: str, mark: re.Match[str]) -> tuple[Sequence[Target], int, int]:
    """What a marker points to, and its place; several numbers in a bracket share it."""
    kind, (start, end) = mark.lastgroup or "", mark.span()
    inside = mark[kind]
    if kind in ("square", "lens", "wide", "link"):
        if start and body[start - 1] == "!":
            return (), start, end  # an image
        if kind != "link":
            return _read_bracket(inside), start, end
        label = mark["square"]
        label = "" if label.isdecimal() or is_heading(label) else label
        return (Target("url", inside, label),), start, end
    if kind in ("round", "full"):
        named = _NARRATED.search(body, max(0, start - 60), start) if inside.isdecimal() else None
        if named and _YEAR.fullmatch(inside):
            return (Target("author", f"{named[0].strip()}, {inside}", weak=True),), start, end
        return _read_authors(inside), start, end
    trimmed = inside.rstrip(".,;:!?*_'…~" if "(" in inside else ").,;:!?*_'…~")
    end -= len(inside) - len(trimmed)
    if kind in _NUMBERED:
        start, address = start - len(kind), _NUMBERED[kind] + trimmed
    else:
        start -= 0 if kind == "www" else 5 if body.startswith("https", start - 5) else 4
        address = body[start:end]
    if start and body[start - 1] in "(（" and body[end : end + 1] in (")", "）"):
        start, end = start - 1, end + 1  # brackets that hold nothing else
    return (Target("url", address),), start, end


@lru_cache(maxsize=1024)
def _read_bracket(inside: str) -> Sequence[Target]:
    inside = inside.strip()
    if numbers := _NUMBERS.fullmatch(inside):
        pairs = [(max(1, int(low)), int(high or low)) for low, high in _RANGE.findall(numbers[1])]
        ranges = [range(low, min(high, low + _SPAN - 1) + 1) for low, high in pairs[:_SPAN]]
        return [Target("number", str(one)) for each in ranges for one in each]
    if inside.startswith(("^", "@")):
        keys = [key.strip(" ^@") for key in inside.lower().split(";")[:_SPAN]]
        return [Target("number" if key.isdecimal() else "key", key) for key in keys]
    if "://" in inside:
        return [Target("url", inside.partition(" ")[0])]
    return _read_authors(inside) or [Target("key", inside.lower(), f"[{inside}]", weak=True)]


def _read_authors(inside: str) -> Sequence[Target]:
    if "1" not in inside and "2" not in inside:
        return ()
    found = [_AUTHORS.fullmatch(piece) for piece in re.split("[;；]", inside)[:_SPAN]]
    return [
        Target("author", f"{names}, {year}", weak=comma.isspace() and not _SEVERAL.search(names))
        for names, comma, year in [one.groups() for one in found if one]
    ]


class CitedOutput(NamedTuple):
    """An output as far as it is read, its citations, and the source that each of them means."""

    text: Text
    is_cut: bool
    links: Sequence[tuple[Citation, Source | None]]
    sources: tuple[Source, ...]


def read_citations(case: Case, trace: Trace) -> CitedOutput:
    """Parse and resolve the citations of an output."""
    last = _last[0] if _last else None  # once: another thread may put its own there
    if last and last[0] is case and last[1] is trace:
        return last[2]
    answer = trace.answer
    text = read_text(answer[:READ])
    citations = parse_citations(text.raw)
    targets = {(one.form, one.target): one for one in citations}
    index = index_sources(case_sources(case))
    meant = {key: resolve_citation(one, index) for key, one in targets.items()}
    if not all(source and source.text for source in meant.values()):  # else the tools add nothing
        index = index_sources(collect_sources(case, trace))
        meant = {key: resolve_citation(one, index) for key, one in targets.items()}
    links = [(one, meant[one.form, one.target]) for one in citations]
    found = CitedOutput(text, len(answer) > READ, links, index.sources)
    _last[:] = [(case, trace, found)]
    return found


#: Two judges ask for the citations of one output, one after the other.
_last: list[tuple[Case, Trace, CitedOutput]] = []


class SourceIndex(NamedTuple):
    """Sources by what a citation may call them."""

    sources: tuple[Source, ...]
    by_url: Mapping[str, Source]
    by_id: Mapping[str, Source]
    by_place: Sequence[Source]
    by_word: Mapping[str, Sequence[Source]]  # of its authors, or else of id and title


@known
def index_sources(sources: tuple[Source, ...]) -> SourceIndex:
    """Index sources. Where none has a number of its own, `[2]` is the second one."""
    by_url = {canonical_url(one.url): one for one in reversed(sources) if one.url}
    by_id = {one.id.lower(): one for one in reversed(sources) if one.id}
    given = [one for one in sources if one.origin == "case"] or sources
    by_place = () if any(map(str.isdecimal, by_id)) else given
    by_word: dict[str, list[Source]] = {}
    for one in sources:
        called = one.author or f"{one.id} {one.title}".replace("_", " ")
        for word in set(_WORD.findall(called[:500].lower())):
            by_word.setdefault(word, []).append(one)
    return SourceIndex(sources, by_url, by_id, by_place, by_word)


def resolve_citation(citation: Citation, index: SourceIndex) -> Source | None:
    """The source that a citation means; `None` where it leads to none of them."""
    form, target, entry = citation.form, citation.target, citation.entry
    if form == "url":
        return index.by_url.get(canonical_url(target))
    if entry:
        source = _resolve_entry(entry, index)
        if source is not None or form == "listed" or address_in(entry):
            return source  # the output's own numbering wins
    if form == "author":
        return _resolve_author(target, index)
    if target in index.by_id:
        return index.by_id[target]
    place = int(target) if form == "number" else 0
    return index.by_place[place - 1] if 0 < place <= len(index.by_place) else None


@lru_cache(maxsize=1024)
def address_in(entry: str) -> str:
    """The address that an entry of a reference list names; empty where it names none."""
    found = (one for mark in _MARK.finditer(entry) for one in _read_mark(entry, mark)[0])
    return next((one.text for one in found if one.form == "url"), "")


def _resolve_entry(entry: str, index: SourceIndex) -> Source | None:
    if address := address_in(entry):
        return index.by_url.get(canonical_url(address))
    low = entry.lower()
    for source in index.sources:
        if len(source.title) >= 8 and source.title.lower() in low:
            return source
    year = _YEAR.search(entry)
    return _resolve_author(f"{entry}, {year[0]}", index) if year else None


def _resolve_author(target: str, index: SourceIndex) -> Source | None:
    """By the first name and the year; a source without authors by its id or title."""
    names, _, year = target.rpartition(", ")
    word = _WORD.search(names.lower().replace("等", ""))
    for source in index.by_word.get(word[0], ()) if word else ():
        if year in (source.year or (year if source.author else f"{source.id} {source.title}")):
            return source
    return None
