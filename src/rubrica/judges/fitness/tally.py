"""Sessions counted in one pass over records, without traces: some numbers for each.

A batch is counted by the distinct things that its records say: most say the same, and counting is
done in C. The order of times is used where they are in order, which they nearly always are.
"""

from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from itertools import islice
from operator import attrgetter, le
from typing import Any

import msgspec

from rubrica.judges.fitness.errors import errors_in
from rubrica.judges.fitness.execution import Execution, Outcome, label_of, outcome_of
from rubrica.readers.logs.record import (
    PlainRecord,
    ToolRecord,
    instant,
    milliseconds,
    name,
    said,
    truth,
)

_SESSION, _VERSION, _TS = attrgetter("session"), attrgetter("version"), attrgetter("ts")
_OUTPUT = attrgetter("output")


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
    #: Times seen, as far as it matters: none, one, more.
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
        if label in self.failures or len(self.failures) < 8:
            self.failures[label] = self.failures.get(label, 0) + times

    def join(self, later: "Tally") -> None:
        """Add what was counted of the same session further on."""
        for field in ("calls", "succeeded", "unknown", "bad_exits", "patterns", "retries"):
            setattr(self, field, getattr(self, field) + getattr(later, field))
        self.corrections += later.corrections
        self.unrated += later.unrated
        self.took += later.took
        self.versions += later.versions - (self.version == later.version)
        self.version = later.version or self.version
        if later.moments:
            self.at(later.first, later.last, later.moments)
        for label, times in later.failures.items():
            self.fail(label, times)


class Tallies:
    """Sessions by name, fed with batches of records."""

    def __init__(self) -> None:
        self.open: dict[str, Tally] = {}
        self.records = 0

    def add(self, batch: Sequence[ToolRecord | PlainRecord]) -> None:
        """Count a batch; a `DataError` where a field says nothing sensible."""
        if not batch:
            return
        self.records += len(batch)
        sessions = list(map(_SESSION, batch))
        for session, times in Counter(sessions).items():  # until something else is told of them
            tally = self._tally(session)
            tally.calls += times
            tally.succeeded += times
        if type(batch[0]) is PlainRecord:
            for record in [record for record in batch if record.exit != "0"]:
                tally = self._tally(record.session)
                self._came(tally, *_bare(record.tool, record.exit, record.success))
        else:
            self._full(batch)  # type: ignore[arg-type]
        self._versions(sessions, list(map(_VERSION, batch)))
        self._time(sessions, list(map(_TS, batch)))

    def _full(self, batch: Sequence[ToolRecord]) -> None:
        errors = errors_in(list(map(_OUTPUT, batch)))
        for place, record in enumerate(batch):
            if record.duration_ms is not None:
                took = milliseconds(record.duration_ms) or 0.0
                self._tally(record.session).took += took
            if (
                place in errors
                or record.exit != "0"
                or record.error is not None
                or record.retry is not None
                or record.user_correction is not None
            ):
                tally = self._tally(record.session)
                tally.retries += bool(truth(record.retry, "retry"))
                tally.corrections += bool(truth(record.user_correction, "user_correction"))
                self._came(tally, *_came_of(record, errors.get(place)))

    def _versions(self, sessions: list[Any], versions: list[Any]) -> None:
        """The last version of each session; where one alone is at work, that is soon told."""
        if len(set(versions)) == 1:
            sessions, versions = list(set(sessions)), versions[:1] * len(sessions)
        for session, version in zip(sessions, versions, strict=False):
            if version is not None:
                self._tally(session).of(version if type(version) is str else name(version))

    def _tally(self, session: str | int | None) -> Tally:
        key = session if type(session) is str else name(session)
        tally = self.open.get(key)
        if tally is None:
            tally = self.open[key] = Tally(key, order=self.records)
        return tally

    def _came(self, tally: Tally, came: Outcome, label: str) -> None:
        """One call of those that are taken to have succeeded, as it came out."""
        if came.ok:
            return
        tally.succeeded -= 1
        tally.bad_exits += came.bad_exit
        tally.patterns += came.said is not None
        if came.ok is None:
            tally.unknown += 1
            tally.unrated += came.said is not None
        if label:
            tally.fail(label)

    def _time(self, sessions: list[Any], times: list[Any]) -> None:
        if _in_order(times):
            firsts = dict(zip(reversed(sessions), reversed(times), strict=True))
            for session, last in dict(zip(sessions, times, strict=True)).items():
                first = firsts[session]
                begun, ended = instant(first), instant(last)
                if begun is not None and ended is not None:
                    self._tally(session).at(begun, ended, 1 if first is last else 2)
            return
        for session, ts in zip(sessions, times, strict=True):
            moment = instant(ts)
            if moment is not None:
                self._tally(session).at(moment, moment, 1)


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


def _in_order(times: Sequence[Any]) -> bool:
    """Whether they are texts of one form, in the order of time: such sort as they read."""
    try:
        ends = "".join(times)
    except TypeError:
        return False
    size = len(times[0])
    if size < 20 or set(map(len, times)) != {size}:
        return False
    told = ends[size - 1 :: size].count("Z") == len(times)
    return told and all(map(le, times, islice(times, 1, None)))
