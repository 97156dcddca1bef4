"""Our own shape: a row of `fourscore judge`, or `{"rows": […]}`; a reward for each output."""

from collections.abc import Sequence

import msgspec

from fourscore.core import DataError, Rubric, Score
from fourscore.formats.recorded_outputs import Row, read_row
from fourscore.server.bodies import decoded
from fourscore.server.reasons import reason_of
from fourscore.server.wire import (
    Asked,
    Group,
    Reply,
    Reward,
    RewardsReply,
    bad_request,
)


class _Envelope(msgspec.Struct):
    rows: list[msgspec.Raw] | msgspec.UnsetType = msgspec.UNSET


_DECODER = msgspec.json.Decoder(_Envelope)
_ENCODER = msgspec.json.Encoder()


def read_request(body: bytes) -> Asked:
    # A body without the word is one row, and is read only once.
    if b'"rows"' not in body:
        return _asked([_row(body, None)])
    envelope, replaced = decoded(body, _DECODER)
    if isinstance(envelope.rows, msgspec.UnsetType):
        return _asked([_row(body, None)])
    if not envelope.rows:
        raise bad_request("expected at least one row", "rows")
    rows = [_row(bytes(raw), f"rows[{i}]") for i, raw in enumerate(envelope.rows)]
    return _asked(rows, replaced)


def _row(text: bytes, place: str | None) -> Row:
    try:
        return read_row(text)
    except DataError as error:
        field = ".".join(part for part in (place, error.field) if part) or None
        raise bad_request(error.message, field) from None


def _asked(rows: Sequence[Row], replaced: int = 0) -> Asked:
    groups = [Group(row.case, row.outputs) for row in rows]
    return Asked(groups, replaced + sum(row.replaced for row in rows))


def write_response(_rubric: Rubric, asked: Asked, given: Sequence[Sequence[Score]]) -> Reply:
    rewards = [
        Reward(
            row,
            group.case.id,
            index,
            score.reward,
            score.passed,
            score.status,
            reason_of(score),
            {signal.name: signal.value for signal in score.signals},
        )
        for row, (group, scores) in enumerate(zip(asked.groups, given, strict=True))
        for index, score in enumerate(scores)
    ]
    return Reply(200, _ENCODER.encode(RewardsReply(rewards, asked.replaced)))
