"""What was asked."""

import pickle
from math import inf, nan
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fourscore.core import Case, digest
from fourscore.core.case import Turn

steady = settings(deadline=None)
scalars = (
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
)
json_values = st.recursive(
    scalars | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)
cases = st.builds(
    Case,
    id=st.text(),
    input=json_values,
    expected=json_values,
    metadata=st.dictionaries(st.text(), json_values, max_size=4),
    tags=st.lists(st.text(), max_size=3).map(tuple),
    complexity=st.none() | st.text(),
    task_type=st.none() | st.text(),
)


@steady
@given(cases)
def test_a_case_survives_json_and_pickle_without_loss(case: Case) -> None:
    encoded = msgspec.json.encode(case)
    decoded = msgspec.json.decode(encoded, type=Case)
    assert decoded == case
    assert msgspec.json.encode(decoded) == encoded  # 1 is not 1.0, nor True
    assert pickle.loads(pickle.dumps(case)) == case
    assert hash(decoded) == hash(case)


@steady
@given(json_values, json_values)
def test_case_without_id_gets_digest_of_its_input(asked: Any, expected: Any) -> None:
    case = Case(input=asked)
    assert case.id == digest(asked, size=8)
    assert Case(input=asked, expected=expected, tags=("a",)).id == case.id
    assert Case(input=[asked]).id != case.id
    assert Case(input=asked, id="mine").id == "mine"


def test_the_id_does_not_depend_on_key_order() -> None:
    assert Case(input={"a": 1, "b": 2}).id == Case(input={"b": 2, "a": 1}).id


def test_case_is_not_changed_by_later_edits_of_its_source() -> None:
    metadata = {"answer": ["4"]}
    case = Case(input="2+2", metadata=metadata)
    metadata["answer"].append("5")
    metadata["other"] = []
    assert case.metadata == {"answer": ["4"]}


@pytest.mark.parametrize("field", ["input", "expected", "metadata"])
def test_a_case_cannot_be_edited(field: str) -> None:
    case = Case(input={"a": 1}, expected={"a": 1}, metadata={"a": 1})
    with pytest.raises(TypeError, match="frozen"):
        getattr(case, field)["a"] = 2
    with pytest.raises(AttributeError):
        setattr(case, field, {})
    assert getattr(case, field) == {"a": 1}


@pytest.mark.parametrize("number", [nan, inf, -inf])
@pytest.mark.parametrize("field", ["input", "expected", "metadata"])
def test_numbers_that_are_not_finite_are_refused(field: str, number: float) -> None:
    fields: dict[str, Any] = {"input": "q", field: {"deep": [number]}}
    with pytest.raises(ValueError, match=rf"^{field}\.deep\[0\]: {number} is not a finite number$"):
        Case(**fields)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"metadata": []}, "metadata: expected an object, got list"),
        ({"metadata": None}, "metadata: expected an object, got NoneType"),
        ({"input": object()}, "input: object is not a JSON value"),
        ({"expected": b"4"}, "expected: bytes is not a JSON value"),
        ({"tags": ("a", 1)}, "tags: an item has the wrong type int"),
        ({"tags": "ab"}, "tags: expected a list, got str"),
        ({"id": 7}, "id: expected text, got int"),
    ],
)
def test_a_wrong_field_is_named(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=f"^{message}$"):
        Case(**fields)


@pytest.mark.parametrize(
    "text",
    [
        '{"input": 1e999}',
        '{"input": NaN}',
        '{"id": 1}',
        '{"tags": "a"}',
        '{"metadata": []}',
        '{"input": ' + "[" * 101 + "]" * 101 + "}",
    ],
)
def test_wrong_json_is_refused(text: str) -> None:
    with pytest.raises(msgspec.DecodeError):  # ValidationError is one
        msgspec.json.decode(text, type=Case)


def test_replaces_lone_surrogates() -> None:
    case = Case(input="a\ud800", expected="\udfff", metadata={"\ud800": "\ud800"})
    assert (case.input, case.expected, case.metadata) == ("a�", "�", {"�": "�"})


def test_checks_and_turns_are_frozen_with_the_case() -> None:
    checks: Any = [{"contains": ["a"]}]
    case = Case(input="?", checks=checks, turns=(Turn(input="b", checks=checks),))
    assert case.checks == case.turns[0].checks == ({"contains": ["a"]},)
    with pytest.raises(TypeError):
        case.checks[0]["contains"] = ["b"]
    assert msgspec.json.decode(msgspec.json.encode(case), type=Case) == case


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"checks": "x"}, "checks: expected a list"),
        ({"checks": ["x"]}, r"checks\[0\]: expected an object"),
        ({"turns": ["x"]}, "turns"),
        ({"group": 7}, "group"),
    ],
)
def test_wrong_checks_turns_and_groups_are_refused(fields: dict[str, Any], message: str) -> None:
    with pytest.raises((ValueError, TypeError), match=message):
        Case(input="?", **fields)
