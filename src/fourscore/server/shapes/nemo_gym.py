"""NeMo Gym's `/verify`, as its agents call a resources server.

What could not be judged comes back as NeMo Gym's own servers say it: a reward of 0, masked.
"""

from collections.abc import Sequence
from typing import Any

import msgspec

from fourscore.core import DataError, Rubric, Score
from fourscore.integrations import nemo_gym
from fourscore.server.bodies import decoded
from fourscore.server.wire import Asked, Group, Reply, bad_request


class ModelResponse(msgspec.Struct):
    """What the model gave back, in the shape of OpenAI's Responses API."""

    output: list[Any]


class NeMoGymRequest(msgspec.Struct):
    """A rollout, and beside it the task's own fields: `expected_answer` and what judges need."""

    responses_create_params: dict[str, Any]
    response: ModelResponse


class NeMoGymReply(msgspec.Struct):
    """The rollout without its references, and its reward; a masked one was not measured."""

    responses_create_params: dict[str, Any]
    response: dict[str, Any]
    reward: float
    mask_sample: bool
    reward_components: dict[str, float]
    failure_kind: str | None
    failure_reason: str | None


_CHECKED = msgspec.json.Decoder(NeMoGymRequest)
_WHOLE = msgspec.json.Decoder(dict[str, Any])


def read_request(body: bytes) -> Asked:
    decoded(body, _CHECKED)
    whole, replaced = decoded(body, _WHOLE)
    try:
        group = Group(*nemo_gym.read_request(whole))
    except DataError as error:
        raise bad_request(error.message, error.field) from None
    return Asked([group], replaced, whole)


def write_response(rubric: Rubric, asked: Asked, given: Sequence[Sequence[Score]]) -> Reply:
    ((score,),) = given
    echo = {key: _without_metadata(value) for key, value in asked.echo.items()}
    return Reply(200, msgspec.json.encode(nemo_gym.write_response(rubric, echo, score)))


def _without_metadata(value: Any) -> Any:
    """OpenAI's field for anything: of a prompt's task, it may well be the reference."""
    if not isinstance(value, dict):
        return value
    return {key: item for key, item in value.items() if key != "metadata"}
