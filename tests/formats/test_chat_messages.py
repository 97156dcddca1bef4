"""OpenAI's chat messages as a trace."""

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fourscore.core import DataError, Message, ToolCall, Trace
from fourscore.formats.chat_messages import read_messages


def call(name: str, arguments: Any, key: str | None = None) -> dict[str, Any]:
    made: dict[str, Any] = {"type": "function", "function": {"name": name, "arguments": arguments}}
    return made if key is None else {"id": key, **made}


def test_result_is_joined_to_its_call() -> None:
    trace = read_messages(
        [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "Weather in Paris and Rome?"},
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [
                    call("weather", '{"city": "Paris"}', "a"),
                    call("weather", '{"city": "Rome"}', "b"),
                ],
            },
            {"role": "tool", "tool_call_id": "b", "content": "sun"},
            {"role": "tool", "tool_call_id": "a", "content": [{"type": "text", "text": "rain"}]},
            {"role": "assistant", "content": "Rain and sun."},
        ]
    )
    assert trace == Trace(
        output="Rain and sun.",
        steps=(
            Message(role="system", content="Be brief."),
            Message(role="user", content="Weather in Paris and Rome?"),
            ToolCall(name="weather", arguments={"city": "Paris"}, result="rain"),
            ToolCall(name="weather", arguments={"city": "Rome"}, result="sun"),
            Message(role="assistant", content="Rain and sun."),
        ),
    )


def test_an_id_used_again_is_answered_in_order() -> None:
    turn = {"role": "assistant", "content": "", "tool_calls": [call("f", "{}", "a")]}
    trace = read_messages(
        [
            turn,
            {"role": "tool", "tool_call_id": "a", "content": "1"},
            turn,
            {"role": "tool", "tool_call_id": "a", "content": "2"},
        ]
    )
    assert [step.result for step in trace.tool_calls] == ["1", "2"]
    assert trace.steps == trace.tool_calls


def test_the_old_form_of_calls_is_read() -> None:
    trace = read_messages(
        [
            {"role": "assistant", "function_call": {"name": "f", "arguments": '{"x": 1}'}},
            {"role": "function", "name": "f", "content": "done"},
        ]
    )
    assert trace.steps == (ToolCall(name="f", arguments={"x": 1}, result="done"),)


def test_matches_calls_without_ids_to_results_by_name() -> None:
    flat = {"name": "g", "arguments": {"y": 2}}
    trace = read_messages(
        [
            {"role": "assistant", "content": "so", "tool_calls": [call("f", None), flat]},
            {"role": "tool", "name": "g", "content": "of g"},
            {"role": "tool", "name": "f", "content": "of f"},
        ]
    )
    assert trace.steps == (
        Message(role="assistant", content="so"),
        ToolCall(name="f", result="of f"),
        ToolCall(name="g", arguments={"y": 2}, result="of g"),
    )


def test_custom_tool_has_text_arguments() -> None:
    made = {"id": "a", "type": "custom", "custom": {"name": "sh", "input": "ls -l"}}
    (step,) = read_messages([{"role": "assistant", "tool_calls": [made]}]).steps
    assert step == ToolCall(name="sh", arguments="ls -l")


def test_result_without_a_call_is_kept_as_a_message() -> None:
    trace = read_messages([{"role": "tool", "tool_call_id": "x", "content": "?"}])
    assert trace.steps == (Message(role="tool", content="?"),)


@pytest.mark.parametrize(
    ("arguments", "kept"),
    [
        ('{"a": ', '{"a": '),
        ('{"a": NaN}', '{"a": NaN}'),
        ("plain words", "plain words"),
        ("", None),
        (None, None),
        ("[" * 5000, "[" * 5000),
        ("[" * 150 + "]" * 150, "[" * 150 + "]" * 150),
        ('"\\ud800"', '"\\ud800"'),
        ("\ud800", "\ufffd"),
        ({"a": 1}, {"a": 1}),
    ],
)
def test_arguments_that_are_no_json_stay_text(arguments: Any, kept: Any) -> None:
    turn = {"role": "assistant", "tool_calls": [call("f", arguments, "a")]}
    assert read_messages([turn]).tool_calls[0].arguments == kept


IMAGE = {"type": "image_url", "image_url": {"url": "data:…"}}


@pytest.mark.parametrize(
    ("message", "content", "output"),
    [
        ({"content": "yes"}, "yes", "yes"),
        ({"content": ""}, "", None),
        ({"content": None}, None, None),
        ({}, None, None),
        ({"content": None, "refusal": "I cannot."}, "I cannot.", "I cannot."),
        ({"content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}, "ab", "ab"),
        ({"content": [{"type": "output_text", "text": "a"}]}, "a", "a"),
        ({"content": [{"type": "refusal", "refusal": "no"}]}, "no", "no"),
        ({"content": ["a", "b"]}, "ab", "ab"),
        (
            {"content": [{"type": "text", "text": "see"}, IMAGE]},
            [{"type": "text", "text": "see"}, IMAGE],
            "see",
        ),
        ({"content": [IMAGE]}, [IMAGE], None),
        ({"content": []}, [], None),
        ({"content": [{"type": "text", "text": 3}]}, [{"type": "text", "text": 3}], None),
        ({"content": {"answer": 4}}, {"answer": 4}, {"answer": 4}),
    ],
)
def test_content_of_text_parts_becomes_text(
    message: dict[str, Any], content: Any, output: Any
) -> None:
    trace = read_messages([{"role": "assistant", **message}])
    assert trace.steps == (Message(role="assistant", content=content),)
    assert trace.output == output


def test_trace_that_ends_with_a_call_has_no_output() -> None:
    trace = read_messages(
        [
            {"role": "assistant", "content": "Let me look."},
            {"role": "assistant", "tool_calls": [call("look", "{}", "a")]},
            {"role": "tool", "tool_call_id": "a", "content": "x"},
            {"role": "user", "content": "Well?"},
        ]
    )
    assert trace.output is None
    assert trace.answer == ""


def test_reads_message_objects_of_clients() -> None:
    class Answer:
        def model_dump(self) -> dict[str, Any]:
            return {"role": "assistant", "content": "hi", "tool_calls": None}

    assert read_messages([Answer()]).output == "hi"


def test_no_messages_are_an_empty_trace() -> None:
    assert read_messages([]) == Trace()


DEEP: Any = 1
for _ in range(150):
    DEEP = [DEEP]


@pytest.mark.parametrize(
    ("messages", "field"),
    [
        (None, "messages"),
        ("hello", "messages"),
        ({"role": "user"}, "messages"),
        ([{"role": "user"}, "x"], "messages[1]"),
        ([{"content": "x"}], "messages[0].role"),
        ([{"role": 3}], "messages[0].role"),
        ([{"role": ""}], "messages[0].role"),
        ([{"role": "user", "content": float("nan")}], "messages[0].content"),
        ([{"role": "user", "content": DEEP}], "messages[0].content"),
        ([{"role": "user", "content": object()}], "messages[0].content"),
        ([{"role": "assistant", "tool_calls": {}}], "messages[0].tool_calls"),
        ([{"role": "assistant", "tool_calls": [1]}], "messages[0].tool_calls[0]"),
        ([{"role": "assistant", "tool_calls": [{}]}], "messages[0].tool_calls[0].name"),
        (
            [{"role": "assistant", "tool_calls": [call("f", "{}"), call("", "{}")]}],
            "messages[0].tool_calls[1].function.name",
        ),
        (
            [{"role": "assistant", "tool_calls": [call("f", DEEP)]}],
            "messages[0].tool_calls[0].function.arguments",
        ),
        ([{"role": "assistant", "function_call": {}}], "messages[0].function_call.name"),
    ],
)
def test_invalid_message_is_refused_with_its_path(messages: Any, field: str) -> None:
    with pytest.raises(DataError) as caught:
        read_messages(messages)
    assert caught.value.field == field


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda v: st.lists(v, max_size=3) | st.dictionaries(st.text(max_size=5), v, max_size=3),
    max_leaves=5,
)
keys = ("role", "content", "tool_calls", "tool_call_id", "name", "function_call", "refusal")
calls = st.lists(
    st.fixed_dictionaries(
        {"function": st.fixed_dictionaries({"name": st.sampled_from("fg"), "arguments": anything})},
        optional={"id": st.sampled_from("ab") | anything},
    ),
    max_size=2,
)
odd = st.dictionaries(st.sampled_from(keys), anything | calls)
usual = st.fixed_dictionaries(
    {"role": st.sampled_from(["user", "assistant", "tool"]), "content": anything},
    optional={"tool_calls": calls, "tool_call_id": st.sampled_from("ab")},
)


@given(messages=st.lists(usual | odd, max_size=6))
def test_any_value_is_a_trace_or_a_data_error(messages: list[Any]) -> None:
    place: str | None = "messages"
    try:
        trace = read_messages(messages)
    except DataError as error:
        place = error.field
    else:
        assert msgspec.json.decode(msgspec.json.encode(trace), type=Trace) == trace
    assert place is not None
    assert place.startswith("messages")
