"""The judgement as a fold: counts, streams, weights, evidence, and the same through JSON."""

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


def folded(judgement: MonitorState, samples: list[Sample]) -> list[StatusChange]:
    return [change for each in samples for change in judgement.fold(each)]


def some(n: int, status: Status, seed: int) -> Sample:
    """One of many samples; all but its status comes of the seed."""
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


TRAFFIC = st.lists(
    st.tuples(st.sampled_from([*Status, *[Status.SCORED] * 9]), st.integers(0, 999)), max_size=120
).map(lambda drawn: [some(n, *each) for n, each in enumerate(drawn)])


@settings(deadline=None)  # the first use of thresholds works out their limits
@given(TRAFFIC, st.integers(0, 120), st.sampled_from(["sequential", "simple"]))
def test_folded_in_parts_through_json_is_folded_whole(
    samples: list[Sample], cut: int, mode: Any
) -> None:
    whole, parted = (
        MonitorState(thresholds=FAST, mode=mode),
        MonitorState(thresholds=FAST, mode=mode),
    )
    changes = folded(whole, samples)
    found = folded(parted, samples[:cut])
    parted = msgspec.json.decode(msgspec.json.encode(parted), type=MonitorState)
    found += folded(parted, samples[cut:])
    assert found == changes
    assert parted == whole
    assert msgspec.json.encode(parted) == msgspec.json.encode(whole)
    assert parted.document() == whole.document()


@settings(deadline=None)
@given(TRAFFIC)
def test_counts_add_up(samples: list[Sample]) -> None:
    judgement = MonitorState(thresholds=FAST)
    folded(judgement, samples)
    document = judgement.document()
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
    for tag, told in document["tags"].items():
        assert told["n"] == sum(tag in each.tags for each in measured)


def test_a_fall_names_the_stream_the_time_and_the_worst() -> None:
    judgement = MonitorState()
    good = [sample(n, n % 10 > 0, tags=("refunds",)) for n in range(300)]
    bad = [sample(300 + n, n % 2 == 0, value=0.4 if n % 2 else 0.9) for n in range(100)]
    bad[41] = sample(341, False, value=0.05)
    changes = folded(judgement, good + bad)
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
    worst = judgement.overall.evidence()
    assert worst[0] == "i399"  # of equals the newest
    assert not any(c.stream == "tag:refunds" for c in changes)


def test_an_alarm_that_is_over_is_told_once() -> None:
    judgement = MonitorState()
    changes = folded(judgement, [sample(n, n < 200 or n >= 212) for n in range(400)])
    assert [(c.stream, c.kind, c.sure is None) for c in changes] == [
        ("overall", "raised", False),
        ("overall", "resolved", True),
    ]
    assert changes[1].evidence == ()
    assert judgement.document()["status"] == "healthy"


def test_dimensions_and_tags_are_judged_on_their_own() -> None:
    judgement = MonitorState()
    samples = [
        sample(n, n % 10 > 0, dimensions={"facts": 0.7 - 1e-12, "style": 0.69}, tags=("a", "a"))
        for n in range(100)
    ]
    changes = folded(judgement, samples)
    assert {c.stream for c in changes} == {"dimension:style"}
    document = judgement.document()
    assert document["dimensions"]["facts"]["pass_rate"] == 1.0
    assert document["dimensions"]["style"]["status"] == "critical"
    assert document["tags"]["a"]["n"] == 100
    assert document["status"] == "healthy"


def test_a_broken_judge_is_not_a_broken_agent() -> None:
    judgement = MonitorState()
    changes = folded(judgement, [sample(n) for n in range(100)])
    changes += folded(judgement, [sample(100 + n, None) for n in range(30)])
    assert [c.stream for c in changes] == ["judge", "judge"]
    assert [c.after for c in changes] == ["warning", "critical"]
    assert changes[0].evidence[0] == f"i{int(changes[0].at)}"
    document = judgement.document()
    assert document["status"] == "healthy"
    assert document["pass_rate"] == 1.0
    assert document["judge"]["status"] == "critical"
    assert document["judge"]["error_rate"] == pytest.approx(30 / 130)


def test_what_an_agent_broke_is_its_own() -> None:
    judgement = MonitorState()
    samples = [sample(n, False, status=Status.TIMEOUT, value=None) for n in range(40)]
    assert {c.stream for c in folded(judgement, samples)} == {"overall"}
    assert judgement.document()["judge"]["n"] == 0


def test_what_is_watched_is_bounded() -> None:
    judgement = MonitorState()
    for n in range(300):
        judgement.fold(sample(n, n % 2 > 0, tags=(f"t{n}", "x" * 500), dimensions={f"d{n}": 0.5}))
    assert len(judgement.tags) == 64
    assert len(judgement.dimensions) == 16
    assert max(len(tag) for tag in judgement.tags) == 80
    assert judgement.document()["tags_unwatched"] == 300 - 63
    assert len(msgspec.json.encode(judgement)) < 60_000


def test_weights_bring_the_estimate_back_and_tests_take_equal_chances() -> None:
    """Refunds pass half of the time and are sampled ten times as often as the rest."""
    judgement, rng = MonitorState(), random.Random(3)
    for n in range(4000):
        rare = n % 2 == 0
        passed = rng.random() < (0.5 if rare else 0.95)
        judgement.fold(
            sample(n, passed, tags=("refunds",) if rare else (), weight=1 + 9.0 * (not rare))
        )
    document = judgement.document()
    assert document["pass_rate"] == pytest.approx((0.5 + 10 * 0.95) / 11, abs=0.015)
    assert document["status"] == "healthy"
    assert document["tags"]["refunds"]["status"] == "critical"
    assert document["left_out"] == pytest.approx(1800, abs=50)
    assert document["tags"]["refunds"]["left_out"] == 0


def test_a_rate_of_sampling_that_rose_is_made_use_of() -> None:
    """Ten times as many samples of a tenth of the weight: soon all of them count."""
    judgement = MonitorState()
    folded(judgement, [sample(n, weight=100.0) for n in range(1000)])
    folded(judgement, [sample(1000 + n, weight=10.0) for n in range(2000)])
    before = judgement.overall.left_out
    assert before == pytest.approx(900, abs=60)
    folded(judgement, [sample(3000 + n, weight=10.0) for n in range(1000)])
    assert judgement.overall.left_out == before


def test_the_literal_rule() -> None:
    judgement = MonitorState(mode="simple")
    assert judgement.document()["status"] == "insufficient_data"
    seen = []
    for n, passed in enumerate([True, False, True, True, True, True, True]):
        judgement.fold(sample(n, passed))
        seen.append(judgement.document()["status"])
    # 1, 1/2, 2/3, 3/4, 4/5, 5/6, 6/7
    assert seen == ["healthy", "critical", "critical", "warning", "warning", "warning", "healthy"]


def test_other_rules_from_now_on() -> None:
    judgement = MonitorState()
    folded(judgement, [sample(n, n % 10 > 2) for n in range(100)])
    assert judgement.apply_rules(Thresholds(), "sequential", 0.7) is judgement
    assert judgement.plans
    judgement.apply_rules(FAST, "simple", 0.8)
    assert (judgement.mode, judgement.pass_threshold, judgement.plans) == ("simple", 0.8, {})
    judgement.fold(sample(100))
    assert judgement.document()["status"] == "warning"
    assert judgement.samples == 101


def test_the_corrected_rate() -> None:
    errors = Confusion(true_pass=180, false_fail=20, true_fail=140, false_pass=60)
    judgement = MonitorState()
    assert judgement.document(errors)["pass_rate_corrected"] is None
    folded(judgement, [sample(n, n % 10 < 6) for n in range(900)])
    told = judgement.document(errors)["pass_rate_corrected"]
    assert told["value"] == pytest.approx((0.6 + 0.7 - 1) / (0.9 + 0.7 - 1))
    assert told["n"] == 900
    folded(judgement, [sample(900 + n, False, status=Status.AGENT_ERROR) for n in range(100)])
    assert judgement.document(errors)["pass_rate_corrected"]["value"] == pytest.approx(0.45)
    chance = Confusion(true_pass=50, false_fail=50, true_fail=50, false_pass=50)
    told = judgement.document(chance)
    assert told["pass_rate_corrected"] is None
    assert "chance" in told["corrected_reason"]


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
def test_thresholds_that_cannot_be_are_refused(wrong: dict[str, Any]) -> None:
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
def test_a_sample_that_cannot_be_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=next(iter(wrong))):
        sample(1, **wrong)
