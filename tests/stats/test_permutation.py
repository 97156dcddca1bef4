"""Tests by shuffling: exact where that is possible, honest elsewhere."""

from random import Random

import pytest

from fourscore.stats.permutation import shuffled_agreement_p_value, sign_flip_p_value


def test_few_differences_are_tested_exactly() -> None:
    assert sign_flip_p_value([1.0] * 7) == 1 / 128
    assert sign_flip_p_value([1.0, 2.0, -1.0]) == pytest.approx(3 / 8)  # 4, and 2 in two ways
    assert sign_flip_p_value([]) == sign_flip_p_value([0.0, 0.0]) == 1.0


def test_many_differences_are_sampled_by_seed() -> None:
    values = [0.3, -0.1] * 20
    assert sign_flip_p_value(values) == sign_flip_p_value(values)
    assert sign_flip_p_value([0.1] * 40) == pytest.approx(1 / 10_000)
    assert sign_flip_p_value([-0.1] * 40) == 1.0


def test_false_positive_rate_without_a_difference() -> None:
    draw = Random(3)
    found = [
        sign_flip_p_value([draw.gauss(0, 1) for _ in range(12)], shuffles=199) <= 0.05
        for _ in range(200)
    ]
    assert sum(found) <= 20  # 10 expected


def test_agreement_against_shuffled_labels() -> None:
    draw = Random(1)
    labels = [float(i) for i in range(40)]
    close = [label + draw.gauss(0, 3) for label in labels]
    assert shuffled_agreement_p_value(close, labels) == 1 / 2000
    assert shuffled_agreement_p_value([-label for label in labels], labels) == 1.0
    assert shuffled_agreement_p_value([1.0] * 40, labels) == 1.0
