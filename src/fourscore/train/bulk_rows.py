"""Judge recorded outputs in bulk: a chunk of rows in, a chunk of reward lines out.

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
from fourscore.executors.local import LocalExecutor
from fourscore.executors.portal import MustWait, run_without_loop
from fourscore.executors.worker_main import retire
from fourscore.executors.worker_process import WorkerError
from fourscore.formats.line_chunks import LineChunk
from fourscore.formats.plain_text import escape_json
from fourscore.formats.recorded_outputs import RecordedRow, read_row
from fourscore.judges.scorer import score_outputs


class RewardTally(msgspec.Struct, kw_only=True):
    """Counts and sums over judged outputs. Every output has exactly one status."""

    rows: int = 0
    planned: int = 0
    successes: int = 0
    reward_sum: float = 0.0
    reward_squares: float = 0.0
    surrogates_replaced: int = 0
    statuses: dict[str, int] = {}

    def add_score(self, score: Score) -> None:
        self.planned += 1
        self.statuses[score.status] = self.statuses.get(score.status, 0) + 1
        if score.reward is not None:
            self.successes += score.passed is True
            self.reward_sum += score.reward
            self.reward_squares += score.reward * score.reward

    def merge(self, other: "RewardTally") -> None:
        self.rows += other.rows
        self.planned += other.planned
        self.successes += other.successes
        self.reward_sum += other.reward_sum
        self.reward_squares += other.reward_squares
        self.surrogates_replaced += other.surrogates_replaced
        for status, n in other.statuses.items():
            self.statuses[status] = self.statuses.get(status, 0) + n

    @property
    def measured(self) -> int:
        """The number of outputs with a measured status."""
        return sum(n for status, n in self.statuses.items() if Status(status).measured)

    @property
    def standard_error(self) -> float | None:
        """The standard error of the mean reward; None with fewer than two measured outputs."""
        n = self.measured
        if n < 2:
            return None
        spread = self.reward_squares - self.reward_sum**2 / n
        if spread < 1e-12 * self.reward_squares:  # only rounding errors
            return 0.0
        return sqrt(spread / (n - 1) / n)


class RewardLine(msgspec.Struct, kw_only=True):
    """One line of the result of `fourscore judge`."""

    task_id: str
    index: int
    raw_reward: float | None
    is_success: bool | None
    status: Status
    reason: str


class BulkJob(NamedTuple):
    """How chunks are judged; pickled once, and sent as bytes with each chunk."""

    rubric: Rubric
    deadline: float
    concurrency: int = 1
    #: `check_chunk` has read the rows before, and refused repeated keys.
    is_checked: bool = False


#: Seconds of delay from which the event loop counts as blocked.
BLOCKED_AFTER = 0.25
#: Calls hanging in threads from which a worker is replaced.
MAX_STUCK = 16

_ENCODER = msgspec.json.Encoder()


def check_chunk(chunk: LineChunk) -> int:
    """Return the number of rows; a `DataError` with its line at the first broken one."""
    rows = 0
    for number, line in chunk.lines():
        _read_row(number, line)
        rows += 1
    return rows


def judge_chunk(job: bytes, chunk: LineChunk) -> tuple[bytes, RewardTally]:
    """Return the reward lines of a chunk, in its order, and their tally.

    Rows that need not wait are judged first, one by one; the others then concurrently.
    """
    judge = _get_chunk_judge(job)
    result = _ChunkResult()
    rows = [_read_row(number, line, is_checked=judge.is_checked) for number, line in chunk.lines()]
    first: list[list[Score] | None] = [judge.score_at_once(row) for row in rows]
    waiting = [row for row, scores in zip(rows, first, strict=True) if scores is None]
    later = iter(judge.score_waiting(waiting) if waiting else ())
    judge.finish_chunk()
    for row, scores in zip(rows, first, strict=True):
        result.add(row, next(later) if scores is None else scores)
    return escape_json(bytes(result.text)), result.tally


def fail_chunk(chunk: LineChunk, reason: str) -> tuple[bytes, RewardTally]:
    """Return the reward lines and tally of rows whose judge crashed its process."""
    result = _ChunkResult()
    for number, line in chunk.lines():
        row = _read_row(number, line)
        result.add(row, [Score(status=Status.JUDGE_ERROR, reason=reason)] * len(row.outputs))
    return escape_json(bytes(result.text)), result.tally


class _ChunkResult:
    """The reward lines of a chunk so far, and their tally."""

    def __init__(self) -> None:
        self.text = bytearray()
        self.tally = RewardTally(statuses={})

    def add(self, row: RecordedRow, scores: list[Score]) -> None:
        self.tally.rows += 1
        self.tally.surrogates_replaced += row.replaced
        for index, score in enumerate(scores):
            self.tally.add_score(score)
            line = RewardLine(
                task_id=row.case.id,
                index=index,
                raw_reward=score.reward,
                is_success=score.passed,
                status=score.status,
                reason=score.reason,
            )
            _ENCODER.encode_into(line, self.text, -1)
            self.text += b"\n"


def _read_row(number: int, line: bytes, *, is_checked: bool = False) -> RecordedRow:
    try:
        return read_row(line, is_checked=is_checked)
    except DataError as error:
        error_here = DataError(error.message, line=number, field=error.field)
    raise error_here


class _ChunkJudge:
    """The rubric, event loop and threads for all chunks that this process judges."""

    def __init__(self, job: BulkJob) -> None:
        self.rubric, self.concurrency = job.rubric, job.concurrency
        self.is_checked = job.is_checked
        bounded = job.rubric.is_bounded
        self.executor: Executor = INLINE if bounded else LocalExecutor(job.deadline)
        self.runner = asyncio.Runner()
        atexit.register(self.runner.close)

    def score_at_once(self, row: RecordedRow) -> list[Score] | None:
        """Return the scores of a row; None where its judge has to wait."""
        if not self.rubric.is_bounded:
            return None
        try:
            return run_without_loop(score_outputs(self.rubric, row.case, row.outputs))
        except MustWait:
            return None

    def score_waiting(self, rows: list[RecordedRow]) -> list[list[Score]]:
        """Score rows on the event loop, in the caller's context with its models and budget."""
        try:
            return self.runner.run(
                self._score_concurrently(rows), context=contextvars.copy_context()
            )
        except OSError as error:  # of the loop itself: a judge has closed its file descriptors
            retire()
            raise WorkerError(f"the judge broke its worker: {error.strerror}") from None

    async def _score_concurrently(self, rows: list[RecordedRow]) -> list[list[Score]]:
        """Score rows together; where one blocked the loop, those that timed out again, alone."""
        gate = asyncio.Semaphore(self.concurrency)

        async def score_row(row: RecordedRow) -> list[Score]:
            async with gate:
                return await score_outputs(
                    self.rubric, row.case, row.outputs, executor=self.executor
                )

        async with _LoopDelay() as delay:
            scores = await asyncio.gather(*map(score_row, rows))
        if delay.worst < BLOCKED_AFTER or len(rows) == 1:
            return scores
        return [
            await score_row(row) if any(map(_has_timed_out, of_row)) else of_row
            for row, of_row in zip(rows, scores, strict=True)
        ]

    def finish_chunk(self) -> None:
        """Replace this worker after the chunk where too many of its threads hang."""
        if isinstance(self.executor, LocalExecutor) and self.executor.threads.stuck >= MAX_STUCK:
            retire()


def _has_timed_out(score: Score) -> bool:
    return any(signal.fault and signal.fault.kind == "timeout" for signal in score.signals)


class _LoopDelay:
    """Measures the worst delay of the event loop, in seconds."""

    INTERVAL = 0.05

    async def __aenter__(self) -> Self:
        self.worst = 0.0
        self._task = asyncio.ensure_future(self._measure())
        return self

    async def __aexit__(self, *_: object) -> None:
        self._task.cancel()

    async def _measure(self) -> None:
        while True:
            before = time.monotonic()
            await asyncio.sleep(self.INTERVAL)
            self.worst = max(self.worst, time.monotonic() - before - self.INTERVAL)


@lru_cache(maxsize=2)
def _get_chunk_judge(job: bytes) -> _ChunkJudge:
    return _ChunkJudge(pickle.loads(job))  # noqa: S301 - made by our own parent process
