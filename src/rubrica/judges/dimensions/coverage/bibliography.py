"""The list of references that closes an answer: it states nothing, whatever words a title has.

What only looks like one is not taken for it: notes, useful links, or the sources of a river.
`citing/references.py` is generous, since whatever may be cited counts there; here a line that is
left out by mistake is an aspect lost.
"""

import re
from typing import NamedTuple

from rubrica.judges.citing.prose import blank
from rubrica.judges.citing.references import is_heading
from rubrica.judges.dimensions.coverage.passages import Passage

#: Headings under which all entries are works, and those under which an address or a mark is one.
_WORKS = re.compile(
    r"reference|bibliograph|works cited|citation|literature|参考|文献|引用", re.IGNORECASE
)
_SOURCES = re.compile(r"source|来源|出处", re.IGNORECASE)
_MARKED = re.compile(
    r"\s*(?:[-*+•]\s+)?(?:\*\*)?([\[【［](?:\^[^\]】］\s]{1,60}|[A-Za-z]{0,20}\d{1,4}[a-z]?)[\]】］])"
    r"(?:\*\*)?(?!\()\s*[:：.]?\s*"
)
_LISTED = re.compile(r"\s*(?:[-*+•]\s|\(?\d{1,3}[.)．、）]|[¹²³⁰⁴-⁹])\s*(?=\S)")
#: A line that is such a list by itself: `Source: https://…`.
_ALONE = re.compile(
    r"[\s>*_(（]*(?:sources?|references?|(?:资料|数据|信息|参考)?来源|参考(?:资料|文献|链接)?|出处)"
    r"[*_]*\s*[:：]",
    re.IGNORECASE,
)
#: An item of any list, one with an address or a mark, and one that needs no heading: `[1] http…`.
_ITEM, _CITED, _BARE, _NO_LIST = 1, 2, 3, 4
#: An entry that is the name of a publisher or a work, and nothing that is said: `Reuters`.
_NAME = re.compile(
    r"[A-Z\d][\w.&'’-]*(?:,? (?:\(?[A-Z\d][\w.&'’)-]*|of|the|and|for|on|in|et|al\.|&)){0,7}[.,]?"
    r"|《[^》]{2,40}》.{0,12}|[^，。；：]{0,14}(?:局|社|报|网|部|院|委员会|协会|大学|银行|年报|报告|白皮书|年鉴)"
)
_ADDRESSES = ("http", "www.", "doi.org", "doi:", "DOI:")


class References(NamedTuple):
    """Where the list stands, and the heading over it, if there is one."""

    start: int
    end: int
    head: str
    #: Whether there are but names, which may be what was asked for: `food sources`.
    names: bool = False

    def out_of(self, text: str) -> str:
        """The text without the list; places stay what they are."""
        if self.end >= len(text):
            return text[: self.start]
        return text[: self.start] + blank(text, self.start, self.end) + text[self.end :]

    def has(self, piece: Passage) -> bool:
        return self.start <= piece.start < self.end

    def is_asked(self, aspect: str) -> bool:
        """Whether an aspect asks for the list: `sources` only where the heading says the same."""
        if not (self.names or is_heading(aspect)):
            return False
        return _WORKS.search(aspect) is not None or (
            _SOURCES.search(aspect) is not None and _SOURCES.search(self.head) is not None
        )


def references(text: str) -> References | None:
    """The closing list, behind which one more paragraph may stand; None for a text of no more."""
    end = len(text.rstrip())
    found = _closing(text, end)
    if found is None and (last := text.rfind("\n\n", 0, end)) > 0 and _has_address(text):
        found = _closing(text, len(text[:last].rstrip()))
    return found if found and text[: found.start].strip() else None


def _closing(text: str, end: int) -> References | None:
    """The list whose last line ends here, read upwards to its heading."""
    found, least, below = None, _NO_LIST, end
    while below > 0:
        start = text.rfind("\n", 0, below) + 1
        line = text[start:below]
        below = start - 1
        if not line or line.isspace():
            continue
        kind = _kind(line, text, start)
        if not kind:
            if least == _NO_LIST or not is_heading(line):
                return found
            if least >= _least_under(line):
                return References(start, end, line)
            named = _SOURCES.search(line) and _are_names(text[start + len(line) : end])
            return References(start, end, line, True) if named else found
        least = min(least, kind)
        if least == _BARE:
            alone = _ALONE.match(line)
            found = References(start, end, alone[0] if alone else "")
    return found


def _kind(line: str, text: str, start: int) -> int:
    """How plainly the line that starts here is an entry; 0 where it is none."""
    address = _has_address(line)
    if marked := _MARKED.match(line):
        # `[1] Revenue grew, https://…` may be a statement, unless another one cites it.
        plain = line.startswith(_ADDRESSES, marked.end()) or (
            address and text.find(marked[1], 0, start) >= 0
        )
        return _BARE if plain else _CITED
    if address:
        return _BARE if _ALONE.match(line) else _CITED
    return _ITEM if _LISTED.match(line) else 0


def _are_names(entries: str) -> bool:
    """Whether all entries of a list are names of publishers or works."""
    return all(
        _NAME.fullmatch(_LISTED.sub("", line, count=1).strip())
        for line in entries.splitlines()
        if line.strip()
    )


def _least_under(head: str) -> int:
    """How plain the entries under a heading have to be."""
    if _WORKS.search(head):
        return _ITEM
    return _CITED if _SOURCES.search(head) else _BARE


def _has_address(text: str) -> bool:
    return any(sign in text for sign in _ADDRESSES)
