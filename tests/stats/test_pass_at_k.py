"""pass@k and pass^k against counting, and the packed cases."""

from itertools import combinations
from statistics import stdev

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fourscore.stats.means import Mean
from fourscore.stats.pass_at_k import (
    MAX_REPEATS,
    OpenCases,
    choose_ks,
    count_tally,
    pass_all,
    pass_at,
    pass_at_k,
    pass_hat_k,
)

draws = st.integers(1, 7).flatmap(
    lambda n: st.tuples(st.integers(0, n), st.just(n), st.integers(1, n))
)


@given(draws)
def test_pass_at_k_agrees_with_enumeration(draw: tuple[int, int, int]) -> None:
    successes, n, k = draw
    drawn = list(combinations([True] * successes + [False] * (n - successes), k))
    assert pass_at(successes, n, k) == pytest.approx(sum(map(any, drawn)) / len(drawn))
    assert pass_all(successes, n, k) == pytest.approx(sum(map(all, drawn)) / len(drawn))


@pytest.mark.parametrize(("successes", "n", "k"), [(1, 2, 3), (1, 2, 0), (3, 2, 1), (-1, 2, 1)])
def test_impossible_draws_are_refused(successes: int, n: int, k: int) -> None:
    for of in (pass_at, pass_all):
        with pytest.raises(ValueError, match=r"successes|attempts"):
            of(successes, n, k)


def test_case_with_fewer_than_k_attempts_is_left_out() -> None:
    tally = count_tally([(4, 4), (0, 4), (1, 1)])
    assert pass_hat_k(tally, 1).mean == pytest.approx(2 / 3)
    assert (pass_hat_k(tally, 2).mean, pass_hat_k(tally, 2).cases) == (0.5, 2)
    assert (pass_hat_k(tally, 5).mean, pass_hat_k(tally, 5).interval) == (None, None)


@given(st.lists(st.integers(0, 5).map(lambda s: (s, 5)), min_size=1))
def test_pass_at_k_grows_and_pass_hat_k_falls_with_k(counts: list[tuple[int, int]]) -> None:
    tally = count_tally(counts)
    once = [pass_at_k(tally, k).mean or 0.0 for k in range(1, 6)]
    every = [pass_hat_k(tally, k).mean or 0.0 for k in range(1, 6)]
    assert once == sorted(once)
    assert every == sorted(every, reverse=True)
    assert once[0] == pytest.approx(every[0])


def test_intervals_and_errors() -> None:
    found = pass_hat_k(count_tally([(4, 4), (2, 4), (0, 4), (3, 4)]), 2)
    assert found.mean == pytest.approx(5 / 12)
    assert found.error == pytest.approx(stdev([1, 1 / 6, 0, 1 / 2]) / 2)
    assert found.interval is not None
    assert 0.0 < found.interval[0] < 5 / 12 < found.interval[1] < 1.0
    alone = pass_hat_k(count_tally([(2, 4)]), 2)
    assert alone.error is None
    assert alone.interval is not None


@pytest.mark.parametrize(
    ("repeats", "found"),
    [(1, [1]), (4, [1, 2, 3, 4]), (10, [*range(1, 11)]), (40, [*range(1, 11), 16, 32, 40])],
)
def test_which_k_are_shown(repeats: int, found: list[int]) -> None:
    assert choose_ks(repeats) == found


@pytest.mark.parametrize("repeats", [0, -1, MAX_REPEATS + 1])
def test_repeats_out_of_range(repeats: int) -> None:
    with pytest.raises(ValueError, match="repeats"):
        OpenCases(repeats)


def test_a_finished_case_gives_its_slot_back() -> None:
    cases, mean = OpenCases(2), Mean()
    column = cases.column(mean)
    for name in ("a", "b", "a", "c", "b", "c"):
        slot = cases.open(name)
        assert slot < 2, "a's slot goes to c"
        column.counts[slot] += 1
        column.sums[slot] += mean.part(1.0)
        cases.close(name, slot)
    assert len(cases) == 0
    assert (mean.n, mean.cases, mean.mean(), mean.error()) == (6, 3, 1.0, 0.0)


def test_the_longest_run_of_repeats_fits() -> None:
    cases, mean = OpenCases(MAX_REPEATS), Mean()
    column = cases.column(mean)
    for _ in range(MAX_REPEATS):
        slot = cases.open("a")
        column.counts[slot] += 1
        column.sums[slot] += mean.part(1.0)
        cases.close("a", slot)
    assert (mean.n, mean.cases, mean.mean()) == (MAX_REPEATS, 1, 1.0)
