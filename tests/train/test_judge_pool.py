"""The judge pool keeps the order of chunks, and survives a judge that kills its process."""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from fourscore.core import DataError, Rubric
from fourscore.formats.line_chunks import LineChunk
from fourscore.judges.loading import load_judge
from fourscore.judges.math import MathJudge
from fourscore.train.bulk_rows import RewardTally
from fourscore.train.judge_pool import MIN_BYTES_FOR_PROCESSES, JudgePool

MATH = Rubric.from_judge(MathJudge())

WHERE = """
import os
def where(case, trace):
    if trace.answer == "die":
        os.kill(os.getpid(), 9)
    return float(os.getpid())
"""


def chunks(n: int, *answers: str) -> list[LineChunk]:
    """Return n chunks of one row each, or of one row for each answer."""
    found = []
    for i in range(n):
        rows = [
            {
                "task": {"task_id": f"{i}", "metadata": {"answer": "4"}},
                "output": {"metadata": {"final_answer": answer}},
            }
            for answer in answers or [r"\boxed{4}"]
        ]
        text = b"".join(json.dumps(row).encode() + b"\n" for row in rows)
        found.append(LineChunk(1 + i * len(rows), text))
    return found


def judged(pool: JudgePool, source: list[LineChunk]) -> tuple[list[dict[str, Any]], RewardTally]:
    tally, lines = RewardTally(statuses={}), []
    with pool:
        for _, (text, part) in pool.judge(source):
            tally.merge(part)
            lines += [json.loads(line) for line in text.splitlines()]
    return lines, tally


@pytest.fixture
def where(tmp_path: Path) -> Rubric:
    """A judge whose reward is the id of its process."""
    (tmp_path / "where.py").write_text(WHERE)
    return Rubric.from_judge(load_judge(f"{tmp_path}/where.py->where"))


@pytest.mark.parametrize(
    ("workers", "size"), [(1, None), (2, 100), (2, MIN_BYTES_FOR_PROCESSES), (3, None)]
)
def test_results_come_in_the_order_of_the_chunks(workers: int, size: int | None) -> None:
    source = chunks(40)
    with JudgePool(MATH, 30.0, workers=workers, size=size) as pool:
        assert [(chunk, rows) for chunk, rows in pool.check(source)] == [(c, 1) for c in source]
        assert [chunk for chunk, _ in pool.judge(source)] == source


def test_chunks_are_read_only_as_results_are_consumed() -> None:
    """A file of any size can be judged: only a few chunks are in memory."""
    taken = 0

    def endless() -> Iterator[LineChunk]:
        nonlocal taken
        while True:
            taken += 1
            yield chunks(1)[0]

    with JudgePool(MATH, 30.0, workers=2, size=MIN_BYTES_FOR_PROCESSES) as pool:
        results = pool.judge(endless())
        for n in range(1, 20):
            next(results)
            assert taken <= n + 5


def test_broken_row_raises_with_its_line_from_any_process() -> None:
    source = [*chunks(3), LineChunk(4, b'{"task": 3}\n')]
    for size in (100, MIN_BYTES_FOR_PROCESSES):
        with (
            JudgePool(MATH, 30.0, workers=2, size=size) as pool,
            pytest.raises(DataError) as caught,
        ):
            list(pool.check(source))
        assert (caught.value.line, caught.value.field) == (4, "task")


def test_user_judge_runs_in_a_worker_process(where: Rubric) -> None:
    for workers, size in ((1, 100), (2, MIN_BYTES_FOR_PROCESSES), (2, None)):
        lines, _ = judged(JudgePool(where, 30.0, workers=workers, size=size), chunks(3))
        assert os.getpid() not in {line["raw_reward"] for line in lines}


def test_judge_that_kills_its_process_loses_only_its_own_row(where: Rubric) -> None:
    lines, tally = judged(JudgePool(where, 30.0, workers=2, size=100), chunks(2, "a", "die", "b"))
    assert [line["task_id"] for line in lines] == ["0", "0", "0", "1", "1", "1"]
    assert [line["status"] for line in lines] == ["scored", "judge_error", "scored"] * 2
    assert "SIGKILL" in lines[1]["reason"]
    assert tally.statuses == {"scored": 4, "judge_error": 2}
    assert tally.rows == tally.planned == 6


def test_worker_processes_end_with_the_pool(where: Rubric) -> None:
    lines, _ = judged(JudgePool(where, 30.0, workers=2, size=100), chunks(8))
    for process in {int(line["raw_reward"]) for line in lines}:
        with pytest.raises(ProcessLookupError):
            os.kill(process, 0)
