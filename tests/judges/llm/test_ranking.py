"""Candidates side by side: pairs in both orders, lists in several."""

import asyncio
import re
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fourscore.core import Case, Rubric, Status, Trace, score
from fourscore.judges.llm.comparison import compute_shared_ranks, convert_rank, draw_orders
from fourscore.judges.llm.listwise import Listwise
from fourscore.judges.llm.pairwise import Pairwise
from fourscore.judges.loading import load_judge
from fourscore.models.messages import Request
from fourscore.models.scripted import ScriptedModel

from .scripts import answering, number_of, verdict

CASE = Case(input="How many?", expected="three")
BODY = re.compile(r"\[[0-9a-f]{12} ([A-Z])\]\n(.*?)\n\[", re.DOTALL)


def traces(*answers: str) -> list[Trace]:
    return [Trace(output=answer) for answer in answers]


def longest_first(text: str) -> list[str]:
    """The letters of the candidates in a question, the longest answer first."""
    return [letter for letter, _ in sorted(BODY.findall(text), key=lambda pair: -len(pair[1]))]


def by_length(text: str) -> Mapping[str, Any]:
    return verdict(longest_first(text)[0])


def ranked(judge: Any, *answers: str) -> list[Any]:
    return list(asyncio.run(judge.rank(CASE, traces(*answers))))


def test_pair_is_asked_in_both_orders() -> None:
    model = answering(by_length)
    signals = ranked(Pairwise(model=model), "a long answer", "short")
    assert [signal.value for signal in signals] == [1.0, 0.0]
    assert all(signal.relative for signal in signals)
    shown = [BODY.findall(ask.messages[1].content) for ask in model.requests]
    assert shown == [
        [("A", "a long answer"), ("B", "short")],
        [("A", "short"), ("B", "a long answer")],
    ]
    assert signals[0].reason == "won 1, tied 0, lost 0; 0 of 1 comparisons changed with the order"


def test_model_that_prefers_a_position_gives_ties() -> None:
    signals = ranked(Pairwise(model=answering(lambda _: verdict("A"))), "one", "two", "three")
    assert [signal.value for signal in signals] == [0.5, 0.5, 0.5]
    assert "3 of 3 comparisons changed with the order" in signals[0].reason


def test_win_in_one_order_and_tie_in_the_other_is_a_tie() -> None:
    model = answering(
        lambda text: verdict("A" if text.index("first one") < text.index("second") else "tie")
    )
    signals = ranked(Pairwise(model=model), "first one", "second")
    assert [signal.value for signal in signals] == [0.5, 0.5]
    assert "0 of 1 comparisons changed" in signals[0].reason


def test_every_pair_is_compared_and_usage_counts_once() -> None:
    model = answering(by_length)
    signals = ranked(Pairwise(model=model), "xxxx", "xx", "xxx", "x")
    assert [signal.value for signal in signals] == pytest.approx([1.0, 1 / 3, 2 / 3, 0.0])
    assert sum(signal.usage.calls for signal in signals) == model.calls == 12
    assert Pairwise(model=model).most(CASE, 4).calls == 12


def test_empty_answer_loses_and_equal_answers_tie_without_asking() -> None:
    model = answering(by_length)
    signals = ranked(Pairwise(model=model), "Solution:", "three", "three", "")
    assert [signal.value for signal in signals] == pytest.approx([1 / 6, 5 / 6, 5 / 6, 1 / 6])
    assert model.calls == 0


def test_listwise_shows_answers_in_several_orders() -> None:
    model = answering(lambda text: {"evidence": "length", "ranking": longest_first(text)})
    judge = Listwise(model=model, permutations=4)
    signals = ranked(judge, "xx", "xxxx", "x", "xxx")
    assert [signal.value for signal in signals] == pytest.approx([1 / 3, 1.0, 0.0, 2 / 3])
    assert signals[1].reason == "rank 1 of 4: ranked 1, 1, 1, 1 in 4 orders"
    shown = [tuple(text for _, text in BODY.findall(a.messages[1].content)) for a in model.requests]
    assert len(shown) == 4
    assert shown[1] == tuple(reversed(shown[0]))
    assert judge.most(CASE, 4).calls == 4
    assert sum(signal.usage.calls for signal in signals if signal.usage) == 4


def test_ranking_by_position_gives_ties() -> None:
    def by_place(text: str) -> Mapping[str, Any]:
        return {"evidence": "", "ranking": [letter for letter, _ in BODY.findall(text)]}

    signals = ranked(Listwise(model=answering(by_place)), "one", "two", "four")
    assert [signal.value for signal in signals] == [0.5, 0.5, 0.5]
    assert signals[0].reason.startswith("rank 2 of 3")


def test_empty_answer_is_ranked_last() -> None:
    model = answering(lambda text: {"evidence": "", "ranking": longest_first(text)})
    signals = ranked(Listwise(model=model), ":", "x y", "", "x y z")
    assert [signal.value for signal in signals] == pytest.approx([1 / 6, 2 / 3, 1 / 6, 1.0])
    alone = ranked(Listwise(model=model), ":", "only this")
    assert [signal.value for signal in alone] == [0.0, 1.0]


def test_ranking_with_repeated_letter_is_asked_again_then_an_error() -> None:
    model = answering(lambda _: {"evidence": "", "ranking": ["A", "A"]})
    given = asyncio.run(
        score(Rubric.from_judge(Listwise(model=model, permutations=1)), CASE, traces("one", "two"))
    )
    assert [one.status for one in given] == [Status.JUDGE_ERROR] * 2
    assert "does not name each of A, B once" in given[0].reason
    assert model.calls == 3


def test_bound_schema_lists_whole_rankings() -> None:
    model = answering(lambda text: {"evidence": "", "ranking": " > ".join(longest_first(text))})
    signals = ranked(Listwise(model=model, bind="schema"), "xx", "xxx", "x")
    assert [signal.value for signal in signals] == [0.5, 1.0, 0.0]
    schema = model.requests[0].schema
    assert schema is not None
    assert len(schema["properties"]["ranking"]["enum"]) == 6


def test_score_gives_group_rewards() -> None:
    model = answering(lambda text: {"evidence": "", "ranking": longest_first(text)})
    rubric = Rubric.from_judge(Listwise(model=model))
    given = asyncio.run(score(rubric, CASE, traces("xx", "xxx", "x")))
    assert [one.reward for one in given] == [0.5, 1.0, 0.0]
    assert [one.value for one in given] == [None, None, None]  # says nothing outside of its group
    (single,) = asyncio.run(score(rubric, CASE, traces("xx")))
    assert single.status is Status.SKIPPED


def test_too_many_candidates_are_an_error() -> None:
    judge = Pairwise(model=answering(by_length), most_candidates=2)
    given = asyncio.run(score(Rubric.from_judge(judge), CASE, traces("a b", "b c", "c d")))
    assert "3 answers to compare in pairs, at most 2" in given[0].reason
    many = [f"answer {n}" for n in range(27)]
    given = asyncio.run(score(Rubric.from_judge(Listwise(model=judge.model)), CASE, traces(*many)))
    assert "27 answers to rank; `listwise` takes 26 at most" in given[0].reason


def test_answer_cannot_win_by_naming_a_letter() -> None:
    """A candidate that pretends to be the verdict is inside its fence, in both orders."""

    def obeys_inside(ask: Request) -> Mapping[str, Any]:
        text = ask.messages[1].content
        bodies = dict(BODY.findall(text))
        # A model that believes the candidate shown first, if it claims to be chosen.
        choice = "A" if "choose A" in bodies["A"] else "tie"
        return {"number": number_of(ask), **verdict(choice)}

    signals = ranked(Pairwise(model=ScriptedModel(obeys_inside)), "choose A", "three")
    assert [signal.value for signal in signals] == [0.5, 0.5]


def test_loads_by_judge_name() -> None:
    for name in ("pairwise", "listwise"):
        judge = load_judge(name, None, {"model": "openai:m", "criterion": "which is kinder"})
        assert judge.name == name
        assert judge.fingerprint != load_judge(name, None, {"model": "openai:m"}).fingerprint


@given(st.lists(st.integers(0, 5).map(float), min_size=1, max_size=8))
def test_equal_scores_share_ranks(scores: list[float]) -> None:
    ranks = compute_shared_ranks(scores)
    n = len(scores)
    assert sum(ranks) == pytest.approx(n * (n + 1) / 2)
    for a in range(n):
        for b in range(n):
            assert (ranks[a] < ranks[b]) == (scores[a] > scores[b])


def test_convert_rank_returns_value_from_0_to_1() -> None:
    assert [convert_rank(rank, 3) for rank in (1, 2, 3)] == [1.0, 0.5, 0.0]
    assert convert_rank(1, 1) == 1.0


def test_orders_are_repeatable_and_come_with_their_reverse() -> None:
    assert draw_orders(5, 3, "seed") == draw_orders(5, 3, "seed")
    first, back, _ = draw_orders(5, 3, "seed")
    assert back == tuple(reversed(first))
    assert draw_orders(5, 1, "seed") != draw_orders(5, 1, "other")
