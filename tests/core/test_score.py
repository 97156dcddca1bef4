"""The signals of one trace, folded."""

import pickle
from math import inf, nan
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fourscore.core import Provenance, Score, Signal, Status, Usage

steady = settings(deadline=None)
units = st.floats(0, 1)
rewards = st.floats(allow_nan=False, allow_infinity=False)
MEASURED = [status for status in Status if status.measured]
UNMEASURED = [status for status in Status if not status.measured]
common: dict[str, Any] = {
    "coverage": units,
    "signals": st.lists(
        st.builds(Signal, name=st.text(min_size=1), value=st.none() | units, reason=st.text()),
        max_size=3,
    ).map(tuple),
    "reason": st.text(),
    "cost": st.builds(Usage, calls=st.integers(0, 9), dollars=st.floats(0, 9)),
    "provenance": st.builds(
        Provenance,
        rubric=st.text(),
        judges=st.dictionaries(st.text(), st.text(), max_size=2),
        models=st.lists(st.text(), max_size=2).map(tuple),
        prompts=st.dictionaries(st.text(), st.text(), max_size=2),
    ),
}
scores = st.builds(
    Score,
    status=st.sampled_from(MEASURED),
    value=st.none() | units,
    passed=st.booleans(),
    reward=rewards,
    **common,
) | st.builds(Score, status=st.sampled_from(UNMEASURED), **common)


@steady
@given(scores)
def test_a_score_survives_json_and_pickle_without_loss(score: Score) -> None:
    encoded = msgspec.json.encode(score)
    decoded = msgspec.json.decode(encoded, type=Score)
    assert decoded == score
    assert msgspec.json.encode(decoded) == encoded
    assert pickle.loads(pickle.dumps(score)) == score


def test_agent_failures_count_as_measured_and_judge_failures_do_not() -> None:
    assert {str(status) for status in MEASURED} == {"scored", "agent_error", "timeout"}
    assert {str(status) for status in UNMEASURED} == {
        "judge_error",
        "refused",
        "cancelled",
        "skipped",
    }


@pytest.mark.parametrize("status", UNMEASURED)
def test_unmeasured_score_has_no_reward(status: Status) -> None:
    assert Score(status=status).reward is None
    with pytest.raises(
        ValueError, match=f"^a score that is {status} has no value, reward or verdict$"
    ):
        Score(status=status, reward=0.0)


@pytest.mark.parametrize("status", MEASURED)
def test_measured_score_needs_a_reward(status: Status) -> None:
    assert Score(status=status, reward=1.5, passed=True).reward == 1.5
    with pytest.raises(
        ValueError, match=f"^a score that is {status} needs a reward and a verdict$"
    ):
        Score(status=status, passed=True)


@pytest.mark.parametrize("field", ["value", "reward", "coverage"])
@pytest.mark.parametrize("number", [nan, inf, -inf])
def test_numbers_that_are_not_finite_are_refused(field: str, number: float) -> None:
    fields: dict[str, Any] = {"reward": 0.0, field: number}
    with pytest.raises(ValueError, match=f"^{field}: {number} is not a finite number$"):
        Score(status=Status.SCORED, **fields)


@pytest.mark.parametrize("field", ["value", "coverage"])
@pytest.mark.parametrize("number", [-0.001, 1.001, 2])
def test_numbers_out_of_range_are_refused(field: str, number: float) -> None:
    fields: dict[str, Any] = {"reward": 0.0, field: number}
    with pytest.raises(ValueError, match=rf"^{field}: {number} is outside \[0, 1\]$"):
        Score(status=Status.SCORED, **fields)


@pytest.mark.parametrize(
    "text",
    [
        '{"status": "scored"}',
        '{"status": "skipped", "reward": 0}',
        '{"status": "splendid", "reward": 1}',
        '{"status": "scored", "reward": 1, "value": 1.5}',
    ],
)
def test_wrong_json_is_refused(text: str) -> None:
    with pytest.raises(msgspec.ValidationError):
        msgspec.json.decode(text, type=Score)
