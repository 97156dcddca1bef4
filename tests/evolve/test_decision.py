"""Both rules: the literal one at its boundaries, the paired one with its evidence."""

from random import Random

import pytest

from fourscore import should_apply_mutation
from fourscore.evolve.decision import decide_by_pairs, decide_by_scores, expected_false
from fourscore.stats.sequential import SequentialPlan


class Fixed(Random):
    def __init__(self, value: float) -> None:
        super().__init__()
        self.value, self.asked = value, 0

    def random(self) -> float:
        self.asked += 1
        return self.value


@pytest.mark.parametrize(
    ("old", "new", "accepted", "reason"),
    [
        (80, 85.01, True, "significant_improvement"),
        (80, 85, True, "marginal_improvement"),
        (80, 80.01, True, "marginal_improvement"),
        (80, 80, False, "exploration"),
        (80, 77.01, False, "exploration"),
        (80, 77, False, "regression"),
        (80, 76.99, False, "regression"),
        (0, 100, True, "significant_improvement"),
        (100, 0, False, "regression"),
    ],
)
def test_literal_rule_at_its_boundaries(
    old: float, new: float, accepted: bool, reason: str
) -> None:
    rng = Fixed(0.2)
    assert should_apply_mutation(old, new, rng) == (accepted, reason)
    assert rng.asked == (reason == "exploration")  # chance is asked for nothing else


def test_explores_one_time_in_five() -> None:
    assert should_apply_mutation(80, 79, Fixed(0.19999)) == (True, "exploration")
    assert should_apply_mutation(80, 79, Fixed(0.2)) == (False, "exploration")
    rng = Random(1)
    taken = sum(should_apply_mutation(80, 79, rng).accepted for _ in range(10_000))
    assert 1880 < taken < 2120  # three standard errors
    accepted, reason = should_apply_mutation(80, 79)
    assert isinstance(accepted, bool)
    assert reason == "exploration"


def test_same_seed_gives_same_answers() -> None:
    first, second = Random(7), Random(7)
    for _ in range(50):
        assert should_apply_mutation(80, 78, first) == should_apply_mutation(80, 78, second)


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), -float("inf"), True, None, "80"])
def test_rejects_invalid_scores(bad: object) -> None:
    with pytest.raises(ValueError, match="old_score"):
        should_apply_mutation(bad, 80)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="new_score"):
        should_apply_mutation(80, bad)  # type: ignore[arg-type]


def test_paired_decision_has_its_evidence() -> None:
    gained = decide_by_pairs([(40.0, 90.0), (50.0, 95.0)] * 20, SequentialPlan(budget=40))
    assert (gained.rule, gained.accepted, gained.reason) == ("paired", True, "improvement")
    assert (gained.n, gained.look, gained.looks, gained.level) == (20, 2, 3, 0.05)
    assert (gained.old, gained.new) == (45.0, 92.5)
    assert gained.delta == pytest.approx(47.5)
    assert gained.low is not None
    assert gained.low > 0
    assert gained.final
    assert not gained.exploration


def test_decision_that_needs_more_pairs_is_not_final() -> None:
    waiting = decide_by_pairs([(50.0, 51.0)] * 30)
    assert (waiting.accepted, waiting.reason, waiting.more) == (False, "more_cases", 20)
    assert not waiting.final
    nothing = decide_by_pairs([])
    assert (nothing.delta, nothing.old, nothing.n, nothing.more) == (None, None, 0, 25)


def test_rejects_losses_and_undecided_candidates() -> None:
    assert decide_by_pairs([(90.0, 20.0), (80.0, 20.0)] * 20).reason == "no_gain"
    unclear = decide_by_pairs([(50.0, 70.0), (50.0, 31.0)] * 100)
    assert (unclear.accepted, unclear.reason) == (False, "undecided")


def test_expected_false_acceptances_add_up() -> None:
    paired = decide_by_pairs([(50.0, 50.0)] * 200)
    literal = decide_by_scores(80.0, 79.0, Fixed(0.0))
    assert literal.exploration
    assert literal.level is None
    assert expected_false([paired] * 12 + [literal]) == pytest.approx(0.6)
