"""Thousands that a space sets apart: 619 000, 1 234 567."""

import re

from rubrica.judges.text.lists import words_of
from rubrica.judges.text.units import LEADS

_SPACES = " \u00a0\u2009\u202f"
#: At a glance, which rules out nearly all texts.
_GLANCE = re.compile(rf"\d[{_SPACES}]\d{{3}}(?!\d)")
_GROUPS = re.compile(
    rf"(?<![\w.,:/+-])[1-9]\d{{0,2}}([{_SPACES}])\d{{3}}(?:\1\d{{3}})*"
    rf"(?![A-Za-z\d_:/-]|,\d|[{_SPACES}]\d)"
)
_NUMBER_BEFORE = re.compile(rf"(?<!\d)(\d{{1,9}})[{_SPACES}]\Z")
_YEAR = re.compile(r"[12]\d{3}")
#: Characters before a number that are looked at.
_REACH = 30
_WORD_BEHIND = re.compile(" ([a-z]+)")


def grouped(text: str) -> str:
    """The text with commas in such numbers; every place stays."""
    return text if _GLANCE.search(text) is None else _GROUPS.sub(_joined, text)


def _joined(found: re.Match[str]) -> str:
    space = found[1]
    joined = space != " " or _is_one(found)
    return found[0].replace(space, ",") if joined else found[0]


def _is_one(found: re.Match[str]) -> bool:
    """Whether groups with plain spaces are one number, and no list of codes or of counts.

    `404 500 503` are three, `2 500 mg tablets` are two, and `Windows 10 500 users` begins a name.
    """
    number, text = found[0], found.string
    before = text[max(0, found.start() - _REACH) : found.start()]
    other = _NUMBER_BEFORE.search(before)
    if other is not None and _YEAR.fullmatch(other[1]) is None:
        return False
    if number.endswith("000"):
        return True
    behind = _WORD_BEHIND.match(text, found.end())
    if behind is None or behind[1] in LEADS or behind[1] in words_of("stop.txt"):
        return False
    word = before.rstrip().rpartition(" ")[2]
    return number.find(" ") < 3 and (not word or word.islower())
