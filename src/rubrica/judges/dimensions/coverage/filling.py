"""Aspects that no word gives away, but the build of the answer does.

An answer is mostly built as it was asked: a section, a paragraph or a sentence for each aspect, in
the same order. A piece of substance that no aspect claims by its words is then about one that is
left, unless there are more pieces than aspects, it opens or closes the answer, or it carries on
with the subject before it. Nothing is filled in an answer without a sign of being on the matter.
A piece is `backed` by a word of the question or of its field of life, by a trace of the aspect, or
by standing between those of the aspects before and after; pieces that nothing backs add up to no
more than two thirds of the aspects, or to one, so that padding does not pay.
"""

import re
from collections import Counter
from collections.abc import Sequence, Set
from typing import NamedTuple

from rubrica.judges.dimensions.coverage.domains import (
    is_other_field,
    is_same_field,
    shares_field,
    words_by_field,
)
from rubrica.judges.dimensions.coverage.plan import Plan
from rubrica.judges.dimensions.coverage.reading import Cover, Read

#: New words of a piece that is about something: a paragraph, a sentence, under a label of its own.
_FULL, _FULL_SENTENCE, _FULL_SECTION = 3.5, 3.0, 2.0
#: What speaks for an aspect, if faintly.
_TRACE = 0.1
#: Traces that show that an answer is about the matter at all: one of them, or two.
_ONE_TRACE, _TWO_TRACES = 0.25, 0.14
#: Up to which share of the aspects pieces count that nothing backs; the first always does.
_UNBACKED = 0.69
#: How short the first piece is beside the others where it only opens the answer.
_OPENING = 0.5
#: Pieces beyond one for each aspect: an opening, a closing.
_SPARE = 1
#: How a piece begins that sums up, and one that carries on with the subject before it.
_CLOSING = re.compile(
    r"\W*(?:in (?:short|sum|summary|conclusion|brief)|overall|to sum up|all in all|altogether"
    r"|in the end|so,? (?:all|over)|总之|总的来|总体|综上|总而言之|一句话|整体(?:来|而)|希望)"
)
_FRAME = re.compile(
    r"\b(?:conclusion|summary|introduction|overview|closing|background)\b|总结|结论|小结|引言|前言|概述|结语"
)
_ANAPHOR = re.compile(
    r"\W*(?:(?:in|at|by|under|for) [\w ]{2,20} )?(?:it|its|this|that|these|those|such|they|their"
    r"|he|she|his|her)\b|\W*(?:它|其|这|该|此|那|他|她|两者|二者|与之)"
)


class Piece(NamedTuple):
    """A section, a paragraph, or a sentence of an answer in a single one."""

    reads: list[Read]
    full: bool

    @property
    def start(self) -> int:
        return self.reads[0].passage.start

    def holds(self, cover: Cover) -> bool:
        return any(read.passage.start <= cover.start < read.passage.end for read in self.reads)

    def score(self, at: int) -> float:
        return max(read.scores[at].value for read in self.reads)

    def touches(self, fields: Counter[str]) -> bool:
        """Whether it has a word of the question, or of its field."""
        if any(read.topical for read in self.reads):
            return True
        return shares_field(fields, "\n".join(read.lower for read in self.reads))


def filled(
    said: Sequence[Read], found: list[Cover | None], plan: Plan, declined: Set[int]
) -> list[Cover | None]:
    """The covers, with those that the build gives; not for what was only named or declined."""
    if None not in found or not said:
        return found
    if len(found) == 1:
        return [_only(said, plan)]
    pieces, build = _pieces(said)
    free = [
        piece
        for piece in pieces
        if piece.full and not any(cover and piece.holds(cover) for cover in found)
    ]
    plain = sum(cover is not None for cover in found)
    full = sum(piece.full for piece in pieces)
    left = full - plain  # two aspects in one piece: another piece may well be about one of them
    if not free or left < 1 or not (plain or _is_about(said, plan)):
        return found
    few = full <= len(found) + (_SPARE if build != "sentences" else 0)
    carried = build == "sentences" and plan.aspects[0].derived
    spare = max(1, int(_UNBACKED * len(found)) - plain)
    by_words = tuple(found)
    if full > len(found) and free[0] is pieces[0]:
        free = free[1:]  # an opening
    for piece in free:
        if not left:
            break
        if carried and piece is not pieces[0] and _ANAPHOR.match(piece.reads[0].lower):
            continue
        at = _place(piece, found, few, build, declined)
        if at is None:
            continue
        between = 0 < at < len(found) - 1 and _is_between(piece, at, by_words)
        backed = between or piece.score(at) >= _TRACE or piece.touches(plan.fields)
        if backed or spare:
            first = piece.reads[0].passage
            found[at] = Cover(first.start, first.end, "low")
            spare -= not backed
            left -= 1
    return found


def _is_between(piece: Piece, at: int, found: Sequence[Cover | None]) -> bool:
    """Whether it stands between what is about the aspects before and after."""
    before, after = found[at - 1], found[at + 1]
    return before is not None and after is not None and before.start < piece.start < after.start


def _only(said: Sequence[Read], plan: Plan) -> Cover | None:
    """The one thing asked: by a bare answer, or by one that keeps to the subject."""
    best = max(said, key=lambda read: read.scores[0].value)
    topical = any(read.topical for read in said)
    bare = len(said) == 1 and _is_short(said[0].lower) and not topical
    near = sum(len(read.lower) for read in said) <= 60 and plan.nears(said[0].lower)
    if bare or near or best.scores[0].value >= (0.2 if topical else 0.35):
        return Cover(best.passage.start, best.passage.end, "low")
    return None


def _is_short(lower: str) -> bool:
    """A bare answer: a name, a number, a few words."""
    return len(lower) <= 16 or (lower.isascii() and len(lower.split()) <= 4)


def _is_about(said: Sequence[Read], plan: Plan) -> bool:
    """Whether the answer is about what was asked: by a word, by its field, by faint traces."""
    spoken = words_by_field("\n".join(read.lower for read in said))
    if is_other_field(plan.fields, spoken):
        return False
    if any(read.topical for read in said) or is_same_field(plan.fields, spoken):
        return True
    best = [max(read.scores[at].value for read in said) for at in range(len(plan.aspects))]
    return max(best) >= _ONE_TRACE or sum(value >= _TWO_TRACES for value in best) > 1


def _pieces(said: Sequence[Read]) -> tuple[list[Piece], str]:
    """The pieces in order, and what they are: `sections`, `paragraphs` or `sentences`."""
    groups: dict[object, list[Read]] = {}
    if any(read.labelled for read in said):
        # An answer that names some of its parts names all of them.
        for read in said:
            if read.passage.labels and read.passage.paragraph >= 0:
                groups.setdefault(read.passage.labels, []).append(read)
        build, least = "sections", _FULL_SECTION
    elif len({read.passage.paragraph for read in said}) > 1:
        for read in said:
            groups.setdefault(read.passage.paragraph, []).append(read)
        build, least = "paragraphs", _FULL
    else:
        groups = {at: [read] for at, read in enumerate(said)}
        build, least = "sentences", _FULL_SENTENCE
    pieces = [
        Piece(reads, _fresh(reads) >= least and not _is_other(reads)) for reads in groups.values()
    ]
    pieces.sort(key=lambda piece: piece.start)
    rest = [_fresh(piece.reads) for piece in pieces[1:] if piece.full]
    if rest and len(pieces[0].reads) == 1:
        opens = _fresh(pieces[0].reads) < _OPENING * sum(rest) / len(rest)
        pieces[0] = Piece(pieces[0].reads, pieces[0].full and not opens)
    return pieces, build


def _fresh(reads: Sequence[Read]) -> float:
    return sum(read.fresh for read in reads)


def _is_other(reads: Sequence[Read]) -> bool:
    """Whether a piece opens or sums up the answer, or has a word of an aspect in another sense."""
    read = reads[0]
    if any(read.seen.blocked for read in reads):
        return True
    label = read.passage.labels[-1].lower() if read.passage.labels else ""
    return _CLOSING.match(read.lower) is not None or _FRAME.search(label) is not None


def _place(
    piece: Piece, found: Sequence[Cover | None], few: bool, build: str, declined: Set[int]
) -> int | None:
    """The aspect that is left for a piece that nothing claims."""
    if build == "sections" and any(read.labelled for read in piece.reads):
        return None
    before = [at for at, c in enumerate(found) if c and c.start < piece.start]
    after = [at for at, c in enumerate(found) if c and c.start > piece.start]
    low, high = max(before, default=-1), min(after, default=len(found))
    if not few and not (build == "paragraphs" and after and high - low == 2):
        return None
    if low >= high:
        low, high = -1, len(found)
    free = [at for at, cover in enumerate(found) if cover is None and at not in declined]
    within = [at for at in free if low < at < high] or free
    return max(within, key=lambda at: (piece.score(at), -at)) if within else None
