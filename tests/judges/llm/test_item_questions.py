"""Several questions about one thing, and several verdicts as one."""

import asyncio
from typing import Any

import pytest

from fourscore.core import Case, Usage
from fourscore.judges.dimensions.sources import Source
from fourscore.judges.llm.grounding import select_excerpts
from fourscore.judges.llm.item_questions import after, each, heap, listed, rate_confidence
from fourscore.judges.llm.model_judge import ModelJudge, Verdict
from fourscore.models.messages import FREE, ModelError
from fourscore.models.scripted import ScriptedModel

from .scripts import number_of


def given(share: float | None) -> Verdict:
    shares = None if share is None else {"yes": share, "no": 1 - share}
    return Verdict("yes", "", None, shares, FREE)


@pytest.mark.parametrize(
    ("shares", "unfound", "sure"),
    [
        ([0.9, 0.8, 0.7], 0, "high"),
        ([0.9, 0.8, 0.6, 0.9], 0, "medium"),
        ([0.9, 0.6], 0, "low"),
        ([None, None], 0, "medium"),
        ([0.9] * 4, 1, "medium"),
        ([0.9] * 3, 1, "low"),
        ([None], 1, "low"),
    ],
)
def test_how_sure(shares: list[float | None], unfound: int, sure: str) -> None:
    assert rate_confidence([given(share) for share in shares], unfound) == sure


def test_one_number_that_stands_in_none_of_them() -> None:
    asker = ModelJudge(model=ScriptedModel(["x"]), language="zh", form="full")
    one, other = each(asker, {"question": "a?"}, "claim", ["first", "second"])
    assert one.number == other.number
    assert one.texts["question"] == other.texts["question"]
    assert other.texts["claim"] == f"[{one.number} 主张]\nsecond\n[{one.number} /主张]"
    again, _ = each(asker, {"question": "a?"}, "claim", [one.texts["claim"], "second"])
    assert again.number != one.number


def test_a_heap_has_places() -> None:
    asker = ModelJudge(model=ScriptedModel(["x"]), max_chars=100, form="full")
    whole = heap(asker, {"question": "a?"}, "source", ["first", "x" * 500], "sources")
    assert f"[{whole.number} SOURCE 1]\nfirst\n[{whole.number} /SOURCE 1]" in whole.texts["sources"]
    assert f"[{whole.number}: 400 characters are left out here]" in whole.texts["sources"]


@pytest.mark.parametrize("bind", ["reply", "schema"])
def test_a_list_is_bounded(bind: Any) -> None:
    def script(ask: Any) -> Any:
        schema = ask.schema["properties"]["aspects"]
        assert schema.get("maxItems") == (3 if bind == "schema" else None)
        many = 3 if bind == "schema" else 50
        return {"number": number_of(ask), "aspects": ["a"] * many}

    asker = ModelJudge(model=ScriptedModel(script), bind=bind, form="full")
    material = asker.material(Case(input="a?"), "")
    made, spent = asyncio.run(listed(asker, "aspects", material, "aspects", (), 3))
    assert (made, spent.calls) == (["a"] * 3, 1)


def test_a_failure_costs_what_came_before_it() -> None:
    async def failing() -> None:
        raise ModelError("server", "down", usage=Usage(calls=2))

    with pytest.raises(ModelError) as caught:
        asyncio.run(after(Usage(calls=1, input_tokens=5), failing()))
    assert caught.value.usage == Usage(calls=3, input_tokens=5)


def test_of_long_sources_what_speaks_of_it() -> None:
    texts = ["Nothing. " * 500, "The bridge opened in 1932. " * 10 + "Nothing. " * 500, ""]
    sources = [Source(id=str(n), text=text, origin="case") for n, text in enumerate(texts)]
    shown = select_excerpts("The bridge opened in 1932.", sources, 1000)
    assert list(shown) == [1]
    assert shown[1].startswith("The bridge opened in 1932.")
    assert sum(map(len, shown.values())) <= 1000
    whole = select_excerpts("The bridge opened in 1932.", sources[:1], 10_000)
    assert whole == {0: texts[0]}
