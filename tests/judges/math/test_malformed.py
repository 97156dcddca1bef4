r"""Malformed answers get a 0, never no reward; the failure of a reference is nobody's 0."""

import asyncio
import importlib.util
import threading
from pathlib import Path
from typing import Any

import pytest

from fourscore.core import Case, Rubric, Score, Status, Trace, score
from fourscore.executors.worker_pool import WorkerDied, WorkerPool, WorkerTimeout
from fourscore.formats.recorded_outputs import RecordedOutput
from fourscore.judges.math import MathJudge
from fourscore.judges.scorer import RubricScorer
from fourscore.task_judge import MathAnswerAsJudge
from fourscore.train.rollout_groups import score_batch
from fourscore.workflow import Task, WorkflowOutput, WorkflowTask

ROOT = Path(__file__).parents[3]


def load_benchmark() -> Any:
    path = ROOT / "benchmarks" / "malformed_answers.py"
    spec = importlib.util.spec_from_file_location("malformed_answers", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def judge(answer: str, reference: str, deadline: float = 30.0) -> Score:
    rubric = Rubric.from_judge(MathJudge(match="equivalent", deadline=deadline))
    case = Case(id="t", input="?", expected=reference)
    (scored,) = asyncio.run(score(rubric, case, [Trace(output=f"\\boxed{{{answer}}}")]))
    return scored


def test_every_malformed_answer_has_a_reward() -> None:
    """The short version of benchmarks/malformed_answers.py."""
    benchmark = load_benchmark()
    pairs = benchmark.draw_pairs(400, seed=1)
    scores = asyncio.run(benchmark.judge_answers(pairs, deadline=0.5))
    assert [pair for pair, scored in zip(pairs, scores, strict=True) if scored.reward is None] == []


RAISES = r"0=(\begin{pmatrix}1\\2\end{pmatrix})"
HANGS = r"\int_0^1 e^{e^{e^{x^x}}} dx"


@pytest.mark.parametrize("reference", load_benchmark().REFERENCES)
def test_answer_that_makes_sympy_raise_is_wrong(reference: str) -> None:
    scored = judge(RAISES, reference)
    assert (scored.status, scored.reward) == (Status.SCORED, 0.0)
    assert scored.reason


@pytest.mark.parametrize("reference", ["x^2+1", r"\sqrt{2}+\sqrt{3}"])
def test_answer_that_never_ends_is_wrong(reference: str) -> None:
    scored = judge(HANGS, reference, deadline=0.5)
    assert (scored.status, scored.reward) == (Status.SCORED, 0.0)
    assert "could not be compared within 0.5 s" in scored.reason


def test_reference_that_cannot_be_compared_with_itself_is_a_judge_error() -> None:
    scored = judge(RAISES.replace("2", "3"), RAISES)
    assert (scored.status, scored.reward) == (Status.JUDGE_ERROR, None)
    assert "the reference" in scored.reason
    assert "cannot be compared with itself: TypeError" in scored.reason


@pytest.mark.parametrize(
    "error",
    [
        WorkerTimeout("no worker was free within 1 s; the job never ran", has_run=False),
        WorkerDied("no worker could start: no memory", has_run=False),
    ],
)
def test_answer_that_was_never_compared_is_not_wrong(
    monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    async def fail(*_: Any, **__: Any) -> Any:
        raise error

    monkeypatch.setattr(WorkerPool, "run", fail)
    scored = judge(r"\sum_{k=1}^{10} k", "55")
    assert (scored.status, scored.reward) == (Status.JUDGE_ERROR, None)
    assert str(error) in scored.reason


def test_compute_reward_raises_no_error_of_sympy() -> None:
    task = WorkflowTask(Task(task_id="t", metadata={"answer": "x^2+1"}))
    output = WorkflowOutput(metadata={"final_answer": f"\\boxed{{{RAISES}}}"})
    assert MathAnswerAsJudge({"match": "equivalent"}).compute_reward(task, output) == (0.0, False)


def test_hanging_answers_take_no_reward_from_those_behind_them() -> None:
    """The deadline of a scorer is for judges that need one; these are stopped one by one."""
    rubric = Rubric.from_judge(MathJudge(match="equivalent", deadline=0.5))
    scorer = RubricScorer(rubric, deadline=0.01)
    case = Case(id="t", input="?", expected="55")
    answers = [*[HANGS] * 20, r"\sum_{k=1}^{10} k"]
    rows = [(case, RecordedOutput(Trace(output=f"\\boxed{{{text}}}"))) for text in answers]
    scores = score_batch(scorer, rows)
    assert [scored.reward for scored in scores] == [*[0.0] * 20, 1.0]
    assert threading.active_count() < 20
