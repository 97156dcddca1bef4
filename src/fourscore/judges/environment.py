"""Environments that score themselves: a client for an environment service, and the judge on top.

The protocol is AgentJet's: `POST /create, /step, /evaluate, /get_info, /release, /get_env_profile`
with `{"env_type", "task_id", "instance_id", "messages", "params"}`, answered by
`{"success": bool, "data": …}`. Whatever else comes back is an error in the service's own words,
never a score.
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
from fourscore.models.http_client import HttpClient, HttpError

#: How much of a service's words an error repeats.
QUOTED = 300


class ServiceError(JudgeError):
    """The service refused, failed or made no sense; the message has its own words."""


class ServiceTimeoutError(ServiceError, TimeoutError):
    """The service did not answer in time."""


class EnvService:
    """A client for one service, for judges and workflows alike: `async with EnvService(url)`.

    It belongs to the event loop it was entered in.
    """

    def __init__(self, url: str, *, timeout: float = 60.0) -> None:
        if not url.startswith(("http://", "https://")):
            raise ConfigError(f"{url!r} is no http address", field="url")
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
        """Start an instance; the data has its first state."""
        return await self._post(
            "create", env_type=env_type, task_id=task_id, instance_id=instance_id, params=params
        )

    async def step(self, instance_id: str, messages: Any, **params: Any) -> Any:
        """Act in an instance; the data has what came of it."""
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
        """The score of an instance, a finite number."""
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
        return await self._post(
            "get_info", instance_id=instance_id, messages=messages or {}, params=params
        )

    async def release(self, instance_id: str) -> Any:
        """Give an instance back."""
        return await self._post("release", instance_id=instance_id)

    async def get_env_profile(self, env_type: str, **params: Any) -> Any:
        """What tasks there are."""
        return await self._post("get_env_profile", env_type=env_type, params=params)

    async def _post(self, verb: str, **fields: Any) -> Any:
        if self._client is None:
            raise RuntimeError("use it as: async with EnvService(url) as service")
        body: dict[str, Any] = dict.fromkeys(("env_type", "task_id", "instance_id"))
        body |= {"messages": {}, "params": {}, **fields}
        where = f"{self.url}/{verb}"
        try:
            async with asyncio.timeout(self.timeout):
                answer = await self._client.post(msgspec.json.encode(body), verb)
        except TimeoutError:
            raise ServiceTimeoutError(f"{where}: no answer within {self.timeout:g} s") from None
        except HttpError as error:
            raise ServiceError(f"{where}: {error}") from None
        return _data(where, answer.status, answer.body)


class _Answer(msgspec.Struct):
    success: bool
    data: Any = None


def _data(where: str, status: int, answer: bytes) -> Any:
    words = answer[:QUOTED].decode(errors="replace").strip()
    if status != 200:
        raise ServiceError(f"{where}: it answered {status}: {words}")
    try:
        reply = msgspec.json.decode(answer, type=_Answer)
    except (msgspec.DecodeError, RecursionError):
        raise ServiceError(f"{where}: expected success and data, got {words!r}") from None
    if not reply.success:
        raise ServiceError(f"{where}: it says success: false: {words}")
    return reply.data


def check_score(data: Any) -> float:
    """A score as a finite number; a `ServiceError` where it is none."""
    number = to_finite_float(data)
    if number is None:
        raise ServiceError(f"the environment's score is {safe_repr(data)}, not a finite number")
    return number


def make_reward(score: float) -> tuple[float, bool]:
    """`1 + score/2` and success from a score of 1 on, `score/2` below."""
    return (1.0 + 0.5 * score, True) if score >= 1 else (0.5 * score, False)


def evaluate_local_environment(environment: Any, episode_uuid: str) -> Any:
    """Call a local environment's `evaluate` the way its signature allows."""
    try:
        signature = inspect.signature(environment.evaluate)
        signature.bind(episode_uuid, params={"sparse": False})
    except (TypeError, ValueError):
        return environment.evaluate()
    return environment.evaluate(episode_uuid, params={"sparse": False})


class EnvironmentJudge(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Asks the environment service at `url` for the score of an episode.

    The instance is `instance_id` or `episode_uuid` of the output's metadata, else of the task's.
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
        self._address(case)
        return (make_signal(await self.evaluate(case, _instance(case, trace))),)

    async def evaluate(self, case: Case, instance: str) -> float:
        async with EnvService(self._address(case), timeout=self.timeout) as service:
            return await service.evaluate(
                instance, env_type=case.task_type, task_id=case.id, **self.params
            )

    def _address(self, case: Case) -> str:
        if self.url is None:
            message = "there is no environment: neither a gym_env nor judge_options.url"
            raise CaseError(case.id, "gym_env", message)
        return self.url


def _instance(case: Case, trace: Trace) -> str:
    for metadata in (trace.metadata, case.metadata):
        for key in ("instance_id", "episode_uuid"):
            if metadata.get(key):
                return str(metadata[key])
    raise CaseError(case.id, "metadata.instance_id", "the episode to evaluate is not named")


def make_signal(score: float) -> Signal:
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
