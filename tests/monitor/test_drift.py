"""Drift against the reference: what is found, what is left alone, and when it is over."""

import random
from typing import Any

from fourscore.core import Status
from fourscore.monitor.alerts import StatusChange
from fourscore.monitor.drift import Drift
from fourscore.monitor.sample import Sample
from fourscore.monitor.state import MonitorState


def stretch(
    judgement: MonitorState,
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
            "id": f"i{judgement.samples}",
            "at": float(judgement.samples),
            "status": Status.SCORED,
            "passed": True,
        }
        changes += judgement.fold(
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


def test_the_same_traffic_does_not_drift() -> None:
    judgement = MonitorState()
    assert stretch(judgement, random.Random(1), 10_000) == []
    told = judgement.document()["drift"]
    assert (told["status"], told["reference"], told["windows"]) == ("healthy", 500, 19)


def test_each_aspect_is_found_on_its_own() -> None:
    for moved, stream in (
        ({"length": 6.5}, "drift:length"),
        ({"score": 0.76}, "drift:score"),
        ({"errors": 0.12}, "drift:tool_errors"),
        ({"refunds": 0.2}, "drift:mix"),
    ):
        judgement, rng = MonitorState(), random.Random(stream)
        assert stretch(judgement, rng, 1000) == []
        (change,) = stretch(judgement, rng, 500, **moved)
        assert (change.stream, change.before, change.after) == (stream, "healthy", "warning")
        assert (change.method, change.since, change.at) == ("drift", 1000.0, 1499.0)
        assert change.sure == 1 - 0.05 * 0.1 / 4
        assert change.evidence
        assert all(int(name[1:]) >= 500 for name in change.evidence)
        assert change.detail
        (over,) = stretch(judgement, rng, 500)
        assert (over.stream, over.kind, over.evidence) == (stream, "resolved", ())


def test_a_reference_set_by_hand() -> None:
    """Of another service's good days, or from now on."""
    rng, before = random.Random(4), MonitorState()
    stretch(before, rng, 500)
    judgement = MonitorState(drift=Drift(reference=before.drift.reference))
    changes = stretch(judgement, rng, 500, length=7.0)
    assert [c.stream for c in changes] == ["drift:length"]
    judgement.drift.renew()
    assert judgement.drift.reference.n == 0
    assert stretch(judgement, rng, 1500, length=7.0) == []
    assert judgement.document()["drift"]["status"] == "healthy"


def test_nothing_is_said_before_a_window_is_full() -> None:
    judgement = MonitorState()
    stretch(judgement, random.Random(2), 999)
    told = judgement.document()["drift"]
    assert (told["status"], told["in_window"]) == ("insufficient_data", 499)
    assert {each["status"] for each in told["aspects"].values()} == {"insufficient_data"}
