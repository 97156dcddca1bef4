"""Compare two runs over the same cases, case by case.

Cases are matched by id and compared only where both runs had the same input: a case whose input
changed between the runs is counted and left out. Of the first run a few numbers for each case are
kept in memory; the second is streamed.
"""

from collections.abc import Iterator
from itertools import groupby
from typing import Any

import msgspec

from fourscore.core import ConfigError, digest
from fourscore.stats.paired import Attempt, Comparison, Pairs
from fourscore.stats.paired_verdict import VerdictRules
from fourscore.stats.summary_counters import FirstItems
from fourscore.stores.run import StoredRow
from fourscore.stores.sqlite import Store

#: Flipped cases that are listed, each way.
MAX_LISTED = 50


class ScoredRun(msgspec.Struct, frozen=True, kw_only=True):
    """A run in a store, with its scores by one rubric; `judge` is that rubric's fingerprint."""

    store: Store
    run: str
    judge: str

    def cases(self) -> Iterator[tuple[StoredRow, list[Attempt]]]:
        """Return each case once, with the results of its attempts."""
        for _, rows in groupby(self.store.rows(self.run, self.judge), key=lambda row: row.case.id):
            first, *others = rows
            yield first, [_attempt(row) for row in (first, *others)]


class RunComparison(msgspec.Struct, frozen=True, kw_only=True):
    """The differences from run a to run b, for all cases and by tag, and the cases that flipped."""

    whole: Comparison
    by_tag: dict[str, Comparison]
    bootstrap: tuple[float, float] | None
    gained: list[str]
    lost: list[str]
    gained_left_out: int
    lost_left_out: int
    only_a: int
    only_b: int
    changed: int

    def document(self) -> dict[str, Any]:
        """Return the comparison as JSON values."""
        document: dict[str, Any] = msgspec.to_builtins(self)
        return document


def check_same_rubric(a: Store, run_a: str, b: Store, run_b: str) -> str:
    """Return the fingerprint of the rubric that scored both runs; raise if there are two."""
    first, second = a.run(run_a).rubric_fingerprint, b.run(run_b).rubric_fingerprint
    if first != second:
        message = f"{run_a} and {run_b} were scored by different rubrics"
        hint = f"fourscore rescore {run_a} --rubric FILE makes them comparable"
        raise ConfigError(f"{message}; {hint}, then give --scores")
    return first


def compare_runs(a: ScoredRun, b: ScoredRun, rules: VerdictRules) -> RunComparison:
    """Compare run b with run a."""
    before = {row.case.id: (digest(row.case.input, 16), attempts) for row, attempts in a.cases()}
    pairs, gained, lost = Pairs(), FirstItems(MAX_LISTED), FirstItems(MAX_LISTED)
    flips, only_b, changed = [0, 0], 0, 0
    for row, after in b.cases():
        case = row.case
        known = before.pop(case.id, None)
        if known is None:
            only_b += 1
            continue
        input_digest, earlier = known
        if input_digest != digest(case.input, 16):
            changed += 1
            continue
        pairs.add_repeats(earlier, after, tags=case.tags)
        passed_before, passed_after = _passes_mostly(earlier), _passes_mostly(after)
        if passed_before is False and passed_after is True:
            flips[0] += 1
            gained.add((case.id, 1))
        elif passed_before is True and passed_after is False:
            flips[1] += 1
            lost.add((case.id, 1))
    listed = [[case_id for case_id, _ in kept.items()] for kept in (gained, lost)]
    return RunComparison(
        whole=pairs.compare(rules),
        by_tag=pairs.by_tag(rules),
        bootstrap=pairs.bootstrap(level=rules.level),
        gained=listed[0],
        lost=listed[1],
        gained_left_out=flips[0] - len(listed[0]),
        lost_left_out=flips[1] - len(listed[1]),
        only_a=len(before),
        only_b=only_b,
        changed=changed,
    )


def _attempt(row: StoredRow) -> Attempt:
    return (None, None) if row.score is None else (row.score.passed, row.score.value)


def _passes_mostly(attempts: list[Attempt]) -> bool | None:
    """Return whether more than half of the measured attempts passed; None if none was measured."""
    measured = [passed for passed, _ in attempts if passed is not None]
    return 2 * sum(measured) > len(measured) if measured else None
