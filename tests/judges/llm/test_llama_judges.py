"""Dimensions, pairs and lists asked of a real small model: its replies can be read."""

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest
from tests.models.llama import needs_llama, serving_llama

from fourscore.core import Case, Rubric, Status, ToolCall, Trace, score
from fourscore.judges.llm.model_judge import ModelJudge
from fourscore.judges.llm.verdicts import ModelVerdict
from fourscore.judges.loading import BY_MODEL, load_judge
from fourscore.models.json_modes import forget_endpoints

pytestmark = needs_llama
#: Few and short: a call takes seconds here.
SMALL = {"bind": "schema", "max_chars": 300, "max_tokens": 400}
QUESTION = "When did the tower open, and how tall is it?"
TOWER = "The tower opened in 1889. It is 330 m tall."
CASES: dict[str, tuple[Any, Trace]] = {
    "factual_accuracy": (
        {"claims": [{"text": "The tower opened in 1889."}]},
        Trace(output=TOWER),
    ),
    "completeness": ({"aspects": ["height"]}, Trace(output=TOWER)),
    "citation_accuracy": (
        {"sources": [{"id": 1, "text": TOWER}]},
        Trace(output="The tower opened in 1889 [1]."),
    ),
    "source_quality": (None, Trace(output="It opened in 1889 (https://www.toureiffel.paris/en).")),
    "tool_efficiency": (
        None,
        Trace(
            output="1889",
            steps=(ToolCall(name="search", arguments={"q": "tower"}, result=TOWER),),
        ),
    ),
}


@pytest.fixture(scope="module")
def llama() -> Iterator[str]:
    forget_endpoints()
    with serving_llama() as address:
        yield address


@pytest.fixture
def verdicts(monkeypatch: pytest.MonkeyPatch) -> list[ModelVerdict]:
    """The verdicts that are given during the test."""
    seen: list[ModelVerdict] = []
    decide = ModelJudge.decide

    async def recording(self: ModelJudge, *parts: Any, **named: Any) -> ModelVerdict:
        seen.append(await decide(self, *parts, **named))
        return seen[-1]

    monkeypatch.setattr(ModelJudge, "decide", recording)
    return seen


def open_judge(name: str, llama: str, form: str = "full") -> Any:
    settings = {"base_url": llama, "cache": False, "concurrency": 1, "hedge": False}
    options = {"model": "openai:smollm2", "settings": settings, "form": form, **SMALL}
    return load_judge(name, options=options)


def scored(name: str, expected: Any, trace: Trace, judge: Any) -> Any:
    case = Case(input=QUESTION, expected=expected)
    (given,) = asyncio.run(score(Rubric.from_judge(judge), case, [trace]))
    return given


@pytest.mark.parametrize("form", ["brief", "full"])
@pytest.mark.parametrize("name", sorted(BY_MODEL))
def test_every_dimension_is_measured_with_probabilities(
    name: str, form: str, llama: str, verdicts: list[ModelVerdict]
) -> None:
    given = scored(name, *CASES[name], open_judge(name, llama, form))
    (signal,) = given.signals
    assert (given.status, signal.fault) == (Status.SCORED, None)
    assert "(confidence: " in signal.reason
    assert verdicts
    for verdict in verdicts:
        assert verdict.probabilities is not None  # by log-probabilities
        assert sum(verdict.probabilities.values()) == pytest.approx(1.0)
    assert signal.usage.calls == len(verdicts)


def test_model_lists_the_claims_itself(
    llama: str, verdicts: list[ModelVerdict], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fourscore.judges.llm.factual_accuracy.TAKEN", 1)
    sources = {"sources": [{"id": 1, "text": TOWER}]}
    given = scored(
        "factual_accuracy", sources, Trace(output=TOWER), open_judge("factual_accuracy", llama)
    )
    assert (given.status, len(verdicts)) == (Status.SCORED, 1)
    assert given.signals[0].usage.calls == 2


def test_pairs_are_compared_in_both_orders(llama: str, verdicts: list[ModelVerdict]) -> None:
    traces = [Trace(output=TOWER), Trace(output="I do not know when it opened.")]
    rubric = Rubric.from_judge(open_judge("pairwise", llama))
    given = asyncio.run(score(rubric, Case(input=QUESTION), traces))
    assert [one.status for one in given] == [Status.SCORED] * 2
    first, second = (one.reward or 0.0 for one in given)
    assert first + second == 1.0
    assert [verdict.probabilities is not None for verdict in verdicts] == [True, True]


def test_listwise_ranking_is_read_at_first_reply(llama: str) -> None:
    traces = [Trace(output=TOWER), Trace(output="In 1889."), Trace(output="I do not know.")]
    rubric = Rubric.from_judge(open_judge("listwise", llama))
    given = asyncio.run(score(rubric, Case(input=QUESTION), traces))
    assert [one.status for one in given] == [Status.SCORED] * 3
    assert sum(one.reward or 0.0 for one in given) == pytest.approx(1.5)
    assert given[0].cost.calls == 2  # every reply could be read at once
