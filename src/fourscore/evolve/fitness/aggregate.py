"""The totals of many executions: scores over time, by version and by day, and signal by signal.

Memory grows by a few numbers per execution, whatever its log contains.
"""

from array import array
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from functools import lru_cache
from operator import attrgetter
from typing import Literal, NamedTuple

import msgspec

from fourscore.core import Rubric
from fourscore.judges.fitness.execution import Execution
from fourscore.judges.fitness.rubric import to_fitness
from fourscore.stats.means import Mean

By = Literal["version", "session", "day"]
#: The most executions that are kept with their session, and the most versions with a group.
KEPT, GROUPS = 1000, 1000
DAY = 86_400


class Scored(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One scored execution. `end` is when it ended, or its place in the file without times."""

    end: float
    order: int
    session: str
    version: str
    score: float
    coverage: float


_IN_TIME = attrgetter("end", "order")


class NewestExecution(NamedTuple):
    """The newest execution with its signals; `reasons` are computed when they are needed."""

    scored: Scored
    values: dict[str, float | None]
    reasons: Callable[[], dict[str, str]]


class PooledCounts(msgspec.Struct):
    """The counts of all executions added up, and how many of them have a time."""

    execution: Execution
    timed: int = 0


class RubricMean:
    """The weighted mean of a rubric and its coverage, as `score()` computes them."""

    def __init__(self, rubric: Rubric) -> None:
        self.lines = [(line.name, line.share) for line in rubric.dimensions]
        self.leaves, self.least = rubric.inapplicable == "leave", rubric.min_coverage - 1e-9
        self.planned = 0.0
        for _, share in self.lines:
            self.planned += share

    def compute(self, values: dict[str, float | None]) -> tuple[float | None, float]:
        """Return the mean, None where too little was measured, and the coverage."""
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


class LogTotals:
    """The totals of a log; `add` takes executions in any order."""

    def __init__(self, rubric: Rubric) -> None:
        self.rubric, self.rubric_mean = rubric, RubricMean(rubric)
        self.means = {line.name: Mean() for line in rubric.dimensions}
        self.score, self.covered = Mean(), 0.0
        self.ends, self.scores = array("d"), array("d")
        self.groups, self.names = array("l"), dict[str, int]()
        self.pooled = PooledCounts(Execution(recorded=False))
        self.skipped = self.mixed = 0
        self.newest: NewestExecution | None = None
        self._kept: list[Scored] = []

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
        """Add one execution by (session, version); return None where too little was measured."""
        value, coverage = self.rubric_mean.compute(values)
        self._pool(execution)
        if value is None:
            self.skipped += 1
            return None
        order = len(self.scores)
        key = float(order) if end is None else end
        scored = Scored(
            end=key,
            order=order,
            session=who[0],
            version=who[1],
            score=to_fitness(value),
            coverage=coverage,
        )
        self.score.add(value)
        self.covered += coverage
        for name, measured in values.items():
            if measured is not None:
                self.means[name].add(measured)
        self.ends.append(key)
        self.scores.append(scored.score)
        self.groups.append(self._group(who[1]))
        self._kept.append(scored)
        if len(self._kept) == 2 * KEPT:
            self._kept.sort(key=_IN_TIME)
            del self._kept[:KEPT]
        return scored

    def is_newest(self, scored: Scored) -> bool:
        return self.newest is None or _IN_TIME(scored) >= _IN_TIME(self.newest.scored)

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
        for kind, n in execution.stated_errors.items():
            pooled.stated_errors[kind] = pooled.stated_errors.get(kind, 0) + n
        for label, n in execution.failures.items():
            pooled.add_failure(label, n)
        if execution.seconds is not None:
            pooled.seconds = (pooled.seconds or 0.0) + execution.seconds
            self.pooled.timed += 1

    def in_time(self) -> list[int]:
        """Return the indexes of the executions, oldest first."""
        return sorted(range(len(self.ends)), key=self.ends.__getitem__)

    def newest_executions(self) -> list[Scored]:
        """Return the newest executions, newest first."""
        return sorted(self._kept, key=_IN_TIME, reverse=True)[:KEPT]

    def group_scores(self, kind: Literal["version", "day"]) -> Iterator[tuple[str, list[float]]]:
        """Yield the groups by their newest execution, each with its scores, oldest first."""
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
    """Return the date of a day; empty where `end` is a place in the file and no time."""
    if number <= 0:
        return ""
    return datetime.fromtimestamp(number * DAY, UTC).date().isoformat()
