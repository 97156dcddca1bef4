"""The judge `panel`: several models and one value."""

import asyncio
import pickle
from typing import Any

import pytest

from fourscore.core import Case, ConfigError, Rubric, Status, Trace, Usage, score
from fourscore.judges.llm.panel import Member, Panel
from fourscore.judges.loading import load_judge
from fourscore.models.messages import ModelError
from fourscore.models.scripted import ScriptedModel

from .scripts import answering, verdict

CASE = Case(input="What colour is the sky?")
ANSWER = Trace(output="It is blue.")
CRITERIA = {"criteria": ["one", "two", "three", "four"]}


def member(name: str, met: int, skill: float = 1.0) -> Member:
    """A model that finds so many of the four criteria met."""
    words = ("one", "two", "three", "four")[:met]

    def decide(text: str) -> Any:
        statement = text.rsplit("answer:", 1)[1]
        return verdict("yes" if any(word in statement for word in words) else "no")

    return Member(answering(decide, name), skill)


def failing(name: str) -> Member:
    error = ModelError("refused", f"{name} will not", usage=Usage(calls=1))
    return Member(ScriptedModel([error], name=name))


def panel(*members: Member, **options: Any) -> Panel:
    return Panel(judge_name="criteria", members=members, options=CRITERIA, **options)


def given(judge: Panel) -> Any:
    (one,) = asyncio.run(score(Rubric.from_judge(judge), CASE, [ANSWER]))
    return one


@pytest.mark.parametrize(
    ("options", "value"),
    [
        ({}, 0.75),
        ({"combine": "median"}, 1.0),
        ({"combine": "majority"}, 1.0),
        ({"combine": "majority", "threshold": 0.25}, 1.0),
    ],
)
def test_combines_values_of_three_members(options: dict[str, Any], value: float) -> None:
    judge = panel(member("a", 4), member("b", 1), member("c", 4), **options)
    score_ = given(judge)
    assert score_.value == value
    assert "a 1.00, b 0.25, c 1.00; they differ by 0.75" in score_.reason
    assert score_.cost.calls == 12 == judge.most(CASE).calls
    assert score_.provenance.models == ("a", "b", "c")


def test_skill_is_the_weight_of_a_member() -> None:
    assert given(panel(member("a", 4, 3), member("b", 0, 1))).value == 0.75
    assert given(panel(member("a", 4, 1), member("b", 0, 3), combine="majority")).value == 0.0
    assert given(panel(member("a", 4, 1), member("b", 0, 1), combine="majority")).value == 0.0
    assert given(panel(member("a", 4, 1), member("b", 0, 1), combine="median")).value == 0.5
    assert given(panel(member("a", 4, 1), member("b", 2, 3), combine="median")).value == 0.5


def test_failed_member_is_named_and_left_out_if_quorum_answered() -> None:
    score_ = given(panel(member("a", 4), failing("b"), member("c", 2)))
    assert score_.value == 0.75
    assert "b did not answer: b will not" in score_.reason
    assert score_.cost.calls > 8
    lost = given(panel(member("a", 4), failing("b"), member("c", 2), quorum=3))
    assert lost.status is Status.REFUSED
    assert lost.cost.calls > 8


def test_loads_from_options_of_a_rubric() -> None:
    options = {
        "judge": "criteria",
        "members": ["openai:a", {"model": "openai:b", "skill": 0.5}],
        "options": CRITERIA,
        "combine": "median",
    }
    judge = load_judge("panel", None, options)
    assert judge.names == ("criteria",)
    assert judge.models == ("a", "b")
    assert list(judge.prompts) == ["criterion/en"]
    again = pickle.loads(pickle.dumps(judge))
    assert again.fingerprint == judge.fingerprint
    assert (
        load_judge("panel", None, {**options, "combine": "mean"}).fingerprint != judge.fingerprint
    )


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"members": []}, "expected at least one model"),
        ({"members": ["openai:a", "openai:a"]}, "listed twice"),
        ({"quorum": 3}, "at most the number of members"),
        ({"judge": "math"}, "unknown key"),
        ({"judge": "pairwise", "options": {}}, "does not ask a model about one answer"),
        ({"members": [{"model": "openai:a", "skill": 0}]}, "every skill is 0"),
        ({"combine": "sum"}, "sum"),
    ],
)
def test_bad_options_are_refused(change: dict[str, Any], words: str) -> None:
    options = {"judge": "criteria", "members": ["openai:a", "openai:b"], "options": CRITERIA}
    with pytest.raises(ConfigError, match=words):
        load_judge("panel", None, {**options, **change})
