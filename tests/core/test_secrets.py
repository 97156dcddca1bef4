"""Secrets are found where they are written or were given; other words stay."""

import os
from collections.abc import Iterator

import msgspec
import pytest
from tests.linear import assert_linear

from fourscore.core import ConfigError, Fault, secrets
from fourscore.core.secrets import (
    hide_in_json,
    hide_in_options,
    hide_in_spec,
    hide_known,
    hide_secrets,
    remember_secrets,
    remember_spec,
)


@pytest.fixture(autouse=True)
def _forget(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(secrets, "_remembered", {})
    secrets._read_environment.cache_clear()
    yield
    secrets._read_environment.cache_clear()


@pytest.mark.parametrize(
    ("spec", "shown"),
    [
        ("http://ana:pw@h:8/x?n=1", "http://[key]@h:8/x?n=1"),
        ("https://ghp_token@h/x", "https://[key]@h/x"),
        ("http://h/?api_key=a&sig=b&n=1&access_token=c", None),
        ("shell: curl -H 'Authorization: Bearer sk-1234567'", None),
        ('shell: curl -H "X-Api-Key: abcdef" http://h', None),
        ("shell: MY_TOKEN=abc ./run", "shell: MY_TOKEN=[key] ./run"),
        ("shell: x --password hunter2 -u bob:pw --api-key=abc", None),
        ("shell: run --max-tokens 300 --author bob --sigma 3", ""),
        ("shell: echo monkey=banana tokenizer=fast", ""),
        ("file.py:answer", ""),
        ("openai:gpt-4o", ""),
        ("auth_agent:answer_question", ""),
        ("agents.auth:answer", ""),
        ("http://auth-service:8080/answer", ""),
        ("http://token:8080", ""),
        ("shell: call auth-service:8080 --agent key_agent:answer_2 -v", ""),
        ("shell: agent --level basic --verbose-output --bearer-2", ""),
        ("authorization:answer", "authorization:[key]"),
        ("curl -H Authorization:abcdef", "curl -H Authorization:[key]"),
        ("X-Api-Key:12345", "X-Api-Key:[key]"),
        ("password:hunter2", "password:[key]"),
        ("http://token:8080@h/", "http://[key]@h/"),
        ("auth=basic --verbose", "auth=[key] --verbose"),
    ],
)
def test_specification_is_shown_without_its_secrets(spec: str, shown: str | None) -> None:
    found = hide_in_spec(spec)
    if shown is None:
        assert "[key]" in found
        for secret in ("=a&", "=b&", "=c", "sk-1", "abcdef", "hunter2", "bob:pw", "=abc"):
            assert secret not in found
    else:
        assert found == (shown or spec)
    assert hide_in_spec(found) == found


@pytest.mark.parametrize(
    "quoted",
    ["{0}", "%2F".join("{0}/x".split("/")), '\\"{0}', "x{0}y"],
)
def test_remembered_secret_is_hidden_wherever_it_is_quoted(quoted: str) -> None:
    hide_in_spec("http://ana:s3cret-word@h/")
    assert "s3cret-word" not in hide_known(quoted.format("s3cret-word"))


def test_remembered_secret_is_hidden_in_every_spelling() -> None:
    hide_in_spec("http://ana:a%2Fb%201-long@h/")
    for text in ("a/b 1-long", "a%2Fb%201-long", "a/b%201-long", "YW5hOmEvYiAxLWxvbmc="):
        assert hide_known(f"<{text}>") == "<[key]>"


def test_short_secrets_and_words_are_hidden_only_where_they_stand() -> None:
    remember_secrets("pass", "password", "x1", "20261118", "1234.5678e9")
    text = "passed with a password x1 20261118 1234.5678e9"
    assert hide_known(text) == text
    assert hide_in_spec("http://ana:pass@h") == "http://[key]@h"


@pytest.mark.parametrize(
    "word",
    ["photosynthesis", "output_tokens", "biology-101", "AnswerQuestion", "myVeryLongFunctionName"],
)
def test_word_where_a_secret_may_stand_is_hidden_only_there(word: str) -> None:
    assert hide_in_spec(f"shell: MY_KEY={word} ./run") == "shell: MY_KEY=[key] ./run"
    assert hide_in_spec(f"http://h/?key={word}") == "http://h/?key=[key]"
    assert hide_known(f"what is {word}?") == f"what is {word}?"


@pytest.mark.parametrize("secret", ["s3cret-word", "Userinfo-x-1", "hTgSwQzXcVbNmKjPoL"])
def test_random_text_where_a_secret_stands_is_remembered(secret: str) -> None:
    remember_spec(f"MY_KEY={secret}")
    assert hide_known(f"it is {secret}") == "it is [key]"


def test_text_that_is_only_shown_is_not_remembered() -> None:
    assert hide_in_spec("key=abc123def456", remember=False) == "key=[key]"
    assert hide_in_options({"by": "key=abc123def456"}, remember=False) == {"by": "key=[key]"}
    assert hide_known("abc123def456") == "abc123def456"


@pytest.mark.parametrize(
    "secrets_in_order", [("s3cret-a", "s3cret-a-longer"), ("s3cret-a-longer", "s3cret-a")]
)
def test_the_longest_secret_is_hidden_first(secrets_in_order: tuple[str, ...]) -> None:
    remember_secrets(*secrets_in_order)
    assert hide_known("<s3cret-a-longer> <s3cret-a>") == "<[key]> <[key]>"


def test_secret_is_hidden_in_the_texts_of_json_and_not_in_its_keys() -> None:
    remember_secrets("s3cret-word", "n-s3cret-2", "12345678x", 'a"b-12345')
    data = {
        "s3cret-word": ["s3cret-word", 'x a"b-12345 y'],
        "a": {"n-s3cret-2": "\n-s3cret-2", "b": "12345678"},
        "n": 0.1,
    }
    text = msgspec.json.encode(data).decode()
    assert msgspec.json.decode(hide_in_json(text)) == {
        "s3cret-word": ["[key]", "x [key] y"],
        "a": {"n-s3cret-2": "\n-s3cret-2", "b": "12345678"},
        "n": 0.1,
    }
    assert hide_in_json('{"a": 1, "s3cret-word" : "b"}') == '{"a": 1, "s3cret-word" : "b"}'


def test_variable_named_like_a_secret_is_hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(os.environ):
        monkeypatch.delenv(name)
    monkeypatch.setenv("SOME_TOKEN", "abc-123-def-456")
    monkeypatch.setenv("OTHER", "plain-123-def-456")
    monkeypatch.setenv("KEY_PATH", "/etc/ssl/cert-123456")
    monkeypatch.setenv("POSTGRES_PASSWORD", "postgres")
    text = "abc-123-def-456 plain-123-def-456 /etc/ssl/cert-123456 postgres"
    assert hide_known(text) == text.replace("abc-123-def-456", "[key]")


def test_errors_and_faults_hold_no_secret() -> None:
    quoted = "url: /v1?api_key=cnry-12345&n=1, token: expected text, password: cnry-999"
    shown = "url: /v1?api_key=[key]&n=1, token: expected text, password: [key]"
    assert hide_secrets(quoted) == shown
    assert Fault("error", quoted).message == shown
    assert str(ConfigError(quoted, file="f")) == f"f: {shown}"


def test_options_are_shown_without_secrets() -> None:
    options = {
        "agent": "http://a:b@h",
        "models": {"openai:m": {"key_env": "MY_KEY", "extra": {"api_key": "abc"}}},
        "tags": ["x", "http://a:b@h"],
        "limit": 3,
    }
    assert hide_in_options(options) == {
        "agent": "http://[key]@h",
        "models": {"openai:m": {"key_env": "MY_KEY", "extra": {"api_key": "[key]"}}},
        "tags": ["x", "http://[key]@h"],
        "limit": 3,
    }


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("key sk-proj-Ab12Ab12Ab12Ab12", "key [key]"),
        ("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0", "[key]"),
        ("a Zq8Xw3Lm9Kp2Rt5Vy7Bn4Jh6Gd1Sf0Qa b", "a [key] b"),
        ("ö Authorization: Basic abcdef123456", "ö Authorization: Basic [key]"),
        ("a_long_name_without_any_number_or_upper_1234", None),
        ("basically a bearer of news", None),
    ],
)
def test_text_that_looks_like_a_key_is_hidden(text: str, shown: str | None) -> None:
    assert hide_secrets(text) == (shown or text)


@pytest.mark.parametrize(
    "run", ["a", "?", "&", "key", "?key=", "?key=a&", "key:", "://", "://a:", "-u ", "--key ", "=",
            "bearer ", "api_key: ", "-", "a-", "key.", "\\", "[key]."]
)  # fmt: skip
def test_time_is_linear_in_the_length(run: str) -> None:
    assert_linear(hide_secrets, run)
    assert_linear(hide_in_spec, run)
    assert_linear(hide_in_json, run)


@pytest.mark.parametrize("spec", ["token.py:answer", "my/api_keys.py:main", "password.py:run"])
def test_the_file_of_an_agent_is_no_secret(spec: str) -> None:
    assert hide_in_spec(spec) == spec
