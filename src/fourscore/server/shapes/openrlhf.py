"""OpenRLHF's remote reward model over HTTP.

Its client makes a tensor of whatever it gets: a null would end the run. So an output that could
not be judged makes the whole request an error; the client tries again, then does without that
reward. It sends one query a request.
"""

from collections.abc import Sequence

import msgspec

from fourscore.core import DataError, Rubric, Score, Status
from fourscore.server.bodies import decoded
from fourscore.server.reasons import fault_kind, reason_of
from fourscore.server.wire import Asked, Group, Refusal, Reply, bad_request
from fourscore.train import openrlhf_format as openrlhf
from fourscore.train.openrlhf_format import OpenRLHFRequest

_DECODER = msgspec.json.Decoder(OpenRLHFRequest)


def read_request(body: bytes) -> Asked:
    request, replaced = decoded(body, _DECODER)
    try:
        groups = openrlhf.read_request(msgspec.structs.asdict(request))
    except DataError as error:
        raise bad_request(error.message, error.field) from None
    return Asked([Group(*group) for group in groups], replaced)


def write_response(rubric: Rubric, _asked: Asked, given: Sequence[Sequence[Score]]) -> Reply:
    scores = [score for group in given for score in group]
    for index, score in enumerate(scores):
        if score.reward is None:
            raise _unjudged(score, f"query[{index}]")
    return Reply(200, msgspec.json.encode(openrlhf.write_response(rubric, scores)))


def _unjudged(score: Score, field: str) -> Refusal:
    kind, reason = fault_kind(score), reason_of(score)
    if kind == "data" or score.status is Status.SKIPPED:
        return Refusal(422, "not_judged", reason, field)
    if kind == "timeout":
        return Refusal(504, "deadline", reason, field)
    return Refusal(502, "judge_failed", reason, field)
