"""Who does the work of `fourscore judge`: this process for a little, worker processes for much.

Chunks come back in the order in which they went, and only a few are under way at a time, so memory
does not grow with the file. A user's judge always works in a process that can be killed: one that
takes it down, or holds it past every deadline, costs its own row and no other.

A judge that asks models works in this process: one budget and one limit on calls hold for all of
its rows, and it does nothing but wait.
"""

import pickle
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future
from functools import partial
from typing import Any, Self

from fourscore.core import Rubric
from fourscore.executors.workers import WorkerError, Workers
from fourscore.formats.line_chunks import Chunk
from fourscore.train.bulk_rows import Job, Tally, check_chunk, failed_chunk, judge_chunk

#: Below this many bytes, starting processes costs more than they bring.
WORTH_PROCESSES = 1024 * 1024
#: Rows of a user's judge that share a process at a time, and so are judged again if it dies.
ROWS_AT_RISK = 16
#: Rows at a time of a judge that asks models.
ASKING = 64
#: For a chunk whose work is bounded by its size. Not expected to pass.
BOUNDED = 600.0
#: Beyond the rows' own deadlines, before a process counts as stuck.
SLACK = 5.0

#: A chunk waits for its turn as long as it takes: what is under way has deadlines.
FOREVER = 1e9

Judged = tuple[bytes, Tally]
Work = Callable[[Chunk], Any]


class Crew:
    """Checks and judges chunks."""

    def __init__(
        self, rubric: Rubric, deadline: float, workers: int | None, size: int | None
    ) -> None:
        asks = bool(rubric.provenance.models)
        self._at_risk = not rubric.is_bounded and not asks
        self._deadline = deadline
        blocks = any(slot.runs == "thread" for slot in rubric.slots)
        concurrency = 4 if blocks else ASKING if asks else ROWS_AT_RISK
        self._job = pickle.dumps(Job(rubric, deadline, concurrency))
        self._pool = Workers(
            workers, memory=None, warm=["fourscore.train.bulk_rows"], patience=FOREVER
        )
        self._processes = self._pool.size
        alone = asks or self._processes == 1 or (size is not None and size < WORTH_PROCESSES)
        self._here = 1 << 62 if alone else WORTH_PROCESSES if size is None else 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._pool.close()

    def check(self, source: Iterable[Chunk]) -> Iterator[tuple[Chunk, int]]:
        """Read every row; a broken one raises."""
        return self._each(check_chunk, source, self._here, BOUNDED)

    def judge(self, source: Iterable[Chunk]) -> Iterator[tuple[Chunk, Judged]]:
        """The reward lines of each chunk."""
        work = partial(judge_chunk, self._job)
        if not self._at_risk:
            return self._each(work, source, self._here, BOUNDED)
        parts = (part for chunk in source for part in chunk.split(ROWS_AT_RISK))
        return self._each(work, parts, 0, None)

    def _each(
        self, work: Work, source: Iterable[Chunk], here: int, deadline: float | None
    ) -> Iterator[tuple[Chunk, Any]]:
        """Work on each chunk, the first `here` bytes in this process.

        Without a deadline for a chunk its rows are at risk, and have their own.
        """
        under_way: deque[tuple[Chunk, Future[Any]]] = deque()
        for chunk in source:
            if here > 0:
                here -= len(chunk.text)
                yield chunk, work(chunk)
                continue
            under_way.append((chunk, self._sent(work, chunk, deadline)))
            if len(under_way) > 2 * self._processes:
                yield self._settled(work, *under_way.popleft(), deadline is None)
        while under_way:
            yield self._settled(work, *under_way.popleft(), deadline is None)

    def _sent(self, work: Work, chunk: Chunk, deadline: float | None) -> "Future[Any]":
        if deadline is None:
            deadline = self._deadline * sum(1 for _ in chunk.lines()) + SLACK
        return self._pool.submit(work, chunk, deadline=deadline)

    def _settled(
        self, work: Work, chunk: Chunk, result: "Future[Any]", at_risk: bool
    ) -> tuple[Chunk, Any]:
        try:
            return chunk, result.result()
        except WorkerError as error:
            if not at_risk:
                raise
            rows = list(chunk.split(1))
            if len(rows) == 1:
                return chunk, failed_chunk(chunk, str(error))
            return chunk, self._one_by_one(work, rows)

    def _one_by_one(self, work: Work, rows: list[Chunk]) -> Judged:
        """Rows whose process died, again, each on its own: only the guilty one is lost."""
        text, tally = bytearray(), Tally(statuses={})
        for row in rows:
            _, (lines, part) = self._settled(work, row, self._sent(work, row, None), True)
            text += lines
            tally.add(part)
        return bytes(text), tally
