"""The area under the ROC curve, and balanced accuracy."""

import pytest

from fourscore.stats.classification import auc, count_confusion


def test_auc_is_the_share_of_correctly_ordered_pairs() -> None:
    figure = auc([0.9, 0.8, 0.5, 0.4], [0.7, 0.5, 0.3, 0.1])
    assert figure.value == pytest.approx(12.5 / 16)  # one pair is equal
    assert figure.n == 8


def test_the_interval_is_delongs_on_the_logit_scale() -> None:
    # DeLong's variance of these scores is 0.033203125, counted by hand over all pairs.
    figure = auc([0.9, 0.8, 0.5, 0.4], [0.7, 0.5, 0.3, 0.1])
    assert figure.interval == pytest.approx((0.30644, 0.96652), abs=1e-5)


def test_auc_of_separated_scores_has_no_interval() -> None:
    assert auc([0.9, 0.8], [0.1, 0.2]).value == 1.0
    assert auc([0.9, 0.8], [0.1, 0.2]).interval is None
    assert auc([], [0.1]).value is None


def test_balanced_accuracy_weighs_both_classes_equally() -> None:
    pairs = [(True, True)] * 90 + [(True, False)] * 10 + [(False, True)] * 5 + [(False, False)] * 5
    figure = count_confusion(pairs).balanced_accuracy()
    assert figure.value == pytest.approx(0.7)
    assert figure.interval is not None
    assert figure.interval[0] < 0.7 < figure.interval[1]
    assert count_confusion([(True, True)]).balanced_accuracy().value is None
