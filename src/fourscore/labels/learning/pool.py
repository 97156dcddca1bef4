"""Much work, a little at a time, in an order that is known, and nothing paid for thrown away."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from typing import TypeVar

T = TypeVar("T")


async def pooled(items: Iterable[T], do: Callable[[T], Awaitable[None]], limit: int) -> None:
    """`do` for each item, at most `limit` at a time; items are taken only when one is free.

    After a failure nothing new is begun. What is under way ends properly, since its answers are
    paid for; then the failure is raised.
    """
    waiting = iter(items)
    failures: list[BaseException] = []

    async def work() -> None:
        for item in waiting:
            try:
                await do(item)
            except asyncio.CancelledError:
                raise
            except BaseException as error:
                failures.append(error)
            if failures:
                return

    await asyncio.gather(*(work() for _ in range(limit)))
    if failures:
        raise failures[0]
