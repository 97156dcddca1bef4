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

from rubrica.core import Usage
from rubrica.core.numbers import finite, whole
from rubrica.models.asking import FREE, Ask, Model, ModelError, Reply
from rubrica.models.wrapper import Wrapper


class Retrying(Wrapper):
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
        whole("attempts", attempts, low=1)
        whole("malformed", malformed, low=1)
        for field, value in (("deadline", deadline), ("first", first), ("longest", longest)):
            finite(field, value, low=0)
        self.attempts, self.malformed, self.deadline = attempts, malformed, deadline
        self.first, self.longest = first, longest
        self._chance = chance or random.Random()  # noqa: S311

    async def ask(self, ask: Ask) -> Reply:
        spent, last = FREE, None
        broken = 0
        ends = asyncio.get_running_loop().time() + self.deadline
        for attempt in range(1, self.attempts + 1):
            try:
                async with asyncio.timeout_at(ends) as limit:
                    reply = await self.model.ask(ask)
                if attempt == 1:
                    return reply
                return replace(reply, usage=spent + reply.usage, attempts=attempt)
            except ModelError as error:
                last = error
            except TimeoutError:
                if not limit.expired():
                    raise
                raise _final(last or self._late(), spent, attempt) from None
            spent += last.usage or Usage(calls=1)
            broken += last.kind == "malformed"
            pause = self._pause(last, attempt)
            if not last.passing or attempt == self.attempts or broken == self.malformed:
                break
            if asyncio.get_running_loop().time() + pause >= ends:
                break  # it would come too late: better to say so now
            if pause:
                await asyncio.sleep(pause)
        assert last is not None
        raise _final(last, spent, attempt) from None

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


def _again(model: Model, settings: dict[str, Any]) -> Retrying:
    return Retrying(model, **settings)
