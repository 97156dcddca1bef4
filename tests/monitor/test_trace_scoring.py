"""Spans in any order, with any copies, over any requests give the same interaction."""

import json
import random
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fourscore.core import Case, Usage
from fourscore.formats.otlp.span import Span
from fourscore.monitor.otel.receiver import make_span_rows
from fourscore.monitor.otel.trace_scoring import (
    Interaction,
    SkipReason,
    TraceAssembler,
    build_interaction,
)
from fourscore.stores.monitor import MonitorStore
from fourscore.stores.received_spans import SpanRow

TRACE = "0af7651916cd43dd8448eb211c80319c"
NOW = 1_800_000_000.0


def span(number: int, parent: int | None, attributes: dict[str, Any], **more: Any) -> Span:
    above = "" if parent is None else f"{parent:016x}"
    start = more.pop("start", 1_700_000_000.0 + number)
    return Span(
        trace=TRACE,
        id=f"{number:016x}",
        parent=above,
        name="s",
        start=start,
        end=start + 0.5,
        attributes=attributes,
        **more,
    )


def conversation() -> list[Span]:
    user = {"role": "user", "parts": [{"type": "text", "content": "Where is it?"}]}
    answer = {"role": "assistant", "parts": [{"type": "text", "content": "In the shed."}]}
    chat = {"gen_ai.operation.name": "chat", "gen_ai.usage.input_tokens": 4}
    tool = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "find"}
    return [
        span(1, None, {"gen_ai.operation.name": "invoke_agent", "fourscore.tags": "garden, tools"}),
        span(2, 1, {**chat, "gen_ai.input.messages": json.dumps([user])}),
        span(3, 1, {**tool, "gen_ai.tool.call.arguments": '{"n": 1}'}),
        span(4, 1, {**tool, "error.type": "timeout"}, error="timeout", start=1_700_000_003.0),
        span(5, 3, {"http.route": "/find"}),
        span(6, 1, {**chat, "gen_ai.output.messages": json.dumps([answer])}),
    ]


def expected_interaction() -> Interaction:
    made = build_interaction(TRACE, conversation(), NOW)
    assert isinstance(made, Interaction)
    return made


def test_interaction_has_the_input_and_output_of_the_root() -> None:
    made = expected_interaction()
    assert (made.id, made.at) == (TRACE, 1_700_000_006.5)
    assert made.case == Case(input="Where is it?", tags=("garden", "tools"))
    assert made.trace.output == "In the shed."
    assert [(call.name, call.error) for call in made.trace.tool_calls] == [
        ("find", None),
        ("find", "timeout"),
    ]
    assert made.trace.usage == Usage(calls=2, input_tokens=8)
    assert made.trace.metadata["trace_id"] == TRACE


@st.composite
def arrivals(draw: st.DrawFn) -> list[list[Span]]:
    """Requests that bring every span at least once, in any order."""
    spans = conversation()
    copies = draw(st.lists(st.sampled_from(spans), max_size=6))
    order = draw(st.permutations([*spans, *copies]))
    cuts = draw(st.lists(st.integers(0, len(order)), max_size=4))
    places = [0, *sorted(cuts), len(order)]
    return [list(order[a:b]) for a, b in pairwise(places)]


@given(arrivals())
def test_order_of_arrival_does_not_change_the_interaction(requests: list[list[Span]]) -> None:
    expected = expected_interaction()
    assert build_interaction(TRACE, [one for part in requests for one in part], NOW) == expected
    kept: list[Interaction] = []

    def keep(interactions: Any) -> dict[str, int]:
        kept.extend(interactions)
        return {"scored": len(interactions)}

    with MonitorStore(None) as store:
        assembler = TraceAssembler(store.spans, "m", keep, quiet=5.0)
        for number, request in enumerate(requests):
            assert assembler.score_ready(NOW + number) == 0  # not complete yet
            store.spans.receive([make_span_rows(request, NOW + number).rows], monitor="m")
        end = NOW + len(requests)
        assert assembler.score_ready(end + 5) == 1
        assert assembler.score_ready(end + 9999) == 0
        # Spans that arrive after scoring are late, and the trace is not scored again.
        late = make_span_rows(requests[-1] or conversation(), end + 6).rows
        store.spans.receive([late], monitor="m")
        assert assembler.score_ready(end + 99_999) == 0
        counts = store.counts("m")
    assert kept == [expected]
    assert counts["traces_scored"] == 1
    assert counts["spans_new"] == 6
    assert counts["spans_late"] == len(late)
    assert counts.get("spans_twice", 0) == sum(map(len, requests)) - 6


def test_spans_with_the_same_start_have_one_order() -> None:
    spans = [span(1, None, {"gen_ai.prompt": "Where?"}, start=5.0)]
    spans += [span(n, 1, {"gen_ai.tool.name": f"t{n}"}, start=5.0) for n in range(2, 12)]
    first = build_interaction(TRACE, [*spans, span(20, 1, {"gen_ai.completion": "Here."})], NOW)
    for seed in range(5):
        mixed = [*spans, span(20, 1, {"gen_ai.completion": "Here."})]
        random.Random(seed).shuffle(mixed)
        assert build_interaction(TRACE, mixed, NOW) == first


def test_trace_without_content_is_not_a_failure() -> None:
    assert (
        build_interaction(TRACE, [span(1, None, {"http.route": "/"})], NOW) is SkipReason.NO_AGENT
    )
    chat = {"gen_ai.operation.name": "chat", "gen_ai.usage.input_tokens": 9}
    assert build_interaction(TRACE, [span(1, None, chat)], NOW) is SkipReason.NO_CONTENT
    asked = {**chat, "gen_ai.prompt": "Where?"}
    assert build_interaction(TRACE, [span(1, None, asked)], NOW) is SkipReason.NO_CONTENT
    failed = build_interaction(TRACE, [span(1, None, asked, error="boom")], NOW)
    assert isinstance(failed, Interaction)
    assert failed.trace.fault is not None


@pytest.mark.parametrize(
    ("given", "tags"),
    [
        (["b", " a ", 5, ""], ("a", "b")),
        ("x" * 200, ("x" * 80,)),
        (5, ()),
        (",".join(f"t{n:02}" for n in range(40)), tuple(f"t{n:02}" for n in range(16))),
    ],
)
def test_tags_are_cut_in_number_and_length(given: Any, tags: tuple[str, ...]) -> None:
    attributes = {"gen_ai.prompt": "a", "gen_ai.completion": "b", "fourscore.tags": given}
    made = build_interaction(TRACE, [span(1, None, attributes)], NOW)
    assert isinstance(made, Interaction)
    assert made.case.tags == tags


@pytest.mark.parametrize("start", [NOW * 2, 5.0])
def test_impossible_end_time_is_replaced_by_now(start: float) -> None:
    attributes = {"gen_ai.prompt": "a", "gen_ai.completion": "b"}
    made = build_interaction(TRACE, [span(1, None, attributes, start=start)], NOW)
    assert isinstance(made, Interaction)
    assert made.at == NOW


def test_unreadable_trace_does_not_stop_the_others(caplog: Any) -> None:
    kept: list[Interaction] = []

    def keep(interactions: Any) -> dict[str, int]:
        kept.extend(interactions)
        return {"scored": len(interactions)}

    with MonitorStore(None) as store:
        store.spans.receive([make_span_rows(conversation(), NOW).rows])
        store.spans.receive([[SpanRow("bad", "a", NOW, b"no JSON")]])
        assembler = TraceAssembler(store.spans, "m", keep, quiet=5.0)
        assert assembler.score_ready(NOW + 6) == 2
        assert store.counts("m") == {"traces_scored": 2}
        assert store.spans.count_waiting() == 0
    good, bad = kept
    assert good == expected_interaction()
    assert (bad.id, bad.problem[:24]) == ("bad", "the trace cannot be read")
    assert "bad cannot be read" in caplog.text
    assert "Traceback" not in caplog.text


def test_trace_is_tried_again_where_samples_cannot_be_saved() -> None:
    def refuse(interactions: Any) -> dict[str, int]:
        raise OSError("the disk is full")

    with MonitorStore(None) as store:
        store.spans.receive([make_span_rows(conversation(), NOW).rows])
        with pytest.raises(OSError, match="full"):
            TraceAssembler(store.spans, "m", refuse, quiet=5.0).score_ready(NOW + 6)
        assert store.spans.count_waiting() == 1
        assert len(store.spans.read(TRACE)) == 6
