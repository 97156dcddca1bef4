"""The defences of a judge that asks a model, by name, so that each can be left out and measured.

Nobody switches one off but for measuring what it is worth: `fourscore attack` and the benchmark do.
"""

from collections.abc import Awaitable, Callable
from contextvars import ContextVar
from functools import wraps
from typing import Any, Literal, get_args

#: `fence`: marks around what others wrote, or one line for it.
#: `invisible`: taking out characters nobody sees.
#: `openers`: not asking about an answer that is none. `number`: the verdict carries the fence's.
#: `cut`: a long text is cut. `evidence`: quoted words have to be there.
Defence = Literal["fence", "invisible", "openers", "number", "cut", "evidence"]
DEFENCES: tuple[Defence, ...] = get_args(Defence)

_OFF: ContextVar[tuple[Defence, ...]] = ContextVar("defences that are off", default=())


def is_off(defence: Defence) -> bool:
    """Whether the judge that is at work here goes without it."""
    return defence in _OFF.get()


def switched(judging: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
    """A judge's method that tells `is_off` what its judge goes without."""

    @wraps(judging)
    async def judged(self: Any, *parts: Any) -> Any:
        if not self.without:
            return await judging(self, *parts)
        token = _OFF.set(self.without)
        try:
            return await judging(self, *parts)
        finally:
            _OFF.reset(token)

    return judged
