"""The environment judge: ask an environment service for the score of an episode.

The protocol is AgentJet's: `POST /create, /step, /evaluate, /get_info, /release, /get_env_profile`
with `{"env_type", "task_id", "instance_id", "messages", "params"}`, answered by
`{"success": bool, "data": …}`. Any other reply is an error that quotes it, never a score.
"""

import asyncio
import inspect
from collections.abc import Sequence
from types import TracebackType
from typing import Any, Literal, Self

import msgspec

from fourscore.core import Case, CaseError, ConfigError, Evidence, JudgeError, Signal, Trace
from fourscore.core.judge import safe_repr
from fourscore.core.numbers import check_finite, clamp, decimal_text, to_finite_float
from fourscore.core.secrets import hide_in_spec, remember_spec
from fourscore.models.endpoint import shorten_url
from fourscore.models.http_client import HttpClient, HttpError
from fourscore.models.probe import probe_connection

#: An error message quotes at most this many characters of a reply.
MAX_QUOTE = 300


class ServiceError(JudgeError):
    """The service refused, failed, or its reply was malformed; the message quotes the reply."""


class ServiceTimeoutError(ServiceError, TimeoutError):
    """The service did not answer in time."""


class ServiceConnectionError(ServiceError):
    """The service could not be reached, or its connection ended before an answer."""

    fault_kind = "connection"


class EnvService:
    """A client for one environment service, for judges and workflows: `async with EnvService(url)`.

    It can be used only in the event loop in which it was entered.
    """

    def __init__(self, url: str, *, timeout: float = 60.0) -> None:
        if not url.startswith(("http://", "https://")):
            raise ConfigError(
                f"expected an http:// or https:// URL, got {hide_in_spec(url)!r}", field="url"
            )
        remember_spec(url)
        self.url, self.timeout = url.rstrip("/"), timeout
        self._client: HttpClient | None = None

    async def __aenter__(self) -> Self:
        self._client = HttpClient(self.url)
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._client is not None:
            await self._client.close()
            self._client = None

    async def create(
        self, env_type: str, task_id: str, instance_id: str | None = None, **params: Any
    ) -> Any:
        """Start an instance and return its first state."""
        return await self._post(
            "create", env_type=env_type, task_id=task_id, instance_id=instance_id, params=params
        )

    async def step(self, instance_id: str, messages: Any, **params: Any) -> Any:
        """Act in an instance and return the next state."""
        return await self._post("step", instance_id=instance_id, messages=messages, params=params)

    async def evaluate(
        self,
        instance_id: str,
        messages: Any = None,
        *,
        env_type: str | None = None,
        task_id: str | None = None,
        **params: Any,
    ) -> float:
        """Return the score of an instance, a finite number."""
        data = await self._post(
            "evaluate",
            env_type=env_type,
            task_id=task_id,
            instance_id=instance_id,
            messages=messages or {},
            params=params,
        )
        return check_score(data)

    async def get_info(self, instance_id: str, messages: Any = None, **params: Any) -> Any:
        """Return information about an instance."""
        return await self._post(
            "get_info", instance_id=instance_id, messages=messages or {}, params=params
        )

    async def release(self, instance_id: str) -> Any:
        """Release an instance."""
        return await self._post("release", instance_id=instance_id)

    async def get_env_profile(self, env_type: str, **params: Any) -> Any:
        """Return the tasks of an environment."""
        return await self._post("get_env_profile", env_type=env_type, params=params)

    async def _post(self, verb: str, **fields: Any) -> Any:
        if self._client is None:
            raise RuntimeError("use it as: async with EnvService(url) as service")
        body: dict[str, Any] = dict.fromkeys(("env_type", "task_id", "instance_id"))
        body |= {"messages": {}, "params": {}, **fields}
        where = hide_in_spec(f"{self.url}/{verb}")
        try:
            async with asyncio.timeout(self.timeout):
                response = await self._client.post(msgspec.json.encode(body), verb)
        except TimeoutError:
            raise ServiceTimeoutError(f"{where}: no answer within {self.timeout:g} s") from None
        except HttpError as error:
            kind = ServiceConnectionError if error.lost else ServiceError
            raise kind(f"{where}: {error}") from None
        return _read_reply(where, response.status, response.body)


class _Reply(msgspec.Struct):
    success: bool
    data: Any = None


def _read_reply(where: str, status: int, body: bytes) -> Any:
    text = body[:MAX_QUOTE].decode(errors="replace").strip()
    if status != 200:
        raise ServiceError(f"{where}: the service answered HTTP {status}: {text}")
    try:
        reply = msgspec.json.decode(body, type=_Reply)
    except (msgspec.DecodeError, RecursionError):
        raise ServiceError(f"{where}: expected success and data, got {text!r}") from None
    if not reply.success:
        raise ServiceError(f"{where}: the service answered success: false: {text}")
    return reply.data


def check_score(data: Any) -> float:
    """Return a number or a bool as a score; raise `ServiceError` for anything else."""
    number = float(data) if isinstance(data, bool) else to_finite_float(data)
    if number is None:
        raise ServiceError(f"the environment's score is {safe_repr(data)}, not a finite number")
    return number


def make_reward(score: float) -> tuple[float, bool]:
    """Return reward and success: `(1 + score/2, True)` if score >= 1, else `(score/2, False)`."""
    return (1.0 + 0.5 * score, True) if score >= 1 else (0.5 * score, False)


def evaluate_local_environment(environment: Any, episode_uuid: str) -> Any:
    """Call `evaluate` of a local environment with the arguments that its signature accepts."""
    try:
        signature = inspect.signature(environment.evaluate)
        signature.bind(episode_uuid, params={"sparse": False})
    except (TypeError, ValueError):
        return environment.evaluate()
    return environment.evaluate(episode_uuid, params={"sparse": False})


class EnvironmentJudge(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Gives the score that the environment service at `url` gives to an episode.

    The instance is `instance_id` or `episode_uuid` of the output's metadata, else of the task's.

    url: address of the service
    params: what is sent with the request
    timeout: seconds to wait for the reply (60)
    """

    url: str | None = None
    params: dict[str, Any] = msgspec.field(default_factory=lambda: {"sparse": False})
    timeout: float = 60.0

    def __post_init__(self) -> None:
        check_finite("timeout", self.timeout, low=0)

    @property
    def names(self) -> tuple[str, ...]:
        return ("environment",)

    @property
    def runs(self) -> Literal["loop"]:
        return "loop"

    async def judge(self, case: Case, trace: Trace) -> Sequence[Signal]:
        self._require_url(case)
        return (make_signal(await self.evaluate(case, _find_instance(case, trace))),)

    async def probe_endpoint(self) -> None:
        """Raise a `ConfigError` where the service cannot be reached; it is sent no request."""
        if self.url is not None:
            await probe_connection(self.url, shorten_url(self.url))

    async def evaluate(self, case: Case, instance: str) -> float:
        """Return the score that the service gives to an instance."""
        async with EnvService(self._require_url(case), timeout=self.timeout) as service:
            return await service.evaluate(
                instance, env_type=case.task_type, task_id=case.id, **self.params
            )

    def _require_url(self, case: Case) -> str:
        if self.url is None:
            message = "there is no environment: set judge_options.url, or give the task a gym_env"
            raise CaseError(case.id, "gym_env", message)
        return self.url


def _find_instance(case: Case, trace: Trace) -> str:
    for metadata in (trace.metadata, case.metadata):
        for key in ("instance_id", "episode_uuid"):
            if metadata.get(key):
                return str(metadata[key])
    message = "missing: instance_id or episode_uuid must name the episode to evaluate"
    raise CaseError(case.id, "metadata.instance_id", message)


def make_signal(score: float) -> Signal:
    """Return the signal of an episode, with the raw score as evidence."""
    reward, passed = make_reward(score)
    raw = decimal_text(score)
    return Signal(
        name="environment",
        value=clamp(reward),
        reward=reward,
        passed=passed,
        reason=f"the environment's score is {raw}",
        evidence=(Evidence(text=raw, field="environment.score"),),
    )
