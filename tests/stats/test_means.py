"""Means and rates by case: properties, and what happens where there is nothing to go by."""

import random
from fractions import Fraction
from math import sqrt
from statistics import mean, stdev

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fourscore.stats.intervals import clustered_interval, wilson
from fourscore.stats.means import MeanEstimate, estimate_mean, estimate_rate
from fourscore.stats.quantiles import normal_quantile, student_quantile

scores = st.floats(0, 1)


@given(st.lists(scores, min_size=1))
def test_mean_is_exact_in_any_order(values: list[float]) -> None:
    values = [value if value > 1e-8 else 0.0 for value in values]
    found = estimate_mean(values)
    assert found.mean == float(sum(map(Fraction, values)) / len(values))
    assert estimate_mean(sorted(values)) == found


@given(st.lists(st.tuples(st.integers(0, 5), scores), min_size=1), st.randoms())
def test_clustered_mean_is_the_same_in_any_order(
    rows: list[tuple[int, float]], rng: random.Random
) -> None:
    found = estimate_mean([value for _, value in rows], [case for case, _ in rows])
    rng.shuffle(rows)
    assert estimate_mean([value for _, value in rows], [case for case, _ in rows]) == found
    assert found.interval is not None
    assert found.mean is not None
    assert 0.0 <= found.interval[0] <= found.mean + 1e-15
    assert found.mean - 1e-15 <= found.interval[1] <= 1.0


def test_without_repeats_it_is_the_textbook_error() -> None:
    values = [0.1, 0.4, 0.35, 0.8]
    found = estimate_mean(values, bounds=None)
    assert found.error == pytest.approx(stdev(values) / sqrt(4))
    reach = student_quantile(0.95, 3) * stdev(values) / 2
    assert found.interval == pytest.approx((mean(values) - reach, mean(values) + reach))
    cut = estimate_mean(values).interval
    assert found.interval is not None
    assert cut == (0.0, found.interval[1])


def test_differences_may_be_negative() -> None:
    assert estimate_mean([-0.5, 0.25, -0.5], bounds=(-1.0, 1.0)).mean == -0.25


def test_equal_repeats_do_not_narrow_the_interval() -> None:
    """Four copies of each score: four times the n, the same error."""
    values = [0.1, 0.4, 0.35, 0.8]
    copies = estimate_mean(
        [value for value in values for _ in range(4)], [i // 4 for i in range(16)]
    )
    assert copies.error == pytest.approx(estimate_mean(values).error)
    assert (copies.n, copies.cases) == (16, 4)


def test_mean_of_nothing_is_none() -> None:
    nothing = MeanEstimate(n=0, cases=0, mean=None, error=None, interval=None)
    assert estimate_mean([]) == nothing
    assert estimate_rate([]) == nothing


def test_one_case_has_no_error_and_a_wide_interval() -> None:
    found = estimate_mean([1.0, 1.0, 0.5], ["a", "a", "a"])
    assert found.error is None
    assert found.interval == pytest.approx(clustered_interval(2.5 / 3, None, 1, 3))


def test_perfect_scores_still_have_an_interval() -> None:
    assert estimate_mean([1.0] * 20).interval == wilson(20, 20)
    assert estimate_mean([1.0] * 20, bounds=None).interval is None
    assert estimate_mean([0.3] * 7).mean == 0.3
    assert estimate_mean([0.3] * 7).error == 0.0
    assert estimate_rate([(4, 4)] * 20).interval == wilson(20, 20)  # a case counts once


def test_refuses_nan_and_impossible_counts() -> None:
    with pytest.raises(ValueError, match="NaN"):
        estimate_mean([float("nan")])
    with pytest.raises(ValueError, match="3 successes of 2"):
        estimate_rate([(3, 2)])
    with pytest.raises(ValueError, match="shorter"):
        estimate_mean([0.5, 0.5], ["a"])


@given(st.lists(st.integers(0, 4), min_size=2, max_size=60))
def test_a_clustered_rate_stays_within_0_and_1(successes: list[int]) -> None:
    found = estimate_rate((s, 4) for s in successes)
    assert found.interval is not None
    assert found.mean is not None
    low, high = found.interval
    assert 0.0 <= low <= found.mean <= high <= 1.0
    assert low < high


def test_clustering_never_claims_more_than_n_attempts() -> None:
    """Cases that all pass half of the time spread less than chance would: no extra certainty."""
    even = estimate_rate([(2, 4)] * 49 + [(3, 4)])
    assert even.interval is not None
    low, high = wilson(99, 200)
    assert even.interval[1] - even.interval[0] >= high - low


@pytest.mark.parametrize("level", [0.0, 1.0, -1.0, float("nan")])
def test_levels_out_of_range_are_refused(level: float) -> None:
    with pytest.raises(ValueError, match="not between 0 and 1"):
        normal_quantile(level)


def test_no_degrees_of_freedom() -> None:
    with pytest.raises(ValueError, match="0 degrees of freedom"):
        student_quantile(0.95, 0)


@given(st.integers(1, 2000), st.floats(0.01, 0.999))
def test_student_quantile_is_above_normal_and_converges(df: int, level: float) -> None:
    assert (
        student_quantile(level, df)
        >= student_quantile(level, df + 1) * (1 - 1e-12)
        >= normal_quantile(level) * (1 - 1e-9)
    )
