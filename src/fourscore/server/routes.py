"""Which path speaks which trainer's shape, and where traces go."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from fourscore.core import Rubric, Score
from fourscore.server.shapes import nemo_gym, openrlhf, rewards
from fourscore.server.wire import Asked, Reply, RewardsReply
from fourscore.train.nemo_gym_format import NeMoGymReply, NeMoGymRequest
from fourscore.train.openrlhf_format import OpenRLHFReply, OpenRLHFRequest

#: Where OpenTelemetry's exporters post, if the server has a monitor.
TRACES = "/v1/traces"
#: Where Prometheus reads what the monitor knows.
METRICS = "/metrics"


class Shape(NamedTuple):
    """How a body is read and answered, and what a document says of it."""

    summary: str
    read: Callable[[bytes], Asked]
    write: Callable[[Rubric, Asked, Sequence[Sequence[Score]]], Reply]
    #: None for rows, whose schema is put together by hand.
    request: type | None
    reply: type
    #: Statuses that only this shape answers with.
    refusals: tuple[int, ...] = ()


SHAPES = {
    "/v1/rewards": Shape(
        "Rewards for the outputs of one task or many",
        rewards.read_request,
        rewards.write_response,
        None,
        RewardsReply,
    ),
    "/openrlhf/reward": Shape(
        "OpenRLHF's remote reward model",
        openrlhf.read_request,
        openrlhf.write_response,
        OpenRLHFRequest,
        OpenRLHFReply,
        (422, 502),
    ),
    "/nemo_gym/verify": Shape(
        "NeMo Gym's verify",
        nemo_gym.read_request,
        nemo_gym.write_response,
        NeMoGymRequest,
        NeMoGymReply,
    ),
}
#: Where NeMo Gym's agents post, unless they are told a prefix.
SHAPES["/verify"] = SHAPES["/nemo_gym/verify"]
