"""One measurement by one judge."""

import pickle
from math import inf, nan
from typing import Any

import msgspec
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from fourscore.core import Canary, Evidence, Fault, Signal, Usage

steady = settings(deadline=None)
numbers = st.floats(allow_nan=False, allow_infinity=False)
units = st.floats(0, 1)
places = st.none() | st.integers(0, 2**63 - 1)
evidence = st.builds(
    Evidence, text=st.text(), field=st.text(), start=places, end=places, step=places
)
common: dict[str, Any] = {
    "name": st.text(min_size=1),
    "passed": st.none() | st.booleans(),
    "reason": st.text(),
    "evidence": st.lists(evidence, max_size=3).map(tuple),
    "step": places,
    "canary": st.none() | st.builds(Canary, kind=st.text(), passed=st.booleans()),
    "usage": st.none() | st.builds(Usage, calls=st.integers(0, 9), dollars=st.floats(0, 9)),
}
signals = st.builds(
    Signal,
    value=st.none() | units,
    reward=st.none() | numbers,
    relative=st.booleans(),
    **common,
) | st.builds(Signal, fault=st.builds(Fault, kind=st.just("timeout"), message=st.text()), **common)


@steady
@given(signals)
def test_a_signal_survives_json_and_pickle_without_loss(signal: Signal) -> None:
    encoded = msgspec.json.encode(signal)
    decoded = msgspec.json.decode(encoded, type=Signal)
    assert decoded == signal
    assert msgspec.json.encode(decoded) == encoded
    assert pickle.loads(pickle.dumps(signal)) == signal
    assert hash(decoded) == hash(signal)


@steady
@given(st.floats())
def test_a_value_is_in_the_unit_interval_or_refused(number: float) -> None:
    if 0 <= number <= 1:
        assert Signal(name="x", value=number).value == number
    else:
        with pytest.raises(ValueError, match=r"^value: "):
            Signal(name="x", value=number)


@steady
@given(numbers)
def test_a_reward_is_any_finite_number(number: float) -> None:
    assert Signal(name="x", reward=number).reward == number


@steady
@given(numbers)
def test_json_cannot_bypass_the_checks(number: float) -> None:
    assume(not 0 <= number <= 1)
    text = msgspec.json.encode({"name": "x", "value": number})
    with pytest.raises(msgspec.ValidationError, match="outside"):
        msgspec.json.decode(text, type=Signal)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"name": ""}, "name: expected a text that is not empty"),
        ({"name": 7}, "name: expected a text that is not empty"),
        ({"value": True}, "value: expected a number, got bool"),
        ({"value": "1"}, "value: expected a number, got str"),
        ({"value": 2}, r"value: 2 is outside \[0, 1\]"),
        ({"reward": nan}, "reward: nan is not a finite number"),
        ({"reward": -inf}, "reward: -inf is not a finite number"),
        ({"reward": False}, "reward: expected a number, got bool"),
        ({"passed": 1}, "passed: expected a bool, got int"),
        ({"canary": True}, "canary: expected a Canary"),
        ({"value": 0.0, "fault": Fault("error")}, "a signal with a fault has no value.*"),
        ({"reward": 0.0, "fault": Fault("error")}, "a signal with a fault has no value.*"),
    ],
)
def test_a_wrong_field_is_named(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=f"^{message}$"):
        Signal(**{"name": "x", **fields})


def test_whole_numbers_at_the_ends_are_values() -> None:
    assert (Signal(name="x", value=0).value, Signal(name="x", value=1).value) == (0, 1)


def test_lone_surrogates_in_a_reason_are_replaced() -> None:
    signal = Signal(name="x", value=1.0, reason="cut \ud83d here, “kept” there")
    assert signal.reason == "cut � here, “kept” there"


def test_lone_surrogates_in_a_level_are_replaced_and_other_things_refused() -> None:
    assert Signal(name="x", value=1.0, level="gut\ud83d").level == "gut\ufffd"
    assert Signal(name="x", value=1.0, level="优秀").level == "优秀"
    with pytest.raises(ValueError, match="level"):
        Signal(name="x", value=1.0, level=3)  # type: ignore[arg-type]


def test_a_canary_has_passed_or_not() -> None:
    assert Canary("off topic\ud800", True).kind == "off topic\ufffd"
    with pytest.raises(ValueError, match="passed: expected a bool, got int"):
        Canary("off topic", 1)  # type: ignore[arg-type]
