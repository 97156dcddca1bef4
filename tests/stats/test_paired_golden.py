"""Against SciPy and statsmodels, by the numbers that data/make_golden_paired.py wrote."""

import json
from pathlib import Path
from typing import Any

import pytest

from fourscore.stats import bootstrap as module
from fourscore.stats.bootstrap import bootstrap
from fourscore.stats.mcnemar import PassPairs, mcnemar, paired_rate_interval
from fourscore.stats.p_values import adjust_holm, student_tail
from fourscore.stats.paired_scores import ScorePairs

DATA = Path(__file__).parent / "data" / "golden_paired.json"
GOLDEN: dict[str, Any] = json.loads(DATA.read_text())


@pytest.mark.parametrize(("gained", "lost", "statsmodels", "scipy"), GOLDEN["mcnemar"])
def test_mcnemar(gained: int, lost: int, statsmodels: float, scipy: float) -> None:
    assert mcnemar(gained, lost) == pytest.approx(statsmodels, rel=1e-9)
    assert mcnemar(lost, gained) == pytest.approx(scipy, rel=1e-9)


@pytest.mark.parametrize(("t", "df", "p"), GOLDEN["student_tail"])
def test_tails_of_student(t: float, df: int, p: float) -> None:
    assert student_tail(t, df) == student_tail(-t, df) == pytest.approx(p, rel=1e-9)


@pytest.mark.parametrize("golden", GOLDEN["t"])
def test_paired_t(golden: dict[str, Any]) -> None:
    pairs = ScorePairs()
    for a, b in zip(golden["a"], golden["b"], strict=True):
        pairs.add(a, b)
    found = pairs.change()
    assert found.n == len(golden["a"])
    assert found.p == pytest.approx(golden["p"], rel=1e-11)
    assert found.interval == pytest.approx(golden["interval"], rel=1e-11)


@pytest.mark.parametrize(("p_values", "adjusted"), GOLDEN["holm"])
def test_holm(p_values: list[float], adjusted: list[float]) -> None:
    assert adjust_holm(p_values) == pytest.approx(adjusted, rel=1e-14)


@pytest.mark.parametrize("golden", GOLDEN["flips"])
def test_repeats_by_all_permutations(golden: dict[str, Any]) -> None:
    """SciPy tries all 2^n ways to swap the two runs' results."""
    pairs = PassPairs()
    for a, b in golden["passes"]:
        pairs.add(a / 4, b / 4, 4)
    assert pairs.change().p == pytest.approx(golden["p"], rel=1e-12)


def within(golden: dict[str, Any], share: float) -> None:
    low, high = golden["interval"]
    assert bootstrap(golden["values"]) == pytest.approx((low, high), abs=share * (high - low))


@pytest.mark.parametrize("golden", GOLDEN["bootstrap"])
def test_bootstrap(golden: dict[str, Any]) -> None:
    """SciPy drew 200,000 times; ours draws 2,000 times, or not at all."""
    within(golden, 0.03 if len(golden["values"]) <= module.FEW else 0.006)


@pytest.mark.parametrize("golden", GOLDEN["bootstrap"])
def test_computed_percentiles(golden: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """Even where there are few values, they are nearer than draws come."""
    monkeypatch.setattr(module, "FEW", 0)
    within(golden, 0.02)


@pytest.mark.parametrize("golden", GOLDEN["bootstrap"])
def test_drawn_percentiles(golden: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "FEW", 10_000)
    within(golden, 0.04)


def test_published_interval() -> None:
    """Cavo et al. 2012, 6 and 16 of 161, as the R package contingencytables has it."""
    found = paired_rate_interval(161, (6 - 16) / 161, (6 + 16) / 161)
    assert [round(end, 4) for end in found] == [-0.1195, -0.0032]
