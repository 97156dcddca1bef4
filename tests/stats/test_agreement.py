"""Kappa, alpha, correlations and what follows from four counts: golden figures and properties."""

import json
from itertools import pairwise
from math import isclose
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fourscore.stats.agreement import METRICS, WEIGHTS, Metric, Weights, alpha, kappa, make_table
from fourscore.stats.classification import Confusion, count_confusion
from fourscore.stats.correlation import kendall, pearson, ranks, spearman

DATA = Path(__file__).parent / "data" / "golden_agreement.json"
GOLDEN: dict[str, Any] = json.loads(DATA.read_text())
#: Krippendorff's own example: 4 observers, 12 units, a dot for each that was left out.
OBSERVERS = ("1233214 12...", "1233224125.3", ".333234225 1.", "1233244125 1.")
#: What each metric gives for it, in Krippendorff (2011).
KNOWN = {"nominal": 0.743, "ordinal": 0.815, "interval": 0.849, "ratio": 0.797}

tables = st.integers(2, 5).flatmap(
    lambda size: st.lists(
        st.lists(st.integers(0, 20), min_size=size, max_size=size), min_size=size, max_size=size
    )
)
ratings = st.lists(
    st.lists(st.none() | st.integers(0, 5).map(float), min_size=2, max_size=4), max_size=30
)


def observed() -> list[list[float | None]]:
    rows = [line.replace(" ", "") for line in OBSERVERS]
    return [
        [None if mark == "." else float(mark) for mark in unit] for unit in zip(*rows, strict=True)
    ]


def test_kappa_of_the_textbook_table() -> None:
    found = kappa([[20, 5], [10, 15]])
    assert found.value == pytest.approx(0.40)
    assert found.n == 50


@pytest.mark.parametrize("golden", GOLDEN["kappa"], ids=lambda golden: str(golden["table"][0]))
@pytest.mark.parametrize("weights", WEIGHTS)
def test_kappa_and_its_error_are_those_of_statsmodels(golden: Any, weights: Weights) -> None:
    value, error, other = golden["kappa"][weights]
    found = kappa(golden["table"], weights)
    assert found.value == pytest.approx(value, rel=1e-12, abs=1e-12)
    assert found.value == pytest.approx(other, rel=1e-12, abs=1e-12)
    assert found.error == pytest.approx(error, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize(("metric", "known"), KNOWN.items())
def test_alpha_of_the_standard_example(metric: Metric, known: float) -> None:
    found = alpha(observed(), metric)
    assert found.value == pytest.approx(known, abs=0.0005)
    assert found.n == 11  # one unit has one value only
    assert found.interval is not None
    assert found.interval[0] < known < found.interval[1] <= 1


@given(tables)
def test_kappa_is_within_bounds_and_symmetric(table: list[list[int]]) -> None:
    turned = [list(column) for column in zip(*table, strict=True)]
    for weights in WEIGHTS:
        found, other = kappa(table, weights), kappa(turned, weights)
        if found.value is None:
            assert other.value is None
            continue
        assert -1 - 1e-9 <= found.value <= 1
        assert other.value is not None
        assert isclose(found.value, other.value, abs_tol=1e-9)
        interval = found.figure().interval
        assert interval is not None
        assert -1 <= interval[0] <= found.value + 1e-9
        assert found.value - 1e-9 <= interval[1] <= 1


@given(st.lists(st.integers(0, 4), min_size=2, max_size=40))
def test_full_agreement_has_kappa_one_with_a_wide_interval(values: list[int]) -> None:
    table = make_table([(value, value) for value in values], range(5))
    for weights in WEIGHTS:
        found = kappa(table, weights).figure()
        if len(set(values)) == 1:
            assert found.value is None  # nothing to agree about
        else:
            assert found.value == pytest.approx(1.0)
            assert found.interval is not None
            assert found.interval[0] < 1


@given(ratings, st.sampled_from(METRICS), st.randoms())
def test_alpha_is_within_bounds_and_independent_of_order(
    units: list[list[float | None]], metric: Metric, chance: Any
) -> None:
    found = alpha(units, metric)
    assert found.n == sum(len([x for x in unit if x is not None]) > 1 for unit in units)
    mixed = [chance.sample(unit, len(unit)) for unit in units]
    chance.shuffle(mixed)
    other = alpha(mixed, metric)
    if found.value is None:
        assert other.value is None
        return
    assert found.value <= 1
    assert other.value == pytest.approx(found.value, abs=1e-9)
    if found.interval is not None:
        assert -1 <= found.interval[0] <= max(-1.0, found.value) + 1e-9
        assert found.value - 1e-9 <= found.interval[1] <= 1


@given(
    st.lists(
        st.tuples(st.integers(0, 5), st.integers(1, 4), st.integers(0, 2)), min_size=2, max_size=30
    ),
    st.sampled_from(METRICS),
)
def test_alpha_is_one_where_nobody_disagrees_and_blanks_change_nothing(
    drawn: list[tuple[int, int, int]], metric: Metric
) -> None:
    units: list[list[float | None]] = [[float(v)] * n + [None] * gap for v, n, gap in drawn]
    found = alpha(units, metric)
    assert found == alpha([[x for x in unit if x is not None] for unit in units], metric)
    if len({v for v, n, _ in drawn if n > 1}) > 1:
        assert found.value == 1
        if found.interval is not None:
            assert found.interval[0] < 1


def test_alpha_of_nothing_is_unknown() -> None:
    assert alpha([]).value is None
    assert alpha([[1.0, None], [None, 2.0]]).n == 0
    assert alpha([[3.0, 3.0], [3.0, 3.0]]).value is None  # nothing varies


@pytest.mark.parametrize("golden", GOLDEN["correlation"])
def test_correlations_are_those_of_scipy(golden: Any) -> None:
    a, b = golden["a"], golden["b"]
    found = pearson(a, b)
    assert found.value == pytest.approx(golden["pearson"], rel=1e-9)
    assert found.interval == pytest.approx(golden["pearson_interval"], rel=1e-9)
    assert spearman(a, b).value == pytest.approx(golden["spearman"], rel=1e-9)
    assert kendall(a, b).value == pytest.approx(golden["kendall"], rel=1e-9)
    for of in (spearman, kendall):
        figure = of(a, b)
        assert figure.value is not None
        assert figure.interval is not None
        assert figure.interval[0] < figure.value < figure.interval[1]


def test_correlation_of_constant_values_is_unknown() -> None:
    for of in (pearson, spearman, kendall):
        assert of([1.0, 1.0, 1.0], [1.0, 2.0, 3.0]).value is None
        assert of([], []).value is None
        assert of([1.0, 2.0, 3.0], [2.0, 4.0, 6.0]).value == pytest.approx(1)


def test_equal_values_share_a_rank() -> None:
    assert ranks([3.0, 1.0, 3.0, 2.0]) == [3.5, 1.0, 3.5, 2.0]


def test_interval_of_tau_with_many_ties_covers() -> None:
    """With two values each, tau is Pearson's r, and as sure; not by the error for untied ones."""
    a = [float(i % 2) for i in range(200)]
    b = [x if i % 5 else 1 - x for i, x in enumerate(a)]
    tau, r = kendall(a, b), pearson(a, b)
    assert tau.value == pytest.approx(r.value)
    assert tau.interval == pytest.approx(r.interval, abs=0.03)


@pytest.mark.parametrize("golden", GOLDEN["verdicts"])
def test_precision_recall_and_f1_are_those_of_scikit_learn(golden: Any) -> None:
    errors = count_confusion(zip(golden["people"], golden["judge"], strict=True))
    found = errors.precision(), errors.sensitivity(), errors.f1()
    assert [figure.value for figure in found] == pytest.approx(golden["scores"])
    for figure in found:
        assert figure.interval is not None
        assert figure.interval[0] < (figure.value or 0) < figure.interval[1]


def test_rates_of_a_confusion_table() -> None:
    errors = Confusion(true_pass=90, false_pass=60, false_fail=10, true_fail=140)
    assert (errors.n, errors.passes, errors.fails) == (300, 100, 200)
    assert errors.sensitivity().value == 0.9
    assert errors.specificity().value == 0.7
    assert errors.accuracy().value == pytest.approx(230 / 300)
    assert errors.youden().value == pytest.approx(0.6)


@pytest.mark.parametrize(("counts", "interval"), GOLDEN["youden"])
def test_better_than_chance_has_the_interval_of_statsmodels(counts: Any, interval: Any) -> None:
    names = ("true_pass", "false_pass", "false_fail", "true_fail")
    found = Confusion(**dict(zip(names, counts, strict=True))).youden()
    assert found.interval == pytest.approx(interval, rel=1e-9)


@given(*[st.integers(0, 30)] * 4)
def test_intervals_contain_their_values(a: int, b: int, c: int, d: int) -> None:
    errors = Confusion(true_pass=a, false_pass=b, false_fail=c, true_fail=d)
    for of in (errors.sensitivity, errors.specificity, errors.precision, errors.f1, errors.youden):
        found = of()
        if found.value is not None:
            assert found.interval is not None
            for low, high in pairwise((found.interval[0], found.value, found.interval[1])):
                assert low <= high + 1e-12
