"""Scores over time as one: outliers dropped, the newest first, an interval that covers."""

from random import Random
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fourscore import aggregate_scores, remove_outliers
from fourscore.stats.recency import aggregate_recent, fit_trend, make_weights


def test_aggregate_of_nothing_is_none() -> None:
    assert aggregate_scores([]) is None
    assert aggregate_recent([]).n == 0


def test_aggregate_by_hand() -> None:
    assert aggregate_scores([80]) == 80
    assert aggregate_scores([80, 60]) == pytest.approx((80 + 0.9 * 60) / 1.9)
    newest_first = [90, 80, 70, 60, 50, 0]
    assert aggregate_scores(newest_first) == pytest.approx(
        (90 + 0.9 * 80 + 0.8 * 70 + 0.7 * 60 + 0.6 * 50) / 4
    )


def test_a_tenth_is_dropped_at_each_end_and_order_is_kept() -> None:
    scores = [50.0, 100.0, 51.0, 52.0, 53.0, 54.0, 0.0, 55.0, 56.0, 57.0]
    assert remove_outliers(scores, 0.1) == [50.0, 51.0, 52.0, 53.0, 54.0, 55.0, 56.0, 57.0]
    assert remove_outliers(scores[:9], 0.1) == scores[:9]
    expected = (50 + 0.9 * 51 + 0.8 * 52 + 0.7 * 53 + 0.6 * 54) / 4
    assert aggregate_scores(scores) == pytest.approx(expected)


def test_oldest_of_equal_outliers_are_dropped_first() -> None:
    assert remove_outliers([1.0, 9.0] + [1.0] * 4 + [9.0] * 4, 0.1)[:2] == [1.0, 9.0]


def test_objects_with_a_score() -> None:
    assert aggregate_scores([SimpleNamespace(score=70.0), SimpleNamespace(score=70.0)]) == 70.0
    with pytest.raises(ValueError, match="expected a number"):
        aggregate_scores(["many"])


def test_longer_windows_need_a_decay() -> None:
    assert make_weights(9, 3) == [1.0, 0.9, 0.8]
    assert make_weights(3, 20, 0.5) == [1.0, 0.5, 0.25]
    with pytest.raises(ValueError, match="decay"):
        make_weights(20, 20)
    assert aggregate_scores([80, 40], window=20, decay=0.5) == pytest.approx(100 / 1.5)


@given(st.lists(st.floats(0, 100), min_size=1, max_size=60))
def test_aggregate_is_between_lowest_and_highest_score(scores: list[float]) -> None:
    value = aggregate_scores(scores)
    assert value is not None
    assert min(scores) - 1e-9 <= value <= max(scores) + 1e-9
    assert len(remove_outliers(scores)) == len(scores) - 2 * (len(scores) // 10)


def test_interval_covers_the_true_mean() -> None:
    """Where nothing changes, it holds the true mean at least as often as it says."""
    chance, hits, rounds = Random(4), 0, 2000
    for _ in range(rounds):
        scores = [min(100.0, max(0.0, chance.gauss(70, 8))) for _ in range(12)]
        found = aggregate_recent(scores)
        assert found.interval is not None
        hits += found.interval[0] <= 70 <= found.interval[1]
    assert hits / rounds > 0.94


def test_trend_has_a_direction_only_where_significant() -> None:
    assert fit_trend([1.0, 2.0]).direction == "unknown"
    assert fit_trend([50.0, 60.0, 70.0, 81.0]).direction == "rising"
    assert fit_trend([81.0, 70.0, 60.0, 50.0]).direction == "falling"
    assert fit_trend([70.0, 60.0, 70.0, 60.0, 70.0]).direction == "steady"
    assert fit_trend([10.0, 20.0, 30.0]).value == pytest.approx(10.0)
