"""The parts of a prompt that matter to edits and checks: lists, sentences and placeholders.

Fenced code, headings and tables are never moved. A list whose items hold fences or loose paragraphs
is left out: moving an item would tear it from what belongs to it.

Placeholders are `{name}`, `{{name}}`, `$name`, `${name}`, `<<NAME>>`, `%(name)s`, and template
blocks such as `{% if … %}` and `{{#each}}`. What fills a prompt in is not known here, so whatever
looks like a placeholder is one. A mutation keeps each of them and adds none; blocks also keep their
order.
"""

import re
from collections.abc import Sequence
from string import Formatter
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


_NAME = r"[^\W\d]\w{0,79}"
_PLACE = re.compile(
    r"(?P<block>\{%[^%\n]{1,200}%\}|\{\{[#/^>&!][^{}\n]{0,80}\}\})"
    rf"|\{{\{{[ \t]{{0,8}}[\w.\-]{{1,80}}(?:[ \t]{{0,8}}\|[^{{}}\n]{{0,80}})?[ \t]{{0,8}}\}}\}}"
    rf"|\$\{{{_NAME}\}}"
    rf"|\{{{_NAME}(?:[.\[][\w.\[\]]{{0,80}})?(?:![rsa])?(?::[^{{}}\n]{{0,40}})?\}}"
    rf"|\${_NAME}"
    r"|<<[ \t]{0,8}\w[\w\-]{0,79}[ \t]{0,8}>>"
    r"|%\(\w{1,80}\)[sdrfi]"
)


def places(text: str) -> frozenset[str]:
    """Those that are filled in, as they are written."""
    return frozenset(found[0] for found in _PLACE.finditer(text) if not found["block"])


def blocks(text: str) -> tuple[str, ...]:
    """Those that frame a part of the text, in order."""
    return tuple(found[0] for found in _PLACE.finditer(text) if found["block"])


def wrong_places(parent: str, text: str, own: tuple[str, ...] = ()) -> str | None:
    """What is wrong with the places of a text. `own` are others that its owner has named."""
    had, has = places(parent), places(text)
    lost = sorted((had - has) | {one for one in own if one in parent and one not in text})
    if lost:
        return f"the placeholder {lost[0]} is gone"
    if has - had:
        return f"the placeholder {min(has - had)} is new: nothing would fill it in"
    if blocks(parent) != blocks(text):
        return "the blocks of the template are not those of the parent"
    fields = _fields(parent)
    if fields and _fields(text) != fields:
        return "a brace is new: the prompt could no longer be filled in"
    return None


def _fields(text: str) -> frozenset[str] | None:
    """The fields of a text that `str.format` can fill in; None where it cannot."""
    try:
        names = {name for _, name, _, _ in Formatter().parse(text) if name is not None}
    except ValueError:
        return None
    heads = {re.split(r"[.\[]", name, maxsplit=1)[0] for name in names}
    return frozenset(names) if all(head.isidentifier() for head in heads) else None
