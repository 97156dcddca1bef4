"""Requests to a model, its responses, and its errors.

A `Request` is a value: equal requests to the same model have the same digest, which is the key of
the cache. The `value` of a `Response` to a request with a schema is parsed and checked; there is no
response with a verdict that does not fit. Every failure is a `ModelError`: its `kind` says who has
to act, its `usage` what it cost all the same.
"""

import hashlib
from collections.abc import Callable
from typing import Any, Literal, Protocol, get_args

import msgspec
from msgspec.structs import force_setattr

from fourscore.core import FourscoreError, Usage
from fourscore.core.frozen import FrozenDict, check_tuple, clean_fields, freeze_field
from fourscore.core.numbers import check_finite, check_whole
from fourscore.models.schema import check_schema

Role = Literal["system", "user", "assistant"]
ROLES = get_args(Role)
ErrorKind = Literal[
    "refused",
    "rate_limited",
    "server",
    "connection",
    "unreachable",
    "malformed",
    "bad_request",
    "budget",
    "timeout",
]
ERROR_KINDS = get_args(ErrorKind)
#: The fault of a signal whose model failed. A spent budget is no failure: the case was not
#: measured, and may be judged again with a larger one. `unreachable`: there was no connection;
#: `connection`: it was lost before the whole reply came.
FAULT_BY_KIND = {
    "refused": "refused",
    "timeout": "timeout",
    "budget": "cancelled",
    "connection": "connection",
    "unreachable": "connection",
}
#: Kinds of errors after which a retry may help.
TRANSIENT_KINDS = frozenset(
    {"rate_limited", "server", "connection", "unreachable", "malformed", "timeout"}
)


class ChatMessage(msgspec.Struct, frozen=True):
    """One message of a conversation with a model."""

    role: Role
    content: str

    def __post_init__(self) -> None:
        if self.role not in ROLES:
            raise ValueError(f"role: {self.role!r} is none of {', '.join(ROLES)}")
        if not isinstance(self.content, str):
            raise ValueError(f"content: expected text, got {type(self.content).__name__}")
        clean_fields(self, "content")


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """One request. `logprobs` asks for that many alternatives of each token, where offered.

    `salt` is never sent: it tells apart requests that are otherwise equal, such as repeated
    samples, which a cache would answer alike. A cache keeps and gives only replies for which
    `is_usable` is true; it is no part of the request's identity.
    """

    messages: tuple[ChatMessage, ...]
    schema: dict[str, Any] | None = None
    temperature: float = 0.0
    max_tokens: int | None = None
    logprobs: int = 0
    seed: int | None = None
    salt: str = ""
    is_usable: "Callable[[Response], bool] | None" = None

    def __post_init__(self) -> None:
        check_tuple(self, "messages", ChatMessage)
        if not self.messages:
            raise ValueError("messages: expected at least one")
        if self.schema is not None:
            force_setattr(self, "schema", _check_schema_once(self.schema))
        check_finite("temperature", self.temperature, low=0)
        force_setattr(self, "temperature", float(self.temperature))
        check_whole("max_tokens", self.max_tokens, low=1)
        check_whole("logprobs", self.logprobs, low=0)
        check_whole("seed", self.seed)
        clean_fields(self, "salt")

    @property
    def digest(self) -> str:
        """The identity of the request. The order of keys in the schema counts: a model writes them
        in that order, and a verdict before its reasons is another verdict."""
        fields = [getattr(self, name) for name in _IDENTITY]
        return hashlib.blake2b(msgspec.json.encode(fields), digest_size=16).hexdigest()


#: The fields that identify a request.
_IDENTITY = tuple(name for name in Request.__struct_fields__ if name != "is_usable")

#: Schemas that were checked, by id. A judge sends the same frozen schema every time.
_CHECKED: dict[int, FrozenDict] = {}


def _check_schema_once(schema: Any) -> FrozenDict:
    if type(schema) is FrozenDict and _CHECKED.get(id(schema)) is schema:
        return schema
    frozen: FrozenDict = freeze_field("schema", schema, dict)
    check_schema(frozen)
    if len(_CHECKED) >= 1024:
        _CHECKED.clear()
    _CHECKED[id(frozen)] = frozen  # held, so that its id stays its own
    return frozen


class Token(msgspec.Struct, frozen=True):
    """A token of the reply, and the likeliest tokens in its place."""

    text: str
    logprob: float
    top: tuple[tuple[str, float], ...] = ()


NO_USAGE = Usage()


class Response(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A reply. `usage` includes attempts that failed; it is empty for a reply from the cache.

    `finish` is the endpoint's own word for why the text ends, `attempts` the number of calls,
    `extra_keys` the number of keys in a verdict that were not asked for and are not in `value`.
    """

    text: str
    value: Any = None
    usage: Usage = NO_USAGE
    model: str = ""
    finish: str = ""
    logprobs: tuple[Token, ...] = ()
    cached: bool = False
    attempts: int = 1
    extra_keys: int = 0

    def __post_init__(self) -> None:
        clean_fields(self, "text", "model", "finish")
        if self.value is not None:
            force_setattr(self, "value", freeze_field("value", self.value))


class ModelError(FourscoreError):
    """A model gave no usable reply.

    `usage` None: nobody knows what it cost, maybe as much as a reply. `transient`: whether a retry
    may help; by default the kind decides.
    """

    def __init__(
        self,
        kind: ErrorKind,
        message: str,
        *,
        status: int | None = None,
        retry_after: float | None = None,
        usage: Usage | None = None,
        transient: bool | None = None,
    ) -> None:
        self.kind, self.message, self.status = kind, message, status
        self.retry_after, self.usage = retry_after, usage
        self.transient = kind in TRANSIENT_KINDS if transient is None else transient
        super().__init__(message)

    @property
    def fault_kind(self) -> str:  # type: ignore[override]
        return FAULT_BY_KIND.get(self.kind, "error")

    @property
    def is_overload(self) -> bool:
        """Whether the endpoint asks for fewer calls at a time."""
        return self.kind == "rate_limited" or self.status in (503, 529)

    def __reduce__(self) -> tuple[object, ...]:
        return (
            _rebuild,
            (
                self.kind,
                self.message,
                self.status,
                self.retry_after,
                self.usage,
                self.transient,
            ),
        )


def _rebuild(
    kind: ErrorKind,
    message: str,
    status: int | None,
    retry_after: float | None,
    usage: Usage | None,
    transient: bool,
) -> ModelError:
    """Rebuild a pickled error, as in `fourscore.core.errors`."""
    return ModelError(
        kind, message, status=status, retry_after=retry_after, usage=usage, transient=transient
    )


class Model(Protocol):
    """What answers requests. `fingerprint` changes with everything that may change the replies.

    It may be an async context manager; one that is not entered opens what it needs on first use.
    """

    @property
    def name(self) -> str: ...

    @property
    def fingerprint(self) -> str: ...

    async def ask(self, request: Request) -> Response: ...
