"""The parts of a prompt that matter to edits and checks: lists, sentences and placeholders.

Fenced code, headings and tables are never moved. A list is left out if its items contain fences or
several paragraphs: moving an item would separate it from its other paragraphs.

Placeholders are `{name}`, `{{name}}`, `$name`, `${name}`, `<<NAME>>`, `%(name)s`, and template
blocks such as `{% if … %}` and `{{#each}}`. The template engine is not known here, so everything
that looks like a placeholder is one. A mutation keeps all placeholders and adds none; blocks also
keep their order.
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


class ListItem(NamedTuple):
    """Lines `start` to `end` (exclusive) of the prompt; `lines[0]` is without its marker."""

    start: int
    end: int
    number: int
    lines: tuple[str, ...]

    @property
    def text(self) -> str:
        return "\n".join(self.lines)


class PromptList(NamedTuple):
    """A list with items of one kind and depth. `sign` is the bullet, or the sign after a number."""

    kind: Kind
    indent: str
    sign: str
    items: tuple[ListItem, ...]

    def marker(self, place: int) -> str:
        """Return the marker, such as `- ` or `2. `, for the item at this index."""
        if self.kind == "bullets":
            return f"{self.indent}{self.sign} "
        numbers = [item.number for item in self.items]
        last = numbers[-1]
        same = len(numbers) > 1 and len(set(numbers)) == 1
        number = numbers[place] if place < len(numbers) else last + (not same)
        return f"{self.indent}{number}{self.sign}" + ("" if self.sign == "、" else " ")


class Outline(NamedTuple):
    """The lists of a prompt; `prose` are the indexes of ordinary lines."""

    lines: tuple[str, ...]
    lists: tuple[PromptList, ...]
    prose: tuple[int, ...]

    def replace_list(
        self, list_: PromptList, items: Sequence[Sequence[str]], other: PromptList | None = None
    ) -> list[str]:
        """Return the prompt's lines with new items in a list, keeping the blank lines between them.

        The markers are those of `other`, by default those of the list itself.
        """
        marks = other or list_
        first, last = list_.items[0].start, list_.items[-1].end
        pairs = zip(list_.items, list_.items[1:], strict=False)
        gaps = [list(self.lines[a.end : b.start]) for a, b in pairs]
        new: list[str] = []
        for place, item in enumerate(items):
            if place:
                new += gaps[place - 1] if place <= len(gaps) else (gaps[-1] if gaps else [])
            new += [marks.marker(place) + item[0], *item[1:]]
        return [*self.lines[:first], *new, *self.lines[last:]]


def parse_outline(text: str) -> Outline:
    lines = text.split("\n")
    lists: list[PromptList] = []
    prose: list[int] = []
    at = 0
    while at < len(lines):
        if _FENCE.match(lines[at]):
            at = _after_fence(lines, at)
        elif (found := _match_item(lines[at])) is not None:
            list_, at, whole = _read_list(lines, at, found)
            if whole:
                lists.append(list_)
        else:
            if lines[at].strip() and not _ASIDE.match(lines[at]) and not _RULE.match(lines[at]):
                prose.append(at)
            at += 1
    return Outline(tuple(lines), tuple(lists), tuple(prose))


def split_sentences(line: str) -> list[tuple[int, int]]:
    """Return where the sentences of a line begin and end, with the blanks that follow them."""
    ends = [found.end() for found in _BREAK.finditer(line)]
    return list(zip([0, *ends], [*ends, len(line)], strict=True))


def _match_item(line: str) -> re.Match[str] | None:
    return None if _RULE.match(line) else _ITEM.match(line)


def _after_fence(lines: Sequence[str], at: int) -> int:
    mark = lines[at].strip()[:3]
    for end in range(at + 1, len(lines)):
        if lines[end].strip().startswith(mark):
            return end + 1
    return len(lines)


def _read_list(lines: Sequence[str], at: int, found: re.Match[str]) -> tuple[PromptList, int, bool]:
    """Return the list that begins here, where it ends, and whether its items may be moved."""
    kind: Kind = "bullets" if found["bullet"] else "numbered"
    indent, sign = found["indent"], found["bullet"] or found["sign"]
    items: list[ListItem] = []
    while True:
        end = at + 1
        while end < len(lines) and _belongs(lines[end], indent):
            if _FENCE.match(lines[end]):
                return PromptList(kind, indent, sign, tuple(items)), end, False
            end += 1
        words = (found["body"], *lines[at + 1 : end])
        items.append(ListItem(at, end, int(found["number"] or 0), words))
        after = end
        while after < len(lines) and not lines[after].strip():
            after += 1
        follows = _match_item(lines[after]) if after < len(lines) else None
        if follows is None or (follows["indent"], follows["bullet"] or follows["sign"]) != (
            indent,
            sign,
        ):
            loose = after < len(lines) and after > end and _belongs(lines[after], indent)
            goes_on = end < len(lines) and lines[end][:1].islower()
            return PromptList(kind, indent, sign, tuple(items)), end, not (loose or goes_on)
        at, found = after, follows


def _belongs(line: str, indent: str) -> bool:
    """Return whether a line continues the item above it."""
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


def find_placeholders(text: str) -> frozenset[str]:
    """Return the placeholders of a text as they are written, without template blocks."""
    return frozenset(found[0] for found in _PLACE.finditer(text) if not found["block"])


def find_blocks(text: str) -> tuple[str, ...]:
    """Return the template blocks of a text, in order."""
    return tuple(found[0] for found in _PLACE.finditer(text) if found["block"])


def find_broken_placeholder(parent: str, text: str, own: tuple[str, ...] = ()) -> str | None:
    """Return what is wrong with the placeholders of a text, or None.

    `own` are placeholders of any other form, from the settings.
    """
    had, has = find_placeholders(parent), find_placeholders(text)
    lost = sorted((had - has) | {one for one in own if one in parent and one not in text})
    if lost:
        return f"the placeholder {lost[0]} is gone"
    if has - had:
        return f"the placeholder {min(has - had)} is new: it would not be filled in"
    if find_blocks(parent) != find_blocks(text):
        return "the template blocks differ from the parent's"
    fields = _fields(parent)
    if fields and _fields(text) != fields:
        return "a brace was added: str.format could no longer fill in the prompt"
    return None


def _fields(text: str) -> frozenset[str] | None:
    """Return the fields that `str.format` would fill in; None where it would fail."""
    try:
        names = {name for _, name, _, _ in Formatter().parse(text) if name is not None}
    except ValueError:
        return None
    heads = {re.split(r"[.\[]", name, maxsplit=1)[0] for name in names}
    return frozenset(names) if all(head.isidentifier() for head in heads) else None
