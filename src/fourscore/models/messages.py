"""What is asked of a model, what comes back, and what can go wrong.

An `Request` is a value: the same ask of the same model is the same question, which is what the cache
goes by. A `Response` to an ask with a schema has its `value` parsed and checked; there is no reply
with a verdict that does not fit. Whatever else happens is a `ModelError`, whose `kind` says who
has to act and whose `usage` says what it cost all the same.
"""

import hashlib
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
    "malformed",
    "bad_request",
    "budget",
    "timeout",
]
ERROR_KINDS = get_args(ErrorKind)
#: The fault of a signal whose judge got no answer. A spent budget is nobody's failure: the case was
#: not measured, and may be asked again with a larger one.
FAULT_BY_KIND = {"refused": "refused", "timeout": "timeout", "budget": "cancelled"}
#: Asking once more may help.
PASSING = frozenset({"rate_limited", "server", "connection", "malformed", "timeout"})


class ChatMessage(msgspec.Struct, frozen=True):
    """One message of the conversation."""

    role: Role
    content: str

    def __post_init__(self) -> None:
        if self.role not in ROLES:
            raise ValueError(f"role: {self.role!r} is none of {', '.join(ROLES)}")
        if not isinstance(self.content, str):
            raise ValueError(f"content: expected text, got {type(self.content).__name__}")
        clean_fields(self, "content")


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """One question. `logprobs` asks for that many alternatives of each token, where offered.

    `salt` is never sent: it keeps apart asks that are otherwise the same, such as repeated samples,
    which a cache would answer alike.
    """

    messages: tuple[ChatMessage, ...]
    schema: dict[str, Any] | None = None
    temperature: float = 0.0
    max_tokens: int | None = None
    logprobs: int = 0
    seed: int | None = None
    salt: str = ""

    def __post_init__(self) -> None:
        check_tuple(self, "messages", ChatMessage)
        if not self.messages:
            raise ValueError("messages: there is nothing to ask")
        if self.schema is not None:
            force_setattr(self, "schema", _known_schema(self.schema))
        check_finite("temperature", self.temperature, low=0)
        force_setattr(self, "temperature", float(self.temperature))
        check_whole("max_tokens", self.max_tokens, low=1)
        check_whole("logprobs", self.logprobs, low=0)
        check_whole("seed", self.seed)
        clean_fields(self, "salt")

    @property
    def digest(self) -> str:
        """Its identity. The order of keys in the schema counts: a model writes them in that order,
        and a verdict before its reasons is another verdict."""
        return hashlib.blake2b(msgspec.json.encode(self), digest_size=16).hexdigest()


#: Schemas that were checked. A judge asks with the same frozen one every time.
_CHECKED: dict[int, FrozenDict] = {}


def _known_schema(schema: Any) -> FrozenDict:
    if type(schema) is FrozenDict and _CHECKED.get(id(schema)) is schema:
        return schema
    frozen: FrozenDict = freeze_field("schema", schema, dict)
    check_schema(frozen)
    if len(_CHECKED) >= 1024:
        _CHECKED.clear()
    _CHECKED[id(frozen)] = frozen  # held, so that its id stays its own
    return frozen


class Token(msgspec.Struct, frozen=True):
    """A piece of the reply, and the likeliest pieces in its place."""

    text: str
    logprob: float
    top: tuple[tuple[str, float], ...] = ()


NO_USAGE = Usage()


class Response(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """An answer. `usage` is what it took in all, with the attempts that failed; nothing if cached.

    `finish` is the endpoint's own word for why the text ends.
    """

    text: str
    value: Any = None
    usage: Usage = NO_USAGE
    model: str = ""
    finish: str = ""
    logprobs: tuple[Token, ...] = ()
    cached: bool = False
    attempts: int = 1

    def __post_init__(self) -> None:
        clean_fields(self, "text", "model", "finish")
        if self.value is not None:
            force_setattr(self, "value", freeze_field("value", self.value))


class ModelError(FourscoreError):
    """A model did not answer.

    `usage` None: it may have cost as much as an answer, nobody knows. `passing`: whether the same
    ask may be answered later; most kinds decide that by themselves.
    """

    def __init__(
        self,
        kind: ErrorKind,
        message: str,
        *,
        status: int | None = None,
        retry_after: float | None = None,
        usage: Usage | None = None,
        passing: bool | None = None,
    ) -> None:
        self.kind, self.message, self.status = kind, message, status
        self.retry_after, self.usage = retry_after, usage
        self.passing = kind in PASSING if passing is None else passing
        super().__init__(message)

    @property
    def fault_kind(self) -> str:  # type: ignore[override]
        return FAULT_BY_KIND.get(self.kind, "error")

    @property
    def overload(self) -> bool:
        """Whether it asks for fewer calls at a time."""
        return self.kind == "rate_limited" or self.status in (503, 529)

    def __reduce__(self) -> tuple[object, ...]:
        return (
            _again,
            (
                self.kind,
                self.message,
                self.status,
                self.retry_after,
                self.usage,
                self.passing,
            ),
        )


def _again(
    kind: ErrorKind,
    message: str,
    status: int | None,
    retry_after: float | None,
    usage: Usage | None,
    passing: bool,
) -> ModelError:
    """Pickling support, as in `fourscore.core.errors`."""
    return ModelError(
        kind, message, status=status, retry_after=retry_after, usage=usage, passing=passing
    )


class Model(Protocol):
    """Whoever answers. `fingerprint` changes with whatever may change the answers.

    It may be an async context manager; one that is not entered opens what it needs when asked.
    """

    @property
    def name(self) -> str: ...

    @property
    def fingerprint(self) -> str: ...

    async def ask(self, request: Request) -> Response: ...
