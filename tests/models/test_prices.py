"""Prices of models, and the usage that is counted and priced."""

import asyncio
import pickle
from pathlib import Path
from typing import Any

import pytest

from fourscore.core import ConfigError, Usage
from fourscore.models.messages import ChatMessage, ModelError, Request, Response
from fourscore.models.prices import AS_OF, Price, Prices, list_prices
from fourscore.models.scripted import ScriptedModel
from fourscore.models.usage_meter import MeteredModel

REQUEST = Request(messages=(ChatMessage("user", "hello"),))
USAGE = Usage(calls=1, input_tokens=150, output_tokens=20)


def test_counts_and_prices_every_call() -> None:
    outcomes: list[Any] = [
        Response(text="a", usage=USAGE),
        ModelError("malformed", "?", usage=USAGE),
        ModelError("timeout", "?"),
        Response(text="b", usage=USAGE),
    ]
    model = MeteredModel(ScriptedModel(outcomes, name="gpt-4o-mini-2024-07-18"))
    replies = []
    for _ in outcomes:
        try:
            replies.append(asyncio.run(model.ask(REQUEST)))
        except ModelError:
            continue
    each = (150 * 0.15 + 20 * 0.6) / 1e6
    assert [reply.usage.dollars for reply in replies] == pytest.approx([each, each])
    usage = model.model_usage
    assert (usage.usage.calls, usage.failed, usage.unknown) == (4, 2, 1)
    assert usage.dollars == pytest.approx(3 * each)
    assert "4 calls (2 failed), 450 + 60 tokens, $0.0001" in str(usage)
    assert (
        pickle.loads(pickle.dumps(MeteredModel(ScriptedModel(["x"], name="gpt-4o-mini")))).price
        == model.price
    )


def test_unknown_model_has_no_price() -> None:
    model = MeteredModel(ScriptedModel([Response(text="a", usage=USAGE)], name="mystery"))
    assert asyncio.run(model.ask(REQUEST)).usage.dollars == 0
    assert model.model_usage.dollars is None
    assert "no price known" in str(model.model_usage)


def test_own_prices_go_before_list_prices(tmp_path: Path) -> None:
    assert Prices().find("gpt-4o-mini") == Price(0.15, 0.6)
    assert Prices().find("claude-sonnet-4-5-20250929") == Price(3, 15)
    assert Prices().find("claude-3-5-haiku-latest") == Price(0.8, 4)
    assert Prices().find("gpt-4o-audio-preview") is None  # not what gpt-4o costs
    assert len(list_prices()) > 30
    assert AS_OF
    file = tmp_path / "prices.yaml"
    file.write_text("gpt-4o-mini: {input: 1, output: 2}\nmine: {input: 0, output: 0}\n")
    own = Prices(file)
    assert (own.find("gpt-4o-mini"), own.find("mine")) == (Price(1, 2), Price(0, 0))
    assert own.find("gpt-4o") == Price(2.5, 10)
    assert Price(2, 4).dollars(Usage(input_tokens=10**6, output_tokens=10**6)) == 6


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("m: 3", "expected {input: dollars"),
        ("m: {input: 1}", "expected {input: dollars"),
        ("m: {input: -1, output: 1}", "expected {input: dollars"),
        ("m: {input: one, output: 1}", "expected {input: dollars"),
        ("- m", "expected a mapping of models to prices"),
        ("m: [", "not YAML"),
        ("m: !!python/object:os.system {}", "not YAML"),
    ],
)
def test_refuses_malformed_prices(text: str, words: str, tmp_path: Path) -> None:
    file = tmp_path / "prices.yaml"
    file.write_text(text)
    with pytest.raises(ConfigError) as caught:
        Prices(str(file))
    assert words in str(caught.value)
    assert "prices.yaml" in str(caught.value)
    with pytest.raises(ConfigError, match="No such file"):
        Prices(tmp_path / "none")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a: &a {input: 1, output: 1}\nb: *a\n", "without aliases"),
        ("a: [[[[1]]]]\n", "without aliases"),
        ("a: {input: 1, output: 1}\na: {input: 2, output: 2}\n", "not YAML"),
        ("a: !!bool maybe\n", "not YAML"),
        ("#" * 100_001, "longer than 100,000 bytes"),
    ],
)
def test_table_is_bounded_before_it_is_built(tmp_path: Path, text: str, words: str) -> None:
    file = tmp_path / "prices.yaml"
    file.write_text(text)
    with pytest.raises(ConfigError, match=words):
        Prices(file)
