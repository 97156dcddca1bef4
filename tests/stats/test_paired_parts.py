"""The pieces of a comparison: tails, McNemar, paired scores, Holm, bootstrap, names."""

import random
from fractions import Fraction
from itertools import product
from statistics import mean

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fourscore.stats import mcnemar as module
from fourscore.stats.bootstrap import FEW, bootstrap
from fourscore.stats.bounded_map import BoundedMap
from fourscore.stats.mcnemar import PassPairs, exact_flip_p_value, mcnemar, paired_rate_interval
from fourscore.stats.p_values import adjust_holm, coin_tail, normal_tail, student_tail
from fourscore.stats.paired_scores import ScorePairs

counts = st.integers(0, 60)


def test_tails_of_the_normal() -> None:
    assert normal_tail(1.959963984540054) == pytest.approx(0.05)
    assert normal_tail(0.0) == 1.0


def test_extreme_tails_stay_probabilities() -> None:
    assert student_tail(1e200, 5) == 0.0
    assert student_tail(1e-200, 5) == 1.0
    assert 0.0 < student_tail(50.0, 30) < 1e-20
    assert 0.0 < coin_tail(900, 0) < coin_tail(899, 1)
    assert coin_tail(5000, 0) == 0.0


@pytest.mark.parametrize(("heads", "tails"), [(6, 0), (20, 9), (520, 480), (700, 300)])
def test_tosses_counted_and_computed(
    heads: int, tails: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    counted = coin_tail(heads, tails)
    monkeypatch.setattr("fourscore.stats.p_values.COUNTED", 0)
    assert coin_tail(heads, tails) == pytest.approx(counted, rel=1e-11)


@pytest.mark.parametrize("df", [0, -1])
def test_no_degrees_of_freedom(df: int) -> None:
    with pytest.raises(ValueError, match="degrees of freedom"):
        student_tail(1.0, df)


def test_impossible_tosses() -> None:
    with pytest.raises(ValueError, match="-1 against 2"):
        coin_tail(-1, 2)


@given(counts, counts)
def test_mcnemar_equals_exact_flips_of_unit_steps(gained: int, lost: int) -> None:
    assert exact_flip_p_value(
        {Fraction(1): gained, Fraction(-1): lost, Fraction(0): 7}
    ) == pytest.approx(mcnemar(gained, lost), rel=1e-14)


@given(st.lists(st.integers(-4, 4), max_size=9))
def test_exact_flip_p_value_by_hand(quarters: list[int]) -> None:
    tally: dict[Fraction, int] = {}
    for size in quarters:
        tally[Fraction(size, 4)] = tally.get(Fraction(size, 4), 0) + 1
    seen, ways = abs(sum(quarters)), list(product((-1, 1), repeat=len(quarters)))
    far = sum(abs(sum(s * q for s, q in zip(way, quarters, strict=True))) >= seen for way in ways)
    assert exact_flip_p_value(tally) == pytest.approx(far / len(ways))


def test_flips_of_many_cases_are_approximately_normal(monkeypatch: pytest.MonkeyPatch) -> None:
    tally = {Fraction(k, 4): 100 + 3 * k for k in range(-4, 5)}
    exact = exact_flip_p_value(tally)
    monkeypatch.setattr(module, "MOST_WORK", 0)
    assert exact_flip_p_value(tally) == pytest.approx(exact, rel=0.003)
    assert exact_flip_p_value({}) == 1.0


@given(counts, counts, counts)
def test_interval_excludes_0_where_the_test_is_significant(
    gained: int, lost: int, same: int
) -> None:
    n = gained + lost + same
    if n and mcnemar(gained, lost) <= 0.05:
        low, high = paired_rate_interval(n, (gained - lost) / n, (gained + lost) / n)
        assert low > 0 or high < 0


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=1), st.randoms())
def test_pass_change_is_independent_of_order_and_symmetric(
    rows: list[tuple[int, int]], rng: random.Random
) -> None:
    one, two, mirrored = PassPairs(), PassPairs(), PassPairs()
    for a, b in rows:
        one.add(a / 4, b / 4, 4)
        mirrored.add(b / 4, a / 4, 4)
    rng.shuffle(rows)
    for a, b in rows:
        two.add(a / 4, b / 4, 4)
    found, other = one.change(), mirrored.change()
    assert two.change() == found
    assert (found.gained, found.lost, found.p) == (other.lost, other.gained, other.p)
    assert found.interval is not None
    assert other.interval is not None
    assert found.interval == pytest.approx((-other.interval[1], -other.interval[0]))
    assert -1.0 <= found.interval[0] < found.interval[1] <= 1.0


def test_repeats_of_a_case_are_one_pair() -> None:
    """Four attempts that always agree say what one says, but for Student's t."""
    once, four = PassPairs(), PassPairs()
    for a, b in [(0, 1)] * 9 + [(1, 0)] * 2 + [(1, 1)] * 30:
        once.add(a, b)
        four.add(a, b, 4)
    one, other = once.change(), four.change()
    assert (one.n, other.n, one.attempts, other.attempts) == (41, 41, 41, 164)
    assert one.p == other.p == pytest.approx(mcnemar(9, 2))
    assert other.interval == pytest.approx(one.interval, abs=0.01)


def test_varying_repeats_narrow_the_interval() -> None:
    rng, pairs = random.Random(1), PassPairs()
    for _ in range(50):
        p = rng.random()
        a, b = (sum(rng.random() < p for _ in range(4)) / 4 for _ in range(2))
        pairs.add(a, b, 4)
    found = pairs.change()
    assert found.interval is not None
    assert found.square is not None
    low, high = paired_rate_interval(
        50, 0.0, 1 / 3
    )  # single attempts would differ in a third of the cases
    assert found.interval[1] - found.interval[0] < 0.8 * (high - low)


def test_equal_repeats_still_have_an_interval() -> None:
    pairs = PassPairs()
    for _ in range(50):
        pairs.add(1.0, 1.0, 4)
    assert pairs.change().interval == paired_rate_interval(50, 0.0, 0.0)
    even = PassPairs()
    for _ in range(50):
        even.add(0.5, 0.5, 4)
    found = even.change().interval
    assert found is not None
    assert found[1] > 0.08  # never more than 200 independent pairs


def test_unequal_attempts() -> None:
    pairs = PassPairs()
    for a, b in ((1 / 3, 1 / 2), (2 / 3, 3 / 4), (0.0, 1 / 4), (1 / 3, 1.0), (1 / 3, 2 / 3)):
        pairs.add(a, b, 3)
    assert pairs.change().p == 2 / 32


def test_attempts_of_all_sizes() -> None:
    """No common denominator of these fits a float, or a long number's budget."""
    rng, pairs = random.Random(13), PassPairs()
    for tries in range(2, 1000):
        pairs.add(rng.randint(0, tries) / tries, rng.randint(0, tries + 1) / (tries + 1), tries)
    found = pairs.change()
    assert found.p is not None
    assert found.difference is not None
    assert found.square is not None
    assert found.p == pytest.approx(
        normal_tail(found.difference * 998**0.5 / found.square**0.5), rel=1e-6
    )


def test_passes_of_nothing_and_of_one() -> None:
    pairs = PassPairs()
    pairs.add(None, True)
    pairs.add(True, None)
    nothing = pairs.change()
    assert (nothing.n, nothing.left_out) == (0, 2)
    assert [nothing.p, nothing.interval, nothing.difference, nothing.rate_a] == [None] * 4
    pairs.add(False, True)
    one = pairs.change()
    assert (one.n, one.left_out, one.p, one.difference) == (1, 2, 1.0, 1.0)
    assert one.interval is not None
    assert one.interval[0] < 0
    repeated = PassPairs()
    repeated.add(0.25, 1.0, 4)
    assert repeated.change().p == 1.0
    assert repeated.change().interval is not None


@pytest.mark.parametrize("bad", [-0.1, 1.1, float("nan"), float("inf")])
def test_shares_and_scores_out_of_range_are_refused(bad: float) -> None:
    with pytest.raises(ValueError, match="passed"):
        PassPairs().add(bad, 1.0)
    with pytest.raises(ValueError, match="of 0 attempts"):
        PassPairs().add(1.0, 1.0, 0)
    with pytest.raises(ValueError, match="scores"):
        ScorePairs().add(0.5, bad)


def test_scores_of_nothing_and_of_one() -> None:
    pairs = ScorePairs(keep=True)
    pairs.add(None, 0.5)
    nothing = pairs.change()
    assert (nothing.n, nothing.left_out, nothing.p, nothing.interval) == (0, 1, None, None)
    assert nothing.spread is None
    pairs.add(0.25, 0.75)
    one = pairs.change()
    assert (one.n, one.difference, one.error, one.p) == (1, 0.5, None, 1.0)
    assert one.interval == paired_rate_interval(1, 0.5, 0.25)
    assert pairs.bootstrap() is None


@pytest.mark.parametrize(("n", "p"), [(3, 0.25), (5, 0.0625), (6, 0.03125)])
def test_equal_differences_still_have_an_interval(n: int, p: float) -> None:
    """Without spread Student's t is infinite; the signs alone are not."""
    pairs = ScorePairs()
    for i in range(n):
        pairs.add(i / 16, i / 16 + 0.125)
    found = pairs.change()
    assert (found.error, found.p) == (0.0, p)
    assert found.interval == paired_rate_interval(n, 0.125, 0.125**2)


def test_four_changes_that_agree_are_not_significant() -> None:
    pairs = ScorePairs()
    for i in range(200):
        pairs.add(0.5, 0.6 if i < 4 else 0.5)
    found = pairs.change()
    assert found.error is not None
    assert found.difference is not None
    assert student_tail(found.difference / found.error, 199) < 0.05
    assert (found.differing, found.p) == (4, 0.125)


def test_rounding_is_not_a_difference() -> None:
    pairs = ScorePairs()
    pairs.add(0.3, 0.1 + 0.2)
    assert pairs.change().differing == 0
    assert pairs.change().difference == 0.0


def test_change_has_both_means() -> None:
    rng, pairs = random.Random(2), ScorePairs()
    rows = [(rng.random(), rng.random()) for _ in range(40)]
    for a, b in rows:
        pairs.add(a, b)
    found = pairs.change()
    assert found.mean_a == pytest.approx(mean(a for a, _ in rows))
    assert found.mean_b == pytest.approx(mean(b for _, b in rows))
    assert found.difference == pytest.approx(mean(b - a for a, b in rows))
    assert ScorePairs().bootstrap() is None  # not kept


@given(st.lists(st.floats(0, 1), max_size=30))
def test_holm_is_between_raw_and_bonferroni(p_values: list[float]) -> None:
    adjusted, most = adjust_holm(p_values), len(p_values)
    for p, q in zip(p_values, adjusted, strict=True):
        assert p <= q <= min(1.0, p * most)
    assert sorted(range(most), key=lambda i: (p_values[i], adjusted[i])) == sorted(
        range(most), key=lambda i: (adjusted[i], p_values[i])
    )


def test_holm_refuses_invalid_p_values() -> None:
    with pytest.raises(ValueError, match="not between 0 and 1"):
        adjust_holm([0.1, float("nan")])
    assert adjust_holm([]) == []


def test_a_bootstrap_is_the_same_each_time_and_in_any_order() -> None:
    rng = random.Random(3)
    for n in (30, FEW + 1):
        values = [rng.gauss(0.1, 0.3) for _ in range(n)]
        found = bootstrap(values)
        rng.shuffle(values)
        assert bootstrap(values) == found
        assert found is not None
        assert found[0] < mean(values) < found[1]
    assert bootstrap(values[:30], seed=1) != bootstrap(values[:30], seed=2)


def test_a_bootstrap_without_spread() -> None:
    assert bootstrap([]) is None
    assert bootstrap([0.5]) is None
    assert bootstrap([0.0] * 1000) is None
    found = bootstrap([0.0, 1.0])
    assert found is not None
    assert 0.0 <= found[0] < found[1] <= 1.0


def test_bounded_map_keeps_the_first_names() -> None:
    names = [f"{i:03}" for i in range(50)]
    random.Random(4).shuffle(names)
    kept: BoundedMap[list[int]] = BoundedMap(10, list)
    for name in names * 2:
        thing = kept.known.get(name)
        (kept.new(name) if thing is None else thing).append(1)
    assert kept.items() == {f"{i:03}": [1, 1] for i in range(10)}
    assert kept.left_out
