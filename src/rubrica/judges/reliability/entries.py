"""References without an address: what the form of the entry or the name in it says."""

import re
from functools import cache

from rubrica.judges.reliability.listing import Group, groups

_JOURNAL = Group("primary", "", "a journal or conference paper, by the form of its reference")
_THESIS = Group("primary", "", "a thesis, by the form of its reference")
_STANDARD = Group("primary", "", "a standard or patent, by the form of its reference")
_REPORT = Group("primary", "", "a report of its publisher, by the form of its reference")
_BOOK = Group("secondary", "", "a book, by the form of its reference")
_PRESS = Group("secondary", "", "a newspaper, by the form of its reference")
_NOWHERE = Group("unreliable", "", "names nothing that can be looked up")

#: The letters of GB/T 7714: [J] journal, [M] book and so on.
_LETTER = re.compile(r"[\[［]\s?(J|C|D|S|P|R|M|N|G|A|Z)(?:/OL)?\s?[\]］]")
_BY_LETTER = {
    **dict.fromkeys("JCA", _JOURNAL),
    **dict.fromkeys("SP", _STANDARD),
    **dict.fromkeys("MG", _BOOK),
    "D": _THESIS,
    "R": _REPORT,
    "N": _PRESS,
}
_VOLUME = re.compile(
    r"\b\d{1,4}\s?[(（]\s?(?:\d{1,4}(?:[-–/]\d{1,4})?|[Ss]uppl[^()]{0,10})\s?[)）]\s?[:：,，;]\s?(?:pp?\.?\s?)?[A-Za-z]?\d"
    r"|\b(?:19|20)\d\d\s?[;,，]\s?\d{1,4}\s?(?:[(（][^()（）]{1,12}[)）])?\s?[:：]\s?[A-Za-z]?\d"
    r"|\bvol(?:\.|ume)\s?\d{1,4}\b|第\d{1,4}卷|\d{4}年第\d{1,2}期"
)
_PROCEEDINGS = re.compile(
    r"\b(?:In )?Proc(?:\.|eedings)\b|\bJournal of\b|\bTransactions on\b|学报|会议论文集"
)
_YEAR = re.compile(r"(?:1[5-9]|20)\d\d")
_BOOKISH = re.compile(
    r"\bISBN\b|\b(?:University |Academic )?Press\b|\b\d(?:st|nd|rd|th) ed\b|\bedition\b"
    r"|出版社|教材|书局|第[一二三四五六七八九十\d]+版",
    re.IGNORECASE,
)
#: Words beside the name that make a title; a bare name points at nothing in particular.
_TITLED = 4


def rate_entry(text: str) -> tuple[Group, bool]:
    """The group of a reference, and whether it says enough to be looked up."""
    text = text[:1000]
    if found := _LETTER.search(text):
        return _BY_LETTER.get(found[1], _REPORT), True
    if _YEAR.search(text) and (_VOLUME.search(text) or _PROCEEDINGS.search(text)):
        return _JOURNAL, True
    if named := publisher_in(text):
        return named, _YEAR.search(text) is not None and _size(text) >= _TITLED
    if _BOOKISH.search(text):
        return _BOOK, True
    return _NOWHERE, False


def _size(text: str) -> int:
    """Words, with two Chinese characters as one."""
    return len(re.findall(r"[A-Za-z][\w'-]+", text)) + len(re.findall(r"[㐀-鿿]", text)) // 2


def publisher_in(text: str) -> Group | None:
    """The group of the publisher named in a line; the first one where there are several."""
    named = [
        (match.start(), -len(name), name)  # of two at one place the longer
        for name in filter(text.casefold().__contains__, _groups())
        if (match := _form(name).search(text))
    ]
    return _groups()[min(named)[2]] if named else None


@cache
def _groups() -> dict[str, Group]:
    return {
        name.replace("_", " ").casefold(): group
        for group, entries in list(groups("names.txt"))
        for entry in entries
        for name in entry.partition("=")[2].split("|")
    }


@cache
def _form(name: str) -> re.Pattern[str]:
    """How a name is written; a short Latin one with its capitals: WHO and not who."""
    if not name.isascii():
        return re.compile(re.escape(name), re.IGNORECASE)
    if len(name) <= 5 and name.isalpha():
        return re.compile(rf"\b(?:{name.upper()}|{name.capitalize()})\b")
    return re.compile(rf"\b{re.escape(name)}\b", re.IGNORECASE)
