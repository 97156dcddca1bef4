"""NeMo Gym: the bodies of a resources server's `/verify`.

The request is a row of the data set with the model's `response` in it. The reply carries both back
with the reward; a sample that could not be judged is masked, as NeMo Gym masks it when its own
judge fails, so that it enters neither training nor metrics.
"""

from collections.abc import Mapping
from typing import Any

from fourscore.core import Case, DataError, Rubric, Score, Trace
from fourscore.formats.rows import Recorded
from fourscore.integrations.material import identity, plain, steps_of, text_of
from fourscore.integrations.verdict import components, in_short, numbers

#: Keys of a data set's row for the reference, in the order they are looked for.
REFERENCES = ("expected_answer", "answer", "ground_truth")
#: NeMo Gym's words, `nemo_gym.failure_kinds`.
JUDGE_FAILED = "judge_failed"


def read_request(body: Any) -> tuple[Case, list[Recorded]]:
    """A `BaseVerifyRequest` with the row's own fields, which are metadata."""
    if not isinstance(body, dict):
        raise DataError("expected an object")
    params, response = _object(body, "responses_create_params"), _object(body, "response")
    output = response.get("output")
    if not isinstance(output, list):
        raise DataError("expected a list", field="response.output")
    row = {key: plain(value) for key, value in body.items() if key not in _ECHOED}
    nested = row.get("verifier_metadata")
    metadata = {**row, **(nested if isinstance(nested, dict) else {})}
    expected = next((metadata[key] for key in REFERENCES if metadata.get(key) is not None), None)
    try:
        case = Case(
            id=identity(metadata),
            input=plain(params.get("input")),
            expected=expected,
            metadata=metadata,
        )
        return case, [Recorded(_trace(output))]
    except ValueError as error:
        raise DataError(str(error)) from None


_ECHOED = ("responses_create_params", "response")


def write_response(rubric: Rubric, body: Mapping[str, Any], score: Score) -> dict[str, Any]:
    """A `BaseMultiRewardVerifyResponse`. Of the request it repeats what NeMo Gym requires, and
    none of the row's other fields: the reference is one of them.
    """
    parts = numbers(components(rubric, score))
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
        reason = in_short(score)
        reply |= {
            "failure_kind": JUDGE_FAILED,
            "failure_reason": reason,
            "instance_config": {"mask_sample": True},  # where earlier trainers look
            "_ng_failure_class": JUDGE_FAILED,
            "_ng_failure_judge_error": reason,
        }
    return reply


def _object(body: Mapping[str, Any], field: str) -> Mapping[str, Any]:
    value = body.get(field)
    if not isinstance(value, dict):
        raise DataError("expected an object", field=field)
    return value


def _trace(output: list[Any]) -> Trace:
    """The items of the Responses API: messages, calls of functions, and what they returned."""
    items = [item for item in output if isinstance(item, dict)]
    answer = ""
    messages: list[dict[str, Any]] = []
    for item in items:
        kind, call = item.get("type"), item.get("call_id")
        if kind == "message" and item.get("role", "assistant") == "assistant":
            answer = text_of(item.get("content"))
            messages.append({"role": "assistant", "content": answer})
        elif kind in ("function_call", "custom_tool_call"):
            arguments = item.get("arguments", item.get("input"))
            calls = [{"id": call, "name": item.get("name"), "arguments": arguments}]
            messages.append({"role": "assistant", "content": "", "tool_calls": calls})
            answer = ""  # a later message has to answer
        elif kind in ("function_call_output", "custom_tool_call_output"):
            result = item.get("output")
            text = result if isinstance(result, str) else text_of(result)
            messages.append({"role": "tool", "tool_call_id": call, "content": text})
    return Trace(output=answer, steps=steps_of(messages))
