"""`Summary`: the summary of a run, from rows that are added once, in any order.

The order of rows does not change a byte of the result: every sum is exact, every list sorted.
Memory does not grow with the run: it has counters for statuses, dimensions, tags and complexities,
the first failures by id, and with repeats the packed counts of the cases still open.

Rows with the status scored, agent_error or timeout count as tests; the last two fail with a score
of 0. All other rows are unmeasured and counted apart from the rate. A dimension is averaged over
the rows in which it was measured, with its n, even if the judge of another one failed there;
`not_measured` counts the rows in which its own judge failed. Rankings are left out, because they
mean nothing outside their group. A row is one case × repeat; the store's primary key prevents
duplicates.
"""

from collections import Counter
from collections.abc import Iterable
from typing import Any

from fourscore.core import Case, Score, Status, Trace, Usage
from fourscore.stats.bounded_map import BoundedMap
from fourscore.stats.means import EXACT, Mean, MeanEstimate, Rate
from fourscore.stats.pass_at_k import Column, OpenCases, choose_ks, pass_at_k, pass_hat_k
from fourscore.stats.run_facts import RUN_FACTS
from fourscore.stats.summary_counters import (
    CanaryCounts,
    Distribution,
    ExactSum,
    FirstItems,
    UsageSum,
    WorstFailures,
)

#: The most failures listed and groups kept: the first by name.
FAILURES = 100
GROUPS = 1000
#: Failures listed with their reason: those with the lowest values.
WORST = 3
#: Known complexities in order; others follow by name.
COMPLEXITIES = ("simple", "medium", "complex", "very_complex")

SCORED = Status.SCORED
_FREE = Usage()

#: A mean, and with repeats the sums of the open cases.
_Kept = tuple[Mean, Column | None]


class Summary:
    """Add rows with `add`, read the result with `document`."""

    def __init__(
        self,
        *,
        planned: int | None = None,
        repeats: int = 1,
        dimensions: Iterable[str] = (),
        level: float = 0.95,
    ) -> None:
        self.planned, self.repeats, self.level = planned, repeats, level
        self._open = OpenCases(repeats)
        self._passes = self._open.column() if repeats > 1 else None
        self._scored = self._covered = 0
        self._others = dict.fromkeys(Status, 0)
        self._rate = Rate()
        self._tally: dict[tuple[int, int], int] = {}
        self._value = self._new()
        self._dimensions = {name: self._new() for name in dimensions}
        self._named = tuple(self._dimensions)
        self._faults: Counter[str] = Counter()
        self._tags, self._complexities = BoundedMap(GROUPS, Rate), BoundedMap(GROUPS, Rate)
        self._failures, self._worst = FirstItems(FAILURES), WorstFailures(WORST)
        self._unmeasured = WorstFailures(WORST)
        self._canaries = CanaryCounts()
        self._judges, self._agent, self._seconds = UsageSum(), UsageSum(), ExactSum()
        self._facts = {name: Distribution() for name in RUN_FACTS}

    def add(self, case: Case, repeat: int, score: Score, trace: Trace | None = None) -> None:
        """Add one row; the trace, where given, has the agent's time and cost."""
        status = score.status
        slot = self._open.open(case.id) if self._passes is not None else -1
        if status is SCORED:  # by identity: an enum's hash is a call of its own
            self._scored += 1
            self._covered += _exact(score.coverage)
        else:
            self._others[status] += 1
        self._signals(score, slot)
        if score.passed is not None:  # measured
            self._verdict(case, repeat, score.passed, slot)
            if not score.passed:
                self._worst.add(case.id, repeat, score)
            if score.value is not None:
                _keep(self._value, score.value, slot)
        else:
            self._unmeasured.add(case.id, repeat, score)
        if slot >= 0:
            self._open.close(case.id, slot)
        if score.cost != _FREE:
            self._judges.add(score.cost)
        if trace is not None:
            if trace.usage is not None:
                self._agent.add(trace.usage)
            if trace.seconds is not None:
                self._seconds.add(trace.seconds)
            for name, read in RUN_FACTS.items():
                if (fact := read(trace)) is not None:
                    self._facts[name].add(fact)

    def _verdict(self, case: Case, repeat: int, passed: bool, slot: int) -> None:
        x, n, s = int(passed), 0, 0
        if self._passes is not None:
            n, s = self._passes.counts[slot], self._passes.sums[slot]
            self._passes.counts[slot], self._passes.sums[slot] = n + 1, s + x
            tally = self._tally
            if n:
                tally[s, n] -= 1
            tally[s + x, n + 1] = tally.get((s + x, n + 1), 0) + 1
        self._rate.add(x, n, s)
        tags, groups = case.tags, self._tags
        for tag in tags if len(tags) < 2 else set(tags):
            (groups.known.get(tag) or groups.new(tag)).add(x, n, s)
        word, groups = case.complexity or "medium", self._complexities
        (groups.known.get(word) or groups.new(word)).add(x, n, s)
        if not passed:
            self._failures.add((case.id, repeat))

    def _signals(self, score: Score, slot: int) -> None:
        for signal in score.signals:
            if signal.canary is not None:
                self._canaries.add(signal)
            if signal.relative or (signal.value is None and signal.fault is None):
                continue
            name = signal.name
            kept = self._dimensions.get(name)
            if kept is None:
                kept = self._dimensions[name] = self._new()
            if signal.value is None:
                self._faults[name] += 1
            else:
                _keep(kept, signal.value, slot)

    def _new(self) -> _Kept:
        mean = Mean()
        return mean, self._open.column(mean) if self.repeats > 1 else None

    def _estimate(self, kept: _Kept) -> MeanEstimate:
        mean, column = kept
        if column is not None:
            mean = self._open.so_far(column, mean)
        return mean.estimate(self.level)

    def document(self) -> dict[str, Any]:
        """Return the summary as JSON values; the last three, `run_facts` to `time`, may differ
        between two runs that are otherwise equal.
        """
        rate, value = self._rate.estimate(self.level), self._estimate(self._value)
        statuses = {status.value: count for status, count in self._others.items()}
        statuses[SCORED.value] = self._scored
        seen = sum(statuses.values())
        planned = seen if self.planned is None else self.planned
        dimensions = self._each_dimension()
        failures = self._failures.items()
        return {
            "total_tests": rate.n,
            "passed": self._rate.total,
            "failed": rate.n - self._rate.total,
            "pass_rate": rate.mean,
            "dimension_averages": {
                name: line["average"] for name, line in dimensions.items() if line["n"]
            },
            "failures": [{"id": case_id, "repeat": repeat} for case_id, repeat in failures],
            "failures_left_out": rate.n - self._rate.total - len(failures),
            "worst": self._worst.document(),
            "planned": planned,
            "statuses": statuses,
            "unmeasured": seen - rate.n,
            "unmeasured_first": [
                {key: line[key] for key in ("id", "repeat", "status", "reason")}
                for line in self._unmeasured.document()
            ],
            "not_run": max(0, planned - seen),
            "cases": rate.cases,
            "repeats": self.repeats,
            "level": self.level,
            "pass_rate_error": rate.error,
            "pass_rate_interval": _as_list(rate),
            "average_score": value.mean,
            "average_score_n": value.n,
            "average_score_error": value.error,
            "average_score_interval": _as_list(value),
            "coverage": self._covered / (self._scored << EXACT) if self._scored else None,
            "dimensions": dimensions,
            **(self._repeated() if self.repeats > 1 else {}),
            "by_tag": {name: self._group(of) for name, of in self._tags.items().items()},
            "by_complexity": self._each_complexity(),
            "groups_left_out": self._tags.left_out or self._complexities.left_out,
            **self._canaries.document(),
            "run_facts": {name: facts.document() for name, facts in self._facts.items()},
            "cost": {"agent": self._agent.document(), "judges": self._judges.document()},
            "time": {
                "n": self._seconds.n,
                "seconds": self._seconds.sum(),
                "mean": self._seconds.mean(),
                "longest": self._seconds.largest,
            },
        }

    def _each_dimension(self) -> dict[str, dict[str, Any]]:
        others = sorted(self._dimensions.keys() - set(self._named))
        lines = {}
        for name in (*self._named, *others):
            found = self._estimate(self._dimensions[name])
            line = {"average": found.mean, "n": found.n, "not_measured": self._faults[name]}
            lines[name] = {**line, "error": found.error, "interval": _as_list(found)}
        return lines

    def _each_complexity(self) -> dict[str, dict[str, Any]]:
        rates = self._complexities.items()
        known = [name for name in COMPLEXITIES if name in rates]
        others = [name for name in rates if name not in COMPLEXITIES]
        return {name: self._group(rates[name]) for name in known + others}

    def _group(self, rate: Rate) -> dict[str, Any]:
        found = rate.estimate(self.level)
        return {
            "total_tests": found.n,
            "passed": rate.total,
            "pass_rate": found.mean,
            "pass_rate_interval": _as_list(found),
        }

    def _repeated(self) -> dict[str, Any]:
        tally = {pair: count for pair, count in self._tally.items() if count}
        kinds = {"pass@k": pass_at_k, "pass^k": pass_hat_k}
        return {
            name: {str(k): _line(of(tally, k, self.level)) for k in choose_ks(self.repeats)}
            for name, of in kinds.items()
        }


def _exact(share: float) -> int:
    return 1 << EXACT if share == 1.0 else int(share * 2.0**EXACT)


def _keep(kept: _Kept, value: float, slot: int) -> None:
    mean, column = kept
    if column is None:
        mean.add(value)
    else:
        column.counts[slot] += 1
        column.sums[slot] += mean.part(value)


def _as_list(found: MeanEstimate) -> list[float] | None:
    return None if found.interval is None else list(found.interval)


def _line(found: MeanEstimate) -> dict[str, Any]:
    line = {"rate": found.mean, "cases": found.cases, "error": found.error}
    return {**line, "interval": _as_list(found)}
