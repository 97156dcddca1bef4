"""Where `fourscore judge` works: in this process for a small file, in worker processes for a large.

Results come in the order of the chunks, and only a few chunks are under way at a time, so memory
does not grow with the file. A user's judge always runs in a process that can be killed: one that
crashes it, or blocks it past every deadline, loses its own row and no other.

A judge that asks models runs in this process: one budget and one limit on calls hold for all of
its rows, and it does nothing but wait.
"""

import pickle
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future
from functools import partial
from typing import Any, Self

from fourscore.core import Rubric
from fourscore.executors.worker_pool import WorkerError, WorkerPool
from fourscore.formats.line_chunks import LineChunk
from fourscore.train.bulk_rows import BulkJob, RewardTally, check_chunk, fail_chunk, judge_chunk

#: Bytes of rows below which starting processes costs more than it saves.
MIN_BYTES_FOR_PROCESSES = 1024 * 1024
#: Rows of a user's judge in one chunk: all are judged again if their process dies.
ROWS_AT_RISK = 16
#: Concurrent rows of a judge that asks models.
MODEL_CONCURRENCY = 64
#: Seconds for a chunk whose work is bounded by its size; not expected to be needed.
BOUNDED_DEADLINE = 600.0
#: Seconds beyond the rows' own deadlines, before a process counts as stuck.
SLACK = 5.0
#: Seconds that a chunk may wait for a worker: no limit, because all work has deadlines.
NO_LIMIT = 1e9

JudgedChunk = tuple[bytes, RewardTally]
Work = Callable[[LineChunk], Any]


class JudgePool:
    """Checks and judges chunks of rows, in this process or in workers.

    `size` is the number of bytes to read, None where it is unknown.
    """

    def __init__(
        self, rubric: Rubric, deadline: float, *, workers: int | None, size: int | None
    ) -> None:
        asks = bool(rubric.provenance.models)
        self._at_risk = not rubric.is_bounded and not asks
        self._deadline = deadline
        blocks = any(slot.runs == "thread" for slot in rubric.slots)
        concurrency = 4 if blocks else MODEL_CONCURRENCY if asks else ROWS_AT_RISK
        self._jobs = {
            is_checked: pickle.dumps(BulkJob(rubric, deadline, concurrency, is_checked))
            for is_checked in (False, True)
        }
        self._is_checked = False
        self._pool = WorkerPool(
            workers, memory=None, warm=["fourscore.train.bulk_rows"], patience=NO_LIMIT
        )
        self._processes = self._pool.size
        alone = (
            asks or self._processes == 1 or (size is not None and size < MIN_BYTES_FOR_PROCESSES)
        )
        self._here = 1 << 62 if alone else MIN_BYTES_FOR_PROCESSES if size is None else 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._pool.close()

    def check(self, source: Iterable[LineChunk]) -> Iterator[tuple[LineChunk, int]]:
        """Read every row of each chunk; a broken one raises a `DataError`."""
        yield from self._run_each(check_chunk, source, self._here, BOUNDED_DEADLINE)
        self._is_checked = True

    def judge(self, source: Iterable[LineChunk]) -> Iterator[tuple[LineChunk, JudgedChunk]]:
        """Judge each chunk; yields it with its reward lines and their tally."""
        work = partial(judge_chunk, self._jobs[self._is_checked])
        if not self._at_risk:
            return self._run_each(work, source, self._here, BOUNDED_DEADLINE)
        parts = (part for chunk in source for part in chunk.split(ROWS_AT_RISK))
        return self._run_each(work, parts, 0, None)

    def _run_each(
        self, work: Work, source: Iterable[LineChunk], here: int, deadline: float | None
    ) -> Iterator[tuple[LineChunk, Any]]:
        """Run `work` on each chunk, for the first `here` bytes in this process.

        Without a deadline the rows are at risk: each has its own, and a dead worker is survived.
        """
        under_way: deque[tuple[LineChunk, Future[Any]]] = deque()
        for chunk in source:
            if here > 0:
                here -= len(chunk.text)
                yield chunk, work(chunk)
                continue
            under_way.append((chunk, self._submit(work, chunk, deadline)))
            if len(under_way) > 2 * self._processes:
                yield self._collect(work, *under_way.popleft(), deadline is None)
        while under_way:
            yield self._collect(work, *under_way.popleft(), deadline is None)

    def _submit(self, work: Work, chunk: LineChunk, deadline: float | None) -> "Future[Any]":
        if deadline is None:
            deadline = self._deadline * sum(1 for _ in chunk.lines()) + SLACK
        return self._pool.submit(work, chunk, deadline=deadline)

    def _collect(
        self, work: Work, chunk: LineChunk, result: "Future[Any]", at_risk: bool
    ) -> tuple[LineChunk, Any]:
        try:
            return chunk, result.result()
        except WorkerError as error:
            if not at_risk:
                raise
            rows = list(chunk.split(1))
            if len(rows) == 1:
                return chunk, fail_chunk(chunk, str(error))
            return chunk, self._retry_rows(work, rows)

    def _retry_rows(self, work: Work, rows: list[LineChunk]) -> JudgedChunk:
        """Judge the rows of a dead process again, one by one, so that only one is lost."""
        text, tally = bytearray(), RewardTally(statuses={})
        for row in rows:
            _, (lines, part) = self._collect(work, row, self._submit(work, row, None), True)
            text += lines
            tally.merge(part)
        return bytes(text), tally
