"""Two runs over the same cases, side by side.

Cases are matched by id and compared only where both runs asked the same: a case that was changed
between the runs is counted and left out. The first run is held as a few numbers for each case, the
second is streamed past it.
"""

from collections.abc import Iterator
from itertools import groupby
from typing import Any

import msgspec

from fourscore.core import ConfigError, digest
from fourscore.stats.paired import Attempt, Comparison, Pairs
from fourscore.stats.paired_verdict import Rules
from fourscore.stats.summary_counters import First
from fourscore.stores.run import StoredRow
from fourscore.stores.sqlite import Store

#: Flipped cases that are named, each way.
NAMED = 50


class Side(msgspec.Struct, frozen=True, kw_only=True):
    """A run in a store, by the judgement of its own rubric or another."""

    store: Store
    run: str
    judge: str

    def cases(self) -> Iterator[tuple[StoredRow, list[Attempt]]]:
        """Each case once, with what its attempts came to."""
        for _, rows in groupby(self.store.rows(self.run, self.judge), key=lambda row: row.case.id):
            first, *others = rows
            yield first, [_attempt(row) for row in (first, *others)]


class Compared(msgspec.Struct, frozen=True, kw_only=True):
    """What became of the cases, from a to b."""

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
        """JSON-ready."""
        document: dict[str, Any] = msgspec.to_builtins(self)
        return document


def same_judge(a: Store, run_a: str, b: Store, run_b: str) -> str:
    """The rubric that both runs were scored by; scores by two rubrics are not comparable."""
    first, second = a.run(run_a).rubric_fingerprint, b.run(run_b).rubric_fingerprint
    if first != second:
        message = f"{run_a} and {run_b} were scored by different rubrics"
        hint = f"fourscore rescore {run_a} --rubric FILE makes them comparable"
        raise ConfigError(f"{message}; {hint}, then give --scores")
    return first


def compare(a: Side, b: Side, rules: Rules) -> Compared:
    """b against a."""
    before = {row.case.id: (digest(row.case.input, 16), tried) for row, tried in a.cases()}
    pairs, gained, lost = Pairs(), First(NAMED), First(NAMED)
    flips, only_b, changed = [0, 0], 0, 0
    for row, now in b.cases():
        case = row.case
        known = before.pop(case.id, None)
        if known is None:
            only_b += 1
            continue
        asked, then = known
        if asked != digest(case.input, 16):
            changed += 1
            continue
        pairs.add_repeats(then, now, tags=case.tags)
        was, is_ = _majority(then), _majority(now)
        if was is False and is_ is True:
            flips[0] += 1
            gained.add((case.id, 1))
        elif was is True and is_ is False:
            flips[1] += 1
            lost.add((case.id, 1))
    named = [[case_id for case_id, _ in kept.items()] for kept in (gained, lost)]
    return Compared(
        whole=pairs.compare(rules),
        by_tag=pairs.by_tag(rules),
        bootstrap=pairs.bootstrap(level=rules.level),
        gained=named[0],
        lost=named[1],
        gained_left_out=flips[0] - len(named[0]),
        lost_left_out=flips[1] - len(named[1]),
        only_a=len(before),
        only_b=only_b,
        changed=changed,
    )


def _attempt(row: StoredRow) -> Attempt:
    return (None, None) if row.score is None else (row.score.passed, row.score.value)


def _majority(tried: list[Attempt]) -> bool | None:
    """Whether most attempts passed; with as many that did not, it did not."""
    measured = [passed for passed, _ in tried if passed is not None]
    return 2 * sum(measured) > len(measured) if measured else None
