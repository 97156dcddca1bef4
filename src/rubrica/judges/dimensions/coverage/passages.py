"""An answer as passages: its sentences, with the headings and labels that stand over each."""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

import msgspec

from rubrica.judges.dimensions.coverage.code import steps
from rubrica.judges.text.sentences import Sentence, sentences


class Passage(msgspec.Struct, frozen=True, gc=False):
    """A sentence, a row of a table or a block of code. `labels` are what it stands under."""

    text: str
    start: int
    end: int
    paragraph: int
    labels: tuple[str, ...] = ()
    mark: str = ""
    heading: bool = False


_HEADING = re.compile(r"\s{0,3}(#{1,6})\s+(.+?)\s*#*\s*$")
_BOLD = re.compile(
    r"\s*(?:\d{1,2}[.)、]\s*)?(?:\*\*|__)([^*_\n]{1,80}?)[:：]?(?:\*\*|__)[:：]?\s*$"
)
_CHAPTER = re.compile(
    r"\s*((?:第[一二三四五六七八九十\d]{1,3}[章节部篇步]|[一二三四五六七八九十]{1,2}、"
    r"|[（(][一二三四五六七八九十\d]{1,2}[)）])\s*[^。，；！？,.;!?]{1,30})\s*$"
)
_LABEL = re.compile(
    r"\s*(?:[-*+•]\s+|\d{1,2}[.)、]\s*|[（(]?[a-zA-Z\d][)）]\s*)?(?:\*\*|__|【|「)?([^:："
    r"|*_\n。！？!?；;，,【】「」]{1,60}?)(?:\*\*|__|】|」)?\s*(?:[:：]|\s[-–—]{1,2}\s"
    r"|(?<=】))(?:\*\*|__)?"
)
#: A title that runs into its text: `**Coop and run.** Allow ...`, `一、木材种类。国标 ...`.
_RUN_IN = re.compile(
    r"\s*(?:[-*+•]\s+)?(?:\d{1,2}[.)、]\s*)?(?:\*\*|__)([^*_\n]{1,60}?)[.。?？!！]?(?:\*\*|__)[.。]?\s*(?=\S)"
    r"|\s*(?:[一二三四五六七八九十]{1,2}、|[（(][一二三四五六七八九十\d]{1,2}[)）]|第[一二三四五六七八九十]{1,2}[，、])\s*"
    r"([^。，；！？,.;!?\s]{2,12})。(?=.)"
)
_MARK = re.compile(
    r"\s*(?:[-*+]\s+)?(?:\*\*)?[（(]?(?:(\d{1,2})|([a-hA-H])|([①-⑨])"
    r"|([一二三四五六七八九十]))(?:[)、）]|[.：:](?!\d)|(?<=[①-⑨]))"
)
#: Characters of the marker of a heading.
_MARKER = 3
_OPENS = frozenset("第一二三四五六七八九十（(")
#: Words of a title before a colon, and signs around a title that runs into its text.
_TITLE, _AROUND = 5, 10
#: Characters of a line that a label or a title is looked for in, and of one that is kept.
_HEAD, _SHORT = 80, 100
_NUMERALS = "一二三四五六七八九十"
_LIST = re.compile(r"\s*(?:[-*+•]\s|\d{1,2}[.)、]|[（(]?(?:[a-hA-H]|\d{1,2})[)）]|[①-⑨])")


def passages(text: str) -> list[Passage]:
    """The passages of the text in order."""
    found = _plain(text)
    return [*found, *_tables(text)] if "|" in text else found


def sections(pieces: Sequence[Passage]) -> dict[tuple[str, ...], list[Passage]]:
    """What stands under the labels of an answer, no sentence twice.

    Nothing where labels come again, or there is a table.
    """
    groups: dict[tuple[str, ...], list[Passage]] = {}
    group: list[Passage] = []
    before: tuple[str, ...] = ()
    once = set[str]()
    for piece in pieces:
        if piece.heading:
            continue
        if piece.paragraph < 0:
            return {}
        labels = piece.labels
        if labels is not before and labels != before:
            if labels in groups:
                return {}
            before = labels
            group = []
            if labels:
                groups[labels] = group
        if piece.text not in once:
            once.add(piece.text)
            group.append(piece)
    return groups


def unheaded(text: str, pieces: Sequence[Passage]) -> list[Passage]:
    """The headings of a text that has nothing else, as what it says: `**Rome**`.

    Several of markdown are an outline, which says nothing.
    """
    if len(pieces) > 1:
        pieces = [
            piece
            for piece in pieces
            if "#" not in text[max(piece.start - _MARKER, 0) : piece.start]
        ]
    return [msgspec.structs.replace(piece, heading=False) for piece in pieces]


class _Opening(NamedTuple):
    """What a line opens with: level and text of a heading, else a label or a title run in."""

    level: int
    title: str
    label: str
    run_in: str
    listed: bool
    mark: str


def _plain(text: str) -> list[Passage]:
    pieces: list[Passage] = []
    stack: list[tuple[int, str]] = []
    found = sentences(text)
    titled = text.count("\n#") + text.startswith("#") > 1
    at, paragraph, mark = 0, 0, ""
    line_end = -1  # the first line break behind the last sentence
    labels: tuple[str, ...] = ()
    for sentence in found:
        words, start, end = sentence
        if "\n" in words:
            at, paragraph = end, paragraph + 1
            labels = tuple([title for _, title in stack])
            pieces += _block(Passage(words, start, end, paragraph, labels))
            continue
        if line_end < at:
            line_end = text.find("\n", at)
            line_end = len(text) if line_end < 0 else line_end
        if not at or line_end < start:
            opening = _opening(text, start)
            gap = text.count("\n", at, start)
            if gap > 1 or opening.listed or not at:
                paragraph += 1
                mark = opening.mark
            if level := opening.level:
                while stack and stack[-1][0] >= level:
                    stack.pop()
                # The title of a whole document is no section of it.
                if not (level == 1 and titled and not stack and sentence is found[0]):
                    stack.append((level, opening.title))
                at = end
                pieces.append(Passage(words, start, end, paragraph, (), mark, True))
                continue
            labels = tuple([title for _, title in stack])
            if opening.label:
                labels = (*labels, opening.label)
            elif title := opening.run_in:
                labels = (*labels, title)
                if len(words) <= len(title) + _AROUND:
                    at = end
                    pieces.append(Passage(words, start, end, paragraph, (), mark, True))
                    continue
        at = end
        if words[0] != "|":
            pieces.append(Passage(words, start, end, paragraph, labels, mark))
    return pieces


def _block(code: Passage) -> Iterator[Passage]:
    """A block of code, in parts where its comments are labels. None of them is a heading."""
    parts = steps(code.text, code.start)
    for label, text, start, end in parts:
        yield Passage(text, start, end, code.paragraph, (*code.labels, label))
    if not parts:
        yield code


def _opening(text: str, place: int) -> _Opening:
    """What the line of this place opens with."""
    end = text.find("\n", place)
    line = text[text.rfind("\n", 0, place) + 1 : end if end >= 0 else len(text)]
    return _kept(line) if len(line) <= _SHORT else _opened(line)


def _opened(line: str) -> _Opening:
    level, title = _heading(line)
    head = line[:_HEAD]
    label = "" if level else _label(head)
    run_in = "" if level or label else _run_in(head)
    if line[:2].isalpha():  # as most lines are: no bullet, no number
        return _Opening(level, title, label, run_in, False, "")
    return _Opening(level, title, label, run_in, _LIST.match(line) is not None, _mark(line))


_kept = lru_cache(maxsize=1024)(_opened)  # headings and entries are those of other answers, too


def _label(head: str) -> str:
    """What stands before a colon or a dash at the head of a line."""
    if ":" in head or "：" in head or "】" in head or " - " in head or "–" in head or "—" in head:
        label = _LABEL.match(head)
        return label[1] if label else ""
    return ""


def _run_in(head: str) -> str:
    """The title that a line opens with, as a sentence of its own."""
    if "**" in head or "__" in head or head.lstrip()[:1] in _OPENS:
        title = _RUN_IN.match(head)
        return (title[1] or title[2]) if title else ""
    return ""


def _heading(line: str) -> tuple[int, str]:
    """The level and text of a heading; level 0 for any other line."""
    if "#" in line[:10] and (heading := _HEADING.match(line)):
        return len(heading[1]), heading[2]
    bare = line.strip()
    if len(bare) > 100:
        return 0, ""
    if ("**" in bare or "__" in bare) and (bold := _BOLD.match(line)):
        return 7, bold[1]
    if bare[:1] in _OPENS and (chapter := _CHAPTER.match(line)):
        return 7, chapter[1]
    if bare.endswith((":", "：")) and not _LIST.match(line) and _is_title(bare[:-1]):
        return 8, bare[:-1]
    return 0, ""


def _is_title(text: str) -> bool:
    """Whether what stands before a colon names a part, and does not lead up to a list."""
    if text.isascii():
        return len(text.split()) <= _TITLE and "," not in text
    return len(text) <= 2 * _TITLE and not any(sign in text for sign in "，,如以下")


def _mark(line: str) -> str:
    mark = _MARK.match(line)
    if mark is None:
        return ""
    if mark[3]:
        return str(ord(mark[3]) - 0x245F)
    if mark[4]:
        return str(_NUMERALS.index(mark[4]) + 1)
    return mark[1] or mark[2].lower()


def _tables(text: str) -> Iterator[Passage]:
    """Rows under their first cell, and columns under their header."""
    header: list[Sentence] = []
    paragraph, at = -1, 0
    for line in text.splitlines(keepends=True):
        start, at = at, at + len(line)
        if not line.lstrip().startswith("|"):
            header = []
            continue
        cells = list(_cells(line, start))
        if not header:
            header, paragraph = cells, paragraph - 1
            continue
        filled = [cell for cell in cells if any(map(str.isalnum, cell.text))]
        if not filled:
            continue
        paragraph -= 1
        if len(filled) > 1 and filled[0] is cells[0]:
            rest = text[filled[1].start : filled[-1].end]
            yield Passage(rest, filled[1].start, filled[-1].end, paragraph, (cells[0].text,))
        for name, cell in zip(header[1:], cells[1:], strict=False):
            if any(map(str.isalnum, cell.text)) and name.text:
                yield Passage(*cell, paragraph, (name.text,))


def _cells(line: str, start: int) -> Iterator[Sentence]:
    at = line.index("|") + 1
    pieces = line[at:].rstrip().split("|")
    if len(pieces) > 1 and not pieces[-1].strip():
        pieces.pop()
    at += start
    for piece in pieces:
        bare = piece.strip()
        begin = at + len(piece) - len(piece.lstrip()) if bare else at
        yield Sentence(bare, begin, begin + len(bare))
        at += len(piece) + 1
