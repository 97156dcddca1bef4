"""`Decision`: whether a candidate replaces the version it was compared with, and by what evidence.

Two rules give one: `by_pairs` compares both on the same cases and is the default, `by_scores` is
the literal rule. Exploration is accepted to a branch, never to the active version.
"""

from collections.abc import Iterable, Sequence
from math import fsum
from random import Random
from typing import Literal

import msgspec

from fourscore.evolve.literal import should_apply_mutation
from fourscore.stats.sequential import Looks, Outcome, look

Rule = Literal["paired", "literal"]
#: What the looks come to, in the words of a decision.
WORDS: dict[Outcome, str] = {
    "accept": "improvement",
    "reject": "no_gain",
    "go_on": "more_cases",
    "undecided": "undecided",
}


class Decision(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The answer in one word and in a sentence, and what it rests on.

    `level` is the chance of accepting a candidate that is no better; the literal rule has none.
    `old` and `new` are the mean scores, `more` is how many pairs the next look waits for: such a
    decision is not final.
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


def by_pairs(pairs: Sequence[tuple[float, float]], plan: Looks | None = None) -> Decision:
    """From (old, new) scores of the same cases, 0 to 100, in the order they were run."""
    plan = plan or Looks()
    verdict = look([new - old for old, new in pairs], plan)
    used = pairs[: verdict.n]
    means = [fsum(side) / len(used) for side in zip(*used, strict=True)] if used else [None, None]
    return Decision(
        rule="paired",
        accepted=verdict.outcome == "accept",
        reason=WORDS[verdict.outcome],
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


def by_scores(old: float, new: float, rng: Random | None = None, n: int = 0) -> Decision:
    """From two scores alone."""
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
    """How many of the accepted would be false, at the most, were no candidate better at all."""
    return fsum(each.level for each in decisions if each.level is not None)
