"""The two passes over a run's rows: lines of the table first, then the details of each."""

import zlib
from collections import Counter
from typing import Any

import msgspec

from fourscore.core.trace import as_text
from fourscore.report.run_page.compressed_blocks import SIZE, Key, Parcel, Parcels, at_most
from fourscore.report.run_page.detail import detail, short, sizes
from fourscore.report.run_page.labels import Labels
from fourscore.report.run_page.truncate import LONGEST, Lengths, Share
from fourscore.stores.run import StoredRow

#: Columns for dimensions, and tags of a line; characters of an id, a tag, of the question.
DIMENSIONS, TAGS, ID, TAG, ASKED = 40, 8, 120, 60, 90
#: Bars of the histogram.
BINS = 20
#: Of the room for details, what rows that passed have at least, where failures need it all.
PASSED = 0.2
#: A sample says little of a few rows: failures have this many times what they need, and bytes.
SLACK = (1.2, 1_000_000)
#: Bytes of JSON in a parcel of the table: all of them are read when the page opens.
LINES = 256 << 10
#: Of so many rows one is packed by itself, up to so many bytes, to learn how well they pack.
SAMPLE, SAMPLED, SAMPLE_CUT = 101, 512 << 10, 1 << 12
#: Words for levels that are counted, of each dimension.
LEVELS = 12

_encode = msgspec.json.Encoder().encode


def _key(row: StoredRow) -> Key:
    return row.position, row.repeat


def _passed(row: StoredRow) -> bool:
    return row.score is not None and row.score.passed is True


class Lines:
    """The table, and what is counted on the way: scores by bin, levels, lengths of texts."""

    def __init__(self, dimensions: list[str], room: int) -> None:
        self.names, self.room = dimensions[:DIMENSIONS], room
        self.dimensions_left_out = len(dimensions) - len(self.names)
        self.rows = self.kept = 0
        self.bins = {True: [0] * BINS, False: [0] * BINS}
        self.levels: dict[str, Counter[str]] = {name: Counter() for name in self.names}
        self.lengths = {True: Lengths(), False: Lengths()}
        self.last: dict[bool, Key | None] = {True: None, False: None}
        self._parcels = {kind: Parcels(room, LINES) for kind in (False, True)}
        self._full = {True: False, False: False}
        self._sample = bytearray()

    def add(self, row: StoredRow) -> None:
        self.rows += 1
        kind, score = _passed(row), row.score
        if score is not None and score.passed is not None and score.value is not None:
            self.bins[score.passed][min(BINS - 1, int(score.value * BINS))] += 1
        values = self._values(row)
        self.lengths[kind].add(sizes(row))
        if self.rows % SAMPLE == 1 and len(self._sample) < SAMPLED:
            self._sample += _encode(detail(row, (), SAMPLE_CUT)[0])
        if not self._full[kind]:
            line = _encode(_line(row, [values.get(name) for name in self.names]))
            self._full[kind] = not self._parcels[kind].add(_key(row), line)

    def _values(self, row: StoredRow) -> dict[str, float]:
        values = {}
        for signal in row.score.signals if row.score is not None else ():
            if signal.value is None or signal.relative:
                continue
            values[signal.name] = round(signal.value, 4)
            counts = self.levels.get(signal.name)
            if counts is not None and signal.level:
                level = short(signal.level, 40)
                if level in counts or len(counts) < LEVELS:
                    counts[level] += 1
        return values

    def parcels(self) -> list[Parcel]:
        """What did not pass, then of the rest as much as there is room for."""
        chosen: list[Parcel] = []
        room = self.room
        for kind in (False, True):
            for parcel in self._parcels[kind].close():
                room -= parcel.size
                if room < 0:
                    break
                chosen.append(parcel)
                self.kept += parcel.lines
                self.last[kind] = parcel.last
        self._parcels = {}
        return chosen

    @property
    def ratio(self) -> float:
        """Bytes in a file for each byte of details, by a sample of them."""
        sample = bytes(self._sample)
        return 4 / 3 * len(zlib.compress(sample, 6)) / len(sample) if sample else 1.0

    def has(self, row: StoredRow) -> bool:
        last = self.last[_passed(row)]
        return last is not None and _key(row) <= last


def _line(row: StoredRow, values: list[float | None]) -> list[Any]:
    case, score = row.case, row.score
    tags = [short(tag, TAG) for tag in case.tags[:TAGS]]
    if len(case.tags) > TAGS:
        tags.append(f"+{len(case.tags) - TAGS}")
    passed = None if score is None or score.passed is None else int(score.passed)
    value = None if score is None or score.value is None else round(score.value, 4)
    return [
        row.position,
        row.repeat,
        short(case.id, ID),
        short(" ".join(as_text(case.input)[: 4 * ASKED].split()), ASKED),
        tags,
        short(case.complexity or "medium", TAG),
        "not judged" if score is None else str(score.status),
        passed,
        value,
        values,
    ]


class Details:
    """What the page tells of each line; failures have their part of the room first."""

    def __init__(self, lines: Lines, labels: Labels, room: int) -> None:
        self.lines, self.labels = lines, labels
        self.parcels = Parcels(room)
        self.kept = self.cut = 0
        self.brief = {True: 0, False: 0}
        ratio, room = lines.ratio, int(0.98 * room) - at_most(SIZE)
        failed, passed = lines.lengths[False], lines.lengths[True]
        needed = SLACK[0] * failed.under(LONGEST) * ratio + SLACK[1]
        first = min(needed, (1 - PASSED) * room) if passed.rows else room
        self._shares = {
            False: Share(failed, first, ratio),
            True: Share(passed, room - first, ratio),
        }
        self._closed = 0

    def add(self, row: StoredRow) -> None:
        if not self.lines.has(row):
            return
        share = self._shares[_passed(row)]
        if _passed(row) and share.full(self.parcels.ratio):
            return  # what is left is for failures
        labels = self.labels.get((row.case.id, row.repeat), ())
        told, cuts = detail(row, labels, share.cap)
        line = _encode([row.position, row.repeat, short(row.case.id, ID), told])
        if self.parcels.add(_key(row), line):
            share.add(len(line))
            self.kept += 1
            self.brief[_passed(row)] += "brief" in told
            self.cut += bool(cuts) and "brief" not in told
        if self.parcels.closed > self._closed and self.parcels.packing:
            self._closed = self.parcels.closed
            for each in self._shares.values():
                each.plan(self.parcels.ratio)
