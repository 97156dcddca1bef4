"""Replies of agents: what is read, cut or refused; and recorded outputs."""

import asyncio
import sys
from collections.abc import Iterator, Mapping
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest

from fourscore.agents.agent import attempt_case, load_agent
from fourscore.agents.replay import RecordedAgent
from fourscore.agents.reply import AgentError, read_reply
from fourscore.agents.trace_values import MAX_TEXT
from fourscore.core import Case, CaseError, Fault, Message, ToolCall, Trace, Usage

MB = 2**20


@pytest.mark.parametrize(
    "value", ["text", "", 7, 2.5, True, ["a", 1], {"answer": 42}, [], {}, [{"role": 5}]]
)
def test_json_value_is_the_output(value: Any) -> None:
    assert read_reply(value) == Trace(output=value)


def test_mapping_may_have_steps_usage_and_metadata() -> None:
    trace = read_reply(
        {
            "output": "42",
            "steps": [
                {"kind": "tool", "name": "add", "arguments": {"a": 1}, "result": 3, "seconds": 0.5},
                {"name": "fail", "error": "no", "further": "ignored"},
                {"role": "assistant", "content": "so"},
                ToolCall(name="mine"),
            ],
            "usage": {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15},
            "metadata": {"seed": 1},
            "model": "small",
            "client": SimpleNamespace(live=True),
        }
    )
    assert trace.output == "42"
    assert trace.steps == (
        ToolCall(name="add", arguments={"a": 1}, result=3, seconds=0.5),
        ToolCall(name="fail", error="no"),
        Message(role="assistant", content="so"),
        ToolCall(name="mine"),
    )
    assert trace.usage == Usage(input_tokens=10, output_tokens=5)
    assert trace.metadata["seed"] == 1
    assert trace.metadata["model"] == "small"
    assert "live=True" in trace.metadata["client"]


@pytest.mark.parametrize(
    ("step", "arguments", "result"),
    [
        ({"name": "t", "arguments": [1], "result": 2}, [1], 2),
        ({"name": "t", "args": {"q": "罗马"}, "output": 2}, {"q": "罗马"}, 2),
        ({"name": "t", "input": "x", "response": None}, "x", None),
        ({"name": "t", "params": 1, "arguments": 2}, 2, None),
        ({"name": "t", "id": "call_1", "timestamp": 3, "type": "function"}, None, None),
    ],
)
def test_synonyms_of_step_fields_are_read(step: Any, arguments: Any, result: Any) -> None:
    for reply in (
        {"output": "x", "steps": [step]},
        {"output": "x", "steps": [{"kind": "tool"} | step]},
    ):
        (call,) = read_reply(reply).tool_calls
        assert (call.arguments, call.result) == (arguments, result)
    (call,) = RecordedAgent().replay(Case(input="q", metadata={"trace": reply})).tool_calls
    assert (call.arguments, call.result) == (arguments, result)


def test_misspelt_field_of_a_step_is_refused() -> None:
    reply = {"output": "x", "steps": [{"name": "t"}, {"name": "t", "argumnets": {"q": 1}}]}
    expected = r"steps\[1\]\.argumnets: unknown key; did you mean arguments\?$"
    with pytest.raises(AgentError, match=expected):
        read_reply(reply)
    with pytest.raises(CaseError, match=rf": trace\.{expected}"):
        RecordedAgent().replay(Case(input="q", metadata={"trace": reply}))
    with pytest.raises(CaseError, match=r": trace\.outptu: unknown key; did you mean output\?$"):
        RecordedAgent().replay(Case(input="q", metadata={"trace": {"outptu": "x"}}))


CHAT = [
    {"role": "user", "content": "weather?"},
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {"id": "1", "function": {"name": "weather", "arguments": '{"city": "Bern"}'}}
        ],
    },
    {"role": "tool", "tool_call_id": "1", "content": "rain"},
    {"role": "assistant", "content": "It rains."},
]


@pytest.mark.parametrize("given", [CHAT, {"messages": CHAT}, {"messages": CHAT, "output": None}])
def test_openai_messages_are_read(given: Any) -> None:
    trace = read_reply(given)
    assert trace.output == "It rains."
    assert trace.tool_calls == (
        ToolCall(name="weather", arguments={"city": "Bern"}, result="rain"),
    )


def test_output_beside_messages_is_the_output() -> None:
    assert read_reply({"messages": CHAT, "output": "rain"}).output == "rain"


def test_trace_is_returned_unchanged() -> None:
    trace = Trace(output="x", steps=(ToolCall(name="t"),), fault=Fault("error", "mine"))
    assert read_reply(trace) is trace


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (None, "it returned nothing"),
        ({"output": None}, "it returned no output"),
        ({"output": None, "steps": []}, "it returned no output"),
        (b"bytes", "builtins.bytes cannot be read as an answer"),
        (float("nan"), "nan is not a finite number"),
        ((n for n in "ab"), "builtins.generator cannot be read"),
        ({1: 2}, "the key 1 is not text"),
        ({"output": object()}, "builtins.object cannot be read"),
        ({"output": "x", "steps": "no"}, "steps: expected a list, got str"),
        ({"output": "x", "steps": [{}]}, r"steps\[0\]: neither a tool call"),
        ({"output": "x", "steps": [{"name": 5}]}, r"steps\[0\].name: expected str, got int"),
        ({"output": "x", "steps": [{"kind": "x", "name": "y"}]}, r"steps\[0\]: neither"),
        ({"output": "x", "usage": {"tokens": 5}}, "usage: expected input_tokens"),
        ({"output": "x", "usage": {"input_tokens": -5}}, "outside"),
        ({"messages": "hello"}, "messages: expected a list, got str"),
        ({"messages": ["hello"]}, "messages that cannot be read"),
    ],
)
def test_unusable_reply_has_a_reason(value: Any, words: str) -> None:
    with pytest.raises(AgentError, match=words):
        read_reply(value)


def test_recursive_value_is_refused() -> None:
    endless: list[Any] = []
    endless.append(endless)
    with pytest.raises(AgentError, match="nested more than"):
        read_reply(endless)


def test_mapping_whose_methods_raise_is_a_fault() -> None:
    class Bites(Mapping[str, Any]):
        def __getitem__(self, key: str) -> Any:
            sys.exit(3)

        def __iter__(self) -> Iterator[str]:
            raise OSError("gone")

        def __len__(self) -> int:
            return 1

    async def agent(_: Any) -> Any:
        return Bites()

    trace = asyncio.run(attempt_case(load_agent(agent), Case(input="?")))
    assert trace.fault is not None
    assert trace.fault.kind == "error"


@pytest.mark.parametrize("how", ["plain", "async"])
def test_long_output_is_cut_with_a_note(how: str) -> None:
    def plain(_: Any) -> str:
        return "é" * (10 * MB)

    async def waits(_: Any) -> str:
        return plain(_)

    trace = asyncio.run(
        attempt_case(load_agent(plain if how == "plain" else waits), Case(input="?"))
    )
    assert trace.fault is None
    assert trace.output == "é" * MAX_TEXT
    assert trace.metadata["fourscore"]["notes"] == [
        f"the output is cut: {10 * MB} characters, {MAX_TEXT} kept"
    ]


def test_large_structure_becomes_its_first_text() -> None:
    trace = read_reply({"rows": ["x" * 1000] * 10_000})
    assert isinstance(trace.output, str)
    assert trace.output.startswith('{"rows":["xxx')
    assert len(trace.output) == MAX_TEXT
    assert "the output is cut" in trace.metadata["fourscore"]["notes"][0]


def test_steps_and_metadata_are_cut_too() -> None:
    steps = [{"name": "read", "result": "x" * (2 * MAX_TEXT)}] + [{"name": "y"}] * 20_000
    trace = read_reply({"output": "x", "steps": steps, "metadata": {"log": "z" * (20 * MB)}})
    assert len(msgspec.json.encode(trace)) < 20 * MB
    assert len(trace.steps) == 10_000
    assert trace.metadata["fourscore"]["notes"] == [
        f"result of 'read' is cut: {2 * MAX_TEXT} characters, {MAX_TEXT} kept",
        "10001 further steps were dropped",
        "the metadata was too long and is dropped",
    ]


def test_lone_surrogates_become_storable_text() -> None:
    trace = read_reply({"output": "half \ud83d", "steps": [{"name": "t", "result": "\udc00"}]})
    assert trace.output == "half \ufffd"
    msgspec.json.encode(trace)


def recorded(repeat: int = 0, **metadata: Any) -> Trace:
    case = Case(id="r1", input="?", metadata=metadata)
    return asyncio.run(attempt_case(load_agent("recorded"), case, repeat, 1.0))


def test_recorded_outputs_are_read_from_the_case() -> None:
    assert recorded(output="42", source="log") == Trace(output="42")
    with_more = recorded(output="42", steps=[{"name": "t"}], usage={"calls": 2})
    assert with_more == Trace(output="42", steps=(ToolCall(name="t"),), usage=Usage(calls=2))
    assert recorded(messages=CHAT).output == "It rains."
    assert [recorded(n, outputs=["a", {"output": "b"}, CHAT]).output for n in range(3)] == [
        "a",
        "b",
        "It rains.",
    ]
    expected = Trace(
        output="x", seconds=3.5, steps=(ToolCall(name="t"),), fault=Fault("timeout", "!")
    )
    assert recorded(trace=msgspec.to_builtins(expected)) == expected


def test_recorded_null_is_a_fault_of_the_agent() -> None:
    for trace in (recorded(output=None), recorded(outputs=[None])):
        assert trace.fault is not None
        assert trace.fault.message.startswith("it returned no")


@pytest.mark.parametrize(
    ("repeat", "metadata", "words"),
    [
        (0, {}, "task 'r1': output: the case has no recorded output"),
        (1, {"output": "x"}, "output: there is only one, none for repeat 1"),
        (1, {"trace": {"output": "x"}}, "trace: there is only one"),
        (2, {"outputs": ["a", "b"]}, "outputs: there are 2 recorded outputs, none for repeat 2"),
        (0, {"outputs": "a"}, "outputs: expected a list"),
        (0, {"trace": {"output": "x", "seconds": "long"}}, "trace.seconds: expected"),
        (0, {"trace": 5}, "trace: expected object, got int"),
        (0, {"ouput": "x"}, r"'r1': ouput: unknown key; did you mean output\?$"),
        (0, {"output": "x", "steps": [{"tool": "t"}]}, r"'r1': steps\[0\]: neither a tool call"),
        (0, {"output": "x", "usage": 5}, "'r1': usage: expected"),
        (
            0,
            {"outputs": [{"output": "x", "steps": 5}]},
            r"'r1': outputs\[0\].steps: expected a list",
        ),
        (0, {"messages": ["hello"]}, r"'r1': messages\[0\]: expected an object, got str$"),
    ],
)
def test_case_without_a_recorded_output_is_a_case_error(
    repeat: int, metadata: dict[str, Any], words: str
) -> None:
    with pytest.raises(CaseError, match=words):
        recorded(repeat, **metadata)


def test_recorded_agent_needs_the_case() -> None:
    with pytest.raises(CaseError, match="replay"):
        asyncio.run(load_agent("recorded").run("r1", "?"))
