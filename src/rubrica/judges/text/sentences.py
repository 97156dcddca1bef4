"""Sentences of English and Chinese text, markdown included, each with its exact place.

A heading, a bullet, a table row and a fenced block are pieces of their own. Every scan is one pass
over the text: no pattern here can be made to back up.
"""

import re
from collections.abc import Callable, Iterator
from functools import cache, lru_cache, partial
from typing import NamedTuple

from rubrica.judges.text.lists import words_of


class Sentence(NamedTuple):
    """A piece of a text: `text` is what stands from `start` to `end`."""

    text: str
    start: int
    end: int


#: Makes one by place, much faster: an output has many.
_sentence: Callable[[tuple[str, int, int]], Sentence] = partial(tuple.__new__, Sentence)
#: Marks before the words of a line: quote, heading, bullet, task box. Numbers of a list are words.
_MARKER = re.compile(r"[ \t>]*(?:#{1,6}[ \t]+|[-*+•‣◦·–—][ \t]+)?(?:\[[ xX]\][ \t]+)?")
_RULE = re.compile(r"[\s|:=_*~-]+\Z")
#: What the two may begin with: most lines can be told from one sign to be neither.
_MARKERS, _RULES = frozenset(" \t>#-*+•‣◦·–—["), frozenset("|:=_*~-")
#: Signs that stop a sentence. Where a text has one of them only, it is found much faster.
_SIGNS, _PLAIN_SIGNS = ".!?。！？；…", ".!?"
_MORE = f"[{_SIGNS}]*+"
#: Behind a stop: the quotes and brackets that it closes, and the marks of sources.
_CLOSED = r"[\"'”’)\]）」』】》*_`]*(?:[ ]?(?:\[\^?\d{1,3}\]|【\d{1,3}】))*"
#: A group marks the common cases, where nothing has to be looked at: a Chinese stop, or a point
#: between a long word that is no abbreviation and a capital. Inside a number or an address is none.
_HAN_STOP = rf"(?<=[。！？；])(?:(?=[ ]?[\u4e00-\u9fff])|{_MORE}{_CLOSED})()|"
_BEHIND = (
    r"(?=[ \[])(?<=[a-z]{5}\.)(?<!pprox\.)(?<!essrs\.)(?:\[\d{1,3}\])*+(?=[ ][A-Z])()"
    rf"|(?![0-9A-Za-z]){_MORE}{_CLOSED}"
)
_BEFORE = re.compile(r"([^\W\d_]+(?:\.[^\W\d_]+)*)\Z")
_NUMBERED = re.compile(r"[\s(（]*(?:\d{1,3}|[A-Za-z]|[ivxIVX]{1,4})\Z")
#: Abbreviations that never end a sentence, and those that do before a word that opens one.
_WORD_AFTER = re.compile(r"[\s\"'“‘(\[*_`]*([^\W\d_]+)")
#: Characters looked at before and after a full stop.
_NEAR = 40


def sentences(text: str) -> list[Sentence]:
    """The sentences in order; pieces without a letter or digit are left out."""
    return list(_sentences(text))


def _stops(text: str) -> re.Pattern[str]:
    """Where a text may stop."""
    signs = [sign for sign in (_PLAIN_SIGNS if text.isascii() else _SIGNS) if sign in text]
    if len(signs) < 2:
        return _stops_at(signs[0] if signs else ".")
    return _stops_at(_PLAIN_SIGNS if signs[-1] in _PLAIN_SIGNS else _SIGNS)


@cache
def _stops_at(signs: str) -> re.Pattern[str]:
    return re.compile(f"[{signs}](?:{'' if signs.isascii() else _HAN_STOP}{_BEHIND})")


@lru_cache(maxsize=64)  # several judges read the same output, one after the other
def _sentences(text: str) -> tuple[Sentence, ...]:
    found: list[tuple[str, int, int]] = []
    stops = _stops(text).finditer
    for start, end, whole in _lines(text):
        begin = start
        for stop in () if whole else stops(text, start, end):
            after = stop.end()
            if stop.lastindex is None and after < end:
                if "!" <= text[after] <= "~":
                    continue  # inside a number or an address
                if not _ends(text, begin, stop.start(), after):
                    continue
            first = text[begin]
            if first == " ":
                begin += 1
                first = text[begin]
            if first.isalnum():
                found.append((text[begin:after], begin, after))
            else:
                _keep(text, begin, after, found)
            begin = after
        if begin < end:
            _keep(text, begin, end, found)
    return tuple(map(_sentence, found))


def _lines(text: str) -> Iterator[tuple[int, int, bool]]:
    """Start and end of what may hold sentences, and whether it is one piece as it stands."""
    fence = -1
    mark = ""
    place = 0
    for line in text.splitlines(keepends=True):
        start, place = place, place + len(line)
        bare = line.strip()
        if not bare:
            continue
        sign = bare[0]
        if fence >= 0:
            if bare.startswith(mark) and not bare.strip(mark[0]):
                yield fence, start, True
                fence = -1
            continue
        if sign in "`~" and bare.startswith(("```", "~~~")) and bare.count(bare[:3]) == 1:
            # Opened and closed on one line, it is text.
            fence, mark = place, bare[:3]
            continue
        if sign in _RULES and _RULE.match(bare):
            continue
        end = start + len(line.rstrip())
        if line[0] in _MARKERS:
            marker = _MARKER.match(line)
            start += marker.end() if marker else 0
        yield start, end, sign == "|"
    if fence >= 0:
        yield fence, len(text), True


def _keep(text: str, start: int, end: int, found: list[tuple[str, int, int]]) -> None:
    piece = text[start:end]
    bare = piece.strip()
    if not bare or not (bare[0].isalnum() or any(map(str.isalnum, bare))):
        return
    start += len(piece) - len(piece.lstrip())
    found.append((bare, start, start + len(bare)))


def _ends(text: str, begin: int, at: int, after: int) -> bool:
    """Whether a stop from `at` to `after`, with more of the line behind it, ends the sentence."""
    following = text[after]
    sign = text[at:after]
    if sign[0] in "!?":
        return following.isspace() or ord(following) > 0x2E7F
    if not following.isspace():
        # A point inside a number, a name of a file, an address; or one before Chinese.
        return ord(following) > 0x2E7F and (sign[-1] in "。！？；" or not text[at - 1].isdigit())
    if sign.startswith(("...", "…")):
        return _capital_follows(text, after)
    return full_stop(text, begin, at, after)


def full_stop(text: str, begin: int, at: int, after: int) -> bool:
    """Whether a point before a space ends the sentence."""
    before = text[max(begin, at - _NEAR) : at]
    if at - begin <= 6 and _NUMBERED.match(text[begin:at]):
        return False
    word = before.rpartition(" ")[2]
    if not word.isalpha():
        found = _BEFORE.search(word)
        word = found[1] if found else ""
    last = word.lower()
    short, ending = words_of("abbreviations.txt"), words_of("endings.txt")
    plain = len(last) != 1 and last not in short and last not in ending
    if plain and text[after + 1 : after + 2].isupper():
        return True  # as nearly always
    following = _WORD_AFTER.match(text, after, min(len(text), after + _NEAR))
    if last in short:
        # "no" is an abbreviation only before a number.
        return last == "no" and not text[after : after + 2].strip()[:1].isdigit()
    if last in ending:
        return following is not None and following[1][0].isupper() and _opens(following)
    if len(last) == 1 and word.isupper():
        initials = following is not None and len(following[1]) == 1
        if initials and text.startswith(".", following.end() if following else after):
            return False
        if not (following and _opens(following)) and _initial(before[: -len(word)]):
            return False
    return following is None or not following[1][0].islower()


def _opens(following: re.Match[str]) -> bool:
    return following[1].lower() in words_of("openers.txt")


def _initial(before: str) -> bool:
    """Whether a single capital is of a name, `John F. Kennedy`, and not of `vitamin C.`"""
    word = before.rstrip(" .").rsplit(" ", 1)[-1].strip("\"'“(*_")
    return not word or word[0].isupper() or word.lower() in words_of("links.txt")


def _capital_follows(text: str, after: int) -> bool:
    following = _WORD_AFTER.match(text, after, min(len(text), after + _NEAR))
    return following is not None and not following[1][0].islower()
