"""The routes that give rewards: our own, OpenRLHF's and NeMo Gym's.

Each reads a body into cases with outputs, and writes the reply that its trainer expects.
"""

from collections.abc import Callable, Sequence
from typing import Any

import msgspec
from starlette.responses import Response

from fourscore.core import DataError, Rubric, Score, Status
from fourscore.formats.recorded_outputs import RecordedRow, read_row
from fourscore.server.failures import get_fault_kind, get_reason
from fourscore.server.messages import (
    Group,
    Refusal,
    Reward,
    RewardRequest,
    RewardsReply,
    bad_request,
    make_json_response,
)
from fourscore.server.request_body import decode_body
from fourscore.train import nemo_gym_format, openrlhf_format
from fourscore.train.nemo_gym_format import NeMoGymReply, NeMoGymRequest
from fourscore.train.openrlhf_format import OpenRLHFReply, OpenRLHFRequest


class RewardRoute(msgspec.Struct, frozen=True, kw_only=True):
    """How a route's body is read and answered, and what `/openapi.json` says of it."""

    summary: str
    read: Callable[[bytes], RewardRequest]
    write: Callable[[Rubric, RewardRequest, Sequence[Sequence[Score]]], Response]
    #: None for rows, whose schema is put together by hand.
    request_type: type | None
    reply_type: type
    #: Statuses that only this route answers with.
    refusals: tuple[int, ...] = ()


class _Rows(msgspec.Struct):
    rows: list[msgspec.Raw] | msgspec.UnsetType = msgspec.UNSET


_ROWS = msgspec.json.Decoder(_Rows)
_OPENRLHF = msgspec.json.Decoder(OpenRLHFRequest)
_NEMO_GYM = msgspec.json.Decoder(NeMoGymRequest)
_OBJECT = msgspec.json.Decoder(dict[str, Any])


def _read_rows(body: bytes) -> RewardRequest:
    """Read one row of `fourscore judge`, or `{"rows": […]}`."""
    if b'"rows"' not in body:  # one row, decoded only once
        return _make_request([_read_row(body, None)])
    envelope, replaced = decode_body(body, _ROWS)
    if isinstance(envelope.rows, msgspec.UnsetType):
        return _make_request([_read_row(body, None)])
    if not envelope.rows:
        raise bad_request("expected at least one row", "rows")
    rows = [
        _read_row(bytes(raw), f"rows[{i}]", is_checked=True) for i, raw in enumerate(envelope.rows)
    ]
    return _make_request(rows, replaced)


def _read_row(text: bytes, place: str | None, *, is_checked: bool = False) -> RecordedRow:
    try:
        return read_row(text, is_checked=is_checked)
    except DataError as error:
        field = ".".join(part for part in (place, error.field) if part) or None
        raise bad_request(error.message, field) from None


def _make_request(rows: Sequence[RecordedRow], replaced: int = 0) -> RewardRequest:
    groups = [Group(row.case, row.outputs) for row in rows]
    return RewardRequest(groups, replaced + sum(row.replaced for row in rows))


def _write_rows(
    _rubric: Rubric, request: RewardRequest, scores: Sequence[Sequence[Score]]
) -> Response:
    rewards = [
        Reward(
            row=row,
            task_id=group.case.id,
            index=index,
            raw_reward=score.reward,
            is_success=score.passed,
            status=score.status,
            reason=get_reason(score),
            signals={signal.name: signal.value for signal in score.signals},
        )
        for row, (group, of_group) in enumerate(zip(request.groups, scores, strict=True))
        for index, score in enumerate(of_group)
    ]
    return make_json_response(RewardsReply(rewards, request.surrogates_replaced))


def _read_openrlhf(body: bytes) -> RewardRequest:
    request, replaced = decode_body(body, _OPENRLHF)
    try:
        groups = openrlhf_format.read_request(msgspec.structs.asdict(request))
    except DataError as error:
        raise bad_request(error.message, error.field) from None
    return RewardRequest([Group(*group) for group in groups], replaced)


def _write_openrlhf(
    rubric: Rubric, _request: RewardRequest, scores: Sequence[Sequence[Score]]
) -> Response:
    """Write the rewards; one output that could not be judged makes the whole reply an error.

    OpenRLHF's client makes a tensor of whatever it gets, and a null would end the run. After an
    error it tries again, then does without that reward. It sends one query a request.
    """
    flat = [score for of_group in scores for score in of_group]
    for index, score in enumerate(flat):
        if score.reward is None:
            raise _refuse_unjudged(score, f"query[{index}]")
    return make_json_response(openrlhf_format.write_response(rubric, flat))


def _refuse_unjudged(score: Score, field: str) -> Refusal:
    kind, reason = get_fault_kind(score), get_reason(score)
    if kind == "data" or score.status is Status.SKIPPED:
        return Refusal(422, "not_judged", reason, field=field)
    if kind == "timeout":
        return Refusal(504, "deadline", reason, field=field)
    return Refusal(502, "judge_failed", reason, field=field)


def _read_nemo_gym(body: bytes) -> RewardRequest:
    decode_body(body, _NEMO_GYM)
    rollout, replaced = decode_body(body, _OBJECT)
    try:
        group = Group(*nemo_gym_format.read_request(rollout))
    except DataError as error:
        raise bad_request(error.message, error.field) from None
    return RewardRequest([group], replaced, rollout)


def _write_nemo_gym(
    rubric: Rubric, request: RewardRequest, scores: Sequence[Sequence[Score]]
) -> Response:
    ((score,),) = scores
    rollout = {key: _drop_metadata(value) for key, value in request.body.items()}
    return make_json_response(nemo_gym_format.write_response(rubric, rollout, score))


def _drop_metadata(value: object) -> Any:
    """Return an object without OpenAI's free-form `metadata`, which may hold the reference."""
    if not isinstance(value, dict):
        return value
    return {key: item for key, item in value.items() if key != "metadata"}


REWARD_ROUTES = {
    "/v1/rewards": RewardRoute(
        summary="Rewards for the outputs of one task or many",
        read=_read_rows,
        write=_write_rows,
        request_type=None,
        reply_type=RewardsReply,
    ),
    "/openrlhf/reward": RewardRoute(
        summary="OpenRLHF's remote reward model",
        read=_read_openrlhf,
        write=_write_openrlhf,
        request_type=OpenRLHFRequest,
        reply_type=OpenRLHFReply,
        refusals=(422, 502),
    ),
    "/nemo_gym/verify": RewardRoute(
        summary="NeMo Gym's verify",
        read=_read_nemo_gym,
        write=_write_nemo_gym,
        request_type=NeMoGymRequest,
        reply_type=NeMoGymReply,
    ),
}
#: Where NeMo Gym's agents post, unless they are given a prefix.
REWARD_ROUTES["/verify"] = REWARD_ROUTES["/nemo_gym/verify"]
