"""OpenRLHF's and NeMo Gym's bodies over HTTP, as their own clients send and read them."""

from pathlib import Path
from typing import Any

import pytest

from .conftest import Answer, Served, Start

JUDGES = Path(__file__).with_name("judges.py")
PROMPT = r"<|user|>2 + 2? Answer in \boxed{}.<|assistant|>"


def post_openrlhf(served: Served, answers: list[str], labels: Any, prompt: str = PROMPT) -> Answer:
    """The payload of `SingleTurnAgentExecutor._fetch_rewards_via_http`, openrlhf 0.11."""
    body = {
        "query": [prompt + answer for answer in answers],
        "prompts": [prompt] * len(answers),
        "labels": labels,
    }
    return served.post(body, "/openrlhf/reward")


def test_openrlhf_gets_rewards_scores_and_logs(math: Served) -> None:
    answers = [r"\boxed{4}", r"\boxed{5}", "no box: the prompt's does not count"]
    reply = post_openrlhf(math, answers, ["4"] * 3).json
    assert reply["rewards"] == reply["scores"] == [1.0, 0.0, 0.0]
    assert set(reply) == {"rewards", "scores", "extra_logs"}
    assert all(
        len(column) == 3 and all(isinstance(value, float) for value in column)
        for column in reply["extra_logs"].values()
    )
    assert reply["extra_logs"]["fourscore_signal_math"] == [1.0, 0.0, 0.0]


def test_openrlhf_log_keys_do_not_depend_on_the_score(math: Served) -> None:
    right, wrong = (post_openrlhf(math, [text], ["4"]).json for text in (r"\boxed{4}", "?"))
    assert set(right["extra_logs"]) == set(wrong["extra_logs"])


def test_openrlhf_gets_422_for_an_output_without_reference(math: Served) -> None:
    answer = post_openrlhf(math, [r"\boxed{4}", r"\boxed{4}"], ["4", None])
    assert (answer.status, answer.error["code"]) == (422, "not_judged")
    assert answer.error["field"] == "query[1]"


@pytest.mark.parametrize(("how", "status"), [("hang", 504), ("abort", 502), ("raise", 502)])
def test_openrlhf_gets_an_error_where_the_judge_fails(start: Start, how: str, status: int) -> None:
    served = start("--judge", f"{JUDGES}->hostile", "--deadline", "2", "--judge-workers", "1")
    answer = post_openrlhf(served, [how], [{"answer": "4"}])
    assert (answer.status, answer.error["field"]) == (status, "query[0]")
    assert post_openrlhf(served, ["well"], [None]).json["rewards"] == [1.0]


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "query"),
        ({"query": "text", "prompts": [""]}, "query"),
        ({"query": [1], "prompts": [""]}, "query[0]"),
        ({"query": [], "prompts": []}, "query"),
        ({"query": ["a"], "prompts": []}, "prompts"),
        ({"query": ["a"], "prompts": ["a", "b"]}, "prompts"),
        ({"query": ["a"], "prompts": ["a"], "labels": {}}, "labels"),
        ({"query": ["a"], "prompts": ["a"], "labels": [1, 2]}, "labels"),
    ],
)
def test_wrong_openrlhf_body_gets_400_with_the_field(
    math: Served, body: Any, field: str | None
) -> None:
    answer = math.post(body, "/openrlhf/reward")
    assert (answer.status, answer.error["field"]) == (400, field)


def post_nemo_gym(served: Served, text: str, **task: Any) -> Answer:
    """The payload of NeMo Gym 0.7's `SimpleAgent.run`: the row, and the model's response."""
    part = {"type": "output_text", "text": text, "annotations": []}
    message = {"type": "message", "id": "m", "role": "assistant", "content": [part]}
    body = {
        "responses_create_params": {"input": [{"role": "user", "content": "2 + 2?"}]},
        "response": {"id": "r", "object": "response", "output": [message]},
        **task,
    }
    return served.post(body, "/nemo_gym/verify")


def test_nemo_gym_gets_its_rollout_with_a_reward_and_no_reference(math: Served) -> None:
    reply = post_nemo_gym(math, r"\boxed{4}", expected_answer="4", question="2 + 2?").json
    assert reply["reward"] == 1.0
    assert reply["mask_sample"] is False
    assert reply["responses_create_params"] == {"input": [{"role": "user", "content": "2 + 2?"}]}
    assert reply["response"]["output"][0]["content"][0]["text"] == r"\boxed{4}"
    assert "expected_answer" not in reply
    assert "question" not in reply
    assert post_nemo_gym(math, r"\boxed{5}", expected_answer="4").json["reward"] == 0.0


def test_nemo_gym_output_that_cannot_be_judged_is_masked(math: Served) -> None:
    reply = post_nemo_gym(math, r"\boxed{4}").json
    assert (reply["reward"], reply["mask_sample"]) == (0.0, True)
    assert reply["failure_kind"] == "judge_failed"
    assert reply["failure_reason"] == "math: the task lacks what its judge needs"


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "responses_create_params"),
        ({"responses_create_params": {}, "response": []}, "response"),
        ({"responses_create_params": {}, "response": {}}, "response.output"),
        ({"responses_create_params": {}, "response": {"output": "x"}}, "response.output"),
        ({"responses_create_params": 1, "response": {"output": []}}, "responses_create_params"),
    ],
)
def test_wrong_nemo_gym_body_gets_400_with_the_field(
    math: Served, body: Any, field: str | None
) -> None:
    answer = math.post(body, "/nemo_gym/verify")
    assert (answer.status, answer.error["field"]) == (400, field)


def test_lone_surrogates_from_nemo_gym_are_replaced(math: Served) -> None:
    body = rb'{"responses_create_params": {"input": "\udc00"}, "response": {"output": []}}'
    reply = math.post(body, "/nemo_gym/verify").json
    assert reply["responses_create_params"]["input"] == "\ufffd"
