"""Compares a new version with an old one on the same cases, from which no mutation was made.

- `Comparison` runs both versions on the cases in the same order, and only on as many cases as the
  next interim analysis (look) needs. The active version is run once per case, for all candidates.
- `pair_runs` pairs two runs that are already stored. Cases are matched by id, and paired only where
  both runs have the same input and a score; repeats are averaged. The order of the pairs is by
  digest of the id, which is independent of the results and of the order in a file.
- `compare_held_out` runs the first and the active version on cases that neither informed a mutation
  nor decided about one. No decision follows from it; a gain that does not show there is overfitted.
"""

from collections.abc import Sequence
from math import fsum
from random import Random
from typing import Any

import msgspec

from fourscore.core import Case, digest
from fourscore.evolve.decision import Decision, decide_by_pairs, decide_by_scores
from fourscore.evolve.evaluator import Evaluator, Stopped
from fourscore.evolve.history import Version
from fourscore.evolve.split import make_order_key
from fourscore.stats.paired import Attempt
from fourscore.stats.paired_scores import ScorePairs
from fourscore.stats.sequential import SequentialPlan
from fourscore.test.compare import ScoredRun

#: What a run is for; part of the run's id.
DECIDE_PURPOSE, HOLD_PURPOSE = "decide", "hold"
Pairs = list[tuple[float, float]]


class Comparison:
    """Runs two versions on the `decide` cases and applies a decision rule."""

    def __init__(self, evaluator: Evaluator, cases: Sequence[Case], plan: SequentialPlan) -> None:
        self._evaluator, self._plan = evaluator, plan
        self._cases = cases[: plan.budget]

    async def decide_by_pairs(self, old: Version, new: Version) -> Decision:
        """Decide by the paired rule, with no more cases than it needs."""
        taken = 0
        pairs: Pairs = []
        while not (decision := decide_by_pairs(pairs, self._plan)).final:
            if taken == len(self._cases):
                missing = taken - len(pairs)
                why = f"{missing} of {taken} cases were not measured: too few pairs for a decision"
                raise Stopped("unmeasured", why)
            taken = min(len(self._cases), taken + (decision.more or 1))
            pairs = await self._pairs(old, new, taken)
        return decision

    async def decide_by_means(self, old: Version, new: Version, rng: Random) -> Decision:
        """Decide by the literal rule, from the two means over all cases."""
        pairs = await self._pairs(old, new, len(self._cases))
        if not pairs:
            raise Stopped("unmeasured", "no case was measured with both versions")
        before, after = (fsum(side) / len(pairs) for side in zip(*pairs, strict=True))
        return decide_by_scores(before, after, rng, len(pairs))

    async def _pairs(self, old: Version, new: Version, first: int) -> Pairs:
        measure = self._evaluator.measure
        one = await measure(old, self._cases, DECIDE_PURPOSE, first)
        other = await measure(new, self._cases, DECIDE_PURPOSE, first)
        both = zip(one.scores, other.scores, strict=True)
        return [(a, b) for a, b in both if a is not None and b is not None]


class PairedRuns(msgspec.Struct, frozen=True, kw_only=True):
    """(old, new) scores for each case, and the number of cases left out by reason."""

    cases: tuple[str, ...]
    pairs: tuple[tuple[float, float], ...]
    only_old: int
    only_new: int
    changed: int
    unmeasured: int


def pair_runs(old: ScoredRun, new: ScoredRun) -> PairedRuns:
    """Pair the cases of two stored runs."""
    before = {row.case.id: (digest(row.case.input), _score(tried)) for row, tried in old.cases()}
    found: dict[str, tuple[float, float]] = {}
    only_new = changed = unmeasured = 0
    for row, tried in new.cases():
        known = before.pop(row.case.id, None)
        now = _score(tried)
        if known is None:
            only_new += 1
        elif known[0] != digest(row.case.input):
            changed += 1
        elif known[1] is None or now is None:
            unmeasured += 1
        else:
            found[row.case.id] = known[1], now
    cases = tuple(sorted(found, key=make_order_key))
    return PairedRuns(
        cases=cases,
        pairs=tuple(found[case] for case in cases),
        only_old=len(before),
        only_new=only_new,
        changed=changed,
        unmeasured=unmeasured,
    )


def _score(tried: list[Attempt]) -> float | None:
    measured = [value for _, value in tried if value is not None]
    return 100 * fsum(measured) / len(measured) if measured else None


class HeldOut(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Mean scores, 0 to 100, over the n held-out cases measured with both versions, and the 95%
    interval of the difference. One version alone has a score and no difference."""

    first: int
    active: int
    n: int
    missing: int = 0
    old: float | None = None
    new: float | None = None
    delta: float | None = None
    low: float | None = None
    high: float | None = None

    @property
    def summary(self) -> str:
        if not self.n:
            return "no held-out case was measured"
        if self.first == self.active:
            return f"version {self.active}: {self.new:.2f} over {self.n} cases"
        ends = "" if self.low is None else f" [{self.low:+.2f}, {self.high:+.2f}]"
        seen = f"{self.delta:+.2f} points{ends}, {self.old:.2f} to {self.new:.2f}"
        text = f"version {self.active} against {self.first}: {seen}, over {self.n} cases"
        if self.high is not None and self.high <= 0:
            return f"{text}; no gain here: the accepted versions are overfitted"
        if self.low is not None and self.low <= 0:
            return f"{text}; chance could explain it"
        return text

    def to_document(self) -> dict[str, Any]:
        document: dict[str, Any] = msgspec.to_builtins(self)
        return document


async def compare_held_out(
    evaluator: Evaluator, cases: Sequence[Case], first: Version, active: Version
) -> HeldOut | None:
    """Run both versions on the held-out cases; return None where there are no such cases."""
    if not cases:
        return None
    new = await evaluator.measure(active, cases, HOLD_PURPOSE)
    same = first.number == active.number
    old = new if same else await evaluator.measure(first, cases, HOLD_PURPOSE)
    pairs = ScorePairs()
    for a, b in zip(old.scores, new.scores, strict=True):
        pairs.add(None if a is None else a / 100, None if b is None else b / 100)
    change = pairs.change()
    low, high = change.interval or (None, None)
    return HeldOut(
        first=first.number,
        active=active.number,
        n=change.n,
        missing=change.left_out,
        old=_points(change.mean_a),
        new=_points(change.mean_b),
        delta=None if same else _points(change.difference),
        low=None if same else _points(low),
        high=None if same else _points(high),
    )


def _points(value: float | None) -> float | None:
    return None if value is None else 100 * value
