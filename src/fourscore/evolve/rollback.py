"""When to roll back the active version: its score drops, is far below the best, or cases fail.

All numbers are settings; None switches a rule off.
"""

from collections.abc import Sequence
from itertools import pairwise
from math import fsum, sqrt
from typing import Annotated

import msgspec
from msgspec import Meta

from fourscore.core.numbers import check_finite
from fourscore.evolve.limits import Points, Ruling, Share

#: Standard errors by which the mean score may fall before it counts as a drop.
NOISE = 1.645


class RollbackRules(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """When the active version is rolled back. Any one of three rules is enough:

    its score dropped `drops` times in a row, each time by more than `drop` points; it is below
    `share_of_best` of the best version's score; more than `error_rate` of the cases failed.
    """

    drops: Annotated[int, Meta(ge=1)] | None = 2
    drop: Points = 0.0
    share_of_best: Share | None = 0.7
    error_rate: Share | None = 0.5

    def __post_init__(self) -> None:
        for field in ("drop", "share_of_best", "error_rate"):
            check_finite(field, getattr(self, field))


def must_roll_back(
    scores: Sequence[float],
    best: float | None = None,
    error_rate: float | None = None,
    rules: RollbackRules | None = None,
) -> Ruling:
    """Return whether the active version has to be rolled back.

    `scores` are those of its executions, newest last; `best` is the best version's score and
    `error_rate` that of the newest execution, None where unknown.
    """
    rules = rules or RollbackRules()
    if rules.error_rate is not None and error_rate is not None and error_rate > rules.error_rate:
        text = f"{error_rate:.0%} of the cases failed, {rules.error_rate:.0%} are allowed"
        return Ruling(True, "error_rate", text)
    if rules.share_of_best is not None and best is not None and scores:
        least = rules.share_of_best * best
        if scores[-1] < least:
            text = f"{scores[-1]:.2f} is below {least:.2f}, {rules.share_of_best:.0%} of the best"
            return Ruling(True, "below_best", text)
    if rules.drops is not None and len(scores) > rules.drops:
        last = scores[-rules.drops - 1 :]
        if all(a - b > rules.drop for a, b in pairwise(last)):
            text = " to ".join(f"{score:.2f}" for score in last)
            return Ruling(True, "drops", f"{rules.drops} drops in a row: {text}")
    return Ruling(False, "holds", "no rule applies")


def estimate_noise(before: Sequence[float | None], after: Sequence[float | None]) -> float:
    """Return how far the mean may fall by chance between two executions on the same cases."""
    both = zip(before, after, strict=True)
    changes = [b - a for a, b in both if a is not None and b is not None]
    if len(changes) < 2:
        return 0.0
    mean = fsum(changes) / len(changes)
    spread = sqrt(fsum((change - mean) ** 2 for change in changes) / (len(changes) - 1))
    return NOISE * spread / sqrt(len(changes))
