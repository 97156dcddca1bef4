"""Whether a text reports that something failed in this run.

One search over the whole text says in a microsecond that most outputs hold nothing of the kind.
What is found is then looked at line by line: the level of a log line, the verdict of a test, the
zero before the word, quotation marks, and whether the sentence explains, supposes, asks, mends or
declines. At most 400 such lines are looked at, and 2,000 characters of each.
"""

import re
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

from rubrica.judges.fitness.detectors.blocks import blocks, outside
from rubrica.judges.fitness.detectors.pattern import Pattern, pattern

_LINES = 400
_WIDTH = 2_000
#: Quoted or marked as code: what is said about the text within is not said by it.
_QUOTED = re.compile(
    r"`[^`\n]*`|\"[^\"\n]*\"|“[^”\n]*”|「[^」\n]*」|『[^』\n]*』|«[^»\n]*»|《[^》\n]*》"
)
#: Where a sentence ends; the mark in "npm ERR! code" and "! [rejected]" is no end.
_STOP = re.compile(r"(?<=[.?])\s+|(?<=[a-z]!)\s+|(?<=[。！？；;])")
_WORDS = re.compile(r"[^\W\d_]{2,}|[\u4e00-\u9fff]")
_CLAUSE = re.compile(r"[,，、:：(（]\s?")
_JSON = re.compile(r"\s*[\[{]")


class Report(NamedTuple):
    """A line of the output that reports a failure, and where it begins."""

    text: str
    start: int


@cache
def _any() -> Pattern:
    return pattern("errors", "stem")


def has_obvious_errors(output: str) -> bool:
    """Whether the output reports a failure."""
    return failure(output) is not None


def failure(output: str) -> Report | None:
    """The first line that reports a failure."""
    if _any().search(output) is None:
        return None
    for start, line, json in _lines(output):
        if _reports(line, json):
            return Report(line.strip(), start)
    return None


def _lines(output: str) -> Iterator[tuple[int, str, bool]]:
    """Lines with a pattern in them; a fenced one only where the text shows what a run gave."""
    hidden = _explained(output)
    at = 0
    seen = 0
    for number, line in enumerate(output.splitlines(keepends=True)):
        start, at = at, at + len(line)
        if number in hidden:
            continue
        piece = line[:_WIDTH].lstrip("> ") if line.startswith(">") else line[:_WIDTH]
        if _any().search(piece) is None:
            continue  # one look at the small automaton saves a dozen at the large ones
        seen += 1
        if seen > _LINES:
            return
        yield start, piece.rstrip("\n"), _JSON.match(piece) is not None


def _explained(output: str) -> set[int]:
    """Lines of fenced blocks that stand in an explanation, not in the report of a run."""
    found = blocks(output)
    if not found:
        return set()
    if len(_WORDS.findall(outside(output)[:_WIDTH])) < 2:
        return set()
    lines = output.splitlines()
    hidden: set[int] = set()
    for block in found:
        above = lines[max(0, block.first - 3) : block.first]
        before = next((line for line in above[::-1] if line.strip(" >\t")), "")[-_WIDTH:]
        told = pattern("errors", "told").search(before)
        if told is None or pattern("errors", "general").search(before):
            hidden.update(range(block.first, block.last))
    return hidden


def _reports(line: str, json: bool) -> bool:
    if not any(pattern("errors", name).search(line) for name in ("hard", "count", "soft")):
        return False
    if pattern("errors", "level", "good").search(line):
        return False
    if not json and pattern("errors", "name").search(line):
        return False
    bare = line if json else _QUOTED.sub("`", line)
    at = 0
    for sentence in _STOP.split(bare):
        at += len(sentence)
        sure = _fails(sentence)
        if sure or (sure is None and not pattern("errors", "mended").search(bare, at)):
            return True
    # A tool quotes what it speaks of, and an access log its requests.
    return bare != line and _fails(line) is True


def _fails(sentence: str) -> bool | None:
    """True for the form of a tool, None where a sentence says it, False otherwise."""
    if sentence.rstrip().endswith(("?", "？")):
        return False
    sentence = _without(pattern("errors", "none"), sentence)
    if pattern("errors", "hard").search(sentence):
        return not pattern("errors", "defined").search(sentence)
    said = pattern("errors", "count").search(sentence) or pattern("errors", "soft").search(sentence)
    if said is None:
        return False
    # What is supposed or mended stands before the failure, or in the same clause.
    comma = _CLAUSE.search(sentence, said.end())
    clause = sentence[: comma.start()] if comma else sentence
    if pattern("errors", "defined").search(sentence):
        return False
    guards = ("general", "handled", "decline")
    return False if any(pattern("errors", g).search(clause) for g in guards) else None


def _without(found: Pattern, sentence: str) -> str:
    """The sentence without what a pattern matches in it: "0 errors, 3 failed" keeps the three."""
    pieces: list[str] = []
    at = 0
    while (hit := found.search(sentence, at)) is not None and hit.end() > at:
        pieces.append(sentence[at : hit.start()])
        at = hit.end()
    return " ".join([*pieces, sentence[at:]])
