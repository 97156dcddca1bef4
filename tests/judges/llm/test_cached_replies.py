"""Replies without a usable verdict are never kept: a mended endpoint is asked again."""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from fourscore.core import Case, Signal, ToolCall, Trace, Usage
from fourscore.judges.loading import load_judge
from fourscore.models.cache import CachedModel
from fourscore.models.cache_admin import read_cache_info
from fourscore.models.messages import ModelError, Request, Response
from fourscore.models.scripted import ScriptedModel

from .scripts import number_of

CASE = Case(
    input="What of costs?",
    expected={
        "claims": [{"text": "It cost 5."}],
        "aspects": ["costs"],
        "sources": [{"id": "1", "text": "5"}],
    },
)
STEPS = (ToolCall(name="search", arguments={"q": "costs"}, result="5"),)
TRACES = [Trace(output=f"It cost {n} [1]. See https://harwick.org/a.", steps=STEPS) for n in "567"]
DIMENSIONS = (
    *("factual_accuracy", "completeness", "citation_accuracy", "source_quality"),
    "tool_efficiency",
)
JUDGES: list[tuple[str, dict[str, Any]]] = [
    *((name, {"form": form}) for name in DIMENSIONS for form in ("brief", "full")),
    *(("criteria", {"form": form, "criteria": ["x"]}) for form in ("brief", "full")),
    *((name, {}) for name in ("rating", "pairwise", "listwise")),
]


def judge_with(model: Any, name: str, options: dict[str, Any]) -> list[Signal]:
    judge = load_judge(name, None, {**options, "model": model})
    if hasattr(judge, "rank"):
        return list(asyncio.run(judge.rank(CASE, TRACES)))
    return list(asyncio.run(judge.judge(CASE, TRACES[0])))


def spoil(request: Request, kind: str) -> Any:
    """Return what a broken endpoint replies: a Bad Gateway, nothing, or an unbound verdict."""
    if request.schema is None or kind == "prose":
        return "<html>Bad gateway</html>"
    if kind == "empty":
        return ""
    made = {name: _lowest(inner) for name, inner in request.schema["properties"].items()}
    return made | {"number": number_of(request) if kind == "wrong content" else "000000000000"}


def give(request: Request) -> Any:
    """Return a verdict that can be used."""
    if request.schema is None:
        return "primary" if "primary" in request.messages[-1].content[-60:] else "yes"
    made = spoil(request, "wrong content")
    return made | {"ranking": ["A", "B", "C"]} if "ranking" in made else made


def _lowest(schema: Any) -> Any:
    if schema["type"] == "array":
        return [_lowest(schema["items"])] * schema.get("minItems", 0)
    return schema["enum"][0] if "enum" in schema else schema.get("minimum", "")


def broken_judges() -> Iterator[tuple[str, dict[str, Any], str]]:
    for name, options in JUDGES:
        kinds = ("prose",) if options.get("form") == "brief" else ("prose", "empty", "wrong number")
        for kind in (*kinds, "wrong content") if name == "listwise" else kinds:
            yield name, options, kind


@pytest.mark.parametrize(("name", "options", "kind"), list(broken_judges()), ids=str)
def test_useless_replies_are_not_cached(
    name: str, options: dict[str, Any], kind: str, tmp_path: Path
) -> None:
    broken = CachedModel(ScriptedModel(lambda request: spoil(request, kind)), tmp_path / "c")
    with pytest.raises(ModelError) as caught:
        judge_with(broken, name, options)
    broken.close()
    assert caught.value.kind == "malformed"
    assert read_cache_info(tmp_path / "c").replies == 0
    mended = CachedModel(ScriptedModel(give), tmp_path / "c")
    found = judge_with(mended, name, options)
    mended.close()
    assert all(signal.value is not None for signal in found)
    assert mended.hits == 0
    assert read_cache_info(tmp_path / "c").replies > 0


@pytest.mark.parametrize("finish", ["length", "max_tokens"])
def test_first_word_of_a_model_that_thinks_is_kept(finish: str, tmp_path: Path) -> None:
    """It is always cut, and asked again with more tokens: both calls are saved the next time."""

    def script(request: Request) -> Response:
        short = request.max_tokens == 5
        text = "<think> Let me" if short else "<think> Hm. </think> yes"
        return Response(text=text, finish=finish if short else "stop", usage=Usage(calls=1))

    inner = ScriptedModel(script)
    for _ in range(2):
        model = CachedModel(inner, tmp_path / "c")
        (signal,) = judge_with(model, "criteria", {"form": "brief", "criteria": ["x"]})
        model.close()
        assert signal.value == 1.0
        assert inner.calls == 2
