"""NeMo Gym: the bodies of a resources server's `/verify`.

The request is a row of the data set with the model's `response` in it. The reply carries both back
with the reward; a sample that could not be judged is masked, as NeMo Gym masks it when its own
judge fails, so that it enters neither training nor metrics.
"""

from collections.abc import Mapping
from typing import Any

import msgspec

from fourscore.core import Case, DataError, Rubric, Score, Trace
from fourscore.formats.recorded_outputs import RecordedOutput
from fourscore.train.trainer_input import read_content, read_messages, read_task_id, to_json_value
from fourscore.train.trainer_output import describe_failure, get_numeric_components

#: Keys of a data set's row for the reference, in the order of precedence.
REFERENCES = ("expected_answer", "answer", "ground_truth")
#: NeMo Gym's own failure kind, from `nemo_gym.failure_kinds`.
JUDGE_FAILED = "judge_failed"
#: Fields of the request that the reply repeats.
_ECHOED = ("responses_create_params", "response")


class ModelResponse(msgspec.Struct):
    """What the model gave back, in the shape of OpenAI's Responses API."""

    output: list[Any]


class NeMoGymRequest(msgspec.Struct):
    """A rollout, and beside it the task's own fields: `expected_answer` and what judges need."""

    responses_create_params: dict[str, Any]
    response: ModelResponse


class NeMoGymReply(msgspec.Struct, kw_only=True):
    """The rollout without its references, and its reward; a masked one was not measured."""

    responses_create_params: dict[str, Any]
    response: dict[str, Any]
    reward: float
    mask_sample: bool
    reward_components: dict[str, float]
    failure_kind: str | None
    failure_reason: str | None


def read_request(body: object) -> tuple[Case, list[RecordedOutput]]:
    """Read a `BaseVerifyRequest`; the row's own fields are metadata."""
    if not isinstance(body, dict):
        raise DataError("expected an object")
    params, response = _get_object(body, "responses_create_params"), _get_object(body, "response")
    output = response.get("output")
    if not isinstance(output, list):
        raise DataError("expected a list", field="response.output")
    row = {key: to_json_value(value) for key, value in body.items() if key not in _ECHOED}
    nested = row.get("verifier_metadata")
    metadata = {**row, **(nested if isinstance(nested, dict) else {})}
    expected = next((metadata[key] for key in REFERENCES if metadata.get(key) is not None), None)
    try:
        case = Case(
            id=read_task_id(metadata),
            input=to_json_value(params.get("input")),
            expected=expected,
            metadata=metadata,
        )
        return case, [RecordedOutput(_read_output(output))]
    except ValueError as error:
        raise DataError(str(error)) from None


def write_response(rubric: Rubric, body: Mapping[str, object], score: Score) -> dict[str, Any]:
    """Return a `BaseMultiRewardVerifyResponse`.

    It repeats what NeMo Gym requires of the request, and none of the row's other fields: the
    reference is one of them.
    """
    parts = get_numeric_components(rubric, score)
    reply = {
        **{key: body[key] for key in _ECHOED},
        "reward": 0.0 if score.reward is None else score.reward,
        "mask_sample": score.reward is None,
        "failure_kind": None,
        "failure_reason": None,
        "reward_components": parts,
        **parts,  # its metrics do not look into the mapping
    }
    if score.reward is None:
        reason = describe_failure(score)
        reply |= {
            "failure_kind": JUDGE_FAILED,
            "failure_reason": reason,
            "instance_config": {"mask_sample": True},  # where earlier trainers look
            "_ng_failure_class": JUDGE_FAILED,
            "_ng_failure_judge_error": reason,
        }
    return reply


def _get_object(body: Mapping[str, object], field: str) -> Mapping[str, object]:
    value = body.get(field)
    if not isinstance(value, dict):
        raise DataError("expected an object", field=field)
    return value


def _read_output(output: list[Any]) -> Trace:
    """Return the trace of the Responses API's items: messages, function calls and their results."""
    answer = ""
    messages: list[dict[str, Any]] = []
    for item in output:
        if not isinstance(item, dict):
            continue
        kind, call = item.get("type"), item.get("call_id")
        if kind == "message" and item.get("role", "assistant") == "assistant":
            answer = read_content(item.get("content"))
            messages.append({"role": "assistant", "content": answer})
        elif kind in ("function_call", "custom_tool_call"):
            arguments = item.get("arguments", item.get("input"))
            calls = [{"id": call, "name": item.get("name"), "arguments": arguments}]
            messages.append({"role": "assistant", "content": "", "tool_calls": calls})
            answer = ""  # a later message has to answer
        elif kind in ("function_call_output", "custom_tool_call_output"):
            result = item.get("output")
            text = result if isinstance(result, str) else read_content(result)
            messages.append({"role": "tool", "tool_call_id": call, "content": text})
    return Trace(output=answer, steps=read_messages(messages))
