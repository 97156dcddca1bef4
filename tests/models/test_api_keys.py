"""A planted key, searched for in everything that could show it."""

import asyncio
import logging
import pickle
import traceback
from pathlib import Path
from typing import Any

import pytest
from tests.models.fake_endpoint import (
    CannedReply,
    ReceivedRequest,
    make_completion,
    make_error,
    serve_endpoint,
)

from fourscore.core import ConfigError
from fourscore.models.anthropic import Anthropic
from fourscore.models.api_keys import ApiKey, find_key, is_loopback, register_key
from fourscore.models.cache import CachedModel
from fourscore.models.messages import ChatMessage, ModelError, Request
from fourscore.models.model_spec import make_model
from fourscore.models.openai import OpenAI
from fourscore.models.retry import RetryingModel

KEY = "sk-PLANTED-0123456789abcdefghijklmnop"
ASK = Request(messages=(ChatMessage("user", "hello"),))
PARTS = (KEY, KEY[: len(KEY) // 2], KEY[-(len(KEY) // 2) :])


@pytest.fixture(autouse=True)
def _planted(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "DASHSCOPE_API_KEY", "ANTHROPIC_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("MY_KEY", KEY)


def shows(*things: object) -> bool:
    return any(part in str(thing) for thing in things for part in PARTS)


def echo(status: int) -> Any:
    """An endpoint that repeats the key that it refuses, in whole and in part."""

    def script(request: ReceivedRequest, number: int) -> CannedReply:
        sent = request.headers.get("authorization") or request.headers.get("x-api-key", "")
        half = KEY[: len(KEY) // 2]
        return make_error(status, f"Incorrect API key provided: {sent} {half}***.")

    return script


@pytest.mark.parametrize("kind", [OpenAI, Anthropic])
@pytest.mark.parametrize("status", [400, 401, 429, 500])
def test_key_is_sent_and_appears_nowhere_else(
    kind: Any, status: int, caplog: pytest.LogCaptureFixture, tmp_path: Path
) -> None:
    caplog.set_level(logging.DEBUG)
    with serve_endpoint(echo(status)) as endpoint:
        url = endpoint.url
        client = kind("m", base_url=url, key_env="MY_KEY")
        model = CachedModel(RetryingModel(client, attempts=2, first=0.0), tmp_path / "c")

        async def run() -> ModelError:
            with pytest.raises(ModelError) as caught:
                await model.ask(ASK)
            assert not shows(vars(client), repr(client), repr(model))  # while it is open
            assert KEY.encode() not in pickle.dumps(model)
            return caught.value

        error = asyncio.run(run(), debug=True)
        model.close()
    header = "authorization" if kind is OpenAI else "x-api-key"
    assert KEY in endpoint.requests[0].headers[header]
    assert not shows(error, repr(error), vars(error), client.fingerprint, client.settings)
    assert not shows("".join(traceback.format_exception(error)))
    chain: BaseException | None = error
    while chain is not None:
        assert not shows(repr(chain), vars(chain))
        chain = chain.__cause__ or chain.__context__
    assert KEY.encode() not in pickle.dumps((error, model))
    assert not shows(caplog.text)
    assert all(KEY.encode() not in file.read_bytes() for file in tmp_path.iterdir())


def test_connection_error_does_not_show_the_key(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    for answer in (
        CannedReply(drop="before"),
        CannedReply(drop="half"),
        CannedReply(delay=9),
        CannedReply(body=b"?"),
    ):
        with serve_endpoint([answer]) as endpoint:
            model = OpenAI("m", base_url=endpoint.url, key_env="MY_KEY", timeout=0.3)
            with pytest.raises(ModelError) as caught:
                asyncio.run(model.ask(ASK))
        assert not shows(*traceback.format_exception(caught.value), caplog.text)


def test_finds_the_key_of_an_endpoint(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def found(url: str, key_env: str | None = None, key_file: str | None = None) -> str:
        return find_key(url, key_env=key_env, key_file=key_file).reveal()

    monkeypatch.setenv("OPENAI_API_KEY", "openai")
    monkeypatch.setenv("DASHSCOPE_API_KEY", "dash")
    assert found("https://api.openai.com/v1") == "openai"
    assert found("https://dashscope.aliyuncs.com/compatible-mode/v1") == "dash"
    assert found("https://dashscope-intl.aliyuncs.com/compatible-mode/v1") == "dash"
    assert found("https://dashscope.aliyuncs.com.evil.example/v1") == "openai"
    assert found("http://10.0.0.2:8000/v1") == "openai"
    assert found("https://api.openai.com/v1", key_env="MY_KEY") == KEY
    for here in ("http://127.0.0.1:1", "http://localhost:1", "http://[::1]:1", "http://127.9.9.9"):
        assert found(here) == ""  # a key that was not named is not given to whoever listens there
        assert found(here, key_env="MY_KEY") == KEY
    assert not is_loopback("localhost.example")
    file = tmp_path / "key"
    file.write_text("filed\n")
    assert found("https://api.openai.com/v1", key_file=str(file)) == "filed"


@pytest.mark.parametrize("text", ["", "a b", "a\nb", "ключ", "a\r\nX-Evil: 1"])
def test_refuses_text_that_is_not_one_key(
    text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "key"
    file.write_text(text, newline="")
    with pytest.raises(ConfigError) as caught:
        find_key("https://h/v1", key_env=None, key_file=str(file))
    assert not text.strip() or text not in str(caught.value)


def test_missing_key_error_names_variable_or_file(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"no key for api\.openai\.com: set OPENAI_API_KEY"):
        asyncio.run(OpenAI("m", base_url="https://api.openai.com/v1").ask(ASK))
    with pytest.raises(ConfigError, match="set ANTHROPIC_API_KEY"):
        asyncio.run(Anthropic("m").ask(ASK))
    with pytest.raises(ConfigError, match="No such file"):
        find_key("https://h/v1", key_env=None, key_file=str(tmp_path / "none"))
    with pytest.raises(ConfigError, match="not both"):
        find_key("https://h/v1", key_env="A", key_file="b")


def test_repr_hides_key_and_pickling_is_refused() -> None:
    key = ApiKey(KEY)
    assert not shows(key, repr(key), f"{key}", [key])
    with pytest.raises(TypeError, match="not pickled"):
        pickle.dumps(key)
    assert ApiKey("").hide("words") == "words"


def test_wrapped_model_sends_the_key(tmp_path: Path) -> None:
    with serve_endpoint([make_completion("hi")]) as endpoint:
        cache = str(tmp_path / "c.sqlite")
        model: Any = make_model("openai:m", base_url=endpoint.url, key_env="MY_KEY", cache=cache)
        assert asyncio.run(model.ask(ASK)).text == "hi"
        model.close()
    assert endpoint.requests[0].headers["authorization"] == f"Bearer {KEY}"
    assert KEY.encode() not in b"".join(file.read_bytes() for file in tmp_path.iterdir())


def test_registered_key_is_found_by_its_name() -> None:
    name = register_key("small", f" {KEY} ")
    assert name == "api_key of small"
    assert find_key("http://127.0.0.1:1/v1", key_env=name, key_file=None).reveal() == KEY
    model = OpenAI("small", base_url="http://127.0.0.1:1/v1", key_env=name)
    shown = f"{model!r} {model.settings!r} {model.fingerprint}".encode() + pickle.dumps(model)
    assert not any(part.encode() in shown for part in PARTS)
    with pytest.raises(ConfigError) as caught:
        register_key("small", "two\nlines-of-a-secret")
    assert "lines-of-a-secret" not in str(caught.value)


def test_placeholder_key_is_not_removed_from_replies() -> None:
    assert ApiKey("k").hide("ranking") == "ranking"
    assert ApiKey("EMPTY").hide_in(b"EMPTY") == b"EMPTY"
    assert ApiKey("12345678").hide("no 12345678") == "no [key]"


def test_registered_key_of_another_process_comes_from_the_environment(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with pytest.raises(ConfigError, match="for other processes set DASHSCOPE_API_KEY"):
        find_key("http://127.0.0.1:1/v1", key_env="api_key of another", key_file=None)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    found = find_key("http://127.0.0.1:1/v1", key_env="api_key of another", key_file=None)
    assert found.reveal() == KEY
