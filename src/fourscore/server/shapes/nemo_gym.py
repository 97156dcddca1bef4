"""NeMo Gym's `/verify`, as its agents call a resources server.

What could not be judged comes back as NeMo Gym's own servers say it: a reward of 0, masked.
"""

from collections.abc import Sequence
from typing import Any

import msgspec

from fourscore.core import DataError, Rubric, Score
from fourscore.server.bodies import decoded
from fourscore.server.wire import Asked, Group, Reply, bad_request
from fourscore.train import nemo_gym_format as nemo_gym
from fourscore.train.nemo_gym_format import NeMoGymRequest

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
