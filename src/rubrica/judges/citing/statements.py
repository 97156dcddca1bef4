"""What each citation vouches for: its clause, its sentence, or what stands before a clump."""

import re
from bisect import bisect
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import msgspec

from rubrica.judges.citing.bared import hidden, parts_of, without
from rubrica.judges.citing.find import Citation, citations_outside, reference_list
from rubrica.judges.citing.references import Reference
from rubrica.judges.text.sentences import Sentence

#: Characters of a statement that are looked at, and of words that lead to a marker.
_LONGEST, _LONGEST_LEAD = 1000, 80
_CONTENT = re.compile(r"[㐀-鿿]|[^\W_㐀-鿿]+")
_DIGIT = re.compile(r"\d")
_STOP = re.compile(
    r"[,;:.!?，；：。！？、)）\]】—|-]|(?:and|but|while|whereas|or|yet|so|because|although)\b"
    r"|而|但|并|且|和|以及|同时|所以|因此",
    re.IGNORECASE,
)
_SPLIT = re.compile(r"[,;](?!\d)|[，；]")
_SAID_BY = re.compile(
    r"(?:according to |per |as (?:noted|shown|stated|reported|described|explained) |based on "
    r"|citing |data from |根据|据|按照|依据)[^,，]{0,80}\Z",
    re.IGNORECASE,
)
_TWO_WORDS = re.compile(r"(?:[㐀-鿿]|[^\W_㐀-鿿]++)[\W_]*+[^\W_]")
#: Words that lead to a marker and state nothing.
_LEAD = re.compile(
    r"[\s\-*>:：,，.。;；、()（）\"“”]*(?:(?:for (?:details|more),? )?(?:see also|see|cf\.?"
    r"|sources?|references?|refs?|citations?|via|from|read more|more (?:here|at)|links?"
    r"|according to"
    r"|as (?:noted|shown|stated|reported|described) (?:in|by)|based on|per|in|by|and|the|as|but"
    r"|while|study|studies|paper|report|article|here|full text|further reading|doi"
    r"|参考(?:资料|文献|来源|链接)?|资料来源|数据来源|信息来源|来源|出处|引自|引用|详见|参见|见|据"
    r"|根据|按照|依据|链接|以上(?:内容|信息|资料)?(?:来自|参考|见|均来自)?|原文|网址)[\s\-*:：,，.。;；、()（）]*)*",
    re.IGNORECASE,
)


class Use(msgspec.Struct, frozen=True, gc=False):
    """One citation and the words that it is to support."""

    citation: Citation
    claim: str
    other: str  # the same without the words of its link, which may be a title
    sentence: int  # its place among the statements, -1 where there is none
    group: int  # markers side by side have the same
    following: str  # what stands between it and the end of its sentence


class Reading(NamedTuple):
    """An answer taken apart."""

    statements: list[Sentence]  # without their markers
    uses: list[Use]
    listed: list[Reference]
    text: str

    def beside(self, one: int, other: int) -> bool:
        """Whether a statement stands in the same paragraph as a later one."""
        first, last = self.statements[one].start, self.statements[other].start
        return self.text.find("\n", first, last) < 0

    @property
    def plain_uses(self) -> list[Use]:
        """Those that are citations whatever the sources are called."""
        return [use for use in self.uses if use.citation.form != "name"]


def read(text: str) -> Reading:
    """The statements of the answer, the citations in them, and its reference list."""
    listed = reference_list(text)
    found = citations_outside(text, listed)
    shown = hidden(text, listed)
    bare = without(shown, found, keep_words=False)
    parts = parts_of(text, bare, shown, found)
    statements = [part if len(part.text) <= _LONGEST else _cut(part) for part in parts]
    return Reading(statements, _uses(bare, shown, parts, found), listed, text)


def is_bare(statement: Sentence) -> bool:
    """Whether it is nothing but markers and words that lead to them."""
    return len(statement.text) <= _LONGEST_LEAD and says_nothing(statement.text)


def _cut(part: Sentence) -> Sentence:
    return part._replace(text=part.text[:_LONGEST].strip())


@lru_cache(maxsize=1024)
def says_nothing(words: str) -> bool:
    """Whether these words only lead to a marker."""
    lead = _LEAD.match(words)
    rest = words[lead.end() :] if lead else words
    return _TWO_WORDS.search(rest, 0, 200) is None


def _uses(bare: str, shown: str, parts: Sequence[Sentence], found: Sequence[Citation]) -> list[Use]:
    """Each citation with its words; one that repeats another in the same group is left out."""
    homes = _homes(shown, parts, found)
    groups = _groups(shown, found, homes)
    places = _places(found, homes, groups)
    uses: list[Use] = []
    seen: set[tuple[int, str, str]] = set()
    for citation, home, group in zip(found, homes, groups, strict=True):
        if (group, citation.form, citation.marker) in seen:
            continue
        seen.add((group, citation.form, citation.marker))
        if home < 0:
            uses.append(Use(citation, "", "", -1, group, ""))
            continue
        part, (_, first, last) = parts[home], places[group]
        before, after = part.start, part.end
        if group and places[group - 1][0] == home:
            before = max(before, places[group - 1][2])
        if group + 1 < len(places) and places[group + 1][0] == home:
            after = places[group + 1][1]
        beside = (before > part.start, after < part.end)
        before, after = max(before, first - _LONGEST), min(after, last + _LONGEST)
        claim, other = _claim(bare, citation, before, first, last, after, beside)
        uses.append(Use(citation, claim, other, home, group, bare[last:after].strip()))
    return uses


def _places(
    found: Sequence[Citation], homes: Sequence[int], groups: Sequence[int]
) -> list[tuple[int, int, int]]:
    """The sentence, start and end of each group."""
    places: list[tuple[int, int, int]] = []
    for citation, home, group in zip(found, homes, groups, strict=True):
        if group == len(places):
            places.append((home, citation.start, citation.end))
        else:
            places[-1] = (home, places[-1][1], max(places[-1][2], citation.end))
    return places


def _claim(
    bare: str,
    citation: Citation,
    before: int,
    first: int,
    last: int,
    after: int,
    beside: tuple[bool, bool],
) -> tuple[str, str]:
    """What a marker vouches for, and another way to read it where its link has words.

    The words before it; those after it too where it opens the sentence or stands inside a clause,
    as in `the study [1] found …`.
    """
    ahead, behind = bare[before:first].strip(), bare[last:after].strip()
    inside = bool(behind) and (not _STOP.match(behind) or _SAID_BY.match(ahead) is not None)
    label = bare[first:last].strip() if citation.form == "link" else ""
    if label and ahead.endswith(("(", "（", "[", "见", "see", "via")):
        ahead, label, inside = ahead.rstrip("(（["), "", False  # the link's words are its title
    if says_nothing(ahead):
        whole = _joined("" if any(beside) else ahead, label, behind)
        return whole, behind if behind and not _DIGIT.search(label) else whole
    if inside:
        if beside[0]:  # back to the comma: the rest is another citation's
            ahead = _SPLIT.split(ahead)[-1]
        if beside[1]:
            behind = "".join(_SPLIT.split(behind)[:-1])
        whole = _joined(ahead, label, behind)
        return whole, whole
    claim = _joined(ahead, label) if label else ahead
    return claim, claim if _DIGIT.search(label) else ahead


def _joined(*pieces: str) -> str:
    return " ".join([piece for each in pieces if (piece := each.strip())])


def _homes(shown: str, parts: Sequence[Sentence], found: Sequence[Citation]) -> list[int]:
    """The sentence each citation belongs to: the one it stands in, else the one before it."""
    homes: list[int] = []
    starts = [part.start for part in parts]
    for citation in found:
        # The words of a link are part of its sentence, its first bracket is not.
        place = citation.start + (citation.form == "link")
        at = max(0, bisect(starts, place) - 1)
        if not parts:
            homes.append(-1)
        elif parts[at].start > place:
            same = "\n" not in shown[citation.end : parts[at].start]
            homes.append(at if same else -1)
        elif "\n" not in shown[parts[at].end : citation.start]:
            homes.append(at)
        elif at + 1 < len(parts) and "\n" not in shown[citation.end : parts[at + 1].start]:
            homes.append(at + 1)
        else:
            homes.append(-1)  # a line of markers
    return homes


def _groups(shown: str, found: Sequence[Citation], homes: Sequence[int]) -> list[int]:
    """Markers with nothing but signs and spaces between them are one group."""
    groups: list[int] = []
    for number, citation in enumerate(found):
        if not number:
            groups.append(0)
            continue
        last = found[number - 1]
        between = shown[last.end : citation.start] if citation.start >= last.end else ""
        together = homes[number] == homes[number - 1] and not _CONTENT.search(between)
        groups.append(groups[-1] if together else groups[-1] + 1)
    return groups
