"""Find the citations of an output, the sentence of each, and the source that it points to.

Recognised are `[1]`, `[1, 3-5]`, `[^1]`, `【1】`, `[source 1]`, `[@key]`, markdown links, URLs,
DOIs, arXiv numbers, `(Smith, 2020)`, and a reference list, which says what the numbers stand for.
Code, images and comments cite nothing. Every pattern takes linear time: the length of each piece
is bounded, and no piece can match the beginning of the next.
"""

import re
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import islice
from typing import Literal, NamedTuple

import msgspec

from fourscore.core import Case, Trace
from fourscore.judges.answer_extraction import blank_thinking
from fourscore.judges.dimensions.case_fields import cache_by_identity
from fourscore.judges.dimensions.sources import (
    Source,
    canonical_url,
    collect_sources,
    read_case_sources,
)
from fourscore.judges.hidden_text import blank_hidden_markdown
from fourscore.judges.reader.text import MAX_READ, find_sentence_ends

#: Most markers read in one text, most numbers of a range such as [1-999], and most characters of
#: a sentence on either side of a marker.
_MAX_MARKERS, _MAX_RANGE, _MAX_SENTENCE = 5_000, 12, 2_000
_SIGNS = r"[^\s()<>\"'`\[\]{}|\\^（）【】「」『』《》“”，。；、！]"
_URL = rf"{_SIGNS}{{1,2000}}+(?:\({_SIGNS}{{0,200}}+\){_SIGNS}{{0,500}}+)?"
#: Each branch begins with a character of its own, so the search can skip to it: five times faster.
_MARKER = re.compile(
    r"\[(?!http)(?P<label>[^\[\]\n]{1,300}+)\]"
    rf"(?:\((?P<link>(?:https?://|www\.){_URL})(?: \"[^\"\n]{{0,200}}+\")?\))?"
    rf"|【[^【】\n]{{1,100}}+】|https?://{_URL}|www\.{_URL}"
    r"|10\.\d{4,9}/[^\s<>\"'，。；、（）\[\]]{1,200}+|arXiv: ?\d{4}\.\d{4,5}"
    r"|\((?!www)[^()\[\]:/\n]{4,120}+\)|（[^（）\[\]:/\n]{4,120}+）"
)
_REGISTERS = {"1": "https://doi.org/", "a": "https://arxiv.org/abs/"}
_NUMBERS = re.compile(
    r"(?i)(?:(?:source|ref|reference|doc|来源|参考|文献|资料)s?[.:：\s#]{0,3})?"
    r"(\d{1,3}(?:\s?[-–—,，、;；&]\s?\d{1,3}){0,40})(?:†.{0,60})?"
)
_RANGE = re.compile(r"(\d{1,3})(?:\s?[-–—]\s?(\d{1,3}))?")
_YEAR = re.compile(r"(?:1[5-9]|20)\d\d")
_AUTHORS = re.compile(rf"\s?(?:see |见)?([^\W\d_a-z]\w*+)\D{{0,80}}[,，]\s?({_YEAR.pattern})")
#: Code blocks (the fence is group 1), inline code, and images.
_CODE = re.compile(
    r"(?ms)^ {0,3}(```|~~~).*?(?:^ {0,3}\1|\Z)|(?<!`)`++[^`\n]{1,300}+`++"
    r"|!\[[^\[\]\n]{0,300}+\]\([^()\n]{0,2000}+"
)
_ANY, _CITING = re.compile(r"[^\n]"), re.compile(r"[\[\]():]|(?<=www)\.")
#: `[1] Title`, `[^1]: Title`, or `1. Title`.
_ENTRY = re.compile(
    r"\s{0,8}(?:[-*+•]\s)?(?:[\[【]\^?([^\[\]【】\s]{1,60})[\]】](?!\()(:?)|(\d{1,3})[.)、])\s?(.{1,2000})"
)
_HEADING = re.compile(
    r"(?i)[\W_]*(?:references?|sources?|bibliography|works cited|citations|footnotes|links"
    r"|参考(?:文献|资料|来源)?|(?:资料|数据|引用)?来源|引用|脚注|出处)[\W_]*"
)
_WORD = re.compile(r"\w+")
#: What remains where a marker was removed: empty brackets, and a space before a full stop.
_REMAINS = re.compile(r"(?:doi|DOI): ?| ?[(（][ ,;，；]{0,20}[)）]| (?=[.,;:!?，。；])")
#: A `word` is a bracket such as `[draft]`: it cites only if a source has this name.
Form = Literal["key", "word", "url", "author"]


class Citation(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A citation, and the URL that it or the reference list gives.

    `statement` is its sentence without markers, empty if it stands only in the reference list;
    `start` is where the sentence begins, `end` where the marker ends.
    """

    form: Form
    target: str
    url: str
    statement: str
    start: int
    end: int


@lru_cache(maxsize=2)  # two judges ask for the citations of one output, one after the other
def parse_citations(text: str) -> Sequence[Citation]:
    """Return all citations of a text in order."""
    text = _blank_code(blank_hidden_markdown(blank_thinking(text)))
    body, listed = _split_list(text)
    pieces: list[str] = []  # the body with spaces in place of markers; offsets do not change
    markers: list[tuple[Form, str, int, int]] = []
    at = 0
    for mark in islice(_MARKER.finditer(text), _MAX_MARKERS):
        targets, label, end = _read_marker(mark)
        markers += [(form, target, mark.start(), end) for form, target in targets]
        if targets and targets[0][0] != "word":
            pieces += body[at : mark.start()], label.ljust(end - mark.start())
            at = end
    if not markers:
        return ()
    plain = "".join([*pieces, body[at:]])
    ends = [len(plain) - len(plain.lstrip()), *find_sentence_ends(plain)]
    found: list[Citation] = []
    for form, target, place, end in markers:
        url = target if form == "url" else listed.get(target, "")
        statement, start = _find_statement(place, ends, plain)
        found.append(
            Citation(form=form, target=target, url=url, statement=statement, start=start, end=end)
        )
    return found


def is_heading(line: str) -> bool:
    """Whether a line is nothing but the heading of a reference list."""
    return len(line) < 60 and _HEADING.fullmatch(line) is not None


def _blank_code(text: str) -> str:
    """Blank code blocks; in inline code and images, blank only the characters that cite."""
    if "`" not in text and "~~~" not in text and "![" not in text:
        return text
    return _CODE.sub(lambda found: (_ANY if found[1] else _CITING).sub(" ", found[0]), text)


def _split_list(text: str) -> tuple[str, dict[str, str]]:
    """Return the text with its reference list blanked, and the list's URLs by number or key.

    The list is what follows its heading; without a heading, lines `[1]: Title` or `[1] https://…`.
    """
    lines, listed, is_below = text.split("\n"), dict[str, str](), False
    for number, line in enumerate(lines):
        is_below = is_heading(line) or (is_below and not line.startswith("#"))
        entry = _ENTRY.match(line)
        is_entry = entry and (is_below or entry[2] or (entry[1] and "://" in line))
        if entry and is_entry:
            targets = [one for mark in _MARKER.finditer(entry[4]) for one in _read_marker(mark)[0]]
            urls = [target for form, target in targets if form == "url"]
            listed.setdefault((entry[1] or entry[3]).lower(), urls[0] if urls else "")
        if is_below or is_entry:
            lines[number] = " " * len(line)
    return "\n".join(lines), listed


def _find_statement(place: int, ends: Sequence[int], text: str) -> tuple[str, int]:
    """Return the sentence around, before or else after a marker on its line, and its start."""
    at = bisect_right(ends, place)
    start, end = ends[at - 1] if at else 0, ends[at]
    before = text[max(start, place - _MAX_SENTENCE) : place].rpartition("\n")[2]
    after = text[place : min(end, place + _MAX_SENTENCE)]
    if after.isspace() and not before.strip():
        if "\n" in after or at + 1 == len(ends):
            return "", place  # alone on its line, or in the reference list
        start, end = end, ends[at + 1]
    return _clean_statement(text[start : min(end, start + _MAX_SENTENCE)]), min(start, place)


@lru_cache(maxsize=64)
def _clean_statement(sentence: str) -> str:
    """Return a sentence without what markers left behind; empty if it is only a list heading."""
    statement = _REMAINS.sub("", " ".join(sentence.split()))
    return "" if is_heading(statement) or not _WORD.search(statement) else statement


def _read_marker(mark: re.Match[str]) -> tuple[Sequence[tuple[Form, str]], str, int]:
    """Return a marker's targets, the part of it that belongs to the sentence, and its end."""
    text, end = mark[0], mark.end()
    if mark["link"]:
        label = mark["label"]
        label = "" if label.isdecimal() or is_heading(label) else label
        return [("url", mark["link"])], label, end
    if text[0] in "[【":
        return _read_bracket(text[1:-1]), "", end
    if text[0] in "(（":
        return _read_authors(text[1:-1]), "", end
    url = text.rstrip(".,;:!?*_'…~" if "(" in text else ").,;:!?*_'…~")
    target = _REGISTERS.get(text[0], "") + url.removeprefix("arXiv:").strip()
    return [("url", target)], "", end - len(text) + len(url)


@lru_cache(maxsize=1024)
def _read_bracket(inside: str) -> Sequence[tuple[Form, str]]:
    inside = inside.strip()
    if numbers := _NUMBERS.fullmatch(inside):
        pairs = [(max(1, int(low)), int(high or low)) for low, high in _RANGE.findall(numbers[1])]
        ranges = [
            range(low, min(high, low + _MAX_RANGE - 1) + 1) for low, high in pairs[:_MAX_RANGE]
        ]
        return [("key", str(one)) for each in ranges for one in each]
    if inside.startswith(("^", "@")):
        return [("key", key.strip(" ^@")) for key in inside.lower().split(";")[:_MAX_RANGE]]
    return _read_authors(inside) or [("word", inside.lower())]


def _read_authors(inside: str) -> Sequence[tuple[Form, str]]:
    """Read `Smith & Lee, 2020; Wu et al., 2019` as the first author and the year of each."""
    found = [_AUTHORS.match(piece) for piece in re.split("[;；]", inside)[:_MAX_RANGE]]
    return [("author", f"{one[1].removesuffix('等')}, {one[2]}") for one in found if one]


class Link(NamedTuple):
    """A citation and the source that it points to; `None` if it matches no source."""

    citation: Citation
    source: Source | None

    @property
    def url(self) -> str:
        return self.source.url if self.source else self.citation.url


class CitedOutput(msgspec.Struct, frozen=True, kw_only=True):
    """An output up to `MAX_READ` characters, its citations, and all sources that it may cite."""

    raw: str
    is_cut: bool
    links: Sequence[Link]
    sources: tuple[Source, ...]


def read_citations(case: Case, trace: Trace) -> CitedOutput:
    """Find the citations of an output and the sources that they point to."""
    answer, sources = trace.answer, read_case_sources(case)
    citations = parse_citations(answer[:MAX_READ])
    links = _resolve(citations, sources)
    # Where every citation has a source with a text already, those that tools brought add nothing.
    if not all(link.source and link.source.text for link in links):
        sources = collect_sources(case, trace)
        links = _resolve(citations, sources)
    # `[draft]` and, where there are no sources, the set `[1, 3]` cite nothing.
    forms = ("url", "author", "key") if sources else ("url", "author")
    links = [one for one in links if one.source or one.url or one.citation.form in forms]
    # The entries of the reference list count only if no sentence cites anything.
    links = [one for one in links if one.citation.statement] or links
    is_cut = len(answer) > MAX_READ
    return CitedOutput(raw=answer[:MAX_READ], is_cut=is_cut, links=links, sources=sources)


def _resolve(citations: Sequence[Citation], sources: tuple[Source, ...]) -> list[Link]:
    """Link citations to sources; the output's own reference list wins over the sources' ids."""
    names = index_sources(sources)
    keys = [canonical_url(one.url) if one.url else one.target.lower() for one in citations]
    return [Link(one, names.get(key)) for one, key in zip(citations, keys, strict=True)]


@cache_by_identity
def index_sources(sources: tuple[Source, ...]) -> Mapping[str, Source]:
    """Return sources by id, URL, `author, year`, and by position if no id is a number."""
    names: dict[str, Source] = {}
    for one in reversed(sources):
        if year := _YEAR.search(one.year or one.title):
            words = _WORD.findall((one.author or one.title)[:500].lower())
            names |= {f"{word}, {year[0]}": one for word in words}
    if not any(one.id.isdecimal() for one in sources):
        given = [one for one in sources if one.origin == "case"] or sources
        names |= {str(place): one for place, one in enumerate(given, 1)}
    names |= {canonical_url(one.url): one for one in reversed(sources) if one.url}
    return names | {one.id.lower(): one for one in reversed(sources) if one.id}
