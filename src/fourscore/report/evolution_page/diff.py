"""What changed between two texts, line by line, and within lines word by word.

The texts are not trusted, and comparing them can take time in proportion to the product of their
lengths. So the lines that both begin and end with are taken off first, and where the rest is still
too long, all of it is shown as removed and added.
"""

import re
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher

import msgspec

#: Pairs of lines, or of words in a line, that are compared; beyond them nothing is matched.
PAIRS, WORD_PAIRS = 250_000, 40_000
#: Lines around a change, lines and characters that are shown, characters of one line.
AROUND, LINES, CHARACTERS, LONGEST = 2, 400, 30_000, 4_000

_WORDS = re.compile(r"\w+|\s+|[^\w\s]")

Piece = tuple[str, bool]
#: A range of lines: what it is, and where it begins and ends in either text.
Range = tuple[str, int, int, int, int]


class Line(msgspec.Struct, frozen=True, array_like=True):
    """`sign` is +, -, a space for what stayed, or @ for unchanged lines that are not shown."""

    sign: str
    pieces: tuple[Piece, ...]


class Changes(msgspec.Struct, frozen=True, kw_only=True):
    """`added` and `removed` count all lines, `left_out` those that are not in `lines`."""

    lines: list[Line]
    added: int
    removed: int
    left_out: int = 0


def changes(old: str, new: str) -> Changes:
    before, after = old.split("\n"), new.split("\n")
    ranges = _ranges(before, after)
    shown: list[Line] = []
    size = left_out = 0
    for line in _lines(before, after, ranges):
        size += sum(len(text) for text, _ in line.pieces)
        if len(shown) < LINES and size <= CHARACTERS:
            shown.append(line)
        else:
            left_out += 1
    changed = [each for each in ranges if each[0] != "equal"]
    return Changes(
        lines=shown,
        added=sum(each[4] - each[3] for each in changed),
        removed=sum(each[2] - each[1] for each in changed),
        left_out=left_out,
    )


def _ranges(before: Sequence[str], after: Sequence[str]) -> list[Range]:
    head = _count_common(before, after)
    a, b = before[head:], after[head:]
    tail = _count_common(a[::-1], b[::-1])
    a, b = a[: len(a) - tail], b[: len(b) - tail]
    found: list[Range] = [("equal", 0, head, 0, head)] if head else []
    for kind, i, j, k, m in _find_ranges(a, b, PAIRS):
        found.append((kind, i + head, j + head, k + head, m + head))
    if tail:
        ends = len(before), len(after)
        found.append(("equal", ends[0] - tail, ends[0], ends[1] - tail, ends[1]))
    return found


def _find_ranges(a: Sequence[str], b: Sequence[str], most: int) -> list[Range]:
    if len(a) * len(b) > most:
        return [("replace", 0, len(a), 0, len(b))]
    return list(SequenceMatcher(None, a, b, autojunk=False).get_opcodes())


def _count_common(a: Sequence[str], b: Sequence[str]) -> int:
    """Return how many items both have in common from the start."""
    count = 0
    for one, other in zip(a, b, strict=False):
        if one != other:
            break
        count += 1
    return count


def _lines(before: Sequence[str], after: Sequence[str], ranges: list[Range]) -> Iterator[Line]:
    for place, (kind, i, j, k, m) in enumerate(ranges):
        if kind == "equal":
            yield from _show_unchanged(before[i:j], first=not place, last=place + 1 == len(ranges))
            continue
        old, new = before[i:j], after[k:m]
        marked = [_mark_words(a, b) for a, b in zip(old, new, strict=False)]
        both = len(marked)
        yield from (Line("-", one) for one, _ in marked)
        yield from (Line("-", _plain(text)) for text in old[both:])
        yield from (Line("+", other) for _, other in marked)
        yield from (Line("+", _plain(text)) for text in new[both:])


def _show_unchanged(lines: Sequence[str], *, first: bool, last: bool) -> Iterator[Line]:
    """Return the unchanged lines next to a change, and a count of the others."""
    head = 0 if first else AROUND
    tail = 0 if last else AROUND
    if len(lines) <= head + tail + 1:
        yield from (Line(" ", _plain(text)) for text in lines)
        return
    yield from (Line(" ", _plain(text)) for text in lines[:head])
    yield Line("@", ((str(len(lines) - head - tail), False),))
    yield from (Line(" ", _plain(text)) for text in lines[len(lines) - tail :])


def _mark_words(old: str, new: str) -> tuple[tuple[Piece, ...], tuple[Piece, ...]]:
    """Return both lines with the words marked that the other does not have."""
    if max(len(old), len(new)) > LONGEST:
        return _plain(old), _plain(new)
    a, b = _WORDS.findall(old), _WORDS.findall(new)
    found = _find_ranges(a, b, WORD_PAIRS)
    same = sum(len("".join(a[i:j])) for kind, i, j, _, _ in found if kind == "equal")
    if 3 * same < len(old) + len(new) - 2 * same:  # two lines that have little in common
        return _plain(old), _plain(new)
    one = [("".join(a[i:j]), kind != "equal") for kind, i, j, _, _ in found if i < j]
    other = [("".join(b[k:m]), kind != "equal") for kind, _, _, k, m in found if k < m]
    return tuple(one), tuple(other)


def _plain(text: str) -> tuple[Piece, ...]:
    return ((text if len(text) <= LONGEST else text[: LONGEST - 1] + "…", False),)
