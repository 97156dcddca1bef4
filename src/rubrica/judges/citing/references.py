"""The reference list of an output: footnote definitions, numbered entries, a closing section."""

import re
from collections.abc import Sequence
from functools import lru_cache
from unicodedata import normalize

import msgspec
from msgspec.structs import replace

from rubrica.judges.citing.prose import SHARED, prose

#: Entries of a reference list that are read.
MOST_ENTRIES = 500
_HEADING = re.compile(
    r"^[\s#>*_\-—【\[]*(?:(?:list of |key |main |cited |full |primary |data )?"
    r"(?:references?|sources?|bibliography|works cited|citations?|footnotes?|endnotes?|notes|links"
    r"|literature|further reading|reference list|sources? (?:cited|used|consulted))"
    r"|(?:主要|数据|引用|信息|资料|文献)?(?:参考(?:文献|资料|来源|链接|网址|书目)?|资料来源|数据来源"
    r"|信息来源|文献来源|引用(?:来源|文献|列表|资料)?|来源(?:列表|链接)?|出处|脚注|注释|文献|链接|尾注))"
    r"(?:列表)?[\s*_】\]]*[:：]?[\s*_】\]]*$",
    re.IGNORECASE,
)
#: Signs around a heading, and characters of the longest between them.
_AROUND, _LONGEST = " \u3000\xa0\t\r#>*_-—【】[]:：", 30
#: Longer lines are read again: a store of those would grow without end.
_KEPT = 400
_OTHER_HEADING = re.compile(r"^\s{0,3}(?:#{1,6}\s+\S|\*\*[^*\n]{1,80}\*\*\s*[:：]?\s*$)")
_NOTE = re.compile(r"^\s{0,3}(?:[-*+]\s+)?\[\^([^\]\s]{1,60})\]\s*[:：]\s*(.*)$")
_ENTRY = re.compile(
    r"^\s{0,8}(?:[-*+•]\s+)?(?:\*\*)?(?:\[\^?([^\]\[\s]{1,60})\]|【([^】\s]{1,60})】|［([^］\s]{1,60})］)"
    r"(?:\*\*)?(?!\()\s*[:：.．、]?\s*(\S.*)$"
)
_LISTED = re.compile(r"^\s{0,8}(?:[-*+•]\s+)?(?:\(?(\d{1,3})[.)．、）]|([¹²³⁰⁴-⁹]{1,3}))\s*(\S.*)$")
_BULLET = re.compile(r"^\s{0,8}[-*+•]\s+(\S.*)$")
_ADDRESS = re.compile(r"https?://|www\.|doi\.org|\bdoi:|\b10\.\d{4,9}/", re.IGNORECASE)


class Reference(msgspec.Struct, frozen=True, gc=False):
    """One entry: what it is called by, empty where it has no number, and what it says."""

    key: str
    text: str
    start: int
    end: int


@lru_cache(maxsize=4096)
def key_of(marker: str) -> str:
    """A marker as it is compared: full-width digits and capitals do not matter."""
    return normalize("NFKC", marker).strip().strip("^[]【】").casefold()


def reference_list(text: str) -> list[Reference]:
    """The entries of the closing reference section and all footnote definitions, in order."""
    return list(_reference_list(text))


@lru_cache(maxsize=SHARED)
def _reference_list(text: str) -> tuple[Reference, ...]:
    body = prose(text)
    lines = body.split("\n")
    section = _section(lines)
    looked_at = range(len(lines)) if "[^" in body else section  # notes stand anywhere
    end = sum(map(len, lines[: looked_at.start])) + looked_at.start - 1
    found: list[Reference] = []
    for number in looked_at:
        line = lines[number]
        start = end + 1
        end = start + len(line)
        if number in section:
            entry = _listed(line, start, end)
        elif note := _NOTE.match(line):
            entry = Reference(key_of(note[1]), note[2].strip(), start, end)
        else:
            continue
        if entry is not None:
            found.append(entry)
        elif found and line.strip() and found[-1].end + 1 == start and not is_heading(line):
            last = found[-1]  # an entry that goes on in the next line
            found[-1] = replace(last, text=f"{last.text} {line.strip()}", end=end)
        if len(found) >= MOST_ENTRIES:
            break
    return tuple(found)


def references(text: str) -> dict[str, str]:
    """What each marker of the reference list stands for; entries without one go by `#position`."""
    found: dict[str, str] = {}
    for position, entry in enumerate(reference_list(text), 1):
        found.setdefault(entry.key or f"#{position}", entry.text)
    return found


def runs(listed: Sequence[Reference]) -> list[tuple[int, int]]:
    """Where the list stands: entries in lines one below another are one piece."""
    found: list[tuple[int, int]] = []
    for entry in listed:
        if found and found[-1][1] + 1 == entry.start:
            found[-1] = (found[-1][0], entry.end)
        else:
            found.append((entry.start, entry.end))
    return found


def is_heading(line: str) -> bool:
    """Whether the line announces a reference list."""
    return bool(line) and len(line) < 80 and _announces(line)


@lru_cache(maxsize=1024)
def _announces(line: str) -> bool:
    return len(line.strip(_AROUND)) <= _LONGEST and _HEADING.match(line) is not None


def _section(lines: list[str]) -> range:
    """The numbers of the lines that hold the closing list: under its heading, or bare at the end.

    Only the last heading counts, and only what stands under it up to another heading.
    """
    for head in range(len(lines) - 1, -1, -1):
        if is_heading(lines[head]):
            first = last = head + 1
            while last < len(lines) and not _OTHER_HEADING.match(lines[last]):
                last += 1
            if any(_listed(line, 0, 0) for line in lines[first:last]):
                return range(first, last)
            break
    return _bare(lines)


def _bare(lines: list[str]) -> range:
    """`[1] https://…` lines need no heading, wherever they stand in a row at the end."""
    last = len(lines)
    while last and not lines[last - 1].strip():
        last -= 1
    first = last
    while first:
        line = lines[first - 1]
        if line and not line.isspace() and not _is_bare(line):
            break
        first -= 1
    return range(first, last)


def _marked(line: str) -> tuple[str, str, bool] | None:
    """The key of an entry with a mark, what it says, and whether that has an address."""
    return _kept(line) if len(line) <= _KEPT else _kept.__wrapped__(line)


@lru_cache(maxsize=512)
def _kept(line: str) -> tuple[str, str, bool] | None:
    entry = _ENTRY.match(line)
    if entry is None:
        return None
    said = entry[4].strip()
    return key_of(entry[1] or entry[2] or entry[3]), said, _ADDRESS.search(said) is not None


def _is_bare(line: str) -> bool:
    """`[1] Title, https://…`, `¹ https://…`, `1. https://…`"""
    if marked := _marked(line):
        return marked[2]
    listed = _LISTED.match(line)
    return listed is not None and _ADDRESS.match(listed[3]) is not None


def _listed(line: str, start: int, end: int) -> Reference | None:
    if marked := _marked(line):
        return Reference(marked[0], marked[1], start, end)
    if entry := _LISTED.match(line):
        return Reference(key_of(entry[1] or entry[2]), entry[3].strip(), start, end)
    if entry := _BULLET.match(line):
        return Reference("", entry[1].strip(), start, end)
    if _ADDRESS.search(line):
        return Reference("", line.strip(), start, end)
    return None
