"""What goes over the wire: replies, refusals, and what stands between a request and its reply."""

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

import msgspec

from fourscore.core import Case, Status
from fourscore.formats.recorded_outputs import Recorded

Code = Literal[
    "bad_request",
    "unauthorized",
    "not_found",
    "method_not_allowed",
    "slow_body",
    "too_large",
    "not_json",
    "not_otlp",
    "not_judged",
    "busy",
    "not_stored",
    "internal",
    "judge_failed",
    "deadline",
]
Headers = tuple[tuple[bytes, bytes], ...]


class Reward(msgspec.Struct, frozen=True):
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
    outputs: Sequence[Recorded]


class Asked(NamedTuple):
    """A request that has been read; `echo` is what its shape repeats in the reply."""

    groups: Sequence[Group]
    replaced: int = 0
    echo: Any = None


class Reply(NamedTuple):
    status: int
    body: bytes
    headers: Headers = ()
    kind: bytes = b"application/json"


class Refusal(Exception):  # noqa: N818 - it is an answer, not a failure of ours
    """A reply other than 200, raised from wherever it is known."""

    def __init__(
        self,
        status: int,
        code: Code,
        message: str,
        field: str | None = None,
        headers: Headers = (),
    ) -> None:
        super().__init__(message)
        problem = Problem(Complaint(code, message, field))
        self.reply = Reply(status, msgspec.json.encode(problem), headers)


def bad_request(message: str, field: str | None = None) -> Refusal:
    return Refusal(400, "bad_request", message, field)
