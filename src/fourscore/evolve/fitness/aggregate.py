"""What many executions come to: their scores over time, by version and by day, signal by signal.

Memory grows by a few numbers an execution, whatever stands in its log.
"""

from array import array
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from functools import lru_cache
from typing import Literal, NamedTuple

import msgspec

from fourscore.core import Rubric
from fourscore.judges.fitness.execution import Execution
from fourscore.judges.fitness.rubric import fitness_of
from fourscore.stats.means import Mean

By = Literal["version", "session", "day"]
#: Executions that are told one by one, the newest; and groups.
TOLD, GROUPS = 1000, 1000
DAY = 86_400


class Scored(NamedTuple):
    """One execution. `end` is when it ended; where no time is known, `timed` is False."""

    end: float
    order: int
    session: str
    version: str
    timed: bool
    score: float
    coverage: float


class Newest(NamedTuple):
    """The last execution, with its signals as they were measured."""

    scored: Scored
    values: dict[str, float | None]
    reasons: Callable[[], dict[str, str]]


class Pooled(msgspec.Struct):
    """The counts of all executions added up."""

    execution: Execution
    timed: int = 0


class Fold:
    """The value of a rubric and its coverage, as `score()` finds them, without the rest."""

    def __init__(self, rubric: Rubric) -> None:
        self.lines = [(line.name, line.share) for line in rubric.dimensions]
        self.leaves, self.least = rubric.inapplicable == "leave", rubric.min_coverage - 1e-9
        self.planned = 0.0
        for _, share in self.lines:
            self.planned += share

    def of(self, values: dict[str, float | None]) -> tuple[float | None, float]:
        weight = total = 0.0
        for name, share in self.lines:
            value = values[name]
            if value is not None:
                total += share * value
            elif self.leaves:
                continue
            weight += share
        coverage = weight / self.planned
        if not weight or coverage < self.least:
            return None, coverage
        return total / weight, coverage


class Standing:
    """Feed it with executions, in any order."""

    def __init__(self, rubric: Rubric) -> None:
        self.rubric, self.fold = rubric, Fold(rubric)
        self.means = {line.name: Mean() for line in rubric.dimensions}
        self.score, self.covered = Mean(), 0.0
        self.ends, self.scores = array("d"), array("d")
        self.groups, self.names = array("l"), dict[str, int]()
        self.pooled = Pooled(Execution(recorded=False))
        self.skipped = self.mixed = 0
        self.newest: Newest | None = None
        self._told: list[Scored] = []

    def __len__(self) -> int:
        return len(self.scores)

    @property
    def coverage(self) -> float | None:
        return self.covered / len(self.scores) if self.scores else None

    def add(
        self,
        who: tuple[str, str],
        end: float | None,
        values: dict[str, float | None],
        execution: Execution,
    ) -> Scored | None:
        """One execution by its session and version; None where nothing of it applies."""
        value, coverage = self.fold.of(values)
        self._pool(execution)
        if value is None:
            self.skipped += 1
            return None
        order = len(self.scores)
        key = float(order) if end is None else end
        scored = Scored(key, order, *who, end is not None, fitness_of(value), coverage)
        self.score.add(value)
        self.covered += coverage
        for name, measured in values.items():
            if measured is not None:
                self.means[name].add(measured)
        self.ends.append(key)
        self.scores.append(scored.score)
        self.groups.append(self._group(who[1]))
        self._told.append(scored)
        if len(self._told) == 2 * TOLD:
            self._told.sort()
            del self._told[:TOLD]
        return scored

    def is_newest(self, scored: Scored) -> bool:
        return self.newest is None or scored[:2] >= self.newest.scored[:2]

    def _group(self, version: str) -> int:
        number = self.names.get(version)
        if number is None:
            number = len(self.names) if len(self.names) < GROUPS else -1
            if number >= 0:
                self.names[version] = number
        return number

    def _pool(self, execution: Execution) -> None:
        pooled = self.pooled.execution
        pooled.calls += execution.calls
        pooled.succeeded += execution.succeeded
        pooled.bad_exits += execution.bad_exits
        if execution.unknown or execution.patterns:
            pooled.unknown += execution.unknown
            pooled.patterns += execution.patterns
            pooled.unrated += execution.unrated
        if execution.retries or execution.corrections:
            pooled.retries += execution.retries
            pooled.corrections += execution.corrections
        pooled.recorded = pooled.recorded or execution.recorded
        for kind, n in execution.told.items():
            pooled.told[kind] = pooled.told.get(kind, 0) + n
        for label, n in execution.failures.items():
            pooled.fail(label, n)
        if execution.seconds is not None:
            pooled.seconds = (pooled.seconds or 0.0) + execution.seconds
            self.pooled.timed += 1

    def in_time(self) -> list[int]:
        """The places of the executions, oldest first."""
        return sorted(range(len(self.ends)), key=self.ends.__getitem__)

    def told(self) -> list[Scored]:
        """The newest, newest first."""
        return sorted(self._told, reverse=True)[:TOLD]

    def by(self, kind: Literal["version", "day"]) -> Iterator[tuple[str, list[float]]]:
        """The scores of each group, oldest first; the groups by their newest execution."""
        names = {number: name for name, number in self.names.items()}
        groups: dict[str, list[float]] = {}
        for place in reversed(self.in_time()):
            if kind == "version":
                name = names.get(self.groups[place], "")
            else:
                name = _day(int(self.ends[place] // DAY))
            groups.setdefault(name, []).append(self.scores[place])
        for name, scores in groups.items():
            scores.reverse()
            yield name, scores


@lru_cache(maxsize=4096)
def _day(number: int) -> str:
    """Where no time was known, `end` is a place in the file, and the day has no name."""
    if number <= 0:
        return ""
    return datetime.fromtimestamp(number * DAY, UTC).date().isoformat()
