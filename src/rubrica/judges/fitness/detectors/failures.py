"""Whether a text reports that something failed in this run.

A sieve over the whole text says in a microsecond that most outputs hold nothing of the kind. What
is found is then looked at line by line: the level of a log line, the verdict of a test, the
zero before the word, quotation marks, and whether the sentence explains, supposes, asks, mends or
declines. At most 400 such lines are looked at, and 2,000 characters of each.
"""

import re
from bisect import bisect_right
from collections.abc import Sequence
from functools import lru_cache
from itertools import accumulate
from typing import NamedTuple

from rubrica.judges.fitness.detectors.blocks import blocks, may_have_blocks, outside
from rubrica.judges.fitness.detectors.pattern import Pattern, is_fast, pattern
from rubrica.judges.fitness.detectors.sieve import joined, line_at, sieves, suspect_lines

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
#: A line that has none of these is one sentence without quotations.
_BENT = re.compile(r"[`\"“「『«《。！；;]|[.!]\s")
#: What speaks against a line that takes the form of a tool, and against one that says it in words.
_DOUBTS = ("level", "good", "name", "none", "defined")
_GUARDS = ("general", "handled", "decline")


class Report(NamedTuple):
    """A line of the output that reports a failure, and where it begins."""

    text: str
    start: int


def has_obvious_errors(output: str) -> bool:
    """Whether the output reports a failure."""
    return failure(output) is not None


def failure(output: str) -> Report | None:
    """The first line that reports a failure."""
    if not is_fast() and pattern("errors", "stem").search(output) is None:
        return None
    hidden = _Hidden(output) if may_have_blocks(output) else None
    seen = 0
    for start, line in suspect_lines(output):
        if hidden is not None and start in hidden:
            continue
        piece = line[:_WIDTH].lstrip("> ") if line.startswith(">") else line[:_WIDTH]
        if not is_fast() and pattern("errors", "stem").search(piece) is None:
            continue  # one look at the small automaton saves a dozen at the large ones
        seen += 1
        if seen > _LINES:
            return None
        if _reports(piece):
            return Report(piece.strip(), start)
    return None


def failures(outputs: Sequence[str]) -> dict[int, str]:
    """The first line that reports a failure, of each output that has one, by the output's place."""
    if not is_fast():
        each = ((place, failure(output)) for place, output in enumerate(outputs))
        return {place: found.text for place, found in each if found is not None}
    data = joined(outputs)
    found: dict[int, tuple[int, str]] = {}
    if b"```" in data or b"~~~" in data:  # these are read one by one
        for place, output in enumerate(outputs):
            if may_have_blocks(output):
                report = failure(output)
                found[place] = (0, "" if report is None else report.text)
    for sieve in sieves():
        _search(data, sieve, found)
    return {place: line for place, (_, line) in found.items() if line}


def _search(data: bytes, sieve: Pattern, found: dict[int, tuple[int, str]]) -> None:
    """Add what is found by one sieve; of two lines of an output the first counts."""
    place = at = seen = 0
    while (hit := sieve.search(data, at)) is not None:
        begin, end = line_at(data, hit)
        passed = data.count(b"\0", at, begin)
        place, seen, at = place + passed, 1 if passed else seen + 1, end
        known = found.get(place)
        if known is None or begin < known[0]:
            line = data[begin : min(end, begin + 4 * _WIDTH)].decode(errors="ignore")[:_WIDTH]
            piece = line.lstrip("> ") if line.startswith(">") else line
            if not _reports(piece):
                if seen <= _LINES:
                    continue
            else:
                found[place] = (begin, piece.strip())
        at = data.find(b"\0", end) + 1  # nothing more of this output
        if not at:
            return
        place, seen = place + 1, 0


class _Hidden:
    """Lines of fenced blocks, by their places; those where the text shows what a run gave count."""

    def __init__(self, output: str) -> None:
        self.lines = _explained(output)
        self.starts = [0, *accumulate(map(len, output.splitlines(keepends=True)))]

    def __contains__(self, start: int) -> bool:
        return bisect_right(self.starts, start) - 1 in self.lines


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


@lru_cache(maxsize=4096)  # what fails once fails again, in the same words
def _reports(line: str) -> bool:
    text = line.encode("utf-8", "replace") if is_fast() else line  # the engine works on bytes
    hard = pattern("errors", "hard").search(text)
    if hard is None and pattern("errors", "count", "soft").search(text) is None:
        return False
    # Mostly a failure takes the form of a tool, or one sentence, and nothing speaks against it.
    bent = _BENT.search(line) is not None if hard is None else _is_split(hard.group())
    if not bent and "?" not in line and "？" not in line:
        doubt = pattern("errors", *(_DOUBTS if hard else (*_DOUBTS, *_GUARDS)))
        if doubt.search(text) is None:
            return True
    json = _JSON.match(line) is not None
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


def _is_split(match: str | bytes) -> bool:
    """Whether a sentence ends within what was found."""
    return _STOP.search(match.decode() if isinstance(match, bytes) else match) is not None


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
    return False if any(pattern("errors", guard).search(clause) for guard in _GUARDS) else None


def _without(found: Pattern, sentence: str) -> str:
    """The sentence without what a pattern matches in it: "0 errors, 3 failed" keeps the three."""
    pieces: list[str] = []
    at = 0
    while (hit := found.search(sentence, at)) is not None and hit.end() > at:
        pieces.append(sentence[at : hit.start()])
        at = hit.end()
    return " ".join([*pieces, sentence[at:]])
