"""Drift against the reference: when it is found, when not, and when it is over."""

import random
from typing import Any

from fourscore.core import Status
from fourscore.monitor.alerts import StatusChange
from fourscore.monitor.drift import Drift
from fourscore.monitor.sample import Sample
from fourscore.monitor.state import MonitorState


def make_samples(
    state: MonitorState,
    rng: random.Random,
    n: int,
    *,
    length: float = 6.0,
    score: float = 0.8,
    errors: float = 0.03,
    refunds: float = 0.05,
) -> list[StatusChange]:
    changes = []
    for _ in range(n):
        value = min(1.0, max(0.0, rng.gauss(score, 0.05)))
        tags = ("refunds",) if rng.random() < refunds else ("orders",)
        fields: dict[str, Any] = {
            "id": f"i{state.samples}",
            "at": float(state.samples),
            "status": Status.SCORED,
            "passed": True,
        }
        changes += state.fold(
            Sample(
                **fields,
                value=value,
                dimensions={},
                tags=tags,
                length=int(rng.lognormvariate(length, 0.5)),
                tool_calls=3,
                tool_errors=int(rng.random() < errors),
            )
        )
    return changes


def test_unchanged_traffic_does_not_drift() -> None:
    state = MonitorState()
    assert make_samples(state, random.Random(1), 10_000) == []
    drift = state.document()["drift"]
    assert (drift["status"], drift["reference"], drift["windows"]) == ("healthy", 500, 19)


def test_each_aspect_drifts_separately() -> None:
    for moved, stream in (
        ({"length": 6.5}, "drift:length"),
        ({"score": 0.76}, "drift:score"),
        ({"errors": 0.12}, "drift:tool_errors"),
        ({"refunds": 0.2}, "drift:mix"),
    ):
        state, rng = MonitorState(), random.Random(stream)
        assert make_samples(state, rng, 1000) == []
        (change,) = make_samples(state, rng, 500, **moved)
        assert (change.stream, change.before, change.after) == (stream, "healthy", "warning")
        assert (change.method, change.since, change.at) == ("drift", 1000.0, 1499.0)
        assert change.sure == 1 - 0.05 * 0.1 / 4
        assert change.evidence
        assert all(int(name[1:]) >= 500 for name in change.evidence)
        assert change.detail
        (over,) = make_samples(state, rng, 500)
        assert (over.stream, over.kind, over.evidence) == (stream, "resolved", ())


def test_reference_can_be_given_or_renewed() -> None:
    """The reference is taken from another state, or from the next samples."""
    rng, before = random.Random(4), MonitorState()
    make_samples(before, rng, 500)
    state = MonitorState(drift=Drift(reference=before.drift.reference))
    changes = make_samples(state, rng, 500, length=7.0)
    assert [c.stream for c in changes] == ["drift:length"]
    state.drift.renew()
    assert state.drift.reference.n == 0
    assert make_samples(state, rng, 1500, length=7.0) == []
    assert state.document()["drift"]["status"] == "healthy"


def test_status_is_insufficient_data_before_a_window_is_full() -> None:
    state = MonitorState()
    make_samples(state, random.Random(2), 999)
    drift = state.document()["drift"]
    assert (drift["status"], drift["in_window"]) == ("insufficient_data", 499)
    assert {each["status"] for each in drift["aspects"].values()} == {"insufficient_data"}
