"""Any value of a trainer becomes JSON data or None, and never an exception."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fourscore.core import Case, Message, ToolCall
from fourscore.train.trainer_input import (
    read_completion,
    read_content,
    read_metadata,
    to_json_value,
)


class Pydantic:
    def model_dump(self) -> dict[str, Any]:
        return {"a": np.int32(1)}


@pytest.mark.parametrize(
    ("foreign", "data"),
    [
        (np.array([[1, 2], [3, 4]]), [[1, 2], [3, 4]]),
        (np.float32(0.5), 0.5),
        (np.bool_(True), True),
        (np.str_("x"), "x"),
        (np.array("x", dtype=object), "x"),
        (np.zeros(1_000_000), None),
        (float("nan"), None),
        (np.float64("inf"), None),
        pytest.param(10**5000, None, id="digits"),
        (object(), None),
        (Pydantic(), {"a": 1}),
        ({1: (2, {3})}, {"1": [2, None]}),
        (b"bytes", None),
    ],
)
def test_foreign_values_become_json_values(foreign: Any, data: Any) -> None:
    assert to_json_value(foreign) == data
    Case(input=to_json_value(foreign))


def test_endless_nesting_is_cut() -> None:
    deep: list[Any] = []
    deep.append(deep)
    Case(input=to_json_value(deep))


def test_metadata_that_is_no_mapping_is_empty() -> None:
    assert read_metadata(None) == read_metadata("x") == read_metadata([1]) == {}
    assert read_metadata({"a": np.int64(1)}) == {"a": 1}


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text() | st.integers(), inner),
        max_leaves=20,
    )
)
def test_any_value_fits_into_a_case(value: Any) -> None:
    Case(input=to_json_value(value), metadata=read_metadata({"value": value}))


CALL = {"id": "c1", "function": {"name": "add", "arguments": '{"a": 1}'}}
CONVERSATION: list[dict[str, Any]] = [
    {"role": "assistant", "content": None, "tool_calls": [CALL]},
    {"role": "tool", "tool_call_id": "c1", "content": [{"type": "text", "text": "2"}]},
    {"role": "assistant", "content": [{"type": "text", "text": "it is "}, "two"]},
]


@pytest.mark.parametrize("as_objects", [False, True])
def test_conversation_becomes_steps_and_the_last_answer(as_objects: bool) -> None:
    messages = [SimpleNamespace(**one) for one in CONVERSATION] if as_objects else CONVERSATION
    trace = read_completion(messages)
    assert trace.answer == "it is two"
    assert trace.steps == (
        Message(role="assistant", content=""),
        ToolCall(name="add", arguments={"a": 1}, result="2"),
        Message(role="assistant", content="it is two"),
    )


def test_conversation_that_ends_in_a_tool_call_has_no_answer() -> None:
    ends = [{"role": "assistant", "content": r"\boxed{2}"}, CONVERSATION[0], CONVERSATION[1]]
    assert read_completion(ends).answer == ""


def test_broken_json_arguments_are_kept_as_text() -> None:
    call = {"id": "c", "name": "add", "arguments": '{"a": '}
    trace = read_completion([{"role": "assistant", "content": "", "tool_calls": [call]}])
    assert trace.tool_calls == (ToolCall(name="add", arguments='{"a": '),)


@pytest.mark.parametrize("content", [None, 7, [None, {"type": "image"}, 3]])
def test_content_without_text_is_empty(content: Any) -> None:
    assert read_content(content) == ""


@pytest.mark.parametrize("completion", [None, 7, [], [None], [{}], [{"role": "assistant"}]])
def test_strange_completion_is_an_empty_answer_or_its_text(completion: Any) -> None:
    assert read_completion(completion).answer == ("7" if completion == 7 else "")
