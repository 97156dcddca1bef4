"""One watched rate: the figures of docs/alarms.md in small, and how statuses come and go."""

import random
import statistics

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fourscore.stats.rate_alarm import AlarmChange, AlarmPlan, RateAlarm, make_alarm_plan

USUAL = make_alarm_plan(0.85, 0.70, alpha=0.02, horizon=5000, min_samples=20)
LITERAL = make_alarm_plan(0.85, 0.70, alpha=0.02, horizon=5000, min_samples=20, simple=True)


def run(
    rng: random.Random, alarm: RateAlarm, rate: float, n: int, rules: AlarmPlan = USUAL
) -> list[AlarmChange]:
    turns = (alarm.fold(rng.random() < rate, float(alarm.n), rules) for _ in range(n))
    return [turn for turn in turns if turn is not None and turn.after != "healthy"]


def delay(rng: random.Random, alarm: RateAlarm, rate: float, rules: AlarmPlan = USUAL) -> int:
    for n in range(1, 20_000):
        alarm.fold(rng.random() < rate, float(alarm.n), rules)
        if alarm.status in ("warning", "critical"):
            return n
    raise AssertionError("no alarm")


def test_no_false_alarm_at_a_good_rate() -> None:
    rng = random.Random(11)
    false = sum(bool(run(rng, RateAlarm(), 0.88, 5000)) for _ in range(60))
    assert false <= 3  # 5%


def test_simple_rule_raises_false_alarms() -> None:
    rng, false = random.Random(12), 0
    for _ in range(100):
        alarm, looked = RateAlarm(), False
        for n in range(1, 1001):
            alarm.fold(rng.random() < 0.88, float(n), LITERAL)
            looked = looked or (n >= 20 and alarm.status != "healthy")
        false += looked
    assert 45 <= false <= 75


@pytest.mark.parametrize("before", [0, 5000])
def test_a_fall_is_found_within_a_hundred(before: int) -> None:
    rng, found = random.Random(13), []
    for _ in range(40):
        alarm = RateAlarm()
        run(rng, alarm, 0.88, before)
        if alarm.status not in ("warning", "critical"):
            found.append(delay(rng, alarm, 0.70))
    assert len(found) >= 38
    assert statistics.median(found) <= 100


def test_the_literal_rule_needs_2334_after_5000_at_092() -> None:
    alarm = RateAlarm()
    for n in range(5000):
        alarm.fold(n % 25 >= 2, float(n), LITERAL)
    assert alarm.passed == 4600
    fallen = (n % 10 < 7 for n in range(20_000))
    needed = next(
        n for n, ok in enumerate(fallen, 1) if alarm.fold(ok, float(n), LITERAL) is not None
    )
    assert needed == pytest.approx(2334, abs=7)


def test_a_rate_a_little_too_low_is_found_by_the_sequence() -> None:
    """Two failures of eleven, evenly: the sum for a fall does not climb, the sequence is sure."""
    alarm, turns = RateAlarm(), []
    for n in range(5000):
        turn = alarm.fold(n % 11 >= 2, float(n), USUAL)  # 0.818
        turns += [turn] if turn is not None and turn.after == "warning" else []
    assert [turn.method for turn in turns] == ["sequence"]
    assert turns[0].since == 0.0
    assert alarm.status == "warning"


def test_status_is_insufficient_data_below_min_samples() -> None:
    alarm = RateAlarm()
    assert all(alarm.fold(False, float(n), USUAL) is None for n in range(19))
    assert alarm.status == "insufficient_data"
    turn = alarm.fold(False, 19.0, USUAL)
    assert turn is not None
    assert (turn.before, turn.after, turn.since) == ("insufficient_data", "critical", 0.0)


def test_a_fall_and_a_recovery_step_by_step() -> None:
    alarm, turns = RateAlarm(), []
    for n, ok in enumerate([True] * 200 + [False] * 40 + [True] * 80):
        turn = alarm.fold(ok, float(n), USUAL)
        turns += [(n, turn.before, turn.after, turn.since)] if turn is not None else []
    assert turns == [
        (19, "insufficient_data", "healthy", 0.0),
        (211, "healthy", "warning", 200.0),  # 12 failures · 4 ≥ 46
        (218, "warning", "critical", 200.0),  # 19 · 7 ≥ 133
        (281, "critical", "warning", 281.0),  # 42 passes in a row
        (290, "warning", "healthy", 290.0),  # 51
    ]


def test_easing_from_critical_to_warning_keeps_the_onset() -> None:
    alarm = RateAlarm()
    for n, ok in enumerate([True] * 200 + [False] * 40 + [True] * 45):
        alarm.fold(ok, float(n), USUAL)
    assert (alarm.status, alarm.since) == ("warning", 200.0)


def test_renew_keeps_the_status_under_another_rule() -> None:
    alarm = RateAlarm()
    for n in range(40):
        alarm.fold(n % 5 > 0, float(n), LITERAL)
    assert alarm.status == "warning"
    alarm.renew()
    turns = [alarm.fold(True, 40.0 + n, USUAL) for n in range(51)]
    assert turns[:50] == [None] * 50
    assert turns[50] is not None
    assert (turns[50].before, turns[50].after) == ("warning", "healthy")


def test_new_block_starts_after_the_horizon() -> None:
    rules = make_alarm_plan(0.85, 0.70, alpha=0.02, horizon=100, min_samples=20)
    alarm = RateAlarm()
    for n in range(250):
        alarm.fold(n % 10 > 0, float(n), rules)
    assert (alarm.n, alarm.block_n, alarm.block_at) == (250, 50, 200.0)
    low, high = alarm.interval()
    assert low < 0.9 < high


@given(st.lists(st.booleans(), max_size=400), st.integers(0, 400), st.booleans())
def test_state_survives_json_at_any_sample(verdicts: list[bool], cut: int, literal: bool) -> None:
    rules = LITERAL if literal else USUAL
    whole, parted = RateAlarm(), RateAlarm()
    for n, ok in enumerate(verdicts):
        if n == cut:
            parted = msgspec.json.decode(msgspec.json.encode(parted), type=RateAlarm)
        assert whole.fold(ok, float(n), rules) == parted.fold(ok, float(n), rules)
    assert whole == parted
    assert whole.critical.on <= whole.warning.on
    assert (whole.n, whole.passed) == (len(verdicts), sum(verdicts))


def test_thresholds_in_the_wrong_order_are_refused() -> None:
    with pytest.raises(ValueError, match="critical < warning"):
        make_alarm_plan(0.7, 0.85, alpha=0.02, horizon=5000, min_samples=20)
