"""Anthropic's own API against a real server."""

import asyncio
import pickle
from typing import Any

import pytest
from tests.models.fake_endpoint import (
    CannedReply,
    Endpoint,
    ReceivedRequest,
    make_error,
    serve_endpoint,
)

from fourscore.core import Usage
from fourscore.models.anthropic import Anthropic
from fourscore.models.json_modes import forget_endpoints
from fourscore.models.messages import ChatMessage, ModelError, Request, Response

SCHEMA = {
    "type": "object",
    "properties": {"score": {"type": "integer", "minimum": 0, "maximum": 10}},
    "required": ["score"],
    "additionalProperties": False,
}
TURNS = (
    ChatMessage("system", "be fair"),
    ChatMessage("user", "hello"),
    ChatMessage("system", "be brief"),
)


def message(*blocks: dict[str, Any], stop: str = "end_turn", **usage: int) -> CannedReply:
    usage = {"input_tokens": 11, "output_tokens": 7, **usage}
    body = {"content": list(blocks), "stop_reason": stop, "model": "claude-x-1", "usage": usage}
    return CannedReply(body=body)


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def used(value: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": "t", "name": "verdict", "input": value}


def asked(endpoint: Endpoint, request: Request, **settings: Any) -> Response:
    forget_endpoints()
    return asyncio.run(Anthropic("claude-x", base_url=endpoint.url, **settings).ask(request))


def test_sends_and_reads_plain_text() -> None:
    answer = message(text("hi "), text("there"), cache_read_input_tokens=5)
    with serve_endpoint([answer]) as endpoint:
        reply = asked(endpoint, Request(messages=TURNS, max_tokens=9))
    assert (reply.text, reply.finish, reply.model) == ("hi there", "end_turn", "claude-x-1")
    assert reply.usage == Usage(calls=1, input_tokens=16, output_tokens=7)
    sent = endpoint.requests[0]
    assert (sent.path, sent.headers["anthropic-version"]) == ("/v1/messages", "2023-06-01")
    assert sent.body == {
        "model": "claude-x",
        "system": "be fair\n\nbe brief",
        "messages": [{"role": "user", "content": "hello"}],
        "max_tokens": 9,
        "temperature": 0.0,
    }


def test_asks_for_a_verdict_by_a_forced_tool_call() -> None:
    with serve_endpoint(
        [message(text("Let me see."), used({"score": 7}), stop="tool_use")]
    ) as endpoint:
        reply = asked(endpoint, Request(messages=TURNS, schema=SCHEMA))
    assert reply.value == {"score": 7}
    body = endpoint.requests[0].body
    assert body["tool_choice"] == {"type": "tool", "name": "verdict"}
    assert body["tools"][0]["input_schema"] == SCHEMA
    assert body["max_tokens"] == 4096


def test_extra_keys_of_a_verdict_are_ignored_and_counted() -> None:
    with serve_endpoint([message(used({"score": 7, "why": "so"}))]) as endpoint:
        reply = asked(endpoint, Request(messages=TURNS, schema=SCHEMA))
    assert (reply.value, reply.extra_keys) == ({"score": 7}, 1)


@pytest.mark.parametrize(
    ("answer", "kind", "words"),
    [
        (message(stop="refusal"), "refused", "refused"),
        (message(used({"score": 70})), "malformed", "outside [0, 10]"),
        (message(used({"score": 7}), used({"score": 8})), "malformed", "2 tool calls"),
        (message(used({}), stop="max_tokens"), "malformed", "cut off"),
        (message(text("7")), "malformed", "not one JSON object"),
        (message(), "malformed", "empty"),
        (CannedReply(body={"content": "hi"}), "malformed", "has not the form of this API"),
        (make_error(400, "schema"), "bad_request", "schema"),
        (make_error(429, type="rate_limit_error"), "rate_limited", "429"),
        (make_error(529, "Overloaded"), "server", "Overloaded"),
    ],
)
def test_each_failure_has_its_error_kind(answer: CannedReply, kind: str, words: str) -> None:
    with serve_endpoint([answer]) as endpoint, pytest.raises(ModelError) as caught:
        asked(endpoint, Request(messages=TURNS, schema=SCHEMA))
    assert caught.value.kind == kind
    assert words in str(caught.value)
    assert caught.value.is_overload is (answer.status in (429, 529))


def test_duplicate_key_in_a_tool_call_is_malformed() -> None:
    raw = b'{"content": [{"type": "tool_use", "input": {"score": 1, "score": 9}}]}'
    with (
        serve_endpoint([CannedReply(body=raw)]) as endpoint,
        pytest.raises(ModelError, match="more than once"),
    ):
        asked(endpoint, Request(messages=TURNS, schema=SCHEMA))


def test_leaves_out_a_refused_temperature() -> None:
    def script(request: ReceivedRequest, number: int) -> CannedReply:
        if "temperature" in request.body:
            return make_error(400, "`temperature` is deprecated for this model")
        return message(used({"score": 7}))

    with serve_endpoint(script) as endpoint:
        reply = asked(endpoint, Request(messages=TURNS, schema=SCHEMA))
        assert (reply.value, reply.usage.calls) == ({"score": 7}, 2)


def test_pickles_as_its_settings() -> None:
    model = Anthropic("claude-x", timeout=3)
    again = pickle.loads(pickle.dumps(model))
    assert (again.settings, again.fingerprint) == (model.settings, model.fingerprint)
    assert "api.anthropic.com/v1/messages" in repr(model)
    other = Anthropic("claude-x", max_tokens=9)
    assert other.fingerprint != model.fingerprint
