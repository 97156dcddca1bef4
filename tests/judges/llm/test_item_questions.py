"""One question per item, and several verdicts as one."""

import asyncio
from typing import Any

import pytest

from fourscore.core import Case, Usage
from fourscore.judges.dimensions.sources import Source
from fourscore.judges.llm.grounding import select_excerpts
from fourscore.judges.llm.item_questions import (
    add_spent,
    ask_list,
    fence_each,
    fence_numbered,
    rate_confidence,
)
from fourscore.judges.llm.model_judge import ModelJudge
from fourscore.judges.llm.verdicts import ModelVerdict
from fourscore.models.messages import NO_USAGE, ModelError
from fourscore.models.scripted import ScriptedModel

from .scripts import number_of


def given(share: float | None) -> ModelVerdict:
    probabilities = None if share is None else {"yes": share, "no": 1 - share}
    return ModelVerdict(choice="yes", probabilities=probabilities, usage=NO_USAGE)


@pytest.mark.parametrize(
    ("shares", "missing", "sure"),
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
def test_confidence_of_several_verdicts(
    shares: list[float | None], missing: int, sure: str
) -> None:
    assert rate_confidence([given(share) for share in shares], missing) == sure


def test_items_share_one_check_number() -> None:
    judge = ModelJudge(model=ScriptedModel(["x"]), language="zh", form="full")
    one, other = fence_each(judge, {"question": "a?"}, "claim", ["first", "second"])
    assert one.number == other.number
    assert one.texts["question"] == other.texts["question"]
    assert other.texts["claim"] == f"[{one.number} 主张]\nsecond\n[{one.number} /主张]"
    again, _ = fence_each(judge, {"question": "a?"}, "claim", [one.texts["claim"], "second"])
    assert again.number != one.number


def test_numbered_items_are_one_text() -> None:
    judge = ModelJudge(model=ScriptedModel(["x"]), max_chars=100, form="full")
    fenced = fence_numbered(judge, {"question": "a?"}, "source", ["first", "x" * 500], "sources")
    assert (
        f"[{fenced.number} SOURCE 1]\nfirst\n[{fenced.number} /SOURCE 1]" in fenced.texts["sources"]
    )
    assert f"[{fenced.number}: 400 characters are left out here]" in fenced.texts["sources"]


@pytest.mark.parametrize("bind", ["reply", "schema"])
def test_list_of_the_model_is_limited(bind: Any) -> None:
    def script(ask: Any) -> Any:
        schema = ask.schema["properties"]["aspects"]
        assert schema.get("maxItems") == (3 if bind == "schema" else None)
        many = 3 if bind == "schema" else 50
        return {"number": number_of(ask), "aspects": ["a"] * many}

    judge = ModelJudge(model=ScriptedModel(script), bind=bind, form="full")
    fenced = judge.fence_case(Case(input="a?"), "")
    made, spent = asyncio.run(ask_list(judge, "aspects", fenced, "aspects", item_fields=(), most=3))
    assert (made, spent.calls) == (["a"] * 3, 1)


def test_failure_carries_usage_spent_before_it() -> None:
    async def failing() -> None:
        raise ModelError("server", "down", usage=Usage(calls=2))

    with pytest.raises(ModelError) as caught:
        asyncio.run(add_spent(Usage(calls=1, input_tokens=5), failing()))
    assert caught.value.usage == Usage(calls=3, input_tokens=5)


def test_selects_pieces_of_long_sources_that_match_the_claim() -> None:
    texts = ["Nothing. " * 500, "The bridge opened in 1932. " * 10 + "Nothing. " * 500, ""]
    sources = [Source(id=str(n), text=text, origin="case") for n, text in enumerate(texts)]
    shown = select_excerpts("The bridge opened in 1932.", sources, 1000)
    assert list(shown) == [1]
    assert shown[1].startswith("The bridge opened in 1932.")
    assert sum(map(len, shown.values())) <= 1000
    fenced = select_excerpts("The bridge opened in 1932.", sources[:1], 10_000)
    assert fenced == {0: texts[0]}
