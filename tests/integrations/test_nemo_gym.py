"""NeMo Gym 0.7.0: `/verify`, `BaseVerifyRequest` and `BaseMultiRewardVerifyResponse`."""

import json
from typing import Any

import pytest

from fourscore.core import Case, DataError, Rubric, ToolCall, Trace, judge
from fourscore.integrations.nemo_gym import read_request, write_response
from fourscore.judges.math import MathJudge
from fourscore.judges.scorer import RubricScorer

MATH = RubricScorer(Rubric.from_judge(MathJudge()))


def message(text: str) -> dict[str, Any]:
    part = {"type": "output_text", "text": text, "annotations": []}
    return {
        "id": "m",
        "type": "message",
        "role": "assistant",
        "status": "completed",
        "content": [part],
    }


def request(*items: dict[str, Any], **row: Any) -> dict[str, Any]:
    """What `SimpleAgent.run` posts: the row of the data set and the model's response."""
    response = {
        "id": "r",
        "created_at": 0.0,
        "model": "m",
        "object": "response",
        "output": [*items],
    }
    ask = [{"role": "user", "content": "1+1?"}]
    return {"responses_create_params": {"input": ask}, **row, "response": response}


def verify(body: dict[str, Any], scorer: RubricScorer = MATH) -> dict[str, Any]:
    case, outputs = read_request(body)
    reply = write_response(scorer.rubric, body, *scorer.score(case, outputs))
    return dict(json.loads(json.dumps(reply, allow_nan=False)))


@pytest.mark.parametrize("key", ["expected_answer", "answer", "ground_truth"])
def test_rollout_is_returned_with_its_reward(key: str) -> None:
    body = request(message(r"\boxed{2}"), **{key: "2"})
    reply = verify(body)
    parts = {"fourscore_judged": 1.0, "fourscore_passed": 1.0, "fourscore_signal_math": 1.0}
    assert reply == {
        "responses_create_params": body["responses_create_params"],
        "response": body["response"],
        "reward": 1.0,
        "mask_sample": False,
        "failure_kind": None,
        "failure_reason": None,
        "reward_components": parts,
        **parts,
    }
    assert verify(request(message(r"\boxed{3}"), **{key: "2"}))["reward"] == 0.0


def test_unjudged_sample_is_masked_as_nemo_gym_masks_it() -> None:
    """nemo_gym/judge.py, `judge_failsafe`."""
    reply = verify(request(message(r"\boxed{2}")))
    assert (reply["reward"], reply["mask_sample"]) == (0.0, True)
    assert reply["failure_kind"] == reply["_ng_failure_class"] == "judge_failed"
    assert reply["failure_reason"] == "math: the task lacks what its judge needs"
    assert reply["_ng_failure_judge_error"] == reply["failure_reason"]
    assert reply["instance_config"] == {"mask_sample": True}
    judged = verify(request(message("x"), answer="2"))
    assert list(reply["reward_components"]) == list(judged["reward_components"])


def test_reply_never_contains_the_reference() -> None:
    @judge
    def leaky(case: Case, trace: Trace) -> float:
        raise ValueError(f"{trace.answer} is not {case.expected}")

    secret = {"expected_answer": "the secret", "verifier_metadata": {"also": "the secret"}}
    for scorer in (MATH, RubricScorer(Rubric.from_judge(leaky))):
        assert "the secret" not in json.dumps(verify(request(message("x"), **secret), scorer))


def test_verifier_metadata_becomes_case_metadata() -> None:
    row = {"verifier_metadata": {"target": 4, "task_id": "t7"}, "source": "here"}
    case, _ = read_request(request(message("x"), **row))
    assert case.id == "t7"
    assert (case.metadata["target"], case.metadata["source"]) == (4, "here")
    assert case.input == [{"role": "user", "content": "1+1?"}]


def test_function_calls_become_steps_and_the_last_message_the_answer() -> None:
    call = {"type": "function_call", "call_id": "c", "name": "add", "arguments": '{"a": 1}'}
    result = {"type": "function_call_output", "call_id": "c", "output": "2"}
    _, (recorded,) = read_request(request(message("let me see"), call, result, message("2")))
    assert recorded.trace.output == "2"
    assert recorded.trace.tool_calls == (ToolCall(name="add", arguments={"a": 1}, result="2"),)
    _, (recorded,) = read_request(request(message(r"\boxed{2}, surely"), call))
    assert recorded.trace.output == ""


def test_reasoning_items_are_no_answer() -> None:
    thought = {"type": "reasoning", "summary": [{"type": "summary_text", "text": r"\boxed{2}"}]}
    assert verify(request(thought, answer="2"))["reward"] == 0.0


@pytest.mark.parametrize(
    ("wrong", "field"),
    [
        ([], "expected an object"),
        ({}, "responses_create_params: "),
        ({"responses_create_params": {}}, "response: "),
        ({"responses_create_params": {}, "response": {}}, r"response\.output: "),
    ],
)
def test_wrong_body_is_refused_with_its_field(wrong: Any, field: str) -> None:
    with pytest.raises(DataError, match=field):
        read_request(wrong)
