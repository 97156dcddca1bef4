"""Recorded outputs judged in bulk: a chunk of lines in, a chunk of reward lines out.

Chunks are independent, so they can go to several processes; nothing here reads or writes files.
"""

import asyncio
import atexit
import contextvars
import pickle
import time
from functools import lru_cache
from math import sqrt
from typing import NamedTuple, Self

import msgspec

from fourscore.core import INLINE, DataError, Executor, Rubric, Score, Status
from fourscore.executors.local import Local
from fourscore.executors.portal import MustWait, step
from fourscore.executors.process import WorkerError
from fourscore.executors.worker import retire
from fourscore.formats.line_chunks import Chunk
from fourscore.formats.recorded_outputs import Row, read_row
from fourscore.judges.scorer import score_outputs


class Tally(msgspec.Struct):
    """What came of the outputs so far. Every output has exactly one status."""

    rows: int = 0
    planned: int = 0
    successes: int = 0
    reward_sum: float = 0.0
    reward_squares: float = 0.0
    replaced: int = 0
    statuses: dict[str, int] = {}

    def count(self, score: Score) -> None:
        self.planned += 1
        self.statuses[score.status] = self.statuses.get(score.status, 0) + 1
        if score.reward is not None:
            self.successes += score.passed is True
            self.reward_sum += score.reward
            self.reward_squares += score.reward * score.reward

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
        spread = self.reward_squares - self.reward_sum**2 / n
        if spread < 1e-12 * self.reward_squares:  # nothing but rounding
            return 0.0
        return sqrt(spread / (n - 1) / n)


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


#: A loop this late, in seconds, was blocked by somebody.
LATE = 0.25
#: Calls left hanging in threads before a worker is replaced.
MOST_STUCK = 16

_ENCODER = msgspec.json.Encoder()


def check_chunk(chunk: Chunk) -> int:
    """The number of rows; a `DataError` with its line at the first that is broken."""
    rows = 0
    for number, line in chunk.lines():
        _row(number, line)
        rows += 1
    return rows


def judge_chunk(job: bytes, chunk: Chunk) -> tuple[bytes, Tally]:
    """The reward lines of a chunk, in its order, and their tally.

    Rows that need not wait are judged on the way through; the others side by side at the end.
    """
    prepared = _prepared(job)
    answer, rows = _Answer(), [_row(number, line) for number, line in chunk.lines()]
    given: list[list[Score] | None] = [prepared.at_once(row) for row in rows]
    waiting = [row for row, scores in zip(rows, given, strict=True) if scores is None]
    late = iter(prepared.wait(waiting) if waiting else ())
    prepared.done()
    for row, scores in zip(rows, given, strict=True):
        answer.add(row, next(late) if scores is None else scores)
    return bytes(answer.text), answer.tally


def failed_chunk(chunk: Chunk, reason: str) -> tuple[bytes, Tally]:
    """The same for rows whose judge took its process down with it."""
    answer = _Answer()
    for number, line in chunk.lines():
        row = _row(number, line)
        answer.add(row, [Score(status=Status.JUDGE_ERROR, reason=reason)] * len(row.outputs))
    return bytes(answer.text), answer.tally


class _Answer:
    """Reward lines and their tally, growing."""

    def __init__(self) -> None:
        self.text = bytearray()
        self.tally = Tally(statuses={})

    def add(self, row: Row, given: list[Score]) -> None:
        self.tally.rows += 1
        self.tally.replaced += row.replaced
        for index, score in enumerate(given):
            self.tally.count(score)
            line = Line(row.case.id, index, score.reward, score.passed, score.status, score.reason)
            _ENCODER.encode_into(line, self.text, -1)
            self.text += b"\n"


def _row(number: int, line: bytes) -> Row:
    try:
        return read_row(line)
    except DataError as error:
        error_here = DataError(error.message, line=number, field=error.field)
    raise error_here


class _Prepared:
    """One judge, one loop and one pool of threads for all chunks that this process sees."""

    def __init__(self, rubric: Rubric, deadline: float, concurrency: int) -> None:
        self.rubric, self.concurrency = rubric, concurrency
        self.executor: Executor = INLINE if rubric.is_bounded else Local(deadline)
        self.runner = asyncio.Runner()
        atexit.register(self.runner.close)

    def at_once(self, row: Row) -> list[Score] | None:
        """The scores of a row, if they can be had without waiting."""
        if not self.rubric.is_bounded:
            return None
        try:
            return step(score_outputs(self.rubric, row.case, row.outputs))
        except MustWait:
            return None

    def wait(self, rows: list[Row]) -> list[list[Score]]:
        """In the context of whoever called: the models and the budget are theirs."""
        try:
            return self.runner.run(self.side_by_side(rows), context=contextvars.copy_context())
        except OSError as error:  # of the loop itself: a judge has closed what it runs on
            retire()
            raise WorkerError(f"the judge broke its worker: {error.strerror}") from None

    async def side_by_side(self, rows: list[Row]) -> list[list[Score]]:
        """The scores of rows that wait.

        One that blocks the loop they share makes its neighbours late: where that happened, those
        that timed out are judged again, each on its own.
        """
        gate = asyncio.Semaphore(self.concurrency)

        async def one(row: Row) -> list[Score]:
            async with gate:
                return await score_outputs(
                    self.rubric, row.case, row.outputs, executor=self.executor
                )

        async with _Pulse() as pulse:
            given = await asyncio.gather(*map(one, rows))
        if pulse.worst < LATE or len(rows) == 1:
            return given
        return [
            await one(row) if any(map(_timed_out, scores)) else scores
            for row, scores in zip(rows, given, strict=True)
        ]

    def done(self) -> None:
        """After a chunk: a worker full of threads that never end makes way for a new one."""
        if isinstance(self.executor, Local) and self.executor.threads.stuck >= MOST_STUCK:
            retire()


def _timed_out(score: Score) -> bool:
    return any(signal.fault and signal.fault.kind == "timeout" for signal in score.signals)


class _Pulse:
    """How late the event loop was at its worst, in seconds."""

    EVERY = 0.05

    async def __aenter__(self) -> Self:
        self.worst = 0.0
        self._task = asyncio.ensure_future(self._beat())
        return self

    async def __aexit__(self, *_: object) -> None:
        self._task.cancel()

    async def _beat(self) -> None:
        while True:
            before = time.monotonic()
            await asyncio.sleep(self.EVERY)
            self.worst = max(self.worst, time.monotonic() - before - self.EVERY)


@lru_cache(maxsize=2)
def _prepared(job: bytes) -> _Prepared:
    return _Prepared(*pickle.loads(job))  # noqa: S301 - made by our own parent process
