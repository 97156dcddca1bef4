"""OpenRLHF 0.11.2: `SingleTurnAgentExecutor`, by function and by HTTP."""

import asyncio
import json
import math
import sys
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fourscore.core import Case, CaseError, DataError, JudgeError, Rubric, Score, Trace, judge
from fourscore.integrations.openrlhf import RewardFunc, read_request, write_response
from fourscore.judges.math import MathJudge
from fourscore.judges.scorer import RubricScorer
from fourscore.train.openrlhf_format import extract_answer

PROMPT = r"<|user|>Put it in a box, like \boxed{2}: 1+1?<|assistant|>"
MATH = RubricScorer(Rubric.from_judge(MathJudge()))


async def fetch_rewards_via_func(reward_func: Any, *columns: list[Any]) -> list[Any]:
    """utils/agent.py, `_fetch_rewards_via_func`: in a thread, one query in each call."""
    rows = [[[value] for value in row] for row in zip(*columns, strict=True)]
    return await asyncio.gather(*(asyncio.to_thread(reward_func, *row) for row in rows))


def test_reward_func_works_with_the_executors_calls() -> None:
    queries = [PROMPT + text for text in (r"\boxed{2}<eos>", "two", r"\boxed{3}")]
    infos = asyncio.run(
        fetch_rewards_via_func(RewardFunc("math"), queries, [PROMPT] * 3, ["2"] * 3)
    )
    assert [info["rewards"] for info in infos] == [[1.0], [0.0], [0.0]]
    assert [info["scores"] for info in infos] == [[1.0], [0.0], [0.0]]
    assert infos[0]["extra_logs"] == {
        "fourscore_judged": [1.0],
        "fourscore_passed": [1.0],
        "fourscore_signal_math": [1.0],
    }


def test_reward_func_takes_a_whole_batch() -> None:
    queries = [PROMPT + r"\boxed{2}", PROMPT]
    result = RewardFunc("math")(queries=queries, prompts=[PROMPT] * 2, labels=["2"] * 2, step=3)
    assert result["rewards"] == [1.0, 0.0]


def test_rewards_are_tensors_where_torch_is_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[Any] = []

    def tensor(values: list[float], dtype: Any) -> str:
        made.append((values, dtype))
        return "a tensor"

    torch = SimpleNamespace(tensor=tensor, float32="float32")
    monkeypatch.setitem(sys.modules, "torch", torch)
    result = RewardFunc("math")([PROMPT + r"\boxed{2}"], [PROMPT], ["2"])
    assert result["rewards"] == result["scores"] == result["extra_logs"]["fourscore_judged"]
    assert set(map(str, made)) == {"([1.0], 'float32')"}


def test_boxed_text_in_the_prompt_is_no_answer() -> None:
    assert RewardFunc("math")([PROMPT + "no idea"], [PROMPT], ["2"])["rewards"] == [0.0]


def test_missing_label_is_not_a_wrong_answer() -> None:
    query = [PROMPT + r"\boxed{2}"]
    with pytest.raises(CaseError, match="no reference answer"):
        RewardFunc("math")(query, [PROMPT], [""])
    result = RewardFunc("math", on_error="none")(query, [PROMPT], [None])
    columns = [result["rewards"], result["scores"], result["extra_logs"]["fourscore_signal_math"]]
    assert all(math.isnan(value) for (value,) in columns)
    assert result["extra_logs"]["fourscore_judged"] == [0.0]


@pytest.mark.parametrize(
    "label",
    [
        {"target": 24, "nums": [3, 3, 8, 8]},
        '{"target": 24, "nums": [3, 3, 8, 8]}',
    ],
)
def test_label_that_is_a_json_object_is_metadata(label: Any) -> None:
    result = RewardFunc("countdown")([PROMPT + r"\boxed{8/(3-8/3)}"], [PROMPT], [label])
    assert result["rewards"] == [1.0]


def test_label_in_braces_that_is_no_json_is_a_reference() -> None:
    assert RewardFunc("math")([r"?\boxed{{1,2}}"], ["?"], ["{1,2}"])["rewards"] == [1.0]


@pytest.mark.parametrize(
    ("query", "prompt"),
    [
        ("ask: answer", "ask:"),
        ("<s>ask: answer", "ask:"),
        ("<s> [INST] ask [/INST] answer", "<s>[INST] ask  [/INST]"),
        (" answer", ""),
        (" answer", "  "),
    ],
)
def test_answer_is_what_follows_the_prompt(query: str, prompt: str) -> None:
    assert extract_answer(query, prompt).strip() == "answer"


@pytest.mark.parametrize(("query", "prompt"), [("answer", "ask:"), ("as", "ask:"), ("", "ask:")])
def test_query_without_its_prompt_is_an_error(query: str, prompt: str) -> None:
    with pytest.raises(DataError, match="does not begin with its prompt"):
        extract_answer(query, prompt)


@given(prompt=st.text(max_size=20), answer=st.text(max_size=20))
def test_answer_is_found_after_any_prompt(prompt: str, answer: str) -> None:
    assert extract_answer(prompt + answer, prompt) == answer


def served(body: Any, scorer: RubricScorer = MATH, on_error: Any = "zero") -> dict[str, Any]:
    """Return the reply of a server that uses both functions, through JSON."""
    rows = read_request(json.loads(json.dumps(body)))
    scores = [score for case, outputs in rows for score in scorer.score(case, outputs)]
    reply = write_response(scorer.rubric, scores, on_error)
    return dict(json.loads(json.dumps(reply, allow_nan=False)))


def body(*answers: str, label: Any = "2") -> dict[str, Any]:
    """utils/agent.py, `_fetch_rewards_via_http`: the payload."""
    n = len(answers)
    queries = [PROMPT + answer for answer in answers]
    return {"query": queries, "prompts": [PROMPT] * n, "labels": [label] * n}


def test_request_over_http_gets_rewards_and_logs() -> None:
    assert served(body(r"\boxed{2}", r"\boxed{3}")) == {
        "rewards": [1.0, 0.0],
        "scores": [1.0, 0.0],
        "extra_logs": {
            "fourscore_judged": [1.0, 1.0],
            "fourscore_passed": [1.0, 0.0],
            "fourscore_signal_math": [1.0, 0.0],
        },
    }


def test_unjudged_query_over_http_is_marked_or_an_error() -> None:
    reply = served(body(r"\boxed{2}", label=""))
    assert (reply["rewards"], reply["extra_logs"]["fourscore_judged"]) == ([0.0], [0.0])
    with pytest.raises(JudgeError, match=r"query\[0\]: math: the task lacks what its judge needs"):
        served(body(r"\boxed{2}", label=""), on_error="raise")


def test_reply_never_contains_the_reference() -> None:
    @judge
    def leaky(case: Case, trace: Trace) -> float:
        raise ValueError(f"{trace.answer} is not {case.expected}")

    scorer = RubricScorer(Rubric.from_judge(leaky))
    secret = "the secret"
    with pytest.raises(JudgeError) as error:
        served(body("x", label=secret), scorer, "raise")
    assert secret not in str(error.value)
    assert secret not in json.dumps(served(body("x", label=secret), scorer))
    assert secret not in json.dumps(served(body(r"\boxed{3}", label=secret)))


def test_equal_neighbouring_queries_are_one_group() -> None:
    mixed = body("a", "b", "c")
    mixed["labels"] = ["1", "1", "2"]
    assert [len(outputs) for _, outputs in read_request(mixed)] == [2, 1]


def test_labels_may_be_missing_from_a_request() -> None:
    ((case, _),) = read_request({"query": ["ab"], "prompts": ["a"]})
    assert case.expected is None


@pytest.mark.parametrize(
    ("wrong", "field"),
    [
        ([], None),
        ({}, "query"),
        ({"query": []}, "query"),
        ({"query": "ab"}, "query"),
        ({"query": [1]}, r"query\[0\]"),
        ({"query": ["ab"]}, "prompts"),
        ({"query": ["ab"], "prompts": ["a", "b"]}, "prompts"),
        ({"query": ["ab"], "prompts": ["a"], "labels": "x"}, "labels"),
        ({"query": ["ab"], "prompts": ["a"], "labels": ["x", "y"]}, "labels"),
        ({"query": ["ab"], "prompts": ["c"], "labels": ["x"]}, r"query\[0\]"),
    ],
)
def test_wrong_body_is_refused_with_its_field(wrong: Any, field: str | None) -> None:
    with pytest.raises(DataError, match=f"^{field}: " if field else "expected an object"):
        read_request(wrong)


def test_response_without_scores_is_empty() -> None:
    nothing: list[Score] = []
    assert write_response(MATH.rubric, nothing)["rewards"] == []
