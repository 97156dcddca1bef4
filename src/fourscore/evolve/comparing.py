"""A candidate against the active version, on cases that no mutation was made from.

Both are run on the same cases, in one order, and only on as many as the next look needs. The active
version's answers are asked for once and compared with every candidate.
"""

from collections.abc import Sequence
from math import fsum
from random import Random

from fourscore.core import Case
from fourscore.evolve.decision import Decision, by_pairs, by_scores
from fourscore.evolve.evaluating import Evaluator, Stopped
from fourscore.evolve.history import Version
from fourscore.stats.sequential import Looks

PURPOSE = "decide"
Pairs = list[tuple[float, float]]


class Comparing:
    """`cases` are those that decide, at least as many as the plan has pairs."""

    def __init__(self, evaluator: Evaluator, cases: Sequence[Case], plan: Looks) -> None:
        self._evaluator, self._plan = evaluator, plan
        self._cases = cases[: plan.budget]

    async def paired(self, old: Version, new: Version) -> Decision:
        """By the paired rule, case by case as far as it has to go."""
        taken = 0
        pairs: Pairs = []
        while not (decision := by_pairs(pairs, self._plan)).final:
            if taken == len(self._cases):
                missing = taken - len(pairs)
                why = f"{missing} of {taken} cases were not measured: too few pairs for a decision"
                raise Stopped("unmeasured", why)
            taken = min(len(self._cases), taken + (decision.more or 1))
            pairs = await self._pairs(old, new, taken)
        return decision

    async def literal(self, old: Version, new: Version, rng: Random) -> Decision:
        """By the two means over all cases."""
        pairs = await self._pairs(old, new, len(self._cases))
        if not pairs:
            raise Stopped("unmeasured", "no case was measured with both versions")
        before, after = (fsum(side) / len(pairs) for side in zip(*pairs, strict=True))
        return by_scores(before, after, rng, len(pairs))

    async def _pairs(self, old: Version, new: Version, first: int) -> Pairs:
        measure = self._evaluator.measure
        one = await measure(old, self._cases, PURPOSE, first)
        other = await measure(new, self._cases, PURPOSE, first)
        both = zip(one.scores, other.scores, strict=True)
        return [(a, b) for a, b in both if a is not None and b is not None]
