"""Probes of endpoints, against real servers: what is refused, what is not, and what it costs."""

import asyncio
import json
import socket
from collections.abc import Iterator
from typing import Any

import pytest
from aiohttp import web
from tests.loopback import served
from tests.models.test_http_client import (
    Certificates,
    Proxy,
    certificates,
    serve_proxy,
    trusted,
    use_tls_server,
)

from fourscore.agents.http import HttpAgent
from fourscore.core import ConfigError
from fourscore.judges.environment import EnvironmentJudge
from fourscore.models import probe
from fourscore.models.anthropic import Anthropic
from fourscore.models.openai import OpenAI
from fourscore.models.probe import Probed, probe_all, probe_connection

__all__ = ["certificates", "trusted"]
NAMES = ["gpt-4o-mini", "Llama3:latest", "claude-haiku-4-5-20251001"]


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probe, "PAUSE", 0.01)
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)


@pytest.fixture
def closed_port() -> Iterator[int]:
    """A port on which nobody listens, and that nobody else gets."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        yield taken.getsockname()[1]


def listing(*names: str, **more: Any) -> web.Response:
    return web.json_response({"data": [{"id": name} for name in names], **more})


def run(*endpoints: Probed) -> None:
    asyncio.run(probe_all(endpoints))


def probe_model(model: str, *answers: web.Response, kind: Any = OpenAI, **settings: Any) -> Any:
    """Probe a model at an endpoint with these answers to GET; return the requests."""
    seen: list[web.Request] = []

    async def handler(request: web.Request) -> web.StreamResponse:
        seen.append(request)
        assert request.method == "GET"
        answer = answers[min(len(seen), len(answers)) - 1]
        return web.Response(status=answer.status, body=answer.body, headers=answer.headers)

    with served(handler, "*") as url:
        run(kind(model, base_url=url if kind is Anthropic else f"{url}/v1", **settings))
    return seen


@pytest.mark.parametrize(
    "model", ["gpt-4o-mini", "GPT-4o-mini", "llama3", "claude-haiku-4-5", "claude-haiku-latest"]
)
def test_accepts_a_listed_model_and_its_other_forms(
    model: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KEY", "sk-12345678")
    (request,) = probe_model(model, listing(*NAMES), key_env="KEY")
    assert request.path == "/v1/models"
    assert request.headers["Authorization"] == "Bearer sk-12345678"


@pytest.mark.parametrize("model", ["gpt-4o-mini:online", "openai/anything"])
def test_accepts_a_tagged_model_and_a_wildcard(model: str) -> None:
    probe_model(model, listing("gpt-4o-mini", "other/*") if "/" in model else listing(*NAMES))


def test_refuses_a_model_that_is_not_listed() -> None:
    with pytest.raises(ConfigError, match=r"has no model 'gpt-4o-mimi': did you mean gpt-4o-mini"):
        probe_model("gpt-4o-mimi", listing(*NAMES))
    with pytest.raises(ConfigError, match=r"known: gpt-4o-mini$"):
        probe_model("qwen", listing("gpt-4o-mini"))


@pytest.mark.parametrize(
    "answer",
    [
        listing(),
        listing("other", has_more=True),
        web.json_response({"data": [{"name": "other"}]}),
        web.json_response(["other"]),
        web.Response(body=b"[" * 100_000),
        web.Response(body=b"not json"),
        web.Response(body=b"x" * (17 << 20)),
        web.Response(status=404, text="no such path"),
        web.Response(status=405),
        web.Response(status=403, text="this key may not list models"),
        web.Response(status=500),
        web.Response(status=302, headers={"Location": "http://127.0.0.1:9/"}),
    ],
)
def test_accepts_an_endpoint_that_lists_nothing(answer: web.Response) -> None:
    assert len(probe_model("gpt-4o-mini", answer)) == 1


def test_a_hostile_list_is_shown_in_part() -> None:
    names = [f"{n}" * 10_000 for n in range(20_000, 20_020)]
    with pytest.raises(ConfigError, match="has no model") as caught:
        probe_model("gpt-4o-mini", listing(*names))
    assert len(str(caught.value)) < 1500


def test_refuses_a_wrong_key_without_showing_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KEY", "sk-secret-12345678")
    answer = web.Response(status=401, text="Incorrect API key: sk-secret-12345678")
    with pytest.raises(ConfigError, match="refuses the key: it answered 401: Incorrect") as caught:
        probe_model("gpt-4o-mini", answer, key_env="KEY")
    assert "sk-secret" not in str(caught.value)


def test_asks_anthropic_for_its_list(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KEY", "sk-12345678")
    (request,) = probe_model("claude-haiku-4-5", listing(*NAMES), kind=Anthropic, key_env="KEY")
    assert request.path == "/v1/models"
    assert request.headers["x-api-key"] == "sk-12345678"


def test_tries_again_once_behind_a_gateway_without_a_server() -> None:
    down = web.Response(status=502, text="Bad Gateway")
    assert len(probe_model("gpt-4o-mini", down, listing(*NAMES))) == 2
    with pytest.raises(ConfigError, match="cannot be reached: it answered 502"):
        probe_model("gpt-4o-mini", down)


def test_deployments_of_azure_are_not_in_its_list() -> None:
    assert probe._is_unrelated("https://me.openai.azure.com/openai/v1/models")
    assert not probe._is_unrelated("https://azure.com.example/v1/models")


def test_refuses_an_endpoint_that_does_not_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probe, "PROBE_TIMEOUT", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        with pytest.raises(ConfigError, match=r"cannot be reached: no answer within 0.2 s"):
            run(OpenAI("m", base_url=url))


def test_names_all_endpoints_that_cannot_be_reached(closed_port: int) -> None:
    url = f"http://127.0.0.1:{closed_port}"
    with pytest.raises(ConfigError) as caught:
        run(
            OpenAI("m", base_url=f"{url}/v1"),
            HttpAgent(f"http://me:secret@127.0.0.1:{closed_port}/agent?key=K"),
            EnvironmentJudge(url=f"{url}/env"),
            EnvironmentJudge(),
        )
    message = str(caught.value)
    for shown in (f"{url}/v1/models cannot", f"{url}/agent cannot", f"{url}/env cannot"):
        assert shown in message
    assert "secret" not in message
    assert "key=K" not in message


def test_refuses_an_unknown_host() -> None:
    with pytest.raises(ConfigError, match=r"nowhere\.invalid/ cannot be reached: no connection"):
        run(HttpAgent("http://nowhere.invalid/"))


def test_agent_is_connected_to_and_sent_nothing() -> None:
    async def main() -> list[bytes]:
        got: list[bytes] = []
        closed = asyncio.Event()

        async def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            got.append(await reader.read())
            writer.close()
            closed.set()

        listener = await asyncio.start_server(accept, "127.0.0.1", 0)
        async with listener:
            port = listener.sockets[0].getsockname()[1]
            await HttpAgent(f"http://127.0.0.1:{port}/").probe_endpoint()
            await closed.wait()
        return got

    assert asyncio.run(main()) == [b""]


def test_agent_behind_tls_needs_a_trusted_certificate(
    certificates: Certificates, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def connect(client: Any, _: Any) -> None:
        await probe_connection(f"{client._origin}/", "https://here/")

    with pytest.raises(ConfigError, match=r"https://here/ cannot be reached: .*certificate"):
        asyncio.run(use_tls_server(certificates, connect))


def test_agent_behind_tls_is_reached(trusted: Certificates) -> None:
    async def connect(client: Any, _: Any) -> None:
        await probe_connection(f"{client._origin}/", "https://here/")

    asyncio.run(use_tls_server(trusted, connect))


@pytest.mark.parametrize("kind", ["model", "agent"])
def test_goes_through_the_proxy(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    proxy = Proxy()

    async def handler(request: web.Request) -> web.StreamResponse:
        return listing("m")

    async def main(url: str) -> None:
        async with serve_proxy(proxy) as port:
            monkeypatch.setenv("HTTP_PROXY", f"http://127.0.0.1:{port}")
            one = OpenAI("m", base_url=f"{url}/v1") if kind == "model" else HttpAgent(url)
            await probe_all([one])

    with served(handler, "*") as url:
        asyncio.run(main(url))
    (head,) = proxy.heads
    expected = f"GET {url}/v1/models" if kind == "model" else f"HEAD {url}/"
    assert head.startswith(expected)


def test_a_proxy_that_finds_nobody_is_no_agent(monkeypatch: pytest.MonkeyPatch) -> None:
    proxy = Proxy(b"HTTP/1.1 502 X\r\nContent-Length: 0\r\n\r\n")

    async def main() -> None:
        async with serve_proxy(proxy) as port:
            monkeypatch.setenv("HTTP_PROXY", f"http://127.0.0.1:{port}")
            await probe_all([HttpAgent("http://agent.example/")])

    with pytest.raises(ConfigError, match="the proxy answered 502"):
        asyncio.run(main())
    assert len(proxy.heads) == 2


def test_listing_is_read_as_json_of_any_order() -> None:
    body = json.dumps({"object": "list", "data": [{"object": "model", "id": "m"}]})
    probe_model("m", web.Response(text=body))
