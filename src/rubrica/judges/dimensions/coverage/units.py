"""The units that an answer is built of: sections, else paragraphs, else sentences.

Mostly each is about one aspect. A unit that opens or closes the answer, or stands beside the
sections, is about none unless its words say so.
"""

import re
from collections.abc import Sequence
from typing import Literal, NamedTuple

import msgspec

from rubrica.judges.dimensions.coverage.passages import Passage
from rubrica.judges.dimensions.coverage.plan import Plan
from rubrica.judges.dimensions.coverage.reading import Read

Build = Literal["sections", "paragraphs", "sentences"]
#: New words of a unit that is about something.
_FULL: dict[Build, float] = {"sections": 1.5, "paragraphs": 2.4, "sentences": 2.0}
#: New words that make substance: beside a label that names the aspect, and under one or none.
_BESIDE, _UNDER = 1.0, 2.0
#: How short a unit is beside the others that opens the answer or closes it.
_OPENS, _SHORT = 0.6, 0.4
#: How a unit begins that sums up, one that leads in, and one that carries on with the last one.
_CLOSING = re.compile(
    r"\W*(?:in (?:short|sum|summary|conclusion|brief)|overall|to sum up|all in all|altogether"
    r"|in the end|so,? (?:all|over)|(?:i|we) hope|good luck|feel free|let me know"
    r"|总之|总的来|总体|综上|总而言之|一句话|整体(?:来|而)|(?:我们?)?(?:希望|相信|衷心|期待)|让我们|[愿祝](?![意贺愿景望酒]))"
)
_LEADING = re.compile(
    r"\W*(?:here (?:is|are)|below|dear|hello|hi\b|thanks?\b|sure|certainly|您好|你好|好的|欢迎"
    r"|以下|下面)"
)
_FRAME = re.compile(
    r"\b(?:conclusion|summary|introduction|overview|closing|background)\b|总结|结论|小结|引言|前言|概述|结语"
)
_ANAPHOR = re.compile(
    r"\W*(?:(?:in|at|by|under|for) [\w ]{2,20} )?(?:it|its|this|that|these|those|such|they|their"
    r"|he|she|his|her)\b|\W*(?:它|其|这|该|此|那|他|她|两者|二者|与之)"
)


class Unit(msgspec.Struct, frozen=True, gc=False):
    """Passages that belong together; `full` where it is about something, `idle` by its place."""

    reads: list[Read]
    fresh: float
    label: str = ""
    full: bool = False
    idle: bool = False

    @property
    def labelled(self) -> frozenset[int]:
        return self.reads[0].labelled

    @property
    def tells(self) -> bool:
        """Whether there is enough to be about anything."""
        first = self.reads[0].passage
        beside = len(self.reads) > 1 or first.paragraph < 0 or self.label[:4] in first.text[:16]
        return self.fresh >= (_BESIDE if self.labelled and beside else _UNDER)

    @property
    def carries_on(self) -> bool:
        return carries_on(self.reads[0].told.said.lower)


def carries_on(lower: str) -> bool:
    """Whether a sentence begins with a word for what was spoken of before."""
    return _ANAPHOR.match(lower) is not None


def units(said: Sequence[Read], pieces: Sequence[Passage], plan: Plan) -> tuple[list[Unit], Build]:
    """The units in order, and what they are."""
    groups: dict[object, list[Read]] = {}
    rows = _rows(pieces, plan)
    build = _build(said)
    count, before = -1, None
    for read in said:
        passage = read.passage
        if passage.paragraph < 0 and (passage.labels in rows.columns) != rows.by_column:
            continue
        key: object
        if build == "sections":
            key = passage.labels or ("", passage.paragraph)
        elif build == "paragraphs":
            key = passage.paragraph
        else:
            # In Chinese what stands before and after a semicolon is one sentence.
            joined = before is not None and before.text.endswith(("；", ";"))
            if not (joined and before is not None and before.paragraph == passage.paragraph):
                count += 1
            before = passage
            key = count
        groups.setdefault(key, []).append(read)
    found = [_unit(reads, build) for reads in groups.values()]
    found.sort(key=lambda unit: unit.reads[0].passage.start)
    return _framed(found, build), build


class _Table(NamedTuple):
    columns: frozenset[tuple[str, ...]]
    by_column: bool


def _rows(pieces: Sequence[Passage], plan: Plan) -> _Table:
    """A table is read by row, unless the heads of its columns name aspects."""
    if not pieces or pieces[-1].paragraph >= 0:  # tables come last
        return _Table(frozenset(), False)
    seen: set[tuple[str, ...]] = set()
    twice: set[tuple[str, ...]] = set()
    for piece in pieces:
        if piece.paragraph < 0:
            (twice if piece.labels in seen else seen).add(piece.labels)
    return _Table(frozenset(twice), any(plan.named(labels[-1]) for labels in twice))


def _build(said: Sequence[Read]) -> Build:
    labels = {read.passage.labels for read in said if read.passage.labels}
    if len(labels) > 2 or (len(labels) == 2 and any(read.labelled for read in said)):
        return "sections"
    return "paragraphs" if len({read.passage.paragraph for read in said}) > 1 else "sentences"


def _unit(reads: list[Read], build: Build) -> Unit:
    fresh = sum([read.told.fresh for read in reads])
    first = reads[0]
    label = first.passage.labels[-1] if first.passage.labels else ""
    if not label and build == "paragraphs" and len(reads) > 1 and len(first.told.said.lower) < 40:
        label = first.passage.text  # what a paragraph begins with says what it is about
    lower = first.told.said.lower
    leads = len(reads) == 1 and lower.rstrip("*_ ").endswith((":", "：", "如下。"))
    beside = build == "sections" and not label
    idle = beside or leads or frames(lower) or (label != "" and frames(label, title=True))
    return Unit(reads, fresh, label, fresh >= _FULL[build] and not idle, idle)


def frames(text: str, title: bool = False) -> bool:
    """Whether a sentence or a title opens an answer, or closes it."""
    if title:
        return _FRAME.search(text.lower()) is not None
    return _CLOSING.match(text) is not None or _LEADING.match(text) is not None


def _framed(found: list[Unit], build: Build) -> list[Unit]:
    """The same with a short first unit as opening, and a short last one as closing."""
    if len(found) < 3:
        return found
    whole = sum(unit.fresh for unit in found)
    for at in (0,) if build == "sentences" else (0, -1):
        unit = found[at]
        share = _OPENS if build == "sentences" else _SHORT
        small = unit.fresh < share * (whole - unit.fresh) / (len(found) - 1)
        if small and len(unit.reads) < 3 and not unit.labelled and not (not at and _names(unit)):
            found[at] = msgspec.structs.replace(unit, full=False, idle=True)
    return found


def _names(unit: Unit) -> bool:
    return any(read.told.speech.named for read in unit.reads)
