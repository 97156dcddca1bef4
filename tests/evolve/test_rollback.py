"""Rules of the rollback, each at its boundary."""

import pytest

from fourscore.evolve.rollback import RollbackRules, estimate_noise, must_roll_back


@pytest.mark.parametrize(
    ("scores", "reason"),
    [
        ((80, 79, 78), "drops"),
        ((80, 79), "holds"),
        ((80, 79, 79), "holds"),
        ((80, 80, 79), "holds"),
        ((80, 79, 80), "holds"),
        ((99, 80, 79, 78), "drops"),
        ((80, 79, 78, 78), "holds"),
        ((), "holds"),
    ],
)
def test_two_drops_require_rollback(scores: tuple[float, ...], reason: str) -> None:
    ruling = must_roll_back(scores)
    assert (ruling.reason, ruling.yes) == (reason, reason != "holds")


def test_score_below_seventy_percent_of_best_requires_rollback() -> None:
    assert must_roll_back([70.0], 100.0).reason == "holds"
    assert must_roll_back([69.99], 100.0).reason == "below_best"
    assert must_roll_back([10.0], None).reason == "holds"
    assert must_roll_back([], 100.0).reason == "holds"
    assert must_roll_back([10.0], 100.0, rules=RollbackRules(share_of_best=None)).reason == "holds"


def test_error_rate_above_half_requires_rollback() -> None:
    assert must_roll_back([], None, 0.5).reason == "holds"
    assert must_roll_back([], None, 0.51).reason == "error_rate"
    assert must_roll_back([], None, None).reason == "holds"
    assert must_roll_back([], None, 1.0, RollbackRules(error_rate=None)).reason == "holds"


def test_rollback_rules_can_be_changed_or_switched_off() -> None:
    assert must_roll_back([80.0, 79.0], rules=RollbackRules(drops=1)).reason == "drops"
    assert must_roll_back([80.0, 79.0, 78.0], rules=RollbackRules(drop=1)).reason == "holds"
    assert must_roll_back([80.0, 78.9, 77.0], rules=RollbackRules(drop=1)).reason == "drops"
    assert must_roll_back([80.0, 79.0, 78.0], rules=RollbackRules(drops=None)).reason == "holds"
    assert must_roll_back([80.0], 100.0, rules=RollbackRules(share_of_best=0.9)).yes
    for bad in (float("nan"), float("inf")):
        with pytest.raises(ValueError, match="drop"):
            RollbackRules(drop=bad)


def test_noise_is_1645_standard_errors_of_the_change() -> None:
    assert estimate_noise([80, 60, None], [82, 58, 10]) == pytest.approx(1.645 * 2)
    assert estimate_noise([80.0], [70.0]) == 0
