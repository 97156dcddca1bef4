"""Our `/verify` bodies through the real models of NeMo Gym.

Not collected by pytest, and not part of `make test-trainers`: NeMo Gym wants a newer Python than
this package does. In a virtual environment that has it: `python run_nemo_gym.py`.
"""

import importlib.metadata
import json
import sys
from typing import Any

from nemo_gym.base_resources_server import (  # type: ignore[import-not-found]
    BaseMultiRewardVerifyResponse,
    BaseVerifyRequest,
)
from nemo_gym.failure_kinds import is_registered  # type: ignore[import-not-found]

from fourscore.integrations.judge_source import load_scorer
from fourscore.integrations.nemo_gym import read_request, write_response


class Request(BaseVerifyRequest):  # type: ignore[misc]
    """As the agents send it: the row's own fields come along."""

    model_config = {"extra": "allow"}  # noqa: RUF012


class Response(BaseMultiRewardVerifyResponse):  # type: ignore[misc]
    model_config = {"extra": "allow"}  # noqa: RUF012


def body(text: str, **row: Any) -> dict[str, Any]:
    part = {"type": "output_text", "text": text, "annotations": []}
    item = {"id": "m", "type": "message", "role": "assistant", "status": "completed"}
    response = {
        "id": "r",
        "created_at": 0.0,
        "model": "m",
        "object": "response",
        "output": [{**item, "content": [part]}],
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
    }
    request = {"responses_create_params": {"input": [{"role": "user", "content": "1+1?"}]}, **row}
    dumped: dict[str, Any] = Request.model_validate({**request, "response": response}).model_dump()
    return dict(json.loads(json.dumps(dumped)))


def verify(request: dict[str, Any]) -> Any:
    scorer = load_scorer("math")
    case, outputs = read_request(request)
    reply = write_response(scorer.rubric, request, *scorer.score(case, outputs))
    return Response.model_validate(json.loads(json.dumps(reply, allow_nan=False)))


def main() -> int:
    right, wrong = (verify(body(rf"\boxed{{{n}}}", expected_answer="2")) for n in (2, 3))
    lost = verify(body(r"\boxed{2}"))
    assert [one.reward for one in (right, wrong, lost)] == [1.0, 0.0, 0.0]
    assert [one.mask_sample for one in (right, wrong, lost)] == [False, False, True]
    assert is_registered(lost.failure_kind)
    assert right.reward_components["fourscore_signal_math"] == 1.0
    version = importlib.metadata.version("nemo-gym")
    print(json.dumps({"run": "/verify bodies through the models", "nemo-gym": version}))  # noqa: T201
    return 0


if __name__ == "__main__":
    sys.exit(main())
