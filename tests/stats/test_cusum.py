"""Sums that find a change: golden run lengths, and limits that keep their promise exactly."""

from statistics import NormalDist

import pytest

from fourscore.stats.cusum import CusumSteps, alarm_hazard, choose_steps, mean_run_length


def normal_steps(k: float, h: float, shift: float, places: int) -> dict[int, float]:
    """The steps z + shift − k on a lattice of so many places below h (Brook & Evans)."""
    width, law = h / (places - 0.5), NormalDist(shift - k)
    chances = {
        i: law.cdf((i + 0.5) * width) - law.cdf((i - 0.5) * width)
        for i in range(-2 * places - 40, 2 * places + 40)
    }
    return {step: chance for step, chance in chances.items() if chance > 1e-15}


@pytest.mark.parametrize(("h", "in_control", "shifted"), [(4.0, 168.0, 8.38), (5.0, 465.0, 10.38)])
def test_golden_run_lengths(h: float, in_control: float, shifted: float) -> None:
    """k = 0.5: of the two-sided sum while nothing changed, and after a shift of one sigma."""
    one_sided = mean_run_length(normal_steps(0.5, h, 0.0, 60), 60)
    assert one_sided / 2 == pytest.approx(in_control, abs=0.6)
    away = mean_run_length(normal_steps(0.5, h, -1.0, 40), 40)
    towards = mean_run_length(normal_steps(0.5, h, 1.0, 60), 60)
    assert 1 / (1 / towards + 1 / away) == pytest.approx(shifted, abs=0.006)


def test_the_sum_for_the_usual_thresholds() -> None:
    """At 20% failures log-likelihood ratios of 0.88 and 0.70 neither climb nor fall."""
    assert choose_steps(0.88, 0.70, 0.01, 5000) == CusumSteps(up=4, down=1, limit=46)


@pytest.mark.parametrize(("good", "bad"), [(0.88, 0.70), (0.73, 0.55), (0.975, 0.8)])
@pytest.mark.parametrize("alpha", [0.01, 0.0001])
def test_false_alarm_probability_is_at_most_alpha(good: float, bad: float, alpha: float) -> None:
    """The chance of an alarm in 1,000 trials from 0, place by place; one less would break it."""
    found = choose_steps(good, bad, alpha, 1000)
    law = {found.up: 1 - good, -found.down: good}
    places, alarmed = [1.0] + [0.0] * (found.limit - 1), 0.0
    for _ in range(1000):
        after = [0.0] * found.limit
        for step, chance in law.items():
            for place, mass in enumerate(places):
                if place + step >= found.limit:
                    alarmed += mass * chance
                else:
                    after[max(0, place + step)] += mass * chance
        places = after
    assert alpha / 4 < alarmed <= alpha
    assert 1 - (1 - alarm_hazard(law, found.limit)) ** 1000 >= alarmed
    assert 1 - (1 - alarm_hazard(law, found.limit - 1)) ** 1000 > alpha


@pytest.mark.parametrize(("good", "bad"), [(0.9995, 0.99), (0.04, 0.02), (0.995, 0.95)])
def test_steps_exist_for_rates_near_0_and_1(good: float, bad: float) -> None:
    """The sum falls while the rate is good and climbs while it is bad."""
    found = choose_steps(good, bad, 0.001, 5000)
    assert (1 - good) * found.up < good * found.down
    assert (1 - bad) * found.up > bad * found.down


def test_run_length_is_long_at_a_good_rate_and_short_after_a_fall() -> None:
    def trials(failing: float) -> float:
        return mean_run_length({4: failing, -1: 1 - failing}, 46)

    assert trials(0.05) > trials(0.12) > 100_000
    assert trials(0.30) < 100


@pytest.mark.parametrize(
    ("good", "bad", "alpha", "horizon"),
    [(0.7, 0.8, 0.01, 100), (1.0, 0.8, 0.01, 100), (0.9, 0.8, 0.0, 100), (0.9, 0.8, 0.1, 0)],
)
def test_refuses_invalid_rates_alpha_and_horizon(
    good: float, bad: float, alpha: float, horizon: int
) -> None:
    with pytest.raises(ValueError, match=r"good|alpha"):
        choose_steps(good, bad, alpha, horizon)
