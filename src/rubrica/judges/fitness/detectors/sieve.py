"""Which lines of a text, or of many, may report a failure: all that do, and few that do not.

The expressions of `lexicon/errors.txt` count ("at most 80 characters, then"), and an automaton that
counts needs a state for each number: over texts as they come it grows until the engine gives it up
and takes 300 times as long. So the sieve looks for a looser form that finds everything that they
find: a bounded number is any number, and a wide beginning is left away. Whoever reads what is left
decides with the expressions themselves.
"""

import re
from collections.abc import Iterator, Sequence
from functools import cache

from rubrica.judges.fitness.detectors.lists import sections
from rubrica.judges.fitness.detectors.pattern import Found, Pattern, compiled, is_fast

#: Ends a text among many; `^` and `$` match beside it as they do at the ends of a text.
_BETWEEN = "\n\0\n"
#: What ends a line for `str.splitlines`, and does not for an expression.
_NARROW_BREAKS = (b"\r", b"\x0b", b"\x0c", b"\x1c", b"\x1d", b"\x1e")
_BREAKS = bytes.maketrans(b"".join(_NARROW_BREAKS), b"\n" * 6)
_WIDE_BREAKS = ("\x85", "\u2028", "\u2029")

_COUNTED = re.compile(r"\{(\d+)(?:,\d*)?\}\??")
_PIECE = re.compile(r"\\.|\[(?:\\.|[^\]\\])+\]|\(\?(?:-i)?:|.")
_WIDE = re.compile(r"(?:\\[Sw]|\]|(?<!\\)\.)[*+]")


@cache
def sieves() -> tuple[Pattern, ...]:
    """Two: one automaton for both would be many times as large as the two together."""
    groups = (("hard", "count"), ("soft",))
    lines = [[line for name in group for line in sections("errors")[name]] for group in groups]
    return tuple(
        compiled("(?im)" + "|".join(f"(?:{loosened(line)})" for line in group)) for group in lines
    )


def joined(texts: Sequence[str]) -> bytes:
    """Many texts as one to search in, with a zero byte between one and the next."""
    text = _BETWEEN.join(texts)
    if text.count("\0") != len(texts) - 1:
        text = _BETWEEN.join(each.replace("\0", " ") for each in texts)
    return _in_bytes(text)


def line_at(data: bytes, hit: Found) -> tuple[int, int]:
    """From where to where the line of a hit goes; a hit may begin with the break before it."""
    first = hit.start()
    while data[first : first + 1].isspace():
        first += 1
    end = data.find(b"\n", first)
    return data.rfind(b"\n", 0, first) + 1, len(data) if end < 0 else end


def suspect_lines(text: str) -> Iterator[tuple[int, str]]:
    """Lines that may report a failure, each with the place in the text where it begins."""
    if not is_fast():
        at = 0
        for line in text.splitlines(keepends=True):
            yield at, line.rstrip("\r\n")
            at += len(line)
        return
    data, at, decoded = _in_bytes(text), 0, 0
    ascii_only = len(data) == len(text)
    hits = [sieve.search(data) for sieve in sieves()]
    while found := [hit for hit in hits if hit is not None]:
        begin, end = line_at(data, min(found, key=lambda hit: hit.start()))
        decoded += begin - at if ascii_only else len(data[at:begin].decode())
        yield decoded, data[begin:end].decode()
        decoded += end - begin if ascii_only else len(data[begin:end].decode())
        at = end
        hits = [
            hit if hit is None or hit.start() >= end else sieve.search(data, end)
            for sieve, hit in zip(sieves(), hits, strict=True)
        ]


def _in_bytes(text: str) -> bytes:
    if not text.isascii():
        for mark in _WIDE_BREAKS:
            text = text.replace(mark, "\n")
    data = text.encode("utf-8", "replace")
    return data.translate(_BREAKS) if any(mark in data for mark in _NARROW_BREAKS) else data


def loosened(line: str) -> str:
    """An expression that matches wherever the given one does, and counts nothing."""
    line = _COUNTED.sub(lambda found: "*" if found[1] == "0" else "+", line)
    if not line.startswith("^"):
        return line
    at = kept = 1
    while at < len(line):
        end = _end(line, at)
        if line[end : end + 1] not in ("*", "+", "?"):
            break
        end += 1
        if _WIDE.search(line[at:end]):
            kept = end
        elif line[at:end] not in (r"\s*", r"\s+"):
            break
        at = end
    return line[kept:] if kept > 1 else f"^[> ]*{line[1:]}"  # a quotation is read without its marks


def _end(line: str, at: int) -> int:
    """Where the piece of an expression that begins here ends, with all that it holds."""
    depth = 0
    while at < len(line):
        found = _PIECE.match(line, at)
        if found is None:
            break
        piece, at = found[0], found.end()
        depth += piece.startswith("(") - (piece == ")")
        if depth <= 0:
            break
    return at
