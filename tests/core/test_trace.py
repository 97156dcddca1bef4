"""What an agent did about a case."""

import pickle
from math import inf, nan
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fourscore.core import Fault, Message, ToolCall, Trace, Usage

steady = settings(deadline=None)
numbers = st.floats(allow_nan=False, allow_infinity=False)
positive = st.floats(min_value=0, allow_infinity=False)
counts = st.integers(min_value=0, max_value=2**63 - 1)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | numbers | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=8,
)
usages = st.builds(Usage, calls=counts, input_tokens=counts, output_tokens=counts, dollars=positive)
steps = st.builds(Message, role=st.text(), content=json_values) | st.builds(
    ToolCall,
    name=st.text(),
    arguments=json_values,
    result=json_values,
    exit_code=st.none() | st.integers(-(2**63), 2**63 - 1),
    seconds=st.none() | positive,
    error=st.none() | st.text(),
)
faults = st.builds(
    Fault,
    kind=st.sampled_from(["error", "timeout", "refused", "cancelled", "data"]),
    message=st.text(),
)
traces = st.builds(
    Trace,
    output=json_values,
    steps=st.lists(steps, max_size=3).map(tuple),
    started=st.none() | numbers,
    seconds=st.none() | positive,
    usage=st.none() | usages,
    metadata=st.dictionaries(st.text(), json_values, max_size=3),
    fault=st.none() | faults,
)


@steady
@given(traces)
def test_a_trace_survives_json_and_pickle_without_loss(trace: Trace) -> None:
    encoded = msgspec.json.encode(trace)
    decoded = msgspec.json.decode(encoded, type=Trace)
    assert decoded == trace
    assert msgspec.json.encode(decoded) == encoded
    assert pickle.loads(pickle.dumps(trace)) == trace
    assert hash(decoded) == hash(trace)


@pytest.mark.parametrize(
    ("fields", "answer"),
    [
        ({"output": "the output"}, "the output"),
        ({"output": "the output", "metadata": {"final_answer": "mine"}}, "mine"),
        ({"output": "the output", "metadata": {"final_answer": ""}}, ""),
        ({"output": "the output", "metadata": {"final_answer": None}}, "the output"),
        ({"metadata": {"final_answer": 7.0}}, "7"),
        ({"output": 10**20}, "100000000000000000000"),
        ({"output": True}, "true"),
        ({"output": {"a": [1, None]}}, '{"a":[1,null]}'),
        ({}, ""),
    ],
)
def test_the_answer_is_the_final_answer_else_the_output(
    fields: dict[str, Any], answer: str
) -> None:
    assert Trace(**fields).answer == answer


def test_the_tool_calls_are_the_steps_that_are_one() -> None:
    first, second = ToolCall(name="search", arguments={"q": "x"}), ToolCall(name="read")
    trace = Trace(steps=(Message(role="user"), first, Message(role="assistant"), second))
    assert trace.tool_calls == (first, second)


def test_costs_add_up() -> None:
    one = Usage(calls=1, input_tokens=10, output_tokens=3, dollars=0.5)
    assert one + one == Usage(calls=2, input_tokens=20, output_tokens=6, dollars=1.0)
    assert one + Usage() == one


@pytest.mark.parametrize(
    ("kind", "fields", "message"),
    [
        (Usage, {"calls": -1}, r"calls: -1 is outside \[0, ∞\]"),
        (Usage, {"dollars": nan}, "dollars: nan is not a finite number"),
        (Usage, {"input_tokens": "3"}, "input_tokens: expected a whole number, got str"),
        (Message, {"role": "user", "content": nan}, "content: nan is not a finite number"),
        (ToolCall, {"name": "t", "arguments": {"a": inf}}, r"arguments\.a: inf is not a finite.*"),
        (ToolCall, {"name": "t", "result": object()}, "result: object is not a JSON value"),
        (ToolCall, {"name": "t", "seconds": -0.1}, r"seconds: -0.1 is outside \[0, ∞\]"),
        (Trace, {"output": [nan]}, r"output\[0\]: nan is not a finite number"),
        (Trace, {"metadata": {"a": nan}}, r"metadata\.a: nan is not a finite number"),
        (Trace, {"metadata": "text"}, "metadata: expected an object, got str"),
        (Trace, {"started": inf}, "started: inf is not a finite number"),
        (Trace, {"seconds": -1}, r"seconds: -1 is outside \[0, ∞\]"),
        (Trace, {"steps": ("said hello",)}, "steps: an item has the wrong type str"),
    ],
)
def test_a_wrong_field_is_named(kind: type, fields: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=f"^{message}$"):
        kind(**fields)


@pytest.mark.parametrize(
    "text",
    [
        '{"seconds": -1}',
        '{"steps": [{"kind": "dance"}]}',
        '{"fault": {"kind": "sulking"}}',
        '{"usage": {"calls": 1.5}}',
        '{"output": 1e999}',
    ],
)
def test_wrong_json_is_refused(text: str) -> None:
    with pytest.raises(msgspec.ValidationError):
        msgspec.json.decode(text, type=Trace)


def test_a_trace_cannot_be_edited() -> None:
    call = ToolCall(name="t", arguments={"a": 1}, result=[1])
    trace = Trace(output={"a": 1}, metadata={"a": 1}, steps=(call, Message(role="u", content=[1])))
    for part in (trace.output, trace.metadata, call.arguments):
        with pytest.raises(TypeError, match="frozen"):
            part["a"] = 2
    with pytest.raises(TypeError, match="frozen"):
        call.result.append(2)
    with pytest.raises(AttributeError):
        trace.output = "other"  # type: ignore[misc]
    assert trace.output == {"a": 1}


def test_adding_empty_usage_changes_nothing() -> None:
    used = Usage(calls=1, input_tokens=2, output_tokens=3, dollars=0.5)
    assert used + Usage() is used
    assert Usage() + used is used
    assert (used + used).dollars == 1.0
