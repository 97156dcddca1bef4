"""Against SciPy and statsmodels, by the numbers that tests/stats/data/make_golden.py wrote."""

import json
from pathlib import Path
from typing import Any

import pytest

from fourscore.stats.intervals import wilson
from fourscore.stats.means import estimate_mean, estimate_rate
from fourscore.stats.pass_at_k import count_tally, pass_at_k, pass_hat_k
from fourscore.stats.quantiles import normal_quantile, student_quantile

DATA = Path(__file__).parent / "data"
GOLDEN: dict[str, Any] = json.loads((DATA / "golden.json").read_text())
TAU: list[int] = json.loads((DATA / "tau_airline.json").read_text())["successes"]


@pytest.mark.parametrize(("level", "z"), GOLDEN["normal"])
def test_normal_quantiles(level: float, z: float) -> None:
    assert normal_quantile(level) == pytest.approx(z, rel=1e-14)


@pytest.mark.parametrize(("level", "df", "t"), GOLDEN["student"])
def test_student_quantiles(level: float, df: int, t: float) -> None:
    assert student_quantile(level, df) == pytest.approx(t, rel=2e-12)


@pytest.mark.parametrize(("successes", "n", "low", "high"), GOLDEN["wilson"])
def test_wilson(successes: int, n: int, low: float, high: float) -> None:
    assert list(wilson(successes, n)) == pytest.approx([low, high], rel=1e-12)


def test_tau_bench_airline() -> None:
    """The published pass^1..4, and the error of 50 tasks × 4 as statsmodels clusters it."""
    counts = [(successes, 4) for successes in TAU]
    tally = count_tally(counts)
    hats = [pass_hat_k(tally, k).mean for k in (1, 2, 3, 4)]
    assert hats == pytest.approx([0.420, 0.273, 0.220, 0.200], abs=5e-4)
    assert pass_at_k(tally, 1).mean == pytest.approx(0.42)
    assert pass_at_k(tally, 4).mean == sum(s > 0 for s in TAU) / 50
    found, naive = (
        estimate_rate(counts),
        estimate_rate((int(i < s), 1) for s in TAU for i in range(4)),
    )
    assert (found.n, found.cases, found.mean) == (200, 50, 0.42)
    assert found.error == pytest.approx(0.052216, abs=5e-7)
    assert found.error == pytest.approx(GOLDEN["tau"]["error"], rel=1e-12)
    assert naive.error == pytest.approx(GOLDEN["tau"]["naive"], rel=1e-12)
    assert naive.interval == wilson(84, 200)


@pytest.mark.parametrize("bounds", [None, (0.0, 1.0)])
def test_means_of_unequal_clusters(bounds: tuple[float, float] | None) -> None:
    golden = GOLDEN["unequal"]
    found = estimate_mean(golden["values"], golden["cases"], bounds=bounds)
    assert found.mean == pytest.approx(golden["mean"], rel=1e-14)
    assert found.error == pytest.approx(golden["error"], rel=1e-12)
    assert found.interval == pytest.approx(golden["interval"], rel=1e-12)
    assert (found.n, found.cases) == (len(golden["values"]), 23)


def test_means_without_repeats() -> None:
    golden = GOLDEN["unequal"]
    found = estimate_mean(golden["values"])
    assert found.error == pytest.approx(golden["naive"], rel=1e-12)
    assert found.interval == pytest.approx(golden["naive_interval"], rel=1e-12)


def test_the_same_error_for_a_rate_as_for_a_mean_of_zeros_and_ones() -> None:
    tries = [(case, float(i < s)) for case, s in enumerate(TAU) for i in range(4)]
    found = estimate_mean([value for _, value in tries], [case for case, _ in tries])
    assert found.error == pytest.approx(GOLDEN["tau"]["error"], rel=1e-12)
    assert found.interval == pytest.approx(GOLDEN["tau"]["interval"], rel=1e-12)
