"""Sessions counted in one pass over execution records, without traces: some numbers for each.

A batch is counted by the distinct values in its records: most are the same, and counting is done in
C. Where time stamps are in order, which they nearly always are, only the first and last are parsed.
Sessions beyond what memory should hold go to sorted temporary files that are merged at the end.
"""

import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from heapq import merge
from itertools import repeat
from operator import attrgetter
from typing import IO, Any

import msgspec

from fourscore.formats.logs.tool_record import (
    PlainRecord,
    ToolRecord,
    instant,
    milliseconds,
    name,
    said,
    truth,
)
from fourscore.judges.failures import result_failures
from fourscore.judges.fitness.execution import Execution, Outcome, label_of, outcome_of


class Tally(msgspec.Struct, array_like=True, gc=False):
    """What is known of one session so far."""

    session: str
    version: str = ""
    calls: int = 0
    succeeded: int = 0
    unknown: int = 0
    bad_exits: int = 0
    patterns: int = 0
    unrated: int = 0
    retries: int = 0
    corrections: int = 0
    took: float = 0.0
    #: Calls whose time is known.
    moments: int = 0
    first: float = 0.0
    last: float = 0.0
    failures: dict[str, int] = msgspec.field(default_factory=dict)
    versions: int = 0
    #: Its place among the sessions of the file, by the record it begins with.
    order: int = 0

    @property
    def seconds(self) -> float | None:
        """From the first call to the last; of one call its own time, where that is known."""
        return self.last - self.first if self.moments > 1 else self.took or None

    def execution(self) -> Execution:
        return Execution(
            calls=self.calls,
            succeeded=self.succeeded,
            unknown=self.unknown,
            bad_exits=self.bad_exits,
            patterns=self.patterns,
            unrated=self.unrated,
            retries=self.retries,
            corrections=self.corrections,
            failures=self.failures,
            seconds=self.seconds,
        )

    def at(self, first: float, last: float, moments: int) -> None:
        """So many calls, from the first to the last."""
        if self.moments:
            first, last = min(first, self.first), max(last, self.last)
        self.first, self.last = first, last
        self.moments += moments

    def of(self, version: str) -> None:
        if version and version != self.version:
            self.version, self.versions = version, self.versions + 1

    def fail(self, label: str, times: int = 1) -> None:
        failures = self.failures
        before = failures.get(label, 0)
        if before or len(failures) < 8:
            failures[label] = before + times

    def came(self, outcome: Outcome, label: str) -> None:
        """One of the calls that are taken to have succeeded, as it came out."""
        ok, bad_exit, said = outcome
        if ok:
            return
        self.succeeded -= 1
        if bad_exit:
            self.bad_exits += 1
        if said is not None:
            self.patterns += 1
        if ok is None:
            self.unknown += 1
            self.unrated += said is not None
        if label:
            self.fail(label)

    def join(self, later: "Tally") -> None:
        """Add what was counted of the same session further on."""
        for field in ("calls", "succeeded", "unknown", "bad_exits", "patterns", "retries"):
            setattr(self, field, getattr(self, field) + getattr(later, field))
        self.corrections += later.corrections
        self.unrated += later.unrated
        self.took += later.took
        self.versions += later.versions - (later.versions > 0 and self.version == later.version)
        self.version = later.version or self.version
        if later.moments:
            self.at(later.first, later.last, later.moments)
        for label, times in later.failures.items():
            self.fail(label, times)


class Tallies:
    """Sessions by name, fed with batches of records."""

    def __init__(self) -> None:
        self.open: dict[str, Tally] = {}
        self.records = self.begun = 0

    def add(self, batch: Sequence[ToolRecord | PlainRecord]) -> None:
        """Count a batch; a `DataError` where a field says nothing sensible."""
        if not batch:
            return
        self.records += len(batch)
        sessions = [record.session for record in batch]
        counts = Counter(sessions)
        for session, calls in counts.items():  # until something else is told of them
            tally = self._tally(session)
            tally.calls += calls
            tally.succeeded += calls
        if type(batch[0]) is PlainRecord:
            for record in [record for record in batch if record.exit != "0"]:
                came, label = _bare(record.tool, record.exit, record.success)
                self._tally(record.session).came(came, label)
        else:
            self._full(batch)  # type: ignore[arg-type]
        self._versions(counts, sessions, [record.version for record in batch])
        self._time(counts, sessions, [record.ts for record in batch])

    def _full(self, batch: Sequence[ToolRecord]) -> None:
        failures = result_failures([record.output for record in batch])
        for place, record in enumerate(batch):
            failure = failures.get(place)
            if record.duration_ms is not None:
                took = milliseconds(record.duration_ms) or 0.0
                self._tally(record.session).took += took
            if (
                failure is not None
                or record.exit != "0"
                or record.error is not None
                or record.retry is not None
                or record.user_correction is not None
            ):
                tally = self._tally(record.session)
                tally.retries += bool(truth(record.retry, "retry"))
                tally.corrections += bool(truth(record.user_correction, "user_correction"))
                tally.came(*_came_of(record, failure.text if failure else None))

    def _versions(self, counts: Counter[Any], sessions: list[Any], versions: list[Any]) -> None:
        """The last version of each session; one that has several is told them in their order."""
        told: Iterable[tuple[Any, Any]] = zip(counts, repeat(versions[0]))
        if versions.count(versions[0]) < len(versions):
            told = pairs = set(zip(sessions, versions, strict=True))
            if len(pairs) > len(counts) or not all(type(session) is str for session in counts):
                told = zip(sessions, versions, strict=True)
        for session, version in told:
            if version is not None:
                self._tally(session).of(version if type(version) is str else name(version))

    def _time(self, counts: Counter[Any], sessions: list[Any], times: list[Any]) -> None:
        if not _in_order(times):
            for session, ts in zip(sessions, times, strict=True):
                moment = instant(ts)
                if moment is not None:
                    self._tally(session).at(moment, moment, 1)
            return
        lasts, place = dict(zip(sessions, times, strict=True)), 0
        for session, calls in counts.items():
            place = sessions.index(session, place)  # they are in the order in which they begin
            begun, ended = instant(times[place]), instant(lasts[session])
            if begun is not None and ended is not None:
                self._tally(session).at(begun, ended, calls)

    def _tally(self, session: str | int | None) -> Tally:
        key = session if type(session) is str else name(session)
        tally = self.open.get(key)
        if tally is None:
            tally = self.open[key] = Tally(key, order=self.begun)
            self.begun += 1
        return tally


@lru_cache(maxsize=4096)
def _bare(tool: str, code: str | int | None, success: str | bool | None) -> tuple[Outcome, str]:
    """What comes of a record without output and error: few say anything new."""
    return _came_of(ToolRecord(tool, exit=code, success=success), None)


def _came_of(record: ToolRecord, shown: str | None) -> tuple[Outcome, str]:
    """With the error that its output shows. What did not fail has no label."""
    told = said(record)
    came = outcome_of(told.exit_code, told.error or shown)
    if came.ok or not (came.bad_exit or came.said):
        return came, ""
    return came, label_of(record.tool, told.exit_code, came.said)


def _in_order(times: list[Any]) -> bool:
    """Whether they are texts of one form, in the order of time: such sort as they read."""
    try:
        lines = "\n".join(times)
    except TypeError:
        return False
    n, size = len(times), len(times[0])
    breaks, ends = lines[size :: size + 1], lines[size - 1 :: size + 1]
    same = lines.count("\n") == breaks.count("\n") == n - 1 and ends.count("Z") == n
    return size >= 20 and same and times == sorted(times)


_KEY = attrgetter("session")
_ENCODER = msgspec.msgpack.Encoder()
_DECODER = msgspec.msgpack.Decoder(Tally)


class Spill:
    """Parts in the order in which they were counted; the files have no names and end with us."""

    def __init__(self) -> None:
        self.parts: list[IO[bytes]] = []

    def add(self, tallies: Iterable[Tally]) -> None:
        part = tempfile.TemporaryFile()  # noqa: SIM115 - it lives until the end
        for tally in sorted(tallies, key=_KEY):
            text = _ENCODER.encode(tally)
            part.write(len(text).to_bytes(4, "little") + text)
        self.parts.append(part)

    def merged(self, rest: Iterable[Tally]) -> Iterator[Tally]:
        """Every session once, with all that was counted of it."""
        if not self.parts:
            yield from rest
            return
        held: Tally | None = None
        for tally in merge(*map(_read, self.parts), sorted(rest, key=_KEY), key=_KEY):
            if held is not None and held.session == tally.session:
                held.join(tally)
                continue
            if held is not None:
                yield held
            held = tally
        if held is not None:
            yield held
        for part in self.parts:
            part.close()


def _read(part: IO[bytes]) -> Iterator[Tally]:
    part.seek(0)
    while size := part.read(4):
        yield _DECODER.decode(part.read(int.from_bytes(size, "little")))
