"""Weights of criteria: what they should be is known here."""

from random import Random

import pytest

from fourscore.stats.regression import fit_non_negative


def test_recovers_the_weights_of_exact_targets() -> None:
    draw = Random(0)
    rows = [[float(draw.random() < 0.5) for _ in range(3)] for _ in range(300)]
    targets = [0.1 + 0.4 * a + 0.2 * b for a, b, _ in rows]
    fit = fit_non_negative(rows, targets, ridge=0.0)
    assert fit.floor == pytest.approx(0.1, abs=1e-6)
    assert fit.weights == pytest.approx((0.4, 0.2, 0.0), abs=1e-6)
    assert fit.at([1.0, 1.0, 0.0]) == pytest.approx(0.7)


def test_weights_are_never_negative() -> None:
    rows = [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]
    fit = fit_non_negative(rows, [0.5, 0.9, 0.1, 0.5], ridge=0.0)
    assert fit.weights == pytest.approx((0.4, 0.0))
    assert fit.floor == pytest.approx(0.3)


def test_constant_column_gets_no_weight_and_equal_columns_share() -> None:
    rows = [[1.0, x, x] for x in (0.0, 1.0, 0.0, 1.0)]
    fit = fit_non_negative(rows, [0.0, 1.0, 0.0, 1.0])
    assert fit.weights[0] == 0.0
    assert fit.weights[1] == pytest.approx(fit.weights[2], abs=1e-6)
    assert 0.5 < fit.weights[1] + fit.weights[2] < 1.0  # the ridge holds back


def test_without_a_floor_and_without_columns() -> None:
    assert fit_non_negative([[1.0], [2.0]], [2.0, 4.0], ridge=0.0, floor=False).weights == (2.0,)
    assert fit_non_negative([[], []], [1.0, 3.0]) == (2.0, ())
    with pytest.raises(ValueError, match="2 rows but 1 targets"):
        fit_non_negative([[1.0], [1.0]], [1.0])
