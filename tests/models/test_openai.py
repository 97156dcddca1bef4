"""The client against a real server: how it asks, what it reads, and each way to fail."""

import asyncio
import json
import multiprocessing
import pickle
import time
from collections.abc import Iterator
from email.utils import formatdate
from typing import Any

import pytest
from tests.models.fake_endpoint import (
    CannedReply,
    Endpoint,
    ReceivedRequest,
    make_completion,
    make_error,
    make_tool_call,
    serve_endpoint,
)

from fourscore.core import ConfigError, Usage
from fourscore.models.json_modes import forget_endpoints
from fourscore.models.messages import ChatMessage, ModelError, Request, Response
from fourscore.models.model_spec import make_model
from fourscore.models.openai import OpenAI
from fourscore.models.usage_meter import MeteredModel
from fourscore.models.wrapper import find_layer

SCHEMA = {
    "type": "object",
    "properties": {"score": {"type": "integer", "minimum": 0, "maximum": 10}},
    "required": ["score"],
    "additionalProperties": False,
}
PLAIN = Request(messages=(ChatMessage("system", "be fair"), ChatMessage("user", "hello")))
SCORED = Request(messages=PLAIN.messages, schema=SCHEMA)


@pytest.fixture(autouse=True)
def _unknown_endpoints() -> Iterator[None]:
    forget_endpoints()
    yield
    forget_endpoints()


def asked(endpoint: Endpoint, request: Request = PLAIN, **settings: Any) -> Response:
    return asyncio.run(OpenAI("small", base_url=endpoint.url, **settings).ask(request))


def failed(endpoint: Endpoint, request: Request = PLAIN, **settings: Any) -> ModelError:
    with pytest.raises(ModelError) as caught:
        asked(endpoint, request, **settings)
    return caught.value


def test_sends_and_reads_plain_text() -> None:
    with serve_endpoint([make_completion("hi")]) as endpoint:
        reply = asked(endpoint, extra={"top_p": 0.5})
    assert (reply.text, reply.value, reply.finish) == ("hi", None, "stop")
    assert reply.usage == Usage(calls=1, input_tokens=11, output_tokens=7)
    assert reply.model == "small-2025-01-01"
    sent = endpoint.requests[0]
    assert sent.path == "/v1/chat/completions"
    assert sent.body == {
        "model": "small",
        "messages": [
            {"role": "system", "content": "be fair"},
            {"role": "user", "content": "hello"},
        ],
        "temperature": 0.0,
        "top_p": 0.5,
    }
    assert "authorization" not in sent.headers  # loopback


def test_sends_every_field_of_a_request() -> None:
    request = Request(
        messages=PLAIN.messages, temperature=1, max_tokens=5, logprobs=2, seed=3, salt="not sent"
    )
    likely = {
        "token": "h",
        "logprob": -0.5,
        "top_logprobs": [{"token": "h", "logprob": -0.5}, {"token": "H", "logprob": -1.5}],
    }
    answer = make_completion("h")
    answer.body["choices"][0]["logprobs"] = {"content": [likely, {"token": "x", "logprob": None}]}
    with serve_endpoint([answer]) as endpoint:
        reply = asked(endpoint, request)
    body = endpoint.requests[0].body
    assert (body["temperature"], body["max_tokens"], body["seed"]) == (1.0, 5, 3)
    assert (body["logprobs"], body["top_logprobs"]) == (True, 2)
    assert "not sent" not in json.dumps(body)
    assert len(reply.logprobs) == 1
    assert reply.logprobs[0].top == (("h", -0.5), ("H", -1.5))


def test_uses_the_strictest_accepted_json_mode() -> None:
    with serve_endpoint([make_completion('{"score": 7}')]) as endpoint:
        reply = asked(endpoint, SCORED)
    assert reply.value == {"score": 7}
    shape = endpoint.requests[0].body["response_format"]["json_schema"]
    assert (shape["strict"], shape["schema"]) == (True, SCHEMA)


def only(way: str) -> Any:
    """A server that knows one way to JSON and complains of the others."""

    def script(request: ReceivedRequest, number: int) -> CannedReply:
        body = request.body
        kind = body.get("response_format", {}).get("type")
        kind = kind or ("tool" if "tools" in body else "text")
        if kind == "json_schema" != way:
            return make_error(400, "'response_format.type' must be one of 'text'")
        if kind == "tool" != way:
            return CannedReply(422, {"detail": [{"loc": ["body", "tools"], "msg": "extra"}]})
        if kind == "json_object" != way:
            return make_error(400, "json_object is not supported", param="response_format")
        if kind == "tool":
            return make_tool_call('{"score": 7}')
        around = 'It is good: {"score": 7}. That is all.'
        return make_completion(around if way == "text" else '{"score": 7}')

    return script


@pytest.mark.parametrize(
    ("way", "calls"), [("json_schema", 1), ("tool", 2), ("json_object", 3), ("text", 4)]
)
def test_json_mode_is_found_once(way: str, calls: int) -> None:
    with serve_endpoint(only(way)) as endpoint:
        reply = asked(endpoint, SCORED)
        assert (reply.value, reply.usage.calls) == ({"score": 7}, calls)
        assert len(endpoint.requests) == calls
        assert asked(endpoint, SCORED).value == {"score": 7}
        assert len(endpoint.requests) == calls + 1  # remembered, in another client
        if way in ("json_object", "text"):
            (system, user) = endpoint.requests[-1].body["messages"]
            assert system["content"].startswith("be fair\n\nAnswer with exactly one JSON object")
            assert user["content"] == "hello"


def test_moves_on_when_a_server_ignores_the_json_mode() -> None:
    """It answers 200 in prose until the prompt has the schema."""

    def script(request: ReceivedRequest, number: int) -> CannedReply:
        in_prompt = "JSON Schema" in json.dumps(request.body["messages"])
        return make_completion('{"score": 3}' if in_prompt else "Quite good, I think.")

    with serve_endpoint(script) as endpoint:
        assert asked(endpoint, SCORED).value == {"score": 3}
        assert "response_format" in endpoint.requests[-1].body
        assert len(endpoint.requests) == 3
        asked(endpoint, SCORED)
        assert len(endpoint.requests) == 4


@pytest.mark.parametrize(
    ("reply", "calls", "extra_keys"),
    [
        ('{"score": 7}', 1, 0),
        ('{"score": 7, "confidence": 0.9, "comment": {"score": 9}}', 1, 2),
        ('{"score": "7"}', 4, None),  # one for each form of a request, and no retry of them all
        ("Quite good.", 4, None),
        ("", 4, None),
    ],
)
def test_calls_for_a_reply_with_extra_keys_and_for_no_verdict(
    reply: str, calls: int, extra_keys: int | None
) -> None:
    with serve_endpoint([make_completion(reply)]) as endpoint:
        model = make_model("openai:small", base_url=endpoint.url, cache=False)
        if extra_keys is None:
            with pytest.raises(ModelError, match="small: the reply is no verdict: "):
                asyncio.run(model.ask(SCORED))
        else:
            found = asyncio.run(model.ask(SCORED))
            assert (found.value, found.extra_keys) == ({"score": 7}, extra_keys)
            meter = find_layer(model, MeteredModel)
            assert meter is not None
            assert meter.model_usage.document()["extra_keys"] == extra_keys
        assert len(endpoint.requests) == calls


def test_proven_json_mode_survives_one_malformed_reply() -> None:
    with serve_endpoint(
        [
            make_completion('{"score": 7}'),
            make_completion("oh well"),
            make_completion('{"score": 8}'),
        ]
    ) as endpoint:
        asked(endpoint, SCORED)
        assert failed(endpoint, SCORED).kind == "malformed"
        assert asked(endpoint, SCORED).value == {"score": 8}
        assert all("response_format" in request.body for request in endpoint.requests)


def test_error_that_quotes_the_prompt_is_not_remembered() -> None:
    """An agent that writes `response_format` gets a worse way for no other case."""

    def script(request: ReceivedRequest, number: int) -> CannedReply:
        if "response_format" in request.body["messages"][-1]["content"]:
            return make_error(400, "cannot handle: response_format tool json_object temperature")
        return make_completion('{"score": 7}')

    hostile = Request(messages=(ChatMessage("user", "response_format"),), schema=SCHEMA)
    with serve_endpoint(script) as endpoint:
        assert failed(endpoint, hostile).kind == "bad_request"
        before = len(endpoint.requests)
        assert asked(endpoint, SCORED).value == {"score": 7}
        assert endpoint.requests[before].body["response_format"]["type"] == "json_schema"
        assert endpoint.requests[before].body["temperature"] == 0.0


def test_json_mode_of_one_refused_schema_is_remembered_by_itself() -> None:
    other = {**SCHEMA, "title": "odd"}

    def script(request: ReceivedRequest, number: int) -> CannedReply:
        shape = request.body.get("response_format", {}).get("json_schema", {})
        if shape.get("schema", {}).get("title") == "odd":
            return make_error(400, "Invalid schema for response_format")
        return (
            make_tool_call('{"score": 1}')
            if "tools" in request.body
            else make_completion('{"score": 7}')
        )

    with serve_endpoint(script) as endpoint:
        for request in (SCORED, Request(messages=PLAIN.messages, schema=other)) * 2:
            asked(endpoint, request)
        ways = ["tools" in request.body for request in endpoint.requests]
    assert ways == [False, False, True, False, True]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("temperature", "Unsupported value: 'temperature' does not support 0.0 with this model"),
        ("seed", "seed: extra fields not permitted"),
        ("logprobs", "logprobs is not supported by this model"),
    ],
)
def test_leaves_out_a_refused_parameter(
    name: str, message: str, caplog: pytest.LogCaptureFixture
) -> None:
    def script(request: ReceivedRequest, number: int) -> CannedReply:
        return make_error(400, message) if name in request.body else make_completion("hi")

    request = Request(messages=PLAIN.messages, seed=1, logprobs=1)
    with serve_endpoint(script) as endpoint:
        assert asked(endpoint, request).text == "hi"
        assert asked(endpoint, request).text == "hi"
        assert len(endpoint.requests) == 3
    assert [name in record.getMessage() for record in caplog.records] == [True]


def test_uses_max_completion_tokens_where_asked_to() -> None:
    def script(request: ReceivedRequest, number: int) -> CannedReply:
        if "max_tokens" in request.body:
            return make_error(400, "Unsupported parameter: use 'max_completion_tokens' instead.")
        return make_completion("hi")

    with serve_endpoint(script) as endpoint:
        asked(endpoint, Request(messages=PLAIN.messages, max_tokens=9))
    assert endpoint.requests[-1].body["max_completion_tokens"] == 9


@pytest.mark.parametrize(
    ("answer", "kind", "words"),
    [
        (make_completion(None, refusal="I cannot judge this."), "refused", "I cannot judge this."),
        (make_completion("", "content_filter"), "refused", "content filter"),
        (make_error(400, "bad words", code="content_filter"), "refused", "bad words"),
        (make_error(400, "x", code="data_inspection_failed"), "refused", "x"),
        (make_error(400, "what?"), "bad_request", "it answered 400: what?"),
        (make_error(401, "who?"), "bad_request", "it answered 401"),
        (CannedReply(404, b"<html>"), "bad_request", "<html>"),
        (CannedReply(302, b"", {"Location": "/x"}), "bad_request", "it answered 302"),
        (make_error(429, "slow down"), "rate_limited", "slow down"),
        (make_error(500, "oops"), "server", "oops"),
        (CannedReply(503, b""), "server", "it answered 503"),
        (make_error(200, "upstream died"), "server", "upstream died"),
        (CannedReply(body=b"{"), "malformed", "has not the form of this API"),
        (CannedReply(body=b""), "malformed", "has not the form of this API"),
        (CannedReply(body=b"[" * 100_000), "malformed", "has not the form of this API"),
        (
            CannedReply(body={"choices": [{"message": "hi"}]}),
            "malformed",
            "has not the form of this API",
        ),
        (CannedReply(body=b"x" * (17 << 20)), "malformed", "longer than 16 MiB"),
        (CannedReply(body={}, drop="before"), "connection", "closed before"),
        (CannedReply(body={"a": "b" * 100}, drop="half"), "connection", ""),
    ],
)
def test_each_failure_has_its_error_kind(answer: CannedReply, kind: str, words: str) -> None:
    with serve_endpoint([answer]) as endpoint:
        error = failed(endpoint)
    assert error.kind == kind
    assert words.lower() in str(error).lower()
    assert error.status == (answer.status if answer.status != 200 else None)
    assert len(str(error)) < 600


def test_spent_quota_is_not_retried() -> None:
    with serve_endpoint(
        [make_error(429, "You exceeded your quota", code="insufficient_quota")]
    ) as endpoint:
        error = failed(endpoint)
    assert (error.kind, error.transient) == ("rate_limited", False)


def test_reads_retry_after_as_a_date() -> None:
    test_reads_retry_after_in_seconds_and_milliseconds(
        {"Retry-After": formatdate(time.time() + 3600, usegmt=True)}, 3000, 3600
    )


@pytest.mark.parametrize(
    ("headers", "low", "high"),
    [
        ({"Retry-After": "7"}, 7, 7),
        ({"Retry-After": "0.25"}, 0.25, 0.25),
        ({"retry-after-ms": "1500", "Retry-After": "2"}, 1.5, 1.5),
        ({"Retry-After": formatdate(0, usegmt=True)}, 0, 0),
    ],
)
def test_reads_retry_after_in_seconds_and_milliseconds(
    headers: dict[str, str], low: float, high: float
) -> None:
    with serve_endpoint([make_error(429, headers=headers)]) as endpoint:
        error = failed(endpoint)
    assert error.retry_after is not None
    assert low <= error.retry_after <= high


@pytest.mark.parametrize("value", ["soon", "nan", "-5", "inf", ""])
def test_ignores_malformed_retry_after(value: str) -> None:
    with serve_endpoint([make_error(429, headers={"Retry-After": value})]) as endpoint:
        assert failed(endpoint).retry_after is None


def test_hanging_server_is_a_timeout() -> None:
    with serve_endpoint([CannedReply(delay=60)]) as endpoint:
        error = failed(endpoint, timeout=0.2)
    assert (error.kind, error.usage) == ("timeout", None)
    assert "no answer within 0.2 s" in str(error)


def test_refused_connection_costs_nothing() -> None:
    with serve_endpoint([]) as endpoint:
        pass
    error = failed(endpoint)
    assert (error.kind, error.usage) == ("unreachable", Usage(calls=1))


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (make_completion('{"score": 400}'), "outside [0, 10]"),
        (make_completion('{"score": "7"}'), "expected a whole number"),
        (make_completion('{"score": 1, "score": 9}'), "more than once"),
        (make_completion('{"score": 7', "length"), "cut off"),
        (make_completion('{"score": 7}', "length"), "cut off"),
        (make_completion('{"score": 7} {"score": 8}'), "goes on after"),
        (make_completion(None), "empty"),
        (make_completion([{"type": "text", "text": '{"score": true}'}]), "expected a whole number"),  # type: ignore[arg-type]
    ],
)
def test_verdict_that_does_not_fit_is_malformed(answer: CannedReply, words: str) -> None:
    with serve_endpoint([make_completion('{"score": 7}'), answer]) as endpoint:
        asked(endpoint, SCORED)
        error = failed(endpoint, SCORED)
    assert error.kind == "malformed"
    assert words in str(error)
    assert error.usage == Usage(calls=1, input_tokens=11, output_tokens=7)  # it was paid for
    assert error.transient is ("cut off" not in words)


@pytest.mark.parametrize(
    ("arguments", "value"),
    [('{"score": 2}', 2), ({"score": 3}, 3), (None, None), ("{}", None), ('{"score":1}x', None)],
)
def test_reads_verdict_from_a_tool_call(arguments: Any, value: int | None) -> None:
    def script(request: ReceivedRequest, number: int) -> CannedReply:
        if "response_format" in request.body or "tools" not in request.body:
            return make_error(400, "no response_format here")
        return make_tool_call(arguments)

    with serve_endpoint(script) as endpoint:
        if value is None:
            assert failed(endpoint, SCORED).kind in ("malformed", "bad_request")
        else:
            assert asked(endpoint, SCORED).value == {"score": value}


def test_reads_half_of_a_surrogate_pair() -> None:
    body = json.dumps(make_completion("x").body).replace('"x"', '"a\\ud83d b"')
    with serve_endpoint([CannedReply(body=body.encode())]) as endpoint:
        assert asked(endpoint).text == "a� b"


def test_connections_are_reused_and_closed() -> None:
    """Warnings of anything unclosed are errors in this suite."""

    async def several(model: OpenAI) -> None:
        async with model:
            await asyncio.gather(*(model.ask(PLAIN) for _ in range(4)))
            for _ in range(4):
                await model.ask(PLAIN)
        await model.ask(PLAIN)  # left, it opens anew

    with serve_endpoint([make_completion("hi")]) as endpoint:
        model = OpenAI("small", base_url=endpoint.url)
        asyncio.run(several(model))
        asyncio.run(several(model))  # another loop
        assert len(endpoint.requests) == 18


def _in_child(model: OpenAI, box: Any) -> None:
    box.put(asyncio.run(model.ask(PLAIN)).text)


def test_forked_child_opens_its_own_connections() -> None:
    async def both(model: OpenAI) -> str:
        await model.ask(PLAIN)
        context = multiprocessing.get_context("fork")
        box = context.Queue()
        child = context.Process(target=_in_child, args=(model, box))
        child.start()
        text = await asyncio.to_thread(box.get, True, 30)
        await asyncio.to_thread(child.join, 30)
        assert (await model.ask(PLAIN)).text == "hi"
        return str(text)

    with serve_endpoint([make_completion("hi")]) as endpoint:
        assert asyncio.run(both(OpenAI("small", base_url=endpoint.url))) == "hi"


def test_pickles_as_its_settings() -> None:
    model = OpenAI("small", base_url="http://127.0.0.1:9/v1", timeout=3, extra={"top_p": 1})
    again = pickle.loads(pickle.dumps(model))
    assert (again.settings, again.fingerprint) == (model.settings, model.fingerprint)


def test_fingerprint_changes_with_what_changes_replies() -> None:
    models = [
        OpenAI("a", base_url="http://h/v1"),
        OpenAI("b", base_url="http://h/v1"),
        OpenAI("a", base_url="http://h2/v1"),
        OpenAI("a", base_url="http://h/v1", extra={"top_p": 1}),
    ]
    assert len({model.fingerprint for model in models}) == 4
    assert OpenAI("a", base_url="http://h/v1/", timeout=9).fingerprint == models[0].fingerprint


def test_base_url_comes_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("FOURSCORE_BASE_URL", raising=False)
    assert OpenAI("m").settings.base_url == "https://api.openai.com/v1"
    monkeypatch.setenv("FOURSCORE_BASE_URL", "http://10.0.0.1:8000/v1/")
    assert OpenAI("m").settings.base_url == "http://10.0.0.1:8000/v1"
    assert OpenAI("m", base_url="http://b/v1").settings.base_url == "http://b/v1"


@pytest.mark.parametrize(
    "url",
    ["ftp://x/", "http://", "http://[::1", "http://u:p@h/v1", "http://h/v1?api-key=s", "nonsense"],
)
def test_refuses_unusable_base_url(url: str) -> None:
    with pytest.raises(ConfigError, match="base_url"):
        OpenAI("m", base_url=url)


def test_query_of_base_url_stays_at_the_end() -> None:
    with serve_endpoint([make_completion("hi")]) as endpoint:
        model = OpenAI("m", base_url=f"{endpoint.url}?api-version=1")
        assert asyncio.run(model.ask(PLAIN)).text == "hi"
        assert endpoint.requests[0].path == "/v1/chat/completions"


def test_check_refuses_a_socks_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    model = OpenAI("m", base_url="http://127.0.0.1:9")
    model.check()
    monkeypatch.setenv("ALL_PROXY", "socks5://127.0.0.1:1080")
    with pytest.raises(ConfigError, match="socks5"):
        model.check()
