"""Logistic regression, held against scikit-learn and against the conditions of a minimum."""

import random
from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from fourscore.stats.regression import Logistic, fit_logistic, log_loss, sigmoid

Table = tuple[list[list[float]], list[bool]]


@pytest.fixture(scope="module")
def table() -> Table:
    """Six columns, two of them nearly the same and one mostly 0."""
    chance = random.Random(3)
    rows = []
    for _ in range(300):
        first = chance.random()
        rare = float(chance.random() > 0.9)
        more = [chance.gauss(3, 2), rare, chance.random(), chance.random()]
        rows.append([first, first + 0.1 * chance.random(), *more])
    true = Logistic(-1.0, (2.0, 0.0, -0.5, 1.5, 1.0, 0.0))
    return rows, [chance.random() < true.probability(row) for row in rows]


def standardised(rows: list[list[float]]) -> Any:
    values = np.array(rows)
    return (values - values.mean(0)) / values.std(0)


@pytest.mark.parametrize("ridge", [0.001, 0.02, 0.5])
def test_agrees_with_scikit_learn(table: Table, ridge: float) -> None:
    rows, labels = table
    found = fit_logistic(rows, labels, ridge=ridge)
    theirs = LogisticRegression(C=1 / (ridge * len(rows)), tol=1e-10, max_iter=10_000)
    theirs.fit(standardised(rows), labels)
    ours = np.array(found.coefficients) * np.array(rows).std(0)
    assert ours == pytest.approx(theirs.coef_[0], abs=1e-5)
    chances = theirs.predict_proba(standardised(rows))[:, 1]
    assert [found.probability(row) for row in rows] == pytest.approx(chances, abs=1e-5)


def test_weights_count_a_row_as_often(table: Table) -> None:
    rows, labels = table
    counts = [1 + number % 3 for number in range(len(rows))]
    weighted = fit_logistic(rows, labels, weights=counts)
    repeated = fit_logistic(
        [row for row, count in zip(rows, counts, strict=True) for _ in range(count)],
        [label for label, count in zip(labels, counts, strict=True) for _ in range(count)],
    )
    assert weighted.coefficients == pytest.approx(repeated.coefficients, abs=1e-5)


def test_signs_are_kept_at_the_minimum(table: Table) -> None:
    rows, labels = table
    ways, ridge = [-1, 1, 1, -1, 1, 0], 0.02
    found = fit_logistic(rows, labels, ridge=ridge, directions=ways)
    values = standardised(rows)
    point = np.array(found.coefficients) * np.array(rows).std(0)
    gaps = np.array([found.probability(row) for row in rows]) - np.array(labels)
    slopes = values.T @ gaps / len(rows) + ridge * point
    assert abs(gaps.mean()) < 1e-6
    for at, slope, way in zip(point, slopes, ways, strict=True):
        assert at * way >= 0
        # Either the slope is 0, or only the sign keeps the coefficient from moving on.
        assert abs(slope) < 1e-5 or (at == 0 and slope * way > 0)
    assert {bool(at) for at in point} == {True, False}


def test_a_strong_ridge_keeps_to_the_prior(table: Table) -> None:
    rows, labels = table
    prior = (1.0, -1.0, 0.5, 0.0, 2.0, 3.0)
    found = fit_logistic(rows, labels, ridge=1e6, prior=prior)
    assert found.coefficients == pytest.approx(prior, abs=1e-4)
    rate = sum(map(found.probability, rows)) / len(rows)
    assert rate == pytest.approx(sum(labels) / len(labels), abs=1e-6)


def test_a_column_without_spread_keeps_its_prior(table: Table) -> None:
    rows, labels = table
    flat = [[*row, 1.0] for row in rows]
    found = fit_logistic(flat, labels, prior=[0.0] * 6 + [0.7])
    alone = fit_logistic(rows, labels)
    assert found.coefficients == pytest.approx((*alone.coefficients, 0.7))
    assert found.probability(flat[0]) == pytest.approx(alone.probability(rows[0]))


def test_labels_that_a_column_separates_stay_finite() -> None:
    rows = [[number / 50] for number in range(50)]
    found = fit_logistic(rows, [row[0] > 0.5 for row in rows], ridge=1e-6)
    assert found.probability([0.0]) < 0.01 < 0.99 < found.probability([1.0])
    assert abs(found.coefficients[0]) < 1e4


def test_extreme_log_odds_do_not_overflow() -> None:
    assert sigmoid(-1e9) < 1e-12 < 1 - 1e-12 < sigmoid(1e9)
    assert log_loss(1e9, label=False) == 1e9
    assert log_loss(1e9, label=True) == 0.0
    assert log_loss(0.0, label=True) == pytest.approx(0.6931, abs=1e-4)
