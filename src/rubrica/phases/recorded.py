"""Recorded outputs judged in bulk: a chunk of lines in, a chunk of reward lines out.

Chunks are independent, so they can go to several processes; nothing here reads or writes files.
"""

import asyncio
import atexit
import pickle
from functools import lru_cache
from math import sqrt
from typing import NamedTuple

import msgspec

from rubrica.core import INLINE, DataError, Executor, Rubric, Status
from rubrica.executors.local import Local
from rubrica.phases.train import Reward, rewards
from rubrica.readers.lines import Chunk
from rubrica.readers.rows import Row, read_row


class Tally(msgspec.Struct):
    """What came of the outputs so far. Every output has exactly one status."""

    rows: int = 0
    planned: int = 0
    successes: int = 0
    reward_sum: float = 0.0
    reward_squares: float = 0.0
    replaced: int = 0
    statuses: dict[str, int] = {}

    def count(self, reward: Reward) -> None:
        self.planned += 1
        self.statuses[reward.status] = self.statuses.get(reward.status, 0) + 1
        if reward.raw_reward is not None:
            self.successes += bool(reward.is_success)
            self.reward_sum += reward.raw_reward
            self.reward_squares += reward.raw_reward**2

    def add(self, other: "Tally") -> None:
        self.rows += other.rows
        self.planned += other.planned
        self.successes += other.successes
        self.reward_sum += other.reward_sum
        self.reward_squares += other.reward_squares
        self.replaced += other.replaced
        for status, n in other.statuses.items():
            self.statuses[status] = self.statuses.get(status, 0) + n

    @property
    def measured(self) -> int:
        return sum(n for status, n in self.statuses.items() if Status(status).measured)

    @property
    def standard_error(self) -> float | None:
        """Of the mean reward; None where it cannot be told."""
        n = self.measured
        if n < 2:
            return None
        variance = (self.reward_squares - self.reward_sum**2 / n) / (n - 1)
        return sqrt(max(0.0, variance) / n)


class Line(msgspec.Struct):
    """One line of the answer."""

    task_id: str
    index: int
    raw_reward: float | None
    is_success: bool | None
    status: Status
    reason: str


class Job(NamedTuple):
    """How chunks are judged; pickled once, and sent with each of them as bytes."""

    rubric: Rubric
    deadline: float
    concurrency: int = 1


_ENCODER = msgspec.json.Encoder()


def check_chunk(chunk: Chunk) -> int:
    """The number of rows; a `DataError` with its line at the first that is broken."""
    rows = 0
    for number, line in chunk.lines():
        _row(number, line)
        rows += 1
    return rows


def judge_chunk(job: bytes, chunk: Chunk) -> tuple[bytes, Tally]:
    """The reward lines of a chunk, in its order, and their tally."""
    rubric, executor, concurrency, runner = _prepared(job)
    answer = _Answer()

    async def one_after_another() -> None:
        for number, line in chunk.lines():
            row = _row(number, line)
            answer.add(row, await rewards(rubric, row.case, row.outputs, executor=executor))

    async def side_by_side() -> None:
        gate = asyncio.Semaphore(concurrency)
        rows = [_row(number, line) for number, line in chunk.lines()]

        async def one(row: Row) -> list[Reward]:
            async with gate:
                return await rewards(rubric, row.case, row.outputs, executor=executor)

        for row, given in zip(rows, await asyncio.gather(*map(one, rows)), strict=True):
            answer.add(row, given)

    runner.run(one_after_another() if concurrency == 1 else side_by_side())
    return bytes(answer.text), answer.tally


def failed_chunk(chunk: Chunk, reason: str) -> tuple[bytes, Tally]:
    """The same for rows whose judge took its process down with it."""
    answer = _Answer()
    for number, line in chunk.lines():
        row = _row(number, line)
        answer.add(row, [Reward(None, None, Status.JUDGE_ERROR, reason)] * len(row.outputs))
    return bytes(answer.text), answer.tally


class _Answer:
    """Reward lines and their tally, growing."""

    def __init__(self) -> None:
        self.text = bytearray()
        self.tally = Tally(statuses={})

    def add(self, row: Row, given: list[Reward]) -> None:
        self.tally.rows += 1
        self.tally.replaced += row.replaced
        for index, reward in enumerate(given):
            self.tally.count(reward)
            line = Line(
                row.case.id,
                index,
                reward.raw_reward,
                reward.is_success,
                reward.status,
                reward.reason,
            )
            self.text += _ENCODER.encode(line)
            self.text += b"\n"


def _row(number: int, line: bytes) -> Row:
    try:
        return read_row(line)
    except DataError as error:
        error_here = DataError(error.message, line=number, field=error.field)
    raise error_here


@lru_cache(maxsize=2)
def _prepared(job: bytes) -> tuple[Rubric, Executor, int, asyncio.Runner]:
    """One judge, one loop and one pool of threads for all chunks that this process sees."""
    rubric, deadline, concurrency = pickle.loads(job)  # noqa: S301 - made by our own parent process
    runner = asyncio.Runner()
    atexit.register(runner.close)
    bounded = all(getattr(seat.judge, "runs", None) == "inline" for seat in rubric.seats)
    return rubric, INLINE if bounded else Local(deadline), concurrency, runner
