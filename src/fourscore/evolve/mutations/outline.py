"""The lists and sentences of a prompt, as far as an operator has to know them.

Code in fences, headings and tables are nobody's to move. A list whose items hold fences or loose
paragraphs is left out: moving an item would tear it from what belongs to it.
"""

import re
from collections.abc import Sequence
from typing import Literal, NamedTuple

Kind = Literal["numbered", "bullets"]
_ITEM = re.compile(
    r"^(?P<indent>[ \t]*)(?:(?P<number>\d{1,3})(?P<sign>[.)．]|、)|(?P<bullet>[-*+•]))"
    r"(?P<gap>[ \t]+|(?<=、))(?P<body>\S.*)$",
    re.DOTALL,
)
_FENCE = re.compile(r"^[ \t]*(?:```|~~~)")
_RULE = re.compile(r"^[ \t]*(?:[-*_][ \t]*){3,}$")
_ASIDE = re.compile(r"^[ \t]*(?:#|\||>|<[/\w!]|\{%|---)")
_BREAK = re.compile(r"(?<=[.!?])[ \t]+(?=[A-Z\"'(])|(?<=[。！？])[ \t]*(?=[^\s。！？”’）)])")


class Item(NamedTuple):
    """Lines `start` to `end`; `lines` begin with what follows the marker."""

    start: int
    end: int
    number: int
    lines: tuple[str, ...]

    @property
    def text(self) -> str:
        return "\n".join(self.lines)


class Run(NamedTuple):
    """Items of one kind and depth, one after the other. `sign` is what stands by their numbers."""

    kind: Kind
    indent: str
    sign: str
    items: tuple[Item, ...]

    def marker(self, place: int) -> str:
        """What stands before the item at a place: the numbers stay where they are."""
        if self.kind == "bullets":
            return f"{self.indent}{self.sign} "
        numbers = [item.number for item in self.items]
        last = numbers[-1]
        same = len(numbers) > 1 and len(set(numbers)) == 1
        number = numbers[place] if place < len(numbers) else last + (not same)
        return f"{self.indent}{number}{self.sign}" + ("" if self.sign == "、" else " ")


class Outline(NamedTuple):
    """`runs` are lists, `prose` the places of lines that are neither lists nor anything special."""

    lines: tuple[str, ...]
    runs: tuple[Run, ...]
    prose: tuple[int, ...]

    def rebuilt(
        self, run: Run, items: Sequence[Sequence[str]], other: Run | None = None
    ) -> list[str]:
        """The lines with other items in the place of a list, blank lines kept between them;
        `other` has the markers, where they change too."""
        marks = other or run
        first, last = run.items[0].start, run.items[-1].end
        pairs = zip(run.items, run.items[1:], strict=False)
        gaps = [list(self.lines[a.end : b.start]) for a, b in pairs]
        new: list[str] = []
        for place, item in enumerate(items):
            if place:
                new += gaps[place - 1] if place <= len(gaps) else (gaps[-1] if gaps else [])
            new += [marks.marker(place) + item[0], *item[1:]]
        return [*self.lines[:first], *new, *self.lines[last:]]


def outline(text: str) -> Outline:
    lines = text.split("\n")
    runs: list[Run] = []
    prose: list[int] = []
    at = 0
    while at < len(lines):
        if _FENCE.match(lines[at]):
            at = _after_fence(lines, at)
        elif (found := _item(lines[at])) is not None:
            run, at, whole = _run(lines, at, found)
            if whole:
                runs.append(run)
        else:
            if lines[at].strip() and not _ASIDE.match(lines[at]) and not _RULE.match(lines[at]):
                prose.append(at)
            at += 1
    return Outline(tuple(lines), tuple(runs), tuple(prose))


def sentences(line: str) -> list[tuple[int, int]]:
    """Where the sentences of a line stand, each with the blanks that follow it."""
    ends = [found.end() for found in _BREAK.finditer(line)]
    return list(zip([0, *ends], [*ends, len(line)], strict=True))


def _item(line: str) -> re.Match[str] | None:
    return None if _RULE.match(line) else _ITEM.match(line)


def _after_fence(lines: Sequence[str], at: int) -> int:
    mark = lines[at].strip()[:3]
    for end in range(at + 1, len(lines)):
        if lines[end].strip().startswith(mark):
            return end + 1
    return len(lines)


def _run(lines: Sequence[str], at: int, found: re.Match[str]) -> tuple[Run, int, bool]:
    """The list that begins here, where it ends, and whether nothing else belongs to its items."""
    kind: Kind = "bullets" if found["bullet"] else "numbered"
    indent, sign = found["indent"], found["bullet"] or found["sign"]
    items: list[Item] = []
    while True:
        end = at + 1
        while end < len(lines) and _belongs(lines[end], indent):
            if _FENCE.match(lines[end]):
                return Run(kind, indent, sign, tuple(items)), end, False
            end += 1
        words = (found["body"], *lines[at + 1 : end])
        items.append(Item(at, end, int(found["number"] or 0), words))
        after = end
        while after < len(lines) and not lines[after].strip():
            after += 1
        follows = _item(lines[after]) if after < len(lines) else None
        if follows is None or (follows["indent"], follows["bullet"] or follows["sign"]) != (
            indent,
            sign,
        ):
            loose = after < len(lines) and after > end and _belongs(lines[after], indent)
            goes_on = end < len(lines) and lines[end][:1].islower()
            return Run(kind, indent, sign, tuple(items)), end, not (loose or goes_on)
        at, found = after, follows


def _belongs(line: str, indent: str) -> bool:
    """Whether a line goes on with the item above it."""
    blank = line[: len(line) - len(line.lstrip(" \t"))]
    return bool(line.strip()) and len(blank) > len(indent) and blank.startswith(indent)
