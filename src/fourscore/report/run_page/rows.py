"""The rows of a run in two passes: first the lines of the table, then the details of each case."""

import zlib
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from fourscore.core.trace import as_text
from fourscore.report.run_page.compressed_blocks import (
    SIZE,
    Block,
    BlockWriter,
    Key,
    max_packed_size,
)
from fourscore.report.run_page.detail import make_detail, measure_row, shorten
from fourscore.report.run_page.truncate import LONGEST, SizeBudget, TextLengths
from fourscore.stores.labels import Label
from fourscore.stores.run import StoredRow
from fourscore.stores.sqlite import Store

#: Columns for dimensions, and tags of a line; characters of an id, a tag, of the question.
DIMENSIONS, TAGS, ID, TAG, ASKED = 40, 8, 120, 60, 90
#: Bars of the histogram.
BINS = 20
#: The least share of the space for details that is kept for rows that passed.
PASSED = 0.2
#: Failures get their estimated size times the first number, plus the second in bytes.
SLACK = (1.2, 1_000_000)
#: Bytes of JSON in a block of the table: all of them are read when the page opens.
LINES = 256 << 10
#: One row in SAMPLE is compressed alone, until SAMPLED bytes, to estimate how well rows compress.
SAMPLE, SAMPLED, SAMPLE_CUT = 101, 512 << 10, 1 << 12
#: Names of levels that are counted for each dimension.
LEVELS = 12
#: Labels that a report shows, in all and of one row.
MAX_LABELS, MAX_ROW_LABELS = 20_000, 20

Labels = Mapping[tuple[str, int], Sequence[Label]]

_encode = msgspec.json.Encoder().encode


def read_labels(store: Store, run_id: str) -> Labels:
    """Return people's labels of a run by case id and repeat."""
    found: dict[tuple[str, int], list[Label]] = {}
    for label in store.labels(run_id)[:MAX_LABELS]:
        labels = found.setdefault((label.case_id, label.repeat), [])
        if len(labels) < MAX_ROW_LABELS:
            labels.append(label)
    return found


def _key(row: StoredRow) -> Key:
    return row.position, row.repeat


def _passed(row: StoredRow) -> bool:
    return row.score is not None and row.score.passed is True


class TableRows:
    """The lines of the table, with counts of scores by bin, of levels and of text lengths."""

    def __init__(self, dimensions: list[str], room: int) -> None:
        self.names, self.room = dimensions[:DIMENSIONS], room
        self.dimensions_left_out = len(dimensions) - len(self.names)
        self.rows = self.kept = 0
        self.bins = {True: [0] * BINS, False: [0] * BINS}
        self.levels: dict[str, Counter[str]] = {name: Counter() for name in self.names}
        self.lengths = {True: TextLengths(), False: TextLengths()}
        self.last: dict[bool, Key | None] = {True: None, False: None}
        self._blocks = {kind: BlockWriter(room, LINES) for kind in (False, True)}
        self._full = {True: False, False: False}
        self._sample = bytearray()

    def add(self, row: StoredRow) -> None:
        self.rows += 1
        kind, score = _passed(row), row.score
        if score is not None and score.passed is not None and score.value is not None:
            self.bins[score.passed][min(BINS - 1, int(score.value * BINS))] += 1
        values = self._values(row)
        self.lengths[kind].add(measure_row(row))
        if self.rows % SAMPLE == 1 and len(self._sample) < SAMPLED:
            self._sample += _encode(make_detail(row, (), SAMPLE_CUT)[0])
        if not self._full[kind]:
            line = _encode(_line(row, [values.get(name) for name in self.names]))
            self._full[kind] = not self._blocks[kind].add(_key(row), line)

    def _values(self, row: StoredRow) -> dict[str, float]:
        values = {}
        for signal in row.score.signals if row.score is not None else ():
            if signal.value is None or signal.relative:
                continue
            values[signal.name] = round(signal.value, 4)
            counts = self.levels.get(signal.name)
            if counts is not None and signal.level:
                level = shorten(signal.level, 40)
                if level in counts or len(counts) < LEVELS:
                    counts[level] += 1
        return values

    def blocks(self) -> list[Block]:
        """Return the blocks of rows that did not pass, then those of other rows that fit."""
        chosen: list[Block] = []
        room = self.room
        for kind in (False, True):
            for block in self._blocks[kind].close():
                room -= block.size
                if room < 0:
                    break
                chosen.append(block)
                self.kept += block.lines
                self.last[kind] = block.last
        self._blocks = {}
        return chosen

    @property
    def ratio(self) -> float:
        """Bytes in the file for each byte of details, estimated from a sample."""
        sample = bytes(self._sample)
        return 4 / 3 * len(zlib.compress(sample, 6)) / len(sample) if sample else 1.0

    def has(self, row: StoredRow) -> bool:
        last = self.last[_passed(row)]
        return last is not None and _key(row) <= last


def _line(row: StoredRow, values: list[float | None]) -> list[Any]:
    case, score = row.case, row.score
    tags = [shorten(tag, TAG) for tag in case.tags[:TAGS]]
    if len(case.tags) > TAGS:
        tags.append(f"+{len(case.tags) - TAGS}")
    passed = None if score is None or score.passed is None else int(score.passed)
    value = None if score is None or score.value is None else round(score.value, 4)
    return [
        row.position,
        row.repeat,
        shorten(case.id, ID),
        shorten(" ".join(as_text(case.input)[: 4 * ASKED].split()), ASKED),
        tags,
        shorten(case.complexity or "medium", TAG),
        "not judged" if score is None else str(score.status),
        passed,
        value,
        values,
    ]


class CaseDetails:
    """The details of each case; rows that failed get space in the file first."""

    def __init__(self, lines: TableRows, labels: Labels, room: int) -> None:
        self.lines, self.labels = lines, labels
        self.blocks = BlockWriter(room)
        self.kept = self.cut = 0
        self.brief = {True: 0, False: 0}
        ratio, room = lines.ratio, int(0.98 * room) - max_packed_size(SIZE)
        failed, passed = lines.lengths[False], lines.lengths[True]
        needed = SLACK[0] * failed.total_under(LONGEST) * ratio + SLACK[1]
        first = min(needed, (1 - PASSED) * room) if passed.rows else room
        self._shares = {
            False: SizeBudget(failed, first, ratio),
            True: SizeBudget(passed, room - first, ratio),
        }
        self._closed = 0

    def add(self, row: StoredRow) -> None:
        if not self.lines.has(row):
            return
        share = self._shares[_passed(row)]
        if _passed(row) and share.is_full(self.blocks.ratio):
            return  # what is left is for failures
        labels = self.labels.get((row.case.id, row.repeat), ())
        document, cuts = make_detail(row, labels, share.cap)
        line = _encode([row.position, row.repeat, shorten(row.case.id, ID), document])
        if self.blocks.add(_key(row), line):
            share.add(len(line))
            self.kept += 1
            self.brief[_passed(row)] += "brief" in document
            self.cut += bool(cuts) and "brief" not in document
        if self.blocks.closed > self._closed and self.blocks.packing:
            self._closed = self.blocks.closed
            for each in self._shares.values():
                each.plan(self.blocks.ratio)
