"""Wilson's interval, against published numbers and its own properties."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fourscore.stats.intervals import wilson


@pytest.mark.parametrize(
    ("successes", "n", "low", "high"),
    [(81, 263, 0.2553, 0.3662), (0, 20, 0.0, 0.1611), (15, 148, 0.0624, 0.1605)],
)
def test_published_intervals(successes: int, n: int, low: float, high: float) -> None:
    """The first, the third: Newcombe 1998, table I."""
    assert list(wilson(successes, n)) == pytest.approx([low, high], abs=5e-5)


def test_wilson_without_attempts_is_0_to_1() -> None:
    assert wilson(0, 0) == (0.0, 1.0)


counts = st.integers(1, 10**9).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))


@given(counts)
def test_interval_contains_the_rate_within_0_and_1(count: tuple[int, int]) -> None:
    low, high = wilson(*count)
    assert 0.0 <= low <= count[0] / count[1] <= high <= 1.0
    assert low < high


@given(counts)
def test_interval_of_failures_mirrors_that_of_successes(count: tuple[int, int]) -> None:
    successes, n = count
    low, high = wilson(successes, n)
    assert list(wilson(n - successes, n)) == pytest.approx([1 - high, 1 - low])


@given(counts)
def test_a_higher_level_is_wider(count: tuple[int, int]) -> None:
    (low, high), (lower, higher) = wilson(*count), wilson(*count, level=0.99)
    assert lower <= low < high <= higher


@pytest.mark.parametrize(("successes", "n"), [(-1, 3), (4, 3), (1, 0)])
def test_impossible_counts_are_refused(successes: int, n: int) -> None:
    with pytest.raises(ValueError, match=f"{successes} successes of {n}"):
        wilson(successes, n)
