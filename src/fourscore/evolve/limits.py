"""Whether another mutation may be tried now, and the reason.

All numbers are settings; None switches a limit off.
"""

from collections.abc import Sequence
from datetime import UTC, datetime
from math import fsum
from typing import Annotated, Literal, NamedTuple

import msgspec
from msgspec import Meta

from fourscore.core.numbers import check_finite

Risk = Literal["low", "medium", "high"]
Count = Annotated[int, Meta(ge=0)]
Share = Annotated[float, Meta(ge=0, le=1)]
Points = Annotated[float, Meta(ge=0)]


class Limits(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How often to mutate, and which versions are too good to mutate.

    A version is stable, and is not mutated, while its last `stable_runs` executions average above
    `stable_above` with a variance below `stable_variance`.
    """

    mutations_per_day: Count | None = 10
    high_risk_per_day: Count | None = 2
    cool_down: Count = 5
    stable_runs: Annotated[int, Meta(ge=1)] | None = 5
    stable_above: Points = 85.0
    stable_variance: Points = 5.0

    def __post_init__(self) -> None:
        for field in ("stable_above", "stable_variance"):
            check_finite(field, getattr(self, field))


class Mutation(NamedTuple):
    """A past mutation: when it was tried, and its risk."""

    at: datetime
    risk: Risk


class Ruling(NamedTuple):
    """Yes or no, with the reason in one word and in a sentence."""

    yes: bool
    reason: str
    why: str


def may_mutate(
    risk: Risk,
    mutations: Sequence[Mutation],
    scores: Sequence[float],
    since_last: int,
    now: datetime,
    limits: Limits | None = None,
) -> Ruling:
    """Return whether another mutation of this risk may be tried.

    `scores` are those of the active version's executions, newest last; `since_last` counts
    executions since the last mutation. Days begin at midnight UTC.
    """
    limits = limits or Limits()
    day = now.astimezone(UTC).date()
    today = [each for each in mutations if each.at.astimezone(UTC).date() == day]
    risky = sum(each.risk == "high" for each in today)
    if limits.mutations_per_day is not None and len(today) >= limits.mutations_per_day:
        return Ruling(False, "per_day", f"{len(today)} mutations today: the daily limit is reached")
    if (
        risk == "high"
        and limits.high_risk_per_day is not None
        and risky >= limits.high_risk_per_day
    ):
        return Ruling(
            False, "high_risk", f"{risky} high-risk mutations today: the daily limit is reached"
        )
    if mutations and since_last < limits.cool_down:
        text = f"{since_last} executions since the last mutation, {limits.cool_down} are needed"
        return Ruling(False, "cool_down", text)
    if limits.stable_runs is not None and len(scores) >= limits.stable_runs:
        mean, variance = _moments(scores[-limits.stable_runs :])
        if mean > limits.stable_above and variance < limits.stable_variance:
            text = f"mean {mean:.2f}, variance {variance:.2f} of the last {limits.stable_runs} runs"
            return Ruling(False, "stable", f"stable: {text}")
    return Ruling(True, "allowed", "no limit is reached")


def _moments(scores: Sequence[float]) -> tuple[float, float]:
    """Return the mean and the population variance."""
    mean = fsum(scores) / len(scores)
    return mean, fsum((score - mean) ** 2 for score in scores) / len(scores)
