"""The held-out part: cases that neither informed a mutation nor decided about one.

The first version and the active one are run on them when the work is done. Nothing follows from it;
a gain that does not show here was learnt by heart.
"""

from collections.abc import Sequence
from typing import Any

import msgspec

from fourscore.core import Case
from fourscore.evolve.evaluating import Evaluator
from fourscore.evolve.history import Version
from fourscore.stats.paired_scores import ScorePairs

PURPOSE = "hold"


class HeldOut(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Mean scores, 0 to 100, over the n cases measured with both; the 95% interval of the
    difference. One version alone has a score and no difference."""

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
    def words(self) -> str:
        if not self.n:
            return "no held-out case was measured"
        if self.first == self.active:
            return f"version {self.active}: {self.new:.2f} over {self.n} cases"
        ends = "" if self.low is None else f" [{self.low:+.2f}, {self.high:+.2f}]"
        seen = f"{self.delta:+.2f} points{ends}, {self.old:.2f} to {self.new:.2f}"
        told = f"version {self.active} against {self.first}: {seen}, over {self.n} cases"
        if self.high is not None and self.high <= 0:
            return f"{told}; no gain here: the decisions were fitted to their own cases"
        if self.low is not None and self.low <= 0:
            return f"{told}; chance could explain it"
        return told

    def document(self) -> dict[str, Any]:
        told: dict[str, Any] = msgspec.to_builtins(self)
        return told


async def held_out(
    evaluator: Evaluator, cases: Sequence[Case], first: Version, active: Version
) -> HeldOut | None:
    """None where no case is held out."""
    if not cases:
        return None
    new = await evaluator.measure(active, cases, PURPOSE)
    same = first.number == active.number
    old = new if same else await evaluator.measure(first, cases, PURPOSE)
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
