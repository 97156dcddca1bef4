"""The corrected pass rate: what it is, how often its interval is right, and when there is none."""

import json
import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from fourscore.stats.classification import Confusion, count_confusion
from fourscore.stats.corrected_rate import (
    ChanceError,
    check_better_than_chance,
    estimate_powered_mean,
    include_failed,
    include_labelled,
    ppi_rate,
    rogan_gladen,
)
from fourscore.stats.intervals import wilson
from fourscore.stats.judge_bias import fit_slope, mean_difference, measure_group_bias

GOLDEN: dict[str, Any] = json.loads(
    (Path(__file__).parent / "data" / "golden_agreement.json").read_text()
)
#: Sensitivity 0.9 and specificity 0.7, from 200 labels each.
ERRORS = Confusion(true_pass=180, false_fail=20, true_fail=140, false_pass=60)


def test_rogan_gladen_of_a_published_example() -> None:
    found = rogan_gladen(0.4, 1000, ERRORS)
    assert found.value == pytest.approx(0.1667, abs=5e-5)
    assert found.interval == pytest.approx((0.0564, 0.2627), abs=5e-5)
    assert (found.method, found.n, found.labels) == ("rogan_gladen", 1000, 400)


def test_the_interval_is_lang_and_reiczigels() -> None:
    """By hand for round numbers: z = 2 nearly, 96 outputs and 8 + 8 labels."""
    errors = Confusion(true_pass=7, false_fail=1, true_fail=7, false_pass=1)
    found = rogan_gladen(0.5, 96, errors, level=0.9544997361036416)
    # p = 0.5, se = sp = 0.8 over 10, gain 0.6: centre 0.5, shift 2·4·(0.5·0.016 − 0.5·0.016) = 0
    error = (0.25 / 100 + 2 * 0.25 * 0.16 / 10) ** 0.5 / 0.6
    assert found.interval == pytest.approx((0.5 - 2 * error, 0.5 + 2 * error), abs=1e-6)


def test_perfect_judge_keeps_its_rate_with_a_wider_interval() -> None:
    errors = Confusion(true_pass=100, false_fail=0, true_fail=100, false_pass=0)
    found = rogan_gladen(0.8, 500, errors)
    assert found.value == pytest.approx(0.8)
    low, high = wilson(400, 500)
    assert found.interval[1] - found.interval[0] > high - low


@pytest.mark.parametrize(
    ("counts", "words"),
    [
        ((50, 50, 50, 50), "no better than chance"),
        ((30, 40, 70, 60), "no better than chance"),
        ((6, 3, 4, 7), "no better than chance"),  # 0.6 + 0.7, but of ten each
        ((10, 0, 5, 0), "no output is labelled as failed"),
        ((0, 3, 0, 8), "no output is labelled as passed"),
    ],
)
def test_judge_no_better_than_chance_is_refused(counts: tuple[int, ...], words: str) -> None:
    names = ("true_pass", "false_pass", "false_fail", "true_fail")
    errors = Confusion(**dict(zip(names, counts, strict=True)))
    with pytest.raises(ChanceError, match=words):
        rogan_gladen(0.5, 100, errors)


@given(
    st.integers(0, 200), *[st.integers(0, 60)] * 4, st.floats(0.8, 0.99), st.sampled_from([1, 50])
)
def test_corrected_rate_is_within_its_interval_within_0_and_1(
    passed: int, a: int, b: int, c: int, d: int, level: float, failed: int
) -> None:
    errors = Confusion(true_pass=a, false_pass=b, false_fail=c, true_fail=d)
    try:
        check_better_than_chance(errors, level)
    except ChanceError:
        assume(False)
    found = rogan_gladen(passed / 200, 200, errors, level=level)
    part = include_failed(found, 200 / (200 + failed), 200 + failed, level)
    for each in (found, part):
        assert 0 <= each.interval[0] <= each.value <= each.interval[1] <= 1
    assert part.value <= found.value
    assert part.n == 200 + failed


def test_failed_outputs_lower_the_rate() -> None:
    found = rogan_gladen(0.75, 100, ERRORS)
    assert include_failed(found, 1.0, 100) is found
    half = include_failed(found, 0.5, 200)
    assert half.value == pytest.approx(found.value / 2)


def test_labelled_outputs_count_with_people_s_own_verdict() -> None:
    found = rogan_gladen(0.4, 1000, ERRORS)
    both = include_labelled(found, ERRORS)
    assert both.value == pytest.approx((1000 * found.value + 400 * 0.5) / 1400)
    assert both.n == 1400
    assert both.interval[1] - both.interval[0] < found.interval[1] - found.interval[0]
    assert both.interval[0] < both.value < both.interval[1]


def test_interval_of_a_partly_labelled_run_covers() -> None:
    chance, held = random.Random(13), 0
    for _ in range(500):
        people, judge = drawn(chance, 300, 0.4)
        errors = count_confusion(zip(people[:100], judge[:100], strict=True))
        found = include_labelled(rogan_gladen(sum(judge[100:]) / 200, 200, errors), errors)
        held += found.interval[0] <= 0.4 <= found.interval[1]
    assert 460 <= held <= 490  # 475 less three deviations, and as many more


def test_interval_narrows_with_labels_and_outputs() -> None:
    many = Confusion(true_pass=1800, false_fail=200, true_fail=1400, false_pass=600)
    widths = [
        high - low
        for low, high in (
            rogan_gladen(0.4, 100, ERRORS).interval,
            rogan_gladen(0.4, 1000, ERRORS).interval,
            rogan_gladen(0.4, 1000, many).interval,
        )
    ]
    assert widths == sorted(widths, reverse=True)


def drawn(chance: random.Random, n: int, rate: float) -> tuple[list[bool], list[bool]]:
    people = [chance.random() < rate for _ in range(n)]
    return people, [chance.random() < (0.9 if good else 0.3) for good in people]


def test_corrected_interval_covers_where_the_naive_one_does_not() -> None:
    """1,000 draws; at 95% the count has a deviation of 7, so 93 to 97% is three of them."""
    chance, held, naive, truth = random.Random(11), 0, 0, 0.2
    for _ in range(1000):
        right = sum(chance.random() < 0.9 for _ in range(200))
        wrong = sum(chance.random() < 0.3 for _ in range(200))
        passed = sum(chance.random() < truth * 0.9 + (1 - truth) * 0.3 for _ in range(400))
        errors = Confusion(
            true_pass=right, false_fail=200 - right, true_fail=200 - wrong, false_pass=wrong
        )
        low, high = rogan_gladen(passed / 400, 400, errors).interval
        held += low <= truth <= high
        low, high = wilson(passed, 400)
        naive += low <= truth <= high
    assert 930 <= held <= 970
    assert naive == 0


def test_prediction_powered_intervals_cover_and_are_narrower() -> None:
    chance, held, narrower = random.Random(12), 0, 0
    for _ in range(400):
        people, judge = drawn(chance, 100, 0.6)
        _, rest = drawn(chance, 900, 0.6)
        found = ppi_rate(people, judge, rest)
        alone = wilson(sum(people), 100)
        held += found.interval[0] <= 0.6 <= found.interval[1]
        narrower += found.interval[1] - found.interval[0] < alone[1] - alone[0]
    assert held >= 370  # 92.5%: 380 less two deviations
    assert narrower >= 390


def test_powered_mean_by_hand() -> None:
    people, judge, rest = [1.0, 1.0, 0.0, 0.0], [1.0, 1.0, 1.0, 0.0], [1.0, 1.0, 1.0, 0.0] * 2
    plain = estimate_powered_mean(people, judge, rest, weight=1.0)
    assert plain.mean == pytest.approx(0.75 - 0.25)  # judge's rate, less what it exceeds people by
    # differences 0, 0, −1, 0 have variance 1/4; the rest 3/14
    assert plain.error**2 == pytest.approx(0.25 / 4 + 3 / 14 / 8)
    deaf = estimate_powered_mean(people, judge, rest, weight=0.0)
    assert deaf.mean == 0.5
    assert deaf.error**2 == pytest.approx(1 / 3 / 4)
    tuned = estimate_powered_mean(people, judge, rest)
    # covariance 1/6 over (1 + 4/8) · variance of all twelve verdicts, 9/44
    assert tuned.weight == pytest.approx((1 / 6) / (1.5 * 9 / 44))
    assert tuned.error <= min(plain.error, deaf.error)


def test_uninformative_judge_gets_weight_zero() -> None:
    people = [True] * 30 + [False] * 20
    found = ppi_rate(people, [True] * 50, [True] * 500)
    assert found.value == pytest.approx(0.6)
    assert (found.method, found.n, found.labels) == ("ppi", 550, 50)


@given(
    st.lists(st.tuples(st.booleans(), st.booleans()), min_size=2, max_size=40),
    st.lists(st.booleans(), max_size=60),
)
def test_a_powered_rate_lies_in_its_interval(pairs: list[tuple[bool, bool]], rest: Any) -> None:
    found = ppi_rate([people for people, _ in pairs], [judge for _, judge in pairs], rest)
    assert 0 <= found.interval[0] <= found.value <= found.interval[1] <= 1


def test_too_few_labels_are_refused() -> None:
    with pytest.raises(ValueError, match="at least two"):
        estimate_powered_mean([1.0], [1.0], [1.0, 0.0])
    with pytest.raises(ValueError, match="a rate of"):
        rogan_gladen(1.5, 10, ERRORS)


@pytest.mark.parametrize("golden", GOLDEN["slope"])
def test_the_slope_and_its_interval_are_those_of_statsmodels(golden: Any) -> None:
    found = fit_slope(golden["x"], golden["y"])
    assert found.value == pytest.approx(golden["slope"], rel=1e-9)
    assert found.interval == pytest.approx(golden["interval"], rel=1e-9)


@pytest.mark.parametrize("golden", GOLDEN["welch"])
def test_a_group_against_the_others_is_welchs(golden: Any) -> None:
    one, other = measure_group_bias({"own": golden["a"], "strange": golden["b"]})
    assert one.excess.interval == pytest.approx(golden["interval"], rel=2e-3)  # whole df
    assert other.excess.value == pytest.approx(-(one.excess.value or 0))
    assert one.difference == mean_difference(golden["a"])
    assert one.difference.n == len(golden["a"])


def test_bias_of_too_few_outputs_is_unknown() -> None:
    assert fit_slope([1.0, 1.0, 1.0], [0.0, 1.0, 0.0]).value is None
    assert fit_slope([1.0, 2.0], [0.0, 1.0]).value is None
    assert fit_slope([0.0, 0.0, 0.0, 1.0], [0.0, 1.0, 0.0, 1.0]).interval is None
    assert mean_difference([]).n == 0
    assert mean_difference([0.5, 0.5]).interval is None
    (only,) = measure_group_bias({"one": [0.1, 0.2]})
    assert only.excess.value is None
