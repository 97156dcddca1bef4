"""The literal rule: two scores from 0 to 100, one answer.

It has no idea of noise: a mutation without any effect is accepted more than half of the time (see
docs/evolution.md). `decision.py` has the rule to use instead.
"""

from random import Random
from typing import Literal, NamedTuple

from fourscore.core.numbers import check_finite

#: Gains above this are significant, losses from this on are regressions.
SIGNIFICANT, REGRESSION = 5.0, -3.0
#: How often a slight regression is taken all the same.
EXPLORE = 0.2

Reason = Literal["significant_improvement", "marginal_improvement", "exploration", "regression"]


class Answer(NamedTuple):
    accepted: bool
    reason: Reason


def should_apply_mutation(old_score: float, new_score: float, rng: Random | None = None) -> Answer:
    """Whether to apply a mutation, and why; `rng` decides about exploration, a fresh one if None.

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
