"""Where an output cites, in which sentence, and which source each citation means.

Read are `[1]`, `[1, 3-5]`, `[^1]`, `【1】`, `[source 1]`, `[@key]`, markdown links, addresses,
DOIs, `(Smith, 2020)`, and a reference list at the end, which says what the numbers stand for.
Code, images and comments cite nothing. Every pattern is linear: the length of each piece is
bounded, and no piece can run into the beginning of the next.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import groupby, islice
from typing import Literal, NamedTuple

from rubrica.core import Case, Trace
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
_YEAR = re.compile(r"(?:1[5-9]|20)\d\d")
_NARRATED = re.compile(
    r"(?:[^\W\d_a-zß-ÿ][\w'’-]{1,30}(?: et al\.?| (?:and|&) [\w'’-]{1,30})?|[㐀-鿿]{2,4}等?)\s?\Z"
)
_CODE = re.compile(
    r"^ {0,3}(```|~~~).*?(?:^ {0,3}\1|\Z)|(?<!`)`++[^`\n]{1,300}+`++", re.DOTALL | re.MULTILINE
)
_NOTE = re.compile(r"^ {0,3}\[\^([^\]\s]{1,60})\]:[ \t]?(.{0,2000})", re.MULTILINE)
_ENTRY = re.compile(
    r"\s{0,8}(?:[-*+•]\s)?(?:[\[【［]\^?([^\[\]【】［］\s]{1,60})[\]】］](?!\():?|(\d{1,3})[.)．、])\s?"
    r"(.{1,2000})"
)
_LISTED = re.compile(r"\s{0,8}[-*+•]\s(.{1,2000})")
_WORD = re.compile(r"\w+")
_HEADINGS = frozenset([
    "references", "reference", "sources", "source", "bibliography", "works cited", "citations",
    "footnotes", "links",
    "参考文献", "参考资料", "参考来源", "参考", "来源", "资料来源", "数据来源",
    "引用", "引用来源", "出处", "脚注",
])  # fmt: skip
_AROUND = " \t\r#*_>-:：[]【】()（）.,;，；、。"
Form = Literal["number", "key", "url", "author", "listed"]


class Citation(NamedTuple):
    """A citation: what it points with, its place, and the number of its sentence in the text.

    `shown` is what of it belongs to the sentence, as the label of a link does. `entry` is what the
    reference list says. A `weak` one, such as `[draft]`, cites only where a source is called so.
    """

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
    body, listed = _split_references(_without_code(shown(text)))
    sentences = read_text(text).sentences
    starts = [sentence.start for sentence in sentences]
    found: list[Citation] = []
    edge = -1  # up to where a sentence holds only markers, which belong to the one before
    marks = (one for mark in _MARK.finditer(body) for one in _read_mark(body, mark))
    for one in islice(marks, _CITATIONS):
        at, entry = bisect_right(starts, one.start) - 1, ""
        if one.form == "number" or one.form == "key":
            entry = listed[one.target].entry if one.target in listed else ""
            leads = at > 0 and (one.start == starts[at] or one.start <= edge + 1)
            if leads and "\n" not in text[sentences[at - 1].end : one.start]:
                edge, at = one.end, at - 1
        found.append(one._replace(sentence=at, entry=entry))
    return found if any(not one.weak for one in found) else [*found, *listed.values()]


def write_statements(citations: Sequence[Citation], text: Text) -> list[str]:
    """What each citation is cited for, without markers; headings of lists say nothing.

    That is its sentence, or of a sentence with several markers what stands since the one before.
    """
    found: list[str] = []
    before = 0  # the end of the last marker, which may stand after the end of its sentence
    for number, group in groupby(citations, key=lambda one: one.sentence):
        start, end = text.sentences[number][1:] if number >= 0 else (0, 0)
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
        pieces = [*pieces[:-1], pieces[-1] + piece] if pieces else [piece]
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
    start = len(text) + 1 - sum(len(line) + 1 for line in lines[first:])
    at = start
    for line in lines[first:][:_ENTRIES]:
        key, entry = "", ""
        if match := _ENTRY.match(line):
            key, entry = (match[1] or match[2]).lower(), match[3]
        elif (match := _LISTED.match(line)) or "://" in line:
            key, entry = f"at {at}", match[1] if match else line.strip()
        if key:
            found.setdefault(key, Citation("listed", entry, at, at + len(line), entry=entry))
        at += len(line) + 1
    return text[: max(0, start)], found


def _find_list(lines: Sequence[str]) -> int:
    """The first line of the reference list: under the last heading, or bracketed at the end."""
    for number in range(len(lines) - 1, -1, -1):
        line = lines[number]
        if is_heading(line) and any(map(_is_entry, lines[number + 1 : number + 4])):
            return number + 1
        if line.startswith("#"):
            break
    first = len(lines)
    for number in range(len(lines) - 1, -1, -1):
        line = lines[number].lstrip()
        if line and not (line[0] in "[【［" and _ENTRY.match(line)):
            break
        first = number if line else first
    return first


def _is_entry(line: str) -> bool:
    return _ENTRY.match(line) is not None or _LISTED.match(line) is not None or "://" in line


def _read_mark(body: str, mark: re.Match[str]) -> Iterator[Citation]:
    """The citations of one marker; several numbers in a bracket share its place."""
    kind, (start, end) = mark.lastgroup, mark.span()
    inside = mark[kind] if kind else ""
    if kind == "square" or kind == "lens" or kind == "wide":
        if body[max(0, start - 1) : start] != "!":
            yield from _read_bracket(inside.strip(), start, end)
    elif kind == "link":
        if body[max(0, start - 1) : start] != "!":
            label = mark["square"]
            shown = "" if label.isdigit() or is_heading(label) else label
            yield Citation("url", inside, start, end, shown=shown)
    elif kind == "round" or kind == "full":
        yield from _read_authors(inside, start, end)
        if _YEAR.fullmatch(inside) and (named := _NARRATED.search(body, max(0, start - 60), start)):
            yield Citation("author", f"{named[0].strip()}, {inside}", start, end, weak=True)
    elif kind == "doi" or kind == "arxiv":
        start -= len(kind)
        host = "doi.org" if kind == "doi" else "arxiv.org/abs"
        address = f"https://{host}/{inside.rstrip('.,;:)')}"
        yield Citation("url", address, *_with_brackets(body, start, end))
    else:
        trimmed = _trim_address(inside)
        end -= len(inside) - len(trimmed)
        start -= 0 if kind == "www" else 5 if body.startswith("https", start - 5) else 4
        yield Citation("url", body[start:end], *_with_brackets(body, start, end))


def _read_bracket(inside: str, start: int, end: int) -> Iterator[Citation]:
    if inside.isdecimal() and len(inside) < 4:
        if int(inside):
            yield Citation("number", str(int(inside)), start, end)
    elif numbers := _NUMBERS.fullmatch(inside):
        for low, high in _RANGE.findall(numbers[1])[:_SPAN]:
            for one in range(int(low), min(int(high or low), int(low) + _SPAN - 1) + 1):
                yield Citation("number", str(one), start, end)
    elif inside.startswith(("^", "@")):
        for key in inside.lower().split(";")[:_SPAN]:
            key = key.strip(" ^@")
            yield Citation("number" if key.isdecimal() else "key", key, start, end)
    elif "://" in inside:
        yield Citation("url", inside.partition(" ")[0], start, end)
    else:
        authors = list(_read_authors(inside, start, end))
        yield from authors
        if not authors and len(inside) <= 60:
            yield Citation("key", inside.lower(), start, end, shown=f"[{inside}]", weak=True)


def _read_authors(inside: str, start: int, end: int) -> Iterator[Citation]:
    if "1" not in inside and "2" not in inside:
        return
    for piece in re.split("[;；]", inside)[:_SPAN]:
        if found := _AUTHORS.fullmatch(piece):
            sure = not found[2].isspace() or "et al" in found[1] or "等" in found[1]
            target = f"{found[1]}, {found[3]}"
            yield Citation("author", target, start, end, weak=not sure)


def _trim_address(address: str) -> str:
    """Without the punctuation of the sentence around it."""
    address = address.rstrip(".,;:!?*_'…~")
    return address if "(" in address else address.rstrip(").,;:!?*_'")


def _with_brackets(body: str, start: int, end: int) -> tuple[int, int]:
    """The place with the brackets that hold nothing else."""
    if body[max(0, start - 1) : start] in ("(", "（") and body[end : end + 1] in (")", "）"):
        return start - 1, end + 1
    return start, end


class CitedOutput(NamedTuple):
    """An output as far as it is read, its citations, and the source that each of them means."""

    text: Text
    is_cut: bool
    links: Sequence[tuple[Citation, Source | None]]
    sources: Sequence[Source]


def read_citations(case: Case, trace: Trace) -> CitedOutput:
    """Parse and resolve the citations of an output."""
    if _last and _last[0][0] is case and _last[0][1] is trace:
        return _last[0][2]
    answer = trace.answer
    text = read_text(answer[:READ])
    citations = parse_citations(text.raw)
    index = index_sources(case_sources(case))
    links = [(one, resolve_citation(one, index)) for one in citations]
    if not all(source and source.text for _, source in links):  # else the tools add nothing
        index = index_sources(collect_sources(case, trace))
        links = [(one, resolve_citation(one, index)) for one in citations]
    found = CitedOutput(text, len(answer) > READ, links, index.sources)
    _last[:] = [(case, trace, found)]
    return found


#: Two judges ask for the citations of one output, one after the other.
_last: list[tuple[Case, Trace, CitedOutput]] = []


class SourceIndex(NamedTuple):
    """Sources by what a citation may call them."""

    sources: Sequence[Source]
    by_url: Mapping[str, Source]
    by_id: Mapping[str, Source]
    by_place: Sequence[Source]


@known
def index_sources(sources: tuple[Source, ...]) -> SourceIndex:
    """Index sources. Where none has a number of its own, `[2]` is the second one."""
    by_url = {canonical_url(one.url): one for one in reversed(sources) if one.url}
    by_id = {one.id.lower(): one for one in reversed(sources) if one.id}
    given = [one for one in sources if one.origin == "case"] or sources
    return SourceIndex(sources, by_url, by_id, () if any(map(str.isdecimal, by_id)) else given)


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
    found = (one for mark in _MARK.finditer(entry) for one in _read_mark(entry, mark))
    return next((one.target for one in found if one.form == "url"), "")


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
    words = _WORD.findall(names.lower().replace("等", ""))
    if not words:
        return None
    for source in index.sources:
        called = source.author or f"{source.id} {source.title}".replace("_", " ")
        dated = source.year or (year if source.author else called)
        if year in dated and words[0] in _WORD.findall(called[:500].lower()):
            return source
    return None
