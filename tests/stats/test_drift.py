"""Two windows compared: known p-values, and how often equal ones are told apart."""

import random
from math import comb, e, exp

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fourscore.stats.drift import compare_histograms, compare_tags, fisher_exact


def test_the_largest_gap_between_cumulative_shares() -> None:
    assert compare_histograms([500, 0, 0], [500, 0, 0]) == (0.0, 1.0)
    assert compare_histograms([250, 250], [500, 0]) == pytest.approx((0.5, 2 * exp(-125)), abs=0)
    assert compare_histograms([5, 5], [10, 0]) == pytest.approx((0.5, e * exp(-2.5)))
    assert compare_histograms([], []) == (0.0, 1.0)
    with pytest.raises(ValueError, match="windows of 2 and 1"):
        compare_histograms([2], [1])


def test_fishers_exact_test_by_hand() -> None:
    """Twice the one-sided tail of the hypergeometric distribution."""
    tail = sum(comb(10, k) * comb(10, 10 - k) for k in range(4)) / comb(20, 10)
    assert fisher_exact(3, 10, 7, 10) == pytest.approx(2 * tail)
    assert (
        fisher_exact(0, 0, 5, 10)
        == fisher_exact(0, 10, 0, 10)
        == fisher_exact(10, 10, 10, 10)
        == 1.0
    )
    with pytest.raises(ValueError, match="11 of 10"):
        fisher_exact(11, 10, 0, 10)


@given(m=st.integers(1, 40), n=st.integers(1, 40), data=st.data())
def test_fisher_agrees_with_enumeration(m: int, n: int, data: st.DataObject) -> None:
    a, b = data.draw(st.integers(0, m)), data.draw(st.integers(0, n))
    total, ways = a + b, comb(m + n, a + b)
    lower = sum(comb(m, k) * comb(n, total - k) for k in range(a + 1)) / ways
    upper = sum(comb(m, k) * comb(n, total - k) for k in range(a, min(m, total) + 1)) / ways
    assert fisher_exact(a, m, b, n) == pytest.approx(min(1.0, 2 * min(lower, upper)), rel=1e-9)
    assert fisher_exact(a, m, b, n) == pytest.approx(fisher_exact(b, n, a, m), rel=1e-9)


def test_names_the_changed_tag_and_adjusts_for_all_tags() -> None:
    name, moved, p = compare_tags({"a": 400, "b": 100}, 500, {"a": 395, "b": 100, "c": 60}, 500)
    assert (name, moved) == ("c", 0.12)
    assert p == pytest.approx(3 * fisher_exact(0, 500, 60, 500))
    assert compare_tags({}, 500, {}, 500) == ("", 0.0, 1.0)


def test_false_alarms_between_equal_windows_are_rare() -> None:
    rng, found = random.Random(5), 0
    for _ in range(400):
        old, new = [0] * 10, [0] * 10
        for _ in range(100):
            old[rng.randrange(10)] += 1
            new[rng.randrange(10)] += 1
        found += compare_histograms(old, new)[1] <= 0.05
        found += fisher_exact(old[0], 100, new[0], 100) <= 0.05
    assert found <= 2 * (20 + 13)
