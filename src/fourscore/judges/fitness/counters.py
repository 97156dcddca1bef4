"""Count the tool calls, failures and times of each session in one pass, without making traces.

A batch is counted by the distinct values in its records: most are the same, and counting is done in
C. Where time stamps are in order, which they nearly always are, only the first and last are parsed.
If there are too many sessions for memory, they go to sorted temporary files, merged at the end.
"""

import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from heapq import merge as merge_sorted
from itertools import repeat
from operator import attrgetter
from typing import IO, Any

import msgspec

from fourscore.formats.logs.tool_record import (
    PlainRecord,
    ToolRecord,
    parse_bool,
    parse_milliseconds,
    parse_name,
    parse_time,
    read_call_outcome,
)
from fourscore.judges.failures import find_result_failures
from fourscore.judges.fitness.execution import Execution, Outcome, classify_outcome, label_failure


class SessionTally(msgspec.Struct, array_like=True, kw_only=True, gc=False):
    """The counts of one session so far."""

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
    #: The session's position in the file, by its first record.
    order: int = 0

    @property
    def seconds(self) -> float | None:
        """Seconds from the first call to the last; for a single call its duration, if known."""
        return self.last - self.first if self.moments > 1 else self.took or None

    def make_execution(self) -> Execution:
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

    def add_times(self, first: float, last: float, moments: int) -> None:
        """Extend the session's time span to include these times."""
        if self.moments:
            first, last = min(first, self.first), max(last, self.last)
        self.first, self.last = first, last
        self.moments += moments

    def set_version(self, version: str) -> None:
        """Set the version of the latest call, and count a change."""
        if version and version != self.version:
            self.version, self.versions = version, self.versions + 1

    def add_failure(self, label: str, times: int = 1) -> None:
        failures = self.failures
        before = failures.get(label, 0)
        if before or len(failures) < 8:
            failures[label] = before + times

    def correct_outcome(self, outcome: Outcome, label: str) -> None:
        """Correct the counts for one call that was first counted as a success."""
        ok, bad_exit, error = outcome
        if ok:
            return
        self.succeeded -= 1
        if bad_exit:
            self.bad_exits += 1
        if error is not None:
            self.patterns += 1
        if ok is None:
            self.unknown += 1
            self.unrated += error is not None
        if label:
            self.add_failure(label)

    def merge(self, later: "SessionTally") -> None:
        """Add the counts of a later part of the same session."""
        for field in ("calls", "succeeded", "unknown", "bad_exits", "patterns", "retries"):
            setattr(self, field, getattr(self, field) + getattr(later, field))
        self.corrections += later.corrections
        self.unrated += later.unrated
        self.took += later.took
        self.versions += later.versions - (later.versions > 0 and self.version == later.version)
        self.version = later.version or self.version
        if later.moments:
            self.add_times(later.first, later.last, later.moments)
        for label, times in later.failures.items():
            self.add_failure(label, times)


class SessionCounter:
    """The tallies of all sessions by name, fed with batches of records."""

    def __init__(self) -> None:
        self.open: dict[str, SessionTally] = {}
        self.records = self.begun = 0

    def add(self, batch: Sequence[ToolRecord | PlainRecord]) -> None:
        """Count a batch of records; raise `DataError` if a field is invalid."""
        if not batch:
            return
        self.records += len(batch)
        sessions = [record.session for record in batch]
        counts = Counter(sessions)
        for session, calls in counts.items():  # successes, until their outcome is read
            tally = self._get_tally(session)
            tally.calls += calls
            tally.succeeded += calls
        if type(batch[0]) is PlainRecord:
            for record in [record for record in batch if record.exit != "0"]:
                outcome, label = _read_plain_outcome(record.tool, record.exit, record.success)
                self._get_tally(record.session).correct_outcome(outcome, label)
        else:
            self._add_full_records(batch)  # type: ignore[arg-type]
        self._add_versions(counts, sessions, [record.version for record in batch])
        self._add_times(counts, sessions, [record.ts for record in batch])

    def _add_full_records(self, batch: Sequence[ToolRecord]) -> None:
        failures = find_result_failures([record.output for record in batch])
        for place, record in enumerate(batch):
            failure = failures.get(place)
            if record.duration_ms is not None:
                took = parse_milliseconds(record.duration_ms) or 0.0
                self._get_tally(record.session).took += took
            if (
                failure is not None
                or record.exit != "0"
                or record.error is not None
                or record.retry is not None
                or record.user_correction is not None
            ):
                tally = self._get_tally(record.session)
                tally.retries += bool(parse_bool(record.retry, "retry"))
                tally.corrections += bool(parse_bool(record.user_correction, "user_correction"))
                tally.correct_outcome(*_read_outcome(record, failure.text if failure else None))

    def _add_versions(self, counts: Counter[Any], sessions: list[Any], versions: list[Any]) -> None:
        """Set the versions of each session, in the order of its records."""
        pairs_in_order: Iterable[tuple[Any, Any]] = zip(counts, repeat(versions[0]))
        if versions.count(versions[0]) < len(versions):
            pairs_in_order = pairs = set(zip(sessions, versions, strict=True))
            if len(pairs) > len(counts) or not all(type(session) is str for session in counts):
                pairs_in_order = zip(sessions, versions, strict=True)
        for session, version in pairs_in_order:
            if version is not None:
                self._get_tally(session).set_version(
                    version if type(version) is str else parse_name(version)
                )

    def _add_times(self, counts: Counter[Any], sessions: list[Any], times: list[Any]) -> None:
        if not _in_order(times):
            for session, ts in zip(sessions, times, strict=True):
                moment = parse_time(ts)
                if moment is not None:
                    self._get_tally(session).add_times(moment, moment, 1)
            return
        lasts, place = dict(zip(sessions, times, strict=True)), 0
        for session, calls in counts.items():
            place = sessions.index(session, place)  # `counts` is in the order of first records
            begun, ended = parse_time(times[place]), parse_time(lasts[session])
            if begun is not None and ended is not None:
                self._get_tally(session).add_times(begun, ended, calls)

    def _get_tally(self, session: str | int | None) -> SessionTally:
        key = session if type(session) is str else parse_name(session)
        tally = self.open.get(key)
        if tally is None:
            tally = self.open[key] = SessionTally(session=key, order=self.begun)
            self.begun += 1
        return tally


@lru_cache(maxsize=4096)
def _read_plain_outcome(
    tool: str, code: str | int | None, success: str | bool | None
) -> tuple[Outcome, str]:
    """Return the outcome of a record without output and error; cached, as most are the same."""
    return _read_outcome(ToolRecord(tool=tool, exit=code, success=success), None)


def _read_outcome(record: ToolRecord, shown: str | None) -> tuple[Outcome, str]:
    """Return the outcome of a record and its failure label; `shown` is the error in its output."""
    stated = read_call_outcome(record)
    outcome = classify_outcome(stated.exit_code, stated.error or shown)
    if outcome.ok or not (outcome.bad_exit or outcome.error):
        return outcome, ""
    return outcome, label_failure(record.tool, stated.exit_code, outcome.error)


def _in_order(times: list[Any]) -> bool:
    """Whether the time stamps have the same format and are in order when compared as text."""
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
_DECODER = msgspec.msgpack.Decoder(SessionTally)


class SpilledTallies:
    """Tallies in temporary files, in the order in which they were added."""

    def __init__(self) -> None:
        self.parts: list[IO[bytes]] = []

    def add(self, tallies: Iterable[SessionTally]) -> None:
        part = tempfile.TemporaryFile()  # noqa: SIM115 - it lives until the end
        for tally in sorted(tallies, key=_KEY):
            text = _ENCODER.encode(tally)
            part.write(len(text).to_bytes(4, "little") + text)
        self.parts.append(part)

    def merge_all(self, rest: Iterable[SessionTally]) -> Iterator[SessionTally]:
        """Yield every session once, with all its counts."""
        if not self.parts:
            yield from rest
            return
        held: SessionTally | None = None
        for tally in merge_sorted(*map(_read, self.parts), sorted(rest, key=_KEY), key=_KEY):
            if held is not None and held.session == tally.session:
                held.merge(tally)
                continue
            if held is not None:
                yield held
            held = tally
        if held is not None:
            yield held
        for part in self.parts:
            part.close()


def _read(part: IO[bytes]) -> Iterator[SessionTally]:
    part.seek(0)
    while size := part.read(4):
        yield _DECODER.decode(part.read(int.from_bytes(size, "little")))
