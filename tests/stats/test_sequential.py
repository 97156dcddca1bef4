"""The paired sequential rule: when it looks, what it spends, and how often it is wrong."""

import random
from collections.abc import Callable
from math import fsum, sqrt

import pytest

from fourscore.stats.quantiles import student_quantile
from fourscore.stats.sequential import SequentialPlan, decide_sequentially, one_sided_bounds


def drawn(seed: int, effect: float, n: int = 200) -> list[float]:
    rng = random.Random(seed)
    return [min(100.0, max(-100.0, rng.gauss(effect, 20))) for _ in range(n)]


def test_looks_are_four_and_scale_with_the_budget() -> None:
    assert SequentialPlan().sizes == (25, 50, 100, 200)
    assert SequentialPlan(budget=400).sizes == (50, 100, 200, 400)
    assert SequentialPlan(budget=40).sizes == (10, 20, 40)
    assert SequentialPlan(budget=5).sizes == (5,)
    assert SequentialPlan(looks=2).sizes == (100, 200)
    assert SequentialPlan(looks=1).sizes == (200,)


@pytest.mark.parametrize("budget", [2, 10, 33, 40, 200, 1001])
@pytest.mark.parametrize("looks", [1, 2, 3, 4])
def test_the_levels_add_up_to_the_level(budget: int, looks: int) -> None:
    plan = SequentialPlan(budget=budget, looks=looks)
    assert len(plan.levels) == len(plan.sizes) <= 4
    assert fsum(plan.levels) == pytest.approx(0.05)
    assert all(level > 0 for level in plan.levels)
    assert plan.sizes[-1] == budget


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("budget", 1), ("budget", True), ("budget", None), ("looks", 0), ("looks", 5),
        ("level", 0.0), ("level", 0.51), ("level", float("nan")), ("margin", -0.1),
        ("margin", float("inf")), ("largest", 0.0), ("largest", None),
    ],
)  # fmt: skip
def test_a_plan_that_makes_no_sense_is_refused(field: str, value: object) -> None:
    with pytest.raises(ValueError, match=field):
        SequentialPlan(**{field: value})  # type: ignore[arg-type]


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), 100.1, -101.0, True, None, "5"])
def test_refuses_invalid_differences(bad: object) -> None:
    with pytest.raises(ValueError, match="difference"):
        decide_sequentially([1.0, bad])  # type: ignore[list-item]


def test_goes_on_before_the_first_look() -> None:
    for n, more in ((0, 25), (24, 1), (25, 25), (99, 1)):
        verdict = (
            decide_sequentially([0.0, 30.0, -30.0] * 33, SequentialPlan())
            if n == 99
            else decide_sequentially([0.0] * n)
        )
        assert (verdict.outcome, verdict.more) == ("go_on", more)
    assert decide_sequentially([]).look == 0
    assert decide_sequentially([]).reason == "0 pairs, too few for the first look"
    assert decide_sequentially([0.0] * 30).look == 1


def test_clear_gain_is_accepted_at_an_early_look() -> None:
    gains = [40.0, 60.0] * 100
    verdict = decide_sequentially(gains)
    assert (verdict.outcome, verdict.look, verdict.n, verdict.more) == ("accept", 1, 25, None)
    assert verdict == decide_sequentially(gains[:25])
    assert verdict.low is not None
    assert verdict.low > 0
    assert "chance does not explain" in verdict.reason


def test_a_clear_loss_is_rejected_early() -> None:
    verdict = decide_sequentially([-40.0, -60.0] * 100)
    assert (verdict.outcome, verdict.look) == ("reject", 1)
    assert verdict.high is not None
    assert verdict.high < SequentialPlan().margin


def test_unclear_difference_is_undecided() -> None:
    verdict = decide_sequentially([20.0, -18.0] * 100)
    assert (verdict.outcome, verdict.look, verdict.n) == ("undecided", 4, 200)
    assert verdict.mean == pytest.approx(1.0)


def test_the_bounds_by_hand() -> None:
    seen = drawn(3, 5.0, 50)
    values = [*seen, -100.0]
    mean = fsum(values) / 51
    spread = sqrt(fsum((x - mean) ** 2 for x in values) / 50)
    lean = -fsum((x - mean) ** 3 for x in values) / fsum((x - mean) ** 2 for x in values) ** 1.5
    t = student_quantile(0.9, 49)
    low = mean - (t + lean * (1 + 2 * t * t) / 6) * spread / sqrt(51)
    assert one_sided_bounds(seen, 0.05, 0.05)[0] == pytest.approx(low)
    mirrored = one_sided_bounds([-x for x in seen], 0.05, 0.05)
    assert mirrored == pytest.approx(
        tuple(-x for x in reversed(one_sided_bounds(seen, 0.05, 0.05)))
    )


def test_equal_small_gains_prove_nothing() -> None:
    """Student's t, without a spread, would be certain after two."""
    assert decide_sequentially([1.0] * 25).outcome == "go_on"
    assert decide_sequentially([1.0] * 200).outcome == "undecided"
    assert decide_sequentially([3.0] * 200).outcome == "accept"
    assert one_sided_bounds([-100.0, -100.0], 0.05)[0] == -100.0


def test_interrupted_search_continues_with_the_same_result() -> None:
    differences = drawn(11, 5.0)
    whole = decide_sequentially(differences)
    for n in range(201):
        part = decide_sequentially(differences[:n])
        assert part.outcome == "go_on" if n < whole.n else part == whole


def accepted(draw: Callable[[random.Random], float], runs: int = 300) -> float:
    rng = random.Random(2)
    outcomes = [decide_sequentially([draw(rng) for _ in range(200)]).outcome for _ in range(runs)]
    return outcomes.count("accept") / runs


@pytest.mark.parametrize(
    "draw",
    [
        lambda rng: min(100.0, max(-100.0, rng.gauss(0, 20))),
        lambda rng: max(-100.0, 20 - rng.expovariate(1 / 20)),
        lambda rng: min(100.0, rng.expovariate(1 / 20) - 20),
        lambda rng: rng.choice((100.0, -100.0, *[0.0] * 18)),
        lambda rng: -100.0 if rng.random() < 0.03 else 3 / 0.97,
    ],
    ids=["normal", "gains lost", "losses won", "0/100", "rare losses"],
)
def test_false_acceptance_is_at_most_the_level(draw: Callable[[random.Random], float]) -> None:
    assert accepted(draw) <= 0.05


def test_accepts_a_gain_of_five_and_not_a_loss_of_two() -> None:
    assert accepted(lambda rng: min(100.0, max(-100.0, rng.gauss(5, 20)))) >= 0.8
    assert accepted(lambda rng: min(100.0, max(-100.0, rng.gauss(-2, 20)))) <= 0.01
