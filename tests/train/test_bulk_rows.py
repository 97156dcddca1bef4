"""Chunks of recorded outputs: a reward line for each output, and a tally."""

import json
import pickle
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fourscore.core import DataError, Rubric
from fourscore.formats.line_chunks import LineChunk
from fourscore.judges.math import MathJudge
from fourscore.train.bulk_rows import BulkJob, RewardTally, check_chunk, fail_chunk, judge_chunk

JOB = pickle.dumps(BulkJob(Rubric.from_judge(MathJudge()), 30.0))


def chunk(*rows: Any, first: int = 1) -> LineChunk:
    return LineChunk(first, b"".join(json.dumps(row).encode() + b"\n" for row in rows))


def row(answer: str | None, *texts: str) -> dict[str, Any]:
    metadata = {} if answer is None else {"answer": answer}
    outputs = [{"metadata": {"final_answer": text}} for text in texts]
    return {"task": {"task_id": "t", "metadata": metadata}, "outputs": outputs}


def test_each_output_has_a_reward_line() -> None:
    text, tally = judge_chunk(JOB, chunk(row("4", r"\boxed{4}", r"\boxed{5}"), row(None, "x")))
    lines = [json.loads(line) for line in text.splitlines()]
    assert [(line["index"], line["raw_reward"], line["status"]) for line in lines] == [
        (0, 1.0, "scored"),
        (1, 0.0, "scored"),
        (0, None, "judge_error"),
    ]
    assert (tally.rows, tally.planned, tally.measured, tally.successes) == (2, 3, 2, 1)
    assert tally.statuses == {"scored": 2, "judge_error": 1}


def test_check_counts_rows_and_reports_the_broken_line() -> None:
    good = row("4", "x")
    assert check_chunk(chunk(good, good)) == 2
    for work in (check_chunk, lambda broken: judge_chunk(JOB, broken)):
        with pytest.raises(DataError) as caught:
            work(chunk(good, {"task": {}, "output": {"reward": "x"}}, first=41))
        assert (caught.value.line, caught.value.field) == (42, "output.reward")


def test_repeated_key_is_refused_once_before_judging() -> None:
    twice = LineChunk(
        7, b'{"task": {"task_id": "t", "expected": 1, "expected": 2}, "output": {}}\n'
    )
    for work in (check_chunk, lambda broken: judge_chunk(JOB, broken)):
        with pytest.raises(DataError, match="the key is used twice") as caught:
            work(twice)
        assert (caught.value.line, caught.value.field) == (7, "task.expected")
    job = pickle.loads(JOB)._replace(is_checked=True)
    assert judge_chunk(pickle.dumps(job), twice)[1].rows == 1


def test_failed_chunk_has_a_line_for_each_output() -> None:
    text, tally = fail_chunk(chunk(row("4", "a", "b"), row("4", "c")), "the process died")
    lines = [json.loads(line) for line in text.splitlines()]
    assert len(lines) == tally.planned == tally.statuses["judge_error"] == 3
    assert all(line["raw_reward"] is line["is_success"] is None for line in lines)
    assert {line["reason"] for line in lines} == {"the process died"}
    assert tally.measured == 0


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["1", "2", None]),
            st.lists(st.sampled_from([r"\boxed{1}", r"\boxed{2}", "none"]), min_size=1, max_size=3),
        ),
        max_size=12,
    ),
    st.integers(1, 5),
)
def test_parts_of_a_chunk_add_up_to_the_whole(
    rows: list[tuple[str | None, list[str]]], most: int
) -> None:
    whole = chunk(*[row(answer, *texts) for answer, texts in rows])
    lines, tally = judge_chunk(JOB, whole)
    text, total = b"", RewardTally(statuses={})
    for part in whole.split(most):
        some, of_part = judge_chunk(JOB, part)
        text += some
        total.merge(of_part)
    assert (text, total) == (lines, tally)
    assert tally.planned == sum(tally.statuses.values()) == lines.count(b"\n")
    assert tally.rows == len(rows)


def test_standard_error_of_the_mean_reward() -> None:
    presets = [{"task": {}, "output": {"reward": reward}} for reward in (0, 1, 1, 2)]
    _, tally = judge_chunk(JOB, chunk(*presets))
    assert tally.standard_error == pytest.approx((2 / 3 / 4) ** 0.5)
    assert judge_chunk(JOB, chunk(presets[0]))[1].standard_error is None
