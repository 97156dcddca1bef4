"""Spans of every convention become the same trace."""

import json
from typing import Any

import pytest

from fourscore.core import Fault, ToolCall, Usage
from fourscore.formats.otlp.span import Event, Span, deduplicate_spans
from fourscore.formats.otlp.trace import SpanTrace

QUESTION = "Where is my order?"
ANSWER = "It left on Tuesday."
TRACE = "0af7651916cd43dd8448eb211c80319c"


def span(
    number: int,
    parent: int | None,
    attributes: dict[str, Any],
    *,
    seconds: float = 1.0,
    error: str | None = None,
    events: tuple[Event, ...] = (),
    name: str = "",
) -> Span:
    above = "" if parent is None else f"{parent:016x}"
    start = 1_700_000_000.0 + number
    end = start + seconds
    return Span(
        trace=TRACE,
        id=f"{number:016x}",
        parent=above,
        name=name,
        start=start,
        end=end,
        attributes=attributes,
        error=error,
        events=events,
    )


def gen_ai() -> list[Span]:
    chat = {"gen_ai.operation.name": "chat", "gen_ai.request.model": "m"}
    user = {"role": "user", "parts": [{"type": "text", "content": QUESTION}]}
    call = {"type": "tool_call", "id": "c1", "name": "lookup", "arguments": {"order": 7}}
    result = {"type": "tool_call_response", "id": "c1", "response": {"state": "sent"}}
    asked = {"role": "assistant", "parts": [call]}
    parts = [{"type": "reasoning", "content": "hm"}, {"type": "text", "content": ANSWER}]
    return [
        span(1, None, {"gen_ai.operation.name": "invoke_agent"}, seconds=9),
        span(
            2,
            1,
            {
                **chat,
                "gen_ai.usage.input_tokens": 10,
                "gen_ai.usage.output_tokens": 2,
                "gen_ai.input.messages": json.dumps([user]),
                "gen_ai.output.messages": json.dumps([asked]),
            },
        ),
        span(
            3,
            1,
            {
                "gen_ai.operation.name": "execute_tool",
                "gen_ai.tool.name": "lookup",
                "gen_ai.tool.call.id": "c1",
                "gen_ai.tool.call.arguments": '{"order": 7}',
                "gen_ai.tool.call.result": '{"state": "sent"}',
            },
        ),
        span(
            4,
            1,
            {
                **chat,
                "gen_ai.usage.input_tokens": 20,
                "gen_ai.usage.output_tokens": 8,
                # Structured, as exporters of today may send it.
                "gen_ai.input.messages": [user, asked, {"role": "tool", "parts": [result]}],
                "gen_ai.output.messages": [{"role": "assistant", "parts": parts}],
            },
        ),
    ]


def open_inference() -> list[Span]:
    model = {"openinference.span.kind": "LLM", "llm.model_name": "m"}
    user = {
        "llm.input_messages.0.message.role": "user",
        "llm.input_messages.0.message.content": QUESTION,
    }
    call = "message.tool_calls.0.tool_call"
    asked = {f"{call}.id": "c1", f"{call}.function.name": "lookup"}
    asked[f"{call}.function.arguments"] = '{"order": 7}'
    return [
        span(
            1,
            None,
            {
                "openinference.span.kind": "AGENT",
                "input.value": QUESTION,
                "output.value": ANSWER,
            },
            seconds=9,
        ),
        span(
            2,
            1,
            {
                **model,
                **user,
                "llm.token_count.prompt": 10,
                "llm.token_count.completion": 2,
                "llm.output_messages.0.message.role": "assistant",
                **{f"llm.output_messages.0.{key}": value for key, value in asked.items()},
            },
        ),
        span(
            3,
            1,
            {
                "openinference.span.kind": "TOOL",
                "tool.name": "lookup",
                "tool.parameters": '{"order": {"type": "integer"}}',
                "input.value": '{"order": 7}',
                "output.value": '{"state": "sent"}',
            },
        ),
        span(
            4,
            1,
            {
                **model,
                **user,
                "llm.token_count.prompt": 20,
                "llm.token_count.completion": 8,
                "llm.input_messages.2.message.role": "tool",
                "llm.input_messages.2.message.tool_call_id": "c1",
                "llm.input_messages.2.message.content": '{"state": "sent"}',
                **{f"llm.input_messages.1.{key}": value for key, value in asked.items()},
                "llm.output_messages.0.message.role": "assistant",
                "llm.output_messages.0.message.contents.0.message_content.text": ANSWER,
            },
        ),
    ]


@pytest.mark.parametrize("spans", [gen_ai(), open_inference()], ids=["gen_ai", "openinference"])
def test_genai_and_openinference_give_the_same_trace(spans: list[Span]) -> None:
    read = SpanTrace(deduplicate_spans(spans))
    trace = read.trace({}, fault=True)
    assert read.question() == QUESTION
    assert trace.output == ANSWER
    assert trace.steps == (
        ToolCall(
            name="lookup",
            arguments={"order": 7},
            result={"state": "sent"},
            exit_code=0,
            seconds=1.0,
        ),
    )
    assert trace.usage == Usage(calls=2, input_tokens=30, output_tokens=10)
    assert (trace.started, trace.seconds, trace.fault) == (1_700_000_001.0, 9.0, None)


def test_tools_without_spans_are_read_from_the_messages() -> None:
    spans = [one for one in gen_ai() if one.id != f"{3:016x}"]
    (call,) = SpanTrace(spans).trace({}, fault=True).tool_calls
    assert (call.name, call.arguments, call.result) == ("lookup", {"order": 7}, {"state": "sent"})
    assert (call.exit_code, call.seconds) == (None, None)


def test_calls_of_earlier_questions_are_left_out() -> None:
    call = {"type": "tool_call", "id": "old", "name": "lookup", "arguments": {}}
    turns = [
        {"role": "user", "parts": [{"type": "text", "content": "First?"}]},
        {"role": "assistant", "parts": [call]},
        {"role": "assistant", "parts": [{"type": "text", "content": "One."}]},
        {"role": "user", "parts": [{"type": "text", "content": "Second?"}]},
    ]
    read = SpanTrace([span(1, None, {"gen_ai.input.messages": json.dumps(turns)})])
    assert read.question() == "Second?"
    assert read.trace({}, fault=True).steps == ()


def test_tool_span_takes_missing_values_from_messages() -> None:
    spans = gen_ai()
    bare = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "lookup"}
    spans[2] = span(3, 1, bare, error="Timeout: too slow")
    (call,) = SpanTrace(spans).trace({}, fault=True).tool_calls
    assert (call.arguments, call.result) == ({"order": 7}, {"state": "sent"})
    assert (call.error, call.exit_code, call.seconds) == ("Timeout: too slow", None, 1.0)


OLD: dict[str, tuple[dict[str, Any], tuple[Event, ...]]] = {
    "attributes": ({"gen_ai.prompt": QUESTION, "gen_ai.completion": ANSWER}, ()),
    "attributes as JSON": (
        {
            "gen_ai.prompt": json.dumps([{"role": "user", "content": QUESTION}]),
            "gen_ai.completion": json.dumps([{"role": "assistant", "content": ANSWER}]),
        },
        (),
    ),
    "numbered": (
        {
            "gen_ai.prompt.0.role": "system",
            "gen_ai.prompt.0.content": "Be kind.",
            "gen_ai.prompt.1.role": "user",
            "gen_ai.prompt.1.content": QUESTION,
            "gen_ai.completion.0.role": "assistant",
            "gen_ai.completion.0.content": ANSWER,
        },
        (),
    ),
    "content events": (
        {},
        (
            Event("gen_ai.content.prompt", {"gen_ai.prompt": QUESTION}),
            Event("gen_ai.content.completion", {"gen_ai.completion": ANSWER}),
        ),
    ),
    "message events": (
        {},
        (
            Event("gen_ai.system.message", {"content": "Be kind."}),
            Event("gen_ai.user.message", {"content": QUESTION}),
            Event("gen_ai.choice", {"index": 0, "message": json.dumps({"content": ANSWER})}),
        ),
    ),
    "details event": (
        {},
        (
            Event(
                "gen_ai.client.inference.operation.details",
                {
                    "gen_ai.input.messages": [
                        {"role": "user", "parts": [{"type": "text", "content": QUESTION}]}
                    ],
                    "gen_ai.output.messages": [
                        {"role": "assistant", "parts": [{"type": "text", "content": ANSWER}]}
                    ],
                },
            ),
        ),
    ),
    "langchain": (
        {
            "openinference.span.kind": "CHAIN",
            "input.value": json.dumps({"messages": [{"type": "human", "content": QUESTION}]}),
            "output.value": json.dumps(
                {
                    "messages": [
                        {"kwargs": {"type": "human", "content": QUESTION}},
                        {"kwargs": {"type": "ai", "content": ANSWER}},
                    ]
                }
            ),
        },
        (),
    ),
    "an object with one text": (
        {
            "openinference.span.kind": "CHAIN",
            "input.value": json.dumps({"topic": QUESTION}),
            "output.value": json.dumps({"answer": ANSWER, "sources": ["a"]}),
        },
        (),
    ),
}


@pytest.mark.parametrize("name", OLD)
def test_reads_all_spellings_of_messages(name: str) -> None:
    attributes, events = OLD[name]
    chat = {"gen_ai.operation.name": "chat"} if "openinference.span.kind" not in attributes else {}
    read = SpanTrace([span(1, None, {**chat, **attributes}, events=events)])
    assert (read.question(), read.output()) == (QUESTION, ANSWER)


def test_reads_system_instructions_from_attribute_or_first_message() -> None:
    parts = [{"type": "text", "content": "Be "}, {"type": "text", "content": "kind."}]
    apart = span(1, None, {"gen_ai.system_instructions": json.dumps(parts)})
    first = span(1, None, OLD["numbered"][0])
    assert SpanTrace([apart]).instructions() == SpanTrace([first]).instructions() == "Be kind."


def test_json_answer_stays_text() -> None:
    attributes = {"openinference.span.kind": "AGENT", "input.value": "Count.", "output.value": "42"}
    assert SpanTrace([span(1, None, attributes)]).output() == "42"
    own = '{"cities": ["Oslo"], "n": 1}'
    assert SpanTrace([span(1, None, {**attributes, "output.value": own})]).output() == own


def test_output_is_of_the_last_outermost_span() -> None:
    def output_of(words: str) -> dict[str, str]:
        return {"gen_ai.operation.name": "chat", "gen_ai.completion": words}

    spans = [
        span(1, None, {}, seconds=20),
        span(2, 1, output_of("draft")),
        span(3, 1, output_of("final")),
    ]
    spans.append(span(4, 3, output_of("inner"), seconds=9))
    assert SpanTrace(spans).output() == "final"
    spans.append(span(5, 1, {"openinference.span.kind": "EVALUATOR", "output.value": "good"}))
    assert SpanTrace(spans).output() == "final"


def test_agent_usage_counts_only_without_model_usage() -> None:
    total = {"gen_ai.operation.name": "invoke_agent", "gen_ai.usage.input_tokens": 30}
    spans = gen_ai()
    spans[0] = span(1, None, total, seconds=9)
    assert SpanTrace(spans).usage() == Usage(calls=2, input_tokens=30, output_tokens=10)
    assert SpanTrace(spans[:1]).usage() == Usage(calls=1, input_tokens=30)
    assert SpanTrace([span(1, None, {"gen_ai.usage.input_tokens": "many"})]).usage() is None


def test_retrieved_documents_are_the_result_of_a_call() -> None:
    attributes = {
        "openinference.span.kind": "RETRIEVER",
        "input.value": "orders",
        "retrieval.documents.1.document.content": "two",
        "retrieval.documents.0.document.content": "one",
        "retrieval.documents.0.document.score": 0.5,
    }
    (call,) = SpanTrace([span(1, None, attributes, name="shelf")]).trace({}, fault=True).tool_calls
    assert (call.name, call.arguments, call.result) == ("shelf", "orders", ["one", "two"])


def test_a_failed_root_is_the_agents_failure() -> None:
    attributes = {"gen_ai.prompt": QUESTION}
    failed = SpanTrace([span(1, None, attributes, error="ValueError: no")])
    assert failed.trace({}, fault=True).fault == Fault("error", "ValueError: no")
    assert failed.trace({}, fault=False).fault is None
    late = SpanTrace([span(1, None, attributes, error="DEADLINE_EXCEEDED: 30 s")])
    assert late.trace({}, fault=True).fault == Fault("timeout", "DEADLINE_EXCEEDED: 30 s")
    inner = SpanTrace([span(1, None, attributes), span(2, 1, {}, error="ValueError: no")])
    assert inner.trace({}, fault=True).fault is None


def test_cyclic_parents_terminate() -> None:
    spans = [span(1, 2, {"gen_ai.prompt": QUESTION}), span(2, 1, {}), span(3, 3, {})]
    assert SpanTrace(spans).question() == QUESTION
    assert SpanTrace([]).trace({}, fault=True).output is None


DEEP: Any = "x"
for _ in range(150):
    DEEP = [DEEP]


@pytest.mark.parametrize(
    "attributes",
    [
        {"gen_ai.input.messages": "[" * 5000},
        {"gen_ai.input.messages": [1, None, {"role": 5, "parts": [3, {"type": []}]}]},
        {"gen_ai.output.messages": {"role": "assistant", "parts": "text"}},
        {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": {"a": 1}},
        {"gen_ai.tool.name": "t", "gen_ai.tool.call.result": DEEP},
        {"llm.input_messages.99999999.message.role": "user", "llm.input_messages.x": 1},
        {"openinference.span.kind": ["LLM"], "input.value": 5},
        {"gen_ai.usage.input_tokens": -5, "gen_ai.usage.output_tokens": 2**70},
        {"gen_ai.output.messages": "[]", "output.value": "null"},
    ],
)
def test_hostile_attributes_are_read_or_left_out(attributes: dict[str, Any]) -> None:
    read = SpanTrace([span(1, None, attributes)])
    trace = read.trace({}, fault=True)
    assert trace.usage is None
    assert isinstance(read.question(), str)
