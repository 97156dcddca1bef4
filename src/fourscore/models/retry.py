"""Ask again, where asking again may help.

Refusals, bad requests and a spent budget are final. What passes (429, 5xx, broken connections, a
malformed reply) is asked again, after the time the endpoint names or a random one that doubles:
random over the whole interval, so that calls that failed together do not return together. A
malformed reply is asked again at once, since nobody is overloaded, but fewer times: it is paid for.
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


class RetryingModel(ModelWrapper):
    """At most `attempts` calls, of which at most `malformed` may end so, within `deadline` seconds
    in all; after that the last error. `chance` is where the randomness comes from."""

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
        tried = _Tried()
        try:
            with Deadline(self._deadlines.get()) as limit:
                return await self._asked(request, tried, limit.due)
        except TimeoutError:
            if not limit.passed:
                raise
            raise _final(tried.last or self._late(), tried.spent, tried.attempts) from None

    async def _asked(self, request: Request, tried: "_Tried", ends: float) -> Response:
        while True:
            tried.attempts += 1
            try:
                reply = await self.model.ask(request)
                if tried.attempts == 1:
                    return reply
                spent = tried.spent + reply.usage
                return replace(reply, usage=spent, attempts=tried.attempts)
            except ModelError as error:
                tried.fail(error)
                pause = self._pause(error, tried.attempts)
                done = tried.attempts == self.attempts or tried.broken == self.malformed
                late = asyncio.get_running_loop().time() + pause >= ends  # better to say so now
                if done or late or not error.passing:
                    raise _final(error, tried.spent, tried.attempts) from None
            if pause:
                await asyncio.sleep(pause)

    def _pause(self, error: ModelError, attempt: int) -> float:
        if error.kind == "malformed":
            return 0.0
        ceiling = min(self.longest, self.first * 2 ** (attempt - 1))
        jitter = self._chance.uniform(0, ceiling)
        if error.retry_after is None:
            return jitter
        return error.retry_after + min(jitter, self.first)  # never earlier than it asked for

    def _late(self) -> ModelError:
        return ModelError("timeout", f"{self.name}: no answer within {self.deadline:g} s in all")

    def __reduce__(self) -> tuple[object, ...]:
        settings = {
            "attempts": self.attempts,
            "malformed": self.malformed,
            "deadline": self.deadline,
            "first": self.first,
            "longest": self.longest,
        }
        return (_again, (self.model, settings))  # with a chance of its own, or workers move in step


class _Tried:
    """What has come of one ask so far; `spent` is what the attempts that failed have cost."""

    def __init__(self) -> None:
        self.attempts = self.broken = 0
        self.spent = NO_USAGE
        self.last: ModelError | None = None

    def fail(self, error: ModelError) -> None:
        self.last = error
        self.spent += error.usage or Usage(calls=1)
        self.broken += error.kind == "malformed"


def _final(error: ModelError, spent: Usage, attempts: int) -> ModelError:
    """The last error, with what all the attempts took."""
    if attempts == 1:
        return error
    return ModelError(
        error.kind,
        f"{error.message} (attempt {attempts})",
        status=error.status,
        retry_after=error.retry_after,
        usage=spent,
        passing=error.passing,
    )


def _again(model: Model, settings: dict[str, Any]) -> RetryingModel:
    return RetryingModel(model, **settings)
