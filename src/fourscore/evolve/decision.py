"""`Decision`: whether a candidate replaces the version it was compared with, and on what evidence.

`decide_by_pairs` compares both on the same cases and is the default. `decide_by_scores` applies the
literal rule, `should_apply_mutation`, to two scores from 0 to 100. That rule ignores chance: it
accepts a mutation without any effect more than half of the time (see docs/evolution.md), so a
version that it accepts as exploration becomes a branch, never the active version.
"""

from collections.abc import Iterable, Sequence
from math import fsum
from random import Random
from typing import Literal, NamedTuple

import msgspec

from fourscore.core.numbers import check_finite
from fourscore.stats.sequential import SequentialOutcome, SequentialPlan, decide_sequentially

#: A change above SIGNIFICANT points is an improvement, one of REGRESSION or less a regression.
SIGNIFICANT, REGRESSION = 5.0, -3.0
#: The probability that a change between the two, without a gain, is accepted as exploration.
EXPLORE = 0.2

Reason = Literal["significant_improvement", "marginal_improvement", "exploration", "regression"]


class Answer(NamedTuple):
    accepted: bool
    reason: Reason


def should_apply_mutation(old_score: float, new_score: float, rng: Random | None = None) -> Answer:
    """Return whether to apply a mutation, and why; `rng` draws whether to explore.

    >>> should_apply_mutation(80, 83)
    Answer(accepted=True, reason='marginal_improvement')
    """
    for field, value in (("old_score", old_score), ("new_score", new_score)):
        if value is None:
            raise ValueError(f"{field}: expected a number, got None")
        check_finite(field, value)
    delta = new_score - old_score
    if delta > SIGNIFICANT:
        return Answer(True, "significant_improvement")
    if delta > 0:
        return Answer(True, "marginal_improvement")
    if delta > REGRESSION:
        chance = Random() if rng is None else rng  # noqa: S311 - a choice, not a secret
        return Answer(chance.random() < EXPLORE, "exploration")
    return Answer(False, "regression")


Rule = Literal["paired", "literal"]
#: The reason of a decision, by the outcome of the sequential test.
REASONS: dict[SequentialOutcome, str] = {
    "accept": "improvement",
    "reject": "no_gain",
    "go_on": "more_cases",
    "undecided": "undecided",
}


class Decision(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The decision, its reason in one word and in a sentence, and the evidence.

    `level` is the chance of accepting a candidate that is no better; the literal rule has none.
    `old` and `new` are the mean scores. `more` is how many more pairs are needed before the next
    look (interim analysis): a decision with `more` is not final.
    """

    rule: Rule
    accepted: bool
    reason: str
    why: str = ""
    delta: float | None = None
    low: float | None = None
    high: float | None = None
    n: int = 0
    look: int = 0
    looks: int = 0
    level: float | None = None
    old: float | None = None
    new: float | None = None
    more: int | None = None

    @property
    def final(self) -> bool:
        return self.more is None

    @property
    def exploration(self) -> bool:
        return self.accepted and self.reason == "exploration"


def decide_by_pairs(
    pairs: Sequence[tuple[float, float]], plan: SequentialPlan | None = None
) -> Decision:
    """Decide from (old, new) scores of the same cases, 0 to 100, in the order they were run."""
    plan = plan or SequentialPlan()
    verdict = decide_sequentially([new - old for old, new in pairs], plan)
    used = pairs[: verdict.n]
    means = [fsum(side) / len(used) for side in zip(*used, strict=True)] if used else [None, None]
    return Decision(
        rule="paired",
        accepted=verdict.outcome == "accept",
        reason=REASONS[verdict.outcome],
        why=verdict.reason,
        delta=verdict.mean,
        low=verdict.low,
        high=verdict.high,
        n=verdict.n,
        look=verdict.look,
        looks=len(plan.sizes),
        level=plan.level,
        old=means[0],
        new=means[1],
        more=verdict.more,
    )


def decide_by_scores(old: float, new: float, rng: Random | None = None, n: int = 0) -> Decision:
    """Decide by the literal rule, from two scores alone."""
    answer = should_apply_mutation(old, new, rng)
    return Decision(
        rule="literal",
        accepted=answer.accepted,
        reason=answer.reason,
        why=f"{old:.2f} to {new:.2f}, without regard to chance",
        delta=new - old,
        n=n,
        old=old,
        new=new,
    )


def expected_false(decisions: Iterable[Decision]) -> float:
    """Return the expected number of false acceptances if no candidate were better."""
    return fsum(each.level for each in decisions if each.level is not None)
