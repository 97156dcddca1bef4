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

from rubrica.judges.fitness.errors import error_in
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

_WHOSE = attrgetter("session", "version")
_SESSION, _VERSION, _TS = attrgetter("session"), attrgetter("version"), attrgetter("ts")


class Tally(msgspec.Struct, array_like=True, gc=False):
    """What is known of one session so far."""

    session: str
    version: str = ""
    calls: int = 0
    succeeded: int = 0
    unknown: int = 0
    bad_exits: int = 0
    patterns: int = 0
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
        if type(batch[0]) is PlainRecord:
            self._plain(batch)
        else:
            for record in batch:
                self._one(record)  # type: ignore[arg-type]
        self._time(batch)

    def _plain(self, batch: Sequence[ToolRecord | PlainRecord]) -> None:
        good = [record for record in batch if record.exit == "0"]
        versions = set(map(_VERSION, good))
        if len(versions) == 1:  # one at a time is at work: then sessions alone are counted
            (one,) = versions
            for session, times in Counter(map(_SESSION, good)).items():
                self._succeeded(session, one, times)
        else:
            for (session, version), times in Counter(map(_WHOSE, good)).items():
                self._succeeded(session, version, times)
        if len(good) == len(batch):
            return
        for record in batch:
            if record.exit != "0":
                tally = self._tally(record.session)
                tally.of(name(record.version))
                tally.calls += 1
                self._came(tally, *_bare(record.tool, record.exit, record.success))

    def _succeeded(self, session: Any, version: Any, times: int) -> None:
        tally = self._tally(session)
        tally.of(version if type(version) is str else name(version))
        tally.calls += times
        tally.succeeded += times

    def _tally(self, session: str | int | None) -> Tally:
        key = session if type(session) is str else name(session)
        tally = self.open.get(key)
        if tally is None:
            tally = self.open[key] = Tally(key, order=self.records)
        return tally

    def _one(self, record: ToolRecord) -> None:
        tally = self._tally(record.session)
        if record.version is not None:
            tally.of(name(record.version))
        tally.calls += 1
        if record.retry is not None:
            tally.retries += bool(truth(record.retry, "retry"))
        if record.user_correction is not None:
            tally.corrections += bool(truth(record.user_correction, "user_correction"))
        if record.duration_ms is not None:
            tally.took += milliseconds(record.duration_ms) or 0.0
        if record.exit == "0" and record.error is None and error_in(record.output) is None:
            tally.succeeded += 1
        else:
            self._came(tally, *_came_of(record))

    def _came(self, tally: Tally, came: Outcome, label: str) -> None:
        if came.ok:
            tally.succeeded += 1
        elif came.ok is None:
            tally.unknown += 1
        else:
            tally.bad_exits += came.bad_exit
            tally.patterns += came.said is not None
            tally.fail(label)

    def _time(self, batch: Sequence[ToolRecord | PlainRecord]) -> None:
        sessions, times = list(map(_SESSION, batch)), list(map(_TS, batch))
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
    return _came_of(ToolRecord(tool, exit=code, success=success))


def _came_of(record: ToolRecord) -> tuple[Outcome, str]:
    told = said(record)
    came = outcome_of(told.exit_code, told.error, record.output)
    label = "" if came.ok is not False else label_of(record.tool, told.exit_code, came.said)
    return came, label


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
