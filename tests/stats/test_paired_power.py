"""How many cases would have told: against the exact power of McNemar's test, and by trying."""

import random
from math import comb, sqrt

import pytest

from fourscore.stats.mcnemar import PassPairs, mcnemar
from fourscore.stats.paired_scores import ScorePairs
from fourscore.stats.power import (
    cases_for_passes,
    cases_for_sameness,
    cases_for_scores,
    detectable_passes,
    detectable_scores,
    min_differences,
)


def exact_power(n: int, gain: float, loss: float, alpha: float) -> float:
    """The chance of a p-value of at most alpha, over all numbers of gained and lost cases."""
    total, changed = 0.0, gain + loss
    for m in range(n + 1):
        chance = comb(n, m) * changed**m * (1 - changed) ** (n - m)
        if chance > 1e-9:
            low = -1  # the most losses that are still significant
            while 2 * low < m and mcnemar(m - low - 1, low + 1) <= alpha:
                low += 1
            up = sum(
                comb(m, k) * (gain ** (m - k) * loss**k + gain**k * loss ** (m - k))
                for k in range(low + 1)
            )
            total += chance * up / changed**m
    return total


@pytest.mark.parametrize("alpha", [0.05, 0.025])
@pytest.mark.parametrize(
    ("gain", "loss"), [(0.05, 0.0), (0.09, 0.01), (0.075, 0.025), (0.15, 0.05), (0.3, 0.1)]
)
def test_the_power_of_pass_fail(gain: float, loss: float, alpha: float) -> None:
    n = cases_for_passes(gain - loss, gain + loss, alpha=alpha)
    assert n is not None
    assert 0.79 <= exact_power(n, gain, loss, alpha) <= 0.87
    assert cases_for_passes(loss - gain, gain + loss, alpha=alpha) == n
    least = detectable_passes(n, gain + loss, alpha=alpha)
    assert least is not None
    assert least == pytest.approx(gain - loss, rel=0.01)
    assert least <= gain - loss


def test_the_power_of_pass_fail_with_repeats() -> None:
    def compared(rng: random.Random, n: int) -> PassPairs:
        pairs = PassPairs()
        for _ in range(n):
            p = rng.betavariate(2, 1)
            a, b = (sum(rng.random() < q for _ in range(4)) / 4 for q in (p, p + 0.4 * (1 - p)))
            pairs.add(a, b, 4)
        return pairs

    rng = random.Random(5)
    truth = compared(rng, 20_000).change()
    assert truth.difference is not None
    assert truth.square is not None
    differing = (truth.gained + truth.lost) / truth.n
    n = cases_for_passes(truth.difference, truth.square, differing=differing, step=1 / 4)
    assert n is not None
    shown = sum((compared(rng, n).change().p or 0.0) <= 0.05 for _ in range(1000))
    assert 0.77 <= shown / 1000 <= 0.86


@pytest.mark.parametrize(("lift", "spread"), [(0.1, 0.1), (0.05, 0.1), (0.05, 0.2)])
def test_the_power_of_scores(lift: float, spread: float) -> None:
    n = cases_for_scores(lift, spread)
    assert n is not None
    rng, shown, reach = random.Random(6), 0, spread * sqrt(3)
    for _ in range(1000):
        pairs = ScorePairs()
        for _ in range(n):
            difference = lift + rng.uniform(-reach, reach)
            pairs.add(max(0.0, -difference), max(0.0, difference))
        shown += (pairs.change().p or 0.0) <= 0.05
    assert 0.77 <= shown / 1000 <= 0.85
    assert detectable_scores(n, spread) == pytest.approx(lift, rel=0.05)


def test_the_cases_that_show_sameness() -> None:
    n = cases_for_sameness(0.0, sqrt(0.2), 0.1)
    assert n is not None
    rng, shown = random.Random(7), 0
    for _ in range(1000):
        pairs = PassPairs()
        for x in (rng.random() for _ in range(n)):
            pairs.add(x < 0.1, 0.1 <= x < 0.2)
        low, high = pairs.change().interval or (-1.0, 1.0)
        shown += -0.1 <= low <= high <= 0.1
    assert 0.76 <= shown / 1000 <= 0.86
    assert cases_for_sameness(0.02, 0.2, 0.02) is None


def test_nothing_below_six_differences() -> None:
    assert [min_differences(alpha) for alpha in (0.5, 0.05, 0.025, 0.0625)] == [2, 6, 7, 5]
    assert cases_for_passes(1.0, 1.0) == 6
    assert cases_for_scores(0.5, 0.0) == 6
    assert cases_for_scores(0.5, 0.0, differing=0.1) == 60
    assert detectable_passes(5, 0.5) is None
    assert detectable_passes(6, 0.5) == pytest.approx(1.0)
    assert detectable_scores(5, 0.1) is None


def test_what_no_number_of_cases_would_show() -> None:
    assert cases_for_passes(0.0, 0.3) is None
    assert cases_for_passes(0.0, 0.0) is None
    assert cases_for_passes(1e-9, 0.3) is None
    assert cases_for_scores(0.0, 0.3) is None
    assert cases_for_scores(0.1, 0.3, differing=0.0) is None
    assert detectable_scores(100, 0.0) is None
    assert detectable_scores(8, 2.0) is None
    assert detectable_passes(200, 0.0) == pytest.approx(0.0388, abs=1e-4)


@pytest.mark.parametrize("power", [0.5, 1.0, 0.1])
def test_power_out_of_range(power: float) -> None:
    with pytest.raises(ValueError, match="power"):
        cases_for_scores(0.1, 0.1, power=power)
