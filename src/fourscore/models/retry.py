"""Retry calls that failed with a transient error.

Refusals, bad requests and a spent budget are final. Transient errors (429, 5xx, broken connections,
a malformed reply) are retried, after the time that the endpoint names or a random one whose upper
bound doubles: random over the whole interval, so that calls that failed together do not return
together. A malformed reply is retried at once, since nobody is overloaded, but fewer times: each
costs money. Where there is no connection, one retry tells a hiccup from a service that is down.
"""

import asyncio
import random
from typing import Any

from msgspec.structs import replace

from fourscore.core import Usage
from fourscore.core.numbers import check_finite, check_whole
from fourscore.models.deadlines import Deadline, Deadlines
from fourscore.models.messages import NO_USAGE, Model, ModelError, Request, Response
from fourscore.models.per_loop import PerLoop
from fourscore.models.wrapper import ModelWrapper

#: Calls of one request that may end without a connection.
UNREACHABLE = 2


class RetryingModel(ModelWrapper):
    """At most `attempts` calls, `malformed` malformed replies and `UNREACHABLE` calls without a
    connection, within `deadline` seconds in all; then the last error. Pauses grow from `first` to
    `longest` seconds, with the random numbers of `chance`."""

    def __init__(
        self,
        model: Model,
        *,
        attempts: int = 8,
        malformed: int = 4,
        deadline: float = 600.0,
        first: float = 0.5,
        longest: float = 30.0,
        chance: random.Random | None = None,
    ) -> None:
        super().__init__(model)
        check_whole("attempts", attempts, low=1)
        check_whole("malformed", malformed, low=1)
        for field, value in (("deadline", deadline), ("first", first), ("longest", longest)):
            check_finite(field, value, low=0)
        self.attempts, self.malformed, self.deadline = attempts, malformed, deadline
        self.first, self.longest = first, longest
        self._chance = chance or random.Random()  # noqa: S311
        self._deadlines = PerLoop(lambda: Deadlines(deadline))

    async def ask(self, request: Request) -> Response:
        tries = _Tries()
        try:
            with Deadline(self._deadlines.get()) as limit:
                return await self._ask_repeatedly(request, tries, limit.due)
        except TimeoutError:
            if not limit.passed:
                raise
            last = tries.last or self._make_timeout()
            raise _add_attempts(last, tries.spent, tries.count) from None

    async def _ask_repeatedly(self, request: Request, tries: "_Tries", ends: float) -> Response:
        while True:
            tries.count += 1
            try:
                response = await self.model.ask(request)
                if tries.count == 1:
                    return response
                spent = tries.spent + response.usage
                return replace(response, usage=spent, attempts=tries.count)
            except ModelError as error:
                tries.fail(error)
                pause = self._choose_pause(error, tries.count)
                done = (
                    tries.count == self.attempts
                    or tries.malformed == self.malformed
                    or tries.unreachable == UNREACHABLE
                )
                too_late = asyncio.get_running_loop().time() + pause >= ends
                if done or too_late or not error.transient:
                    raise _add_attempts(error, tries.spent, tries.count) from None
            if pause:
                await asyncio.sleep(pause)

    def _choose_pause(self, error: ModelError, attempt: int) -> float:
        if error.kind == "malformed":
            return 0.0
        ceiling = min(self.longest, self.first * 2 ** (attempt - 1))
        jitter = self._chance.uniform(0, ceiling)
        if error.retry_after is None:
            return jitter
        return error.retry_after + min(jitter, self.first)  # not before the endpoint asked for

    def _make_timeout(self) -> ModelError:
        return ModelError("timeout", f"{self.name}: no answer within {self.deadline:g} s in all")

    def __reduce__(self) -> tuple[object, ...]:
        settings = {
            "attempts": self.attempts,
            "malformed": self.malformed,
            "deadline": self.deadline,
            "first": self.first,
            "longest": self.longest,
        }
        # With its own random numbers, or workers would retry at the same moments.
        return (_rebuild, (self.model, settings))


class _Tries:
    """The attempts of one request so far; `spent` is what the failed ones cost."""

    def __init__(self) -> None:
        self.count = self.malformed = self.unreachable = 0
        self.spent = NO_USAGE
        self.last: ModelError | None = None

    def fail(self, error: ModelError) -> None:
        self.last = error
        self.spent += error.usage or Usage(calls=1)
        self.malformed += error.kind == "malformed"
        self.unreachable += error.kind == "unreachable"


def _add_attempts(error: ModelError, spent: Usage, attempts: int) -> ModelError:
    """Return the last error, with the usage of all attempts."""
    if attempts == 1:
        return error
    return ModelError(
        error.kind,
        f"{error.message} (attempt {attempts})",
        status=error.status,
        retry_after=error.retry_after,
        usage=spent,
        transient=error.transient,
    )


def _rebuild(model: Model, settings: dict[str, Any]) -> RetryingModel:
    return RetryingModel(model, **settings)
