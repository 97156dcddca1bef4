"""The server's JSON replies, its refusals, and a reward request once it has been read."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

import msgspec
from starlette.responses import Response

from fourscore.core import Case, Status
from fourscore.formats.recorded_outputs import RecordedOutput

Code = Literal[
    "bad_request",
    "unauthorized",
    "not_found",
    "method_not_allowed",
    "slow_body",
    "too_large",
    "wrong_host",
    "unknown_encoding",
    "not_json",
    "not_otlp",
    "not_judged",
    "busy",
    "not_stored",
    "internal",
    "judge_failed",
    "deadline",
]


class Reward(msgspec.Struct, frozen=True, kw_only=True):
    """One output's reward; `raw_reward` and `is_success` are null where it could not be judged."""

    row: int
    task_id: str
    index: int
    raw_reward: float | None
    is_success: bool | None
    status: Status
    reason: str
    signals: dict[str, float | None]


class RewardsReply(msgspec.Struct, frozen=True):
    """A reward for each output, in the order of the request."""

    rewards: list[Reward]
    surrogates_replaced: int


class Health(msgspec.Struct, frozen=True):
    """The server is up."""

    status: Literal["ok"] = "ok"


class Complaint(msgspec.Struct, frozen=True):
    """Why a request was refused; `field` is the path of what is wrong in its body."""

    code: Code
    message: str
    field: str | None = None


class Problem(msgspec.Struct, frozen=True):
    """The body of every reply that is not 200."""

    error: Complaint


class Group(NamedTuple):
    """One case and its n outputs: what is judged together."""

    case: Case
    outputs: Sequence[RecordedOutput]


class RewardRequest(NamedTuple):
    """A request for rewards that has been read; `body` is what its reply repeats from."""

    groups: Sequence[Group]
    surrogates_replaced: int = 0
    body: Any = None


class Refusal(Exception):  # noqa: N818 - an expected answer, not an error of the server
    """A reply other than 200, raised where the reason is known."""

    def __init__(
        self,
        status: int,
        code: Code,
        message: str,
        *,
        field: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(message)
        self.status, self.headers = status, headers
        self._problem = Problem(Complaint(code, message, field))

    def make_response(self) -> Response:
        return make_json_response(self._problem, self.status, self.headers)


def make_json_response(
    document: object, status: int = 200, headers: Mapping[str, str] | None = None
) -> Response:
    """Return the document as a JSON response."""
    body = msgspec.json.encode(document)
    return Response(body, status, headers, media_type="application/json")


def bad_request(message: str, field: str | None = None) -> Refusal:
    return Refusal(400, "bad_request", message, field=field)
