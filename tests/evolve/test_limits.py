"""Limits of mutations, each at its boundary."""

from datetime import UTC, datetime, timedelta, timezone

import pytest

from fourscore.evolve.limits import Limits, Mutation, Risk, may_mutate

NOW = datetime(2026, 1, 31, 23, 0, tzinfo=UTC)


def asked(
    risk: Risk = "low",
    low: int = 0,
    high: int = 0,
    scores: tuple[float, ...] = (),
    since: int = 5,
    limits: Limits | None = None,
    ago: timedelta = timedelta(0),
) -> str:
    done = [Mutation(NOW - ago, "low")] * low + [Mutation(NOW - ago, "high")] * high
    return may_mutate(risk, done, scores, since, NOW, limits).reason


def test_ten_mutations_per_day() -> None:
    assert asked(low=9) == "allowed"
    assert asked(low=10) == "per_day"
    assert asked(low=8, high=2) == "per_day"
    assert asked(low=10, ago=timedelta(hours=24)) == "allowed"
    assert asked(low=3, limits=Limits(mutations_per_day=3)) == "per_day"
    assert asked(low=999, limits=Limits(mutations_per_day=None)) == "allowed"


def test_days_are_in_utc() -> None:
    elsewhere = datetime(2026, 2, 1, 1, 0, tzinfo=timezone(timedelta(hours=2)))  # 23:00 UTC
    assert may_mutate("low", [Mutation(elsewhere, "low")] * 10, (), 5, NOW).reason == "per_day"
    assert asked(low=10, ago=timedelta(hours=23)) == "per_day"  # 00:00 of the same day
    assert asked(low=10, ago=timedelta(hours=23, seconds=1)) == "allowed"


def test_two_high_risk_mutations_per_day() -> None:
    assert asked("high", high=1) == "allowed"
    assert asked("high", high=2) == "high_risk"
    assert asked("medium", high=2) == "allowed"
    assert asked("high", high=2, limits=Limits(high_risk_per_day=None)) == "allowed"


def test_cool_down_of_five_executions() -> None:
    assert asked(low=1, since=4) == "cool_down"
    assert asked(low=1, since=5) == "allowed"
    assert asked(since=0) == "allowed"  # nothing to cool down from
    assert asked(low=1, since=0, limits=Limits(cool_down=0)) == "allowed"


def test_stable_version_is_not_mutated() -> None:
    assert asked(scores=(86, 86, 86, 86, 86)) == "stable"
    assert asked(scores=(85, 85, 85, 85, 85)) == "allowed"  # not above 85
    assert asked(scores=(85.01,) * 5) == "stable"
    assert asked(scores=(86,) * 4) == "allowed"  # not five yet
    assert asked(scores=(0, 86, 86, 86, 86, 86)) == "stable"  # the last five
    # Five scores a, a, m, b, b with a deviation of d have a variance of 4/5 d².
    assert asked(scores=(87.5, 87.5, 90, 92.5, 92.5)) == "allowed"  # exactly 5
    assert asked(scores=(87.6, 87.6, 90, 92.4, 92.4)) == "stable"
    assert asked(scores=(86,) * 5, limits=Limits(stable_runs=None)) == "allowed"
    assert asked(scores=(80, 80), limits=Limits(stable_runs=2, stable_above=79)) == "stable"


@pytest.mark.parametrize("bad", [float("nan"), float("inf")])
def test_limits_must_be_finite(bad: float) -> None:
    with pytest.raises(ValueError, match="stable_above"):
        Limits(stable_above=bad)
