"""Folding samples into the state: counts, streams, weights, evidence, and JSON in between."""

import random
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fourscore.core import Status, Usage
from fourscore.monitor.alerts import StatusChange
from fourscore.monitor.sample import Sample
from fourscore.monitor.settings import Thresholds
from fourscore.monitor.state import MonitorState
from fourscore.stats.classification import Confusion

FAST = Thresholds(min_samples=5, horizon=200, drift_window=20)


def sample(n: int, passed: bool | None = True, **more: Any) -> Sample:
    value = None if passed is None else 0.9 if passed else 0.3
    status = Status.JUDGE_ERROR if passed is None else Status.SCORED
    fields = {"id": f"i{n}", "at": float(n), "status": status, "passed": passed, "value": value}
    return Sample(**{**fields, "dimensions": {}, **more})


def fold_all(state: MonitorState, samples: list[Sample]) -> list[StatusChange]:
    return [change for each in samples for change in state.fold(each)]


def make_sample(n: int, status: Status, seed: int) -> Sample:
    """Return a sample; all fields but `status` and the id are derived from the seed."""
    rng, scored = random.Random(seed), status is Status.SCORED
    return Sample(
        id=f"i{n}",
        at=rng.uniform(0, 1e9),
        status=status,
        passed=(scored and rng.random() < 0.6) if status.measured else None,
        value=rng.random() if scored else None,
        dimensions={name: rng.random() for name in "abc" if rng.random() < 0.7} if scored else {},
        tags=tuple(rng.choices("xyz", k=rng.randrange(4))),
        weight=rng.choice([1.0, 10.0, 100.0]),
        length=rng.randrange(10 ** rng.randrange(8)),
        tool_calls=2,
        tool_errors=rng.randrange(3),
        cost=Usage(calls=1, dollars=0.1),
    )


def test_stored_state_keeps_its_keys() -> None:
    """Users' stores have states with these keys: `vigil` is the stored name of an alarm."""
    state = MonitorState()
    fold_all(state, [sample(n, n % 2 == 0, tags=("a",)) for n in range(30)])
    stored = msgspec.to_builtins(state)
    assert set(stored) == {
        "samples", "statuses", "overall", "tags", "judge", "drift", "scored", "first", "last",
        "plans",
    }  # fmt: skip
    assert {"vigil", "n", "weight", "square", "passed", "failures"} <= set(stored["overall"])


TRAFFIC = st.lists(
    st.tuples(st.sampled_from([*Status, *[Status.SCORED] * 9]), st.integers(0, 999)), max_size=120
).map(lambda drawn: [make_sample(n, *each) for n, each in enumerate(drawn)])


@settings(deadline=None)  # the first use of thresholds computes their limits
@given(TRAFFIC, st.integers(0, 120), st.sampled_from(["sequential", "simple"]))
def test_folding_in_parts_through_json_gives_the_same_state(
    samples: list[Sample], cut: int, mode: Any
) -> None:
    whole, parted = (
        MonitorState(thresholds=FAST, mode=mode),
        MonitorState(thresholds=FAST, mode=mode),
    )
    changes = fold_all(whole, samples)
    found = fold_all(parted, samples[:cut])
    parted = msgspec.json.decode(msgspec.json.encode(parted), type=MonitorState)
    found += fold_all(parted, samples[cut:])
    assert found == changes
    assert parted == whole
    assert msgspec.json.encode(parted) == msgspec.json.encode(whole)
    assert parted.document() == whole.document()


@settings(deadline=None)
@given(TRAFFIC)
def test_counts_add_up(samples: list[Sample]) -> None:
    state = MonitorState(thresholds=FAST)
    fold_all(state, samples)
    document = state.document()
    assert document["sample_count"] == sum(document["statuses"].values()) == len(samples)
    measured = [each for each in samples if each.status.measured]
    assert document["measured"] == len(measured)
    weight = sum(each.weight for each in measured)
    if weight:
        passed = sum(each.weight for each in measured if each.passed)
        assert document["pass_rate"] == pytest.approx(passed / weight)
        low, high = document["pass_rate_interval"]
        assert 0 <= low <= document["pass_rate"] <= high <= 1
    else:
        assert document["pass_rate"] is None
    for tag, result in document["tags"].items():
        assert result["n"] == sum(tag in each.tags for each in measured)


def test_alert_names_stream_time_and_worst_interactions() -> None:
    state = MonitorState()
    good = [sample(n, n % 10 > 0, tags=("refunds",)) for n in range(300)]
    bad = [sample(300 + n, n % 2 == 0, value=0.4 if n % 2 else 0.9) for n in range(100)]
    bad[41] = sample(341, False, value=0.05)
    changes = fold_all(state, good + bad)
    first = changes[0]
    assert [(c.stream, c.before, c.after, c.kind) for c in changes[:1]] == [
        ("overall", "healthy", "warning", "raised")
    ]
    assert 290 <= first.since <= 301
    assert first.estimate is not None
    assert first.high is not None
    assert first.estimate < 0.7 < first.high
    assert (first.method, first.sure) == ("cusum", 0.98)
    assert len(first.evidence) == 10
    worst = state.overall.evidence()
    assert worst[0] == "i399"  # of equally bad ones, the newest
    assert not any(c.stream == "tag:refunds" for c in changes)


def test_resolved_alarm_is_reported_once() -> None:
    state = MonitorState()
    changes = fold_all(state, [sample(n, n < 200 or n >= 212) for n in range(400)])
    assert [(c.stream, c.kind, c.sure is None) for c in changes] == [
        ("overall", "raised", False),
        ("overall", "resolved", True),
    ]
    assert changes[1].evidence == ()
    assert state.document()["status"] == "healthy"


def test_dimensions_and_tags_have_their_own_status() -> None:
    state = MonitorState()
    samples = [
        sample(n, n % 10 > 0, dimensions={"facts": 0.7 - 1e-12, "style": 0.69}, tags=("a", "a"))
        for n in range(100)
    ]
    changes = fold_all(state, samples)
    assert {c.stream for c in changes} == {"dimension:style"}
    document = state.document()
    assert document["dimensions"]["facts"]["pass_rate"] == 1.0
    assert document["dimensions"]["style"]["status"] == "critical"
    assert document["tags"]["a"]["n"] == 100
    assert document["status"] == "healthy"


def test_dimension_counts_where_the_judge_of_another_one_failed() -> None:
    state = MonitorState()
    changes = fold_all(state, [sample(n, None, dimensions={"style": 0.6}) for n in range(100)])
    assert {c.stream for c in changes} == {"dimension:style", "judge"}
    document = state.document()
    assert document["pass_rate"] is None
    assert (document["dimensions"]["style"]["n"], document["judge"]["n"]) == (100, 100)
    assert document["dimensions"]["style"]["status"] == "critical"


def test_judge_errors_raise_only_the_judge_stream() -> None:
    state = MonitorState()
    changes = fold_all(state, [sample(n) for n in range(100)])
    changes += fold_all(state, [sample(100 + n, None) for n in range(30)])
    assert [c.stream for c in changes] == ["judge", "judge"]
    assert [c.after for c in changes] == ["warning", "critical"]
    assert changes[0].evidence[0] == f"i{int(changes[0].at)}"
    document = state.document()
    assert document["status"] == "healthy"
    assert document["pass_rate"] == 1.0
    assert document["judge"]["status"] == "critical"
    assert document["judge"]["error_rate"] == pytest.approx(30 / 130)


def test_agent_errors_count_as_failures_and_not_as_judge_errors() -> None:
    state = MonitorState()
    samples = [sample(n, False, status=Status.TIMEOUT, value=None) for n in range(40)]
    assert {c.stream for c in fold_all(state, samples)} == {"overall"}
    assert state.document()["judge"]["n"] == 0


def test_watched_tags_and_dimensions_are_bounded() -> None:
    state = MonitorState()
    for n in range(300):
        state.fold(sample(n, n % 2 > 0, tags=(f"t{n}", "x" * 500), dimensions={f"d{n}": 0.5}))
    assert len(state.tags) == 64
    assert len(state.dimensions) == 16
    assert max(len(tag) for tag in state.tags) == 80
    assert state.document()["tags_unwatched"] == 300 - 63
    assert len(msgspec.json.encode(state)) < 60_000


def test_estimates_are_weighted_and_tests_use_equal_chances() -> None:
    """Refunds pass half of the time and are sampled ten times as often as the rest."""
    state, rng = MonitorState(), random.Random(3)
    for n in range(4000):
        rare = n % 2 == 0
        passed = rng.random() < (0.5 if rare else 0.95)
        state.fold(
            sample(n, passed, tags=("refunds",) if rare else (), weight=1 + 9.0 * (not rare))
        )
    document = state.document()
    assert document["pass_rate"] == pytest.approx((0.5 + 10 * 0.95) / 11, abs=0.015)
    assert document["status"] == "healthy"
    assert document["tags"]["refunds"]["status"] == "critical"
    assert document["left_out"] == pytest.approx(1800, abs=50)
    assert document["tags"]["refunds"]["left_out"] == 0


def test_higher_sampling_rate_lets_more_samples_into_the_tests() -> None:
    """Ten times as many samples of a tenth of the weight: soon all of them count."""
    state = MonitorState()
    fold_all(state, [sample(n, weight=100.0) for n in range(1000)])
    fold_all(state, [sample(1000 + n, weight=10.0) for n in range(2000)])
    before = state.overall.left_out
    assert before == pytest.approx(900, abs=60)
    fold_all(state, [sample(3000 + n, weight=10.0) for n in range(1000)])
    assert state.overall.left_out == before


def test_simple_mode_compares_the_plain_pass_rate_with_the_thresholds() -> None:
    state = MonitorState(mode="simple")
    assert state.document()["status"] == "insufficient_data"
    seen = []
    for n, passed in enumerate([True, False, True, True, True, True, True]):
        state.fold(sample(n, passed))
        seen.append(state.document()["status"])
    # pass rates: 1, 1/2, 2/3, 3/4, 4/5, 5/6, 6/7
    assert seen == ["healthy", "critical", "critical", "warning", "warning", "warning", "healthy"]


def test_new_thresholds_apply_from_now_on() -> None:
    state = MonitorState()
    fold_all(state, [sample(n, n % 10 > 2) for n in range(100)])
    assert state.apply_rules(Thresholds(), "sequential", 0.7) is state
    assert state.plans
    state.apply_rules(FAST, "simple", 0.8)
    assert (state.mode, state.pass_threshold, state.plans) == ("simple", 0.8, {})
    state.fold(sample(100))
    assert state.document()["status"] == "warning"
    assert state.samples == 101


def test_corrected_rate() -> None:
    errors = Confusion(true_pass=180, false_fail=20, true_fail=140, false_pass=60)
    state = MonitorState()
    assert state.document(errors)["pass_rate_corrected"] is None
    fold_all(state, [sample(n, n % 10 < 6) for n in range(900)])
    result = state.document(errors)["pass_rate_corrected"]
    assert result["value"] == pytest.approx((0.6 + 0.7 - 1) / (0.9 + 0.7 - 1))
    assert result["n"] == 900
    fold_all(state, [sample(900 + n, False, status=Status.AGENT_ERROR) for n in range(100)])
    assert state.document(errors)["pass_rate_corrected"]["value"] == pytest.approx(0.45)
    chance = Confusion(true_pass=50, false_fail=50, true_fail=50, false_pass=50)
    result = state.document(chance)
    assert result["pass_rate_corrected"] is None
    assert "chance" in result["corrected_reason"]


@pytest.mark.parametrize(
    "wrong",
    [
        {"pass_rate_warning": 0.6},
        {"pass_rate_warning": 0.9999},
        {"judge_error_warning": 0.3},
        {"alpha": 0.0},
        {"min_samples": 0},
        {"drift_window": 5},
    ],
)
def test_invalid_thresholds_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=next(iter(wrong))):
        Thresholds(**wrong)


@pytest.mark.parametrize(
    "wrong",
    [
        {"at": float("nan")},
        {"value": 1.5},
        {"weight": 0.5},
        {"tool_errors": 1},
        {"passed": None, "status": Status.SCORED},
        {"dimensions": {"facts": 2.0}},
    ],
)
def test_invalid_sample_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=next(iter(wrong))):
        sample(1, **wrong)
