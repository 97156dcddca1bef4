"""The confidence sequence: `confseq`'s numbers, and that it holds at every moment at once."""

import random
from math import floor, log

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fourscore.stats.confidence_sequence import (
    anytime_interval,
    is_below,
    log_evidence,
    tune_concentration,
)


@pytest.mark.parametrize(
    ("passed", "n", "tuned_for", "low", "high"),
    [
        (700, 1000, 100, 0.651629, 0.745949),
        (15, 50, 50, 0.129556, 0.511896),
        (5, 50, 50, 0.013021, 0.269264),
        (100, 200, 1, 0.328923, 0.671076),
    ],
)
def test_golden_values_of_confseq(
    passed: int, n: int, tuned_for: int, low: float, high: float
) -> None:
    """Its six digits are cut off, not rounded."""
    ends = anytime_interval(passed, n, alpha=0.05, tuned_for=tuned_for)
    assert [floor(end * 1e6) / 1e6 for end in ends] == [low, high]


def test_interval_ends_at_0_or_1_for_extreme_counts() -> None:
    assert anytime_interval(0, 0, tuned_for=100) == (0.0, 1.0)
    assert anytime_interval(1, 1, tuned_for=100) == (0.0, 1.0)
    assert anytime_interval(0, 200, tuned_for=100)[0] == 0.0
    assert anytime_interval(200, 200, tuned_for=100)[1] == 1.0


@pytest.mark.parametrize(("passed", "n", "alpha"), [(3, 2, 0.05), (-1, 2, 0.05), (1, 2, 0.0)])
def test_refuses_impossible_counts_and_alpha(passed: int, n: int, alpha: float) -> None:
    with pytest.raises(ValueError, match=r"passed of|alpha"):
        anytime_interval(passed, n, alpha=alpha, tuned_for=100)


@given(n=st.integers(1, 3000), part=st.floats(0, 1), rate=st.floats(0.05, 0.95))
def test_is_below_agrees_with_the_interval(n: int, part: float, rate: float) -> None:
    passed, c = floor(part * n), tune_concentration(500)
    low, high = anytime_interval(passed, n, alpha=0.01, tuned_for=500)
    assert 0 <= low <= passed / n <= high <= 1
    if abs(high - rate) > 1e-9:
        assert is_below(passed, n, rate, c, log(100)) == (high < rate)


def test_the_evidence_is_a_mean_of_likelihood_ratios() -> None:
    """Its mean over all outcomes is 1 while the rate is true: no bet on it wins."""
    from math import comb, exp

    n, rate, c = 12, 0.7, tune_concentration(100)
    total = sum(
        comb(n, k) * rate**k * (1 - rate) ** (n - k) * exp(log_evidence(k, n, rate, c))
        for k in range(n + 1)
    )
    assert total == pytest.approx(1.0, abs=1e-9)


def test_interval_checked_after_every_sample_misses_at_most_alpha() -> None:
    rng, c, bar, missed = random.Random(7), tune_concentration(100), log(20), 0
    for _ in range(300):
        passed = 0
        for n in range(1, 401):
            passed += rng.random() < 0.85
            if log_evidence(passed, n, 0.85, c) > bar:
                missed += 1
                break
    assert missed <= 15 + 12  # 5% of 300, and three standard errors
