"""Where an output cites: numbers, footnotes, links, addresses, and authors with a year.

The reference list at the end is what citations stand for and holds none itself.
"""

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import pairwise

import msgspec

from rubrica.judges.citing.authors import authors_before, cited_authors
from rubrica.judges.citing.prose import SHARED, blank, prose
from rubrica.judges.citing.references import Reference, reference_list, references, runs

__all__ = ["Citation", "Reference", "citations", "reference_list", "references"]

#: A range such as [1-999] is several only up to so many.
SPAN = 12


class Citation(msgspec.Struct, frozen=True, gc=False):
    """One citation: its form, what it points with, and the place of its marker.

    `name` is the weak form: `[smith-2020]`, `Paris (2015)` cite only where a source is called so.
    Several citations in one bracket share its place.
    """

    form: str  # number, footnote, link, url, doi, author_year, name
    marker: str
    start: int
    end: int


_URL = r"(?:https?://|www\.(?=\w))[^\s<>\"'`\[\]{}|\\^（）【】「」『』《》“”，。；、！]++"
_ADDRESS = re.compile(_URL)
_SCAN = re.compile(
    # [text](address "title"), also with text in brackets: [[1]](address)
    r"\[(?P<label>[^\[\]\n]{0,300}|\[[^\[\]\n]{0,100}\])\]\(\s?<?(?P<link>(?:https?://|www\.)"
    r"[^\s()<>]++(?:\([^\s()<>]*+\)[^\s()<>]*+)*+)>?(?:\s\"[^\"\n]{0,200}\")?\s?\)"
    r"|\[\^(?P<note>[^\]\[\s]{1,60})\](?!:)"
    r"|[\[【［〔](?P<bracket>[^\[\]【】［］〔〕\n]{1,80})[\]】］〕](?![(])"
    rf"|(?P<url>{_URL})"
    r"|(?P<doi>\b(?:doi:\s?)?10\.\d{4,9}/[^\s<>\"'，。；、（）\[\]]++)"
    r"|[(（](?P<paren>[^()（）\[【\n]{4,240})[)）]"
    r"|(?P<raised>(?:(?<=[a-z]{3})|(?<=[^\W\d_a-zA-Z]|[.,;:!?)\]”\"。，；、）》]))[¹²³⁰⁴-⁹]{1,3}(?![\w²³]))",
    re.IGNORECASE,
)
#: `[1]`, the form of nearly all citations.
_PLAIN_NUMBER = re.compile(r"\[(\d{1,3})\](?!\()")
#: What may begin a citation: looking for this alone first is faster, most so without addresses.
_SQUARE = re.compile(r"\[")
_BRACKETS = "(【［〔（¹²³⁰⁴⁵⁶⁷⁸⁹"
_BRACKET = re.compile(r"[\[【［〔(（¹²³⁰⁴-⁹]")
#: The first sign of any stands in one set, which is found much faster than one of several words.
_START = re.compile(
    r"[\[【［〔(（¹²³⁰⁴-⁹hHwWdD1](?:(?<![hHwWdD1])|ttp|TTP|ww\.|WW\.|oi:|OI:|0\.(?=\d{4}))"
)
_NUMBERS = re.compile(
    r"(?:(?:source|sources|ref|refs|reference|note|citation|cite|doc|document|来源|参考|文献|资料|注|引)"
    r"[.:：\s#]{0,3})?(\d{1,3}(?:\s?[-–—~～至]\s?\d{1,3})?"
    r"(?:\s?[,，、;；&]\s?(?:来源|source )?\d{1,3}(?:\s?[-–—~～至]\s?\d{1,3})?){0,40})"
    r"(?:†[^\]】]{0,60}|[,，:：]\s?(?:pp?\.|第)\s?\d[^\]】]{0,20})?",
    re.IGNORECASE,
)
_NAMED = re.compile(
    r"(?:source|sources|ref|来源|参考|出处|资料来源)\s?[:：]\s?(\S.*)", re.IGNORECASE
)
_NUMBERED = re.compile(
    r"(?:see |according to )?(?:source|sources|ref|refs|reference|doc|document|来源|参考"
    r"|文献|资料|见来源)[.:：\s#]{0,3}(\d{1,3}(?:\s?(?:[,，、&]|and|和)\s?\d{1,3}){0,20})\Z",
    re.IGNORECASE,
)
#: What cannot be missing between round brackets that cite.
_POINTS = re.compile(r"\d|://|www\.|n\.d\.|in press")
_PIECE = re.compile(r"(\d{1,3})(?:\s?[-–—~～至]\s?(\d{1,3}))?")
_YEAR = re.compile(r"(?:1[5-9]|20)\d\d[a-z]?\Z")
_PLAIN_WORDS = frozenset([
    "x", "sic", "note", "notes", "todo", "edit", "edited", "update", "emphasis", "added",
    "citation", "needed", "link", "image", "table", "figure", "name", "date", "optional", "...",
    "…", "注", "注意", "提示", "完", "图", "表", "更新", "重点", "总结", "结论", "背景", "摘要",
])  # fmt: skip
_RAISED = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789")


def citations(text: str) -> list[Citation]:
    """All citations in order of appearance."""
    return citations_outside(text, reference_list(text))


def citations_outside(text: str, listed: list[Reference]) -> list[Citation]:
    """The same, with the reference list already found."""
    return list(_outside(text, tuple(listed)))


@lru_cache(maxsize=SHARED)
def _outside(text: str, listed: tuple[Reference, ...]) -> tuple[Citation, ...]:
    body = prose(text)
    if listed:
        edges = [0, *[edge for run in runs(listed) for edge in run], len(body)]
        body = "".join(
            [
                blank(body, start, end) if place % 2 else body[start:end]
                for place, (start, end) in enumerate(pairwise(edges))
            ]
        )
    found: list[Citation] = []
    at = 0
    numbered = _PLAIN_NUMBER.match
    begins = _BRACKET if _has(body, "(" if body.isascii() else _BRACKETS) else _SQUARE
    begins = _START if _has_address(body) else begins
    while start := begins.search(body, at):
        place = start.start()
        if plain := numbered(body, place):
            at = plain.end()
            if not _is_index(body, place, at):
                found.append(Citation("number", str(int(plain[1])), place, at))
            continue
        match = _SCAN.match(body, place)
        at = match.end() if match else start.end()
        if match:
            found.extend(_read(body, match))
    return tuple(found)


def _has(text: str, signs: Iterable[str]) -> bool:
    return any(map(text.__contains__, signs))


def _has_address(text: str) -> bool:
    """Whether an address or a DOI may be there; one sign is found much faster than several."""
    if "/" in text and ("://" in text or "10." in text):
        return True
    return "www." in text or ("W" in text and "WWW." in text)


def _read(body: str, match: re.Match[str]) -> Iterator[Citation]:
    kind, start, end = match.lastgroup or "", match.start(), match.end()
    if match["link"]:
        yield Citation("link", match["link"], start, end)
    elif kind == "note":
        yield Citation("footnote", match["note"], start, end)
    elif kind == "bracket":
        yield from _bracket(match["bracket"], body, start, end)
    elif kind in ("url", "doi"):
        address = _trimmed(match[kind])
        yield Citation(kind, address, start, start + len(address))
    elif kind == "paren":
        yield from _paren(body, match["paren"], start, end)
    else:
        yield Citation("number", match["raised"].translate(_RAISED), start, end)


def _trimmed(address: str) -> str:
    """Without the punctuation of the sentence around it."""
    address = address.rstrip(".,;:!?*_'…~")
    while address.endswith(")") and address.count("(") < address.count(")"):
        address = address[:-1].rstrip(".,;:!?*_'")
    return address


def _bracket(inside: str, body: str, start: int, end: int) -> Iterator[Citation]:
    inside = inside.strip()
    if numbers := _NUMBERS.fullmatch(inside):
        if not _is_index(body, start, end):
            yield from _several(numbers[1], start, end)
        return
    address = _ADDRESS.match(inside)
    if address and address.end() == len(inside):
        yield Citation("url", inside, start, end)
    elif pieces := cited_authors(inside):
        for marker, strong, _, _ in pieces:
            yield Citation("author_year" if strong else "name", marker, start, end)
    elif not _YEAR.match(inside) and inside.casefold() not in _PLAIN_WORDS:
        named = _NAMED.match(inside)
        for piece in re.split(r"\s*[;；]\s*", named[1] if named else inside)[:SPAN]:
            if piece:
                yield Citation("name", piece.lstrip("@"), start, end)


def _several(numbers: str, start: int, end: int) -> Iterator[Citation]:
    """`1, 3-5` as 1, 3, 4 and 5. An interval from 0 is mathematics."""
    pieces = [(int(piece[1]), int(piece[2] or piece[1])) for piece in _PIECE.finditer(numbers)]
    if len(pieces) > 1 and any(low == 0 for low, _ in pieces):
        return
    seen: set[int] = set()
    for low, high in pieces:
        for number in range(low, min(max(low, high), low + SPAN) + 1):
            if number not in seen:
                seen.add(number)
                yield Citation("number", str(number), start, end)


def _is_index(body: str, start: int, end: int) -> bool:
    """`rows[1] = x`, `a[1].b`, `f()[0]`, `x[7]`: code that was not marked as such."""
    before, after = body[max(0, start - 1) : start], body[end : end + 3]
    if not (before.isascii() and (before.isalnum() or before in ("_", ")"))):
        return False
    return (
        (after[:1] == "." and after[1:2].isalpha())
        or after.startswith((" = ", "=", "++", " + "))
        or before == "_"
        or (before.islower() and not body[max(0, start - 2) : start - 1].strip("(,= "))
    )


def _paren(body: str, inside: str, start: int, end: int) -> Iterator[Citation]:
    """`(Smith, 2020; Lee & Park, 2019)`, `Smith et al. (2020)`, `(source 2)`."""
    if not _POINTS.search(inside):
        return
    if numbered := _NUMBERED.match(inside.strip()):
        yield from _several(re.sub(r"and|和", ",", numbered[1]), start, end)
        return
    if address := _ADDRESS.search(inside):
        marker = _trimmed(address[0])
        at = start + 1 + address.start()
        yield Citation("url", marker, at, at + len(marker))
        for more in _ADDRESS.finditer(inside[address.end() :]):
            at = start + 1 + address.end() + more.start()
            marker = _trimmed(more[0])
            yield Citation("url", marker, at, at + len(marker))
        return
    if _YEAR.match(inside.strip()):
        if before := authors_before(body, start, end):
            marker, strong, begin = before
            form = "author_year" if strong else "name"
            yield Citation(form, f"{marker}, {inside.strip()}", begin, end)
        return
    pieces = cited_authors(inside)
    alone = bool(pieces) and sum(stop - begin for _, _, begin, stop in pieces) > len(inside) * 0.7
    for marker, strong, begin, stop in pieces:
        form = "author_year" if strong else "name"
        if alone:
            yield Citation(form, marker, start, end)
        else:
            yield Citation(form, marker, start + 1 + begin, start + 1 + stop)
    if not pieces:
        for doi in re.finditer(r"10\.\d{4,9}/[^\s,;]+", inside):
            at = start + 1 + doi.start()
            yield Citation("doi", doi[0], at, at + len(doi[0]))
