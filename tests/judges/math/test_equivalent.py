"""`match: equivalent` from a loop, threads and a fork, and answers that would never end."""

import asyncio
import os
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from fourscore.core import Case, Rubric, Status, Trace, score
from fourscore.core.extras import MissingExtraError
from fourscore.judges.math import MathJudge
from fourscore.task_judge import MathAnswerAsJudge
from fourscore.workflow import Task, WorkflowOutput, WorkflowTask

#: Answer, reference, verdict. The last three are left to Math-Verify.
PAIRS = [
    (r"\frac{1}{2}", "0.5", True),
    ("1,234", "1234", True),
    (r"5\%", "0.05", True),
    (r"5\%", "5", False),
    ("1/2004!", "1/2006!", False),
    ("10^{-20}", "10^{-25}", False),
    ("41 = 42", "42", False),
    (r"2\mathrm{m}", r"2\mathrm{e}", False),
    (r"\sqrt{5+2\sqrt{6}}", r"\sqrt{2}+\sqrt{3}", True),
    (r"\sum_{k=1}^{10} k", "55", True),
    (r"\sum_{k=1}^{10} k", "54", False),
]


def task_and_output(answer: str, reference: str) -> tuple[WorkflowTask, WorkflowOutput]:
    task = WorkflowTask(Task(task_id="t", metadata={"answer": reference}))
    return task, WorkflowOutput(metadata={"final_answer": f"It is \\boxed{{{answer}}}."})


def verdicts() -> list[bool]:
    judge = MathAnswerAsJudge({"match": "equivalent", "deadline": 60})
    return [judge.compute_reward(*task_and_output(a, r))[1] for a, r, _ in PAIRS]


EXPECTED = [verdict for _, _, verdict in PAIRS]


def test_from_the_main_thread() -> None:
    assert verdicts() == EXPECTED


def test_from_sixteen_threads() -> None:
    with ThreadPoolExecutor(16) as threads:
        assert list(threads.map(lambda _: verdicts(), range(16))) == [EXPECTED] * 16


def test_from_an_event_loop() -> None:
    rubric = Rubric.from_judge(MathJudge(match="equivalent", deadline=60))

    async def one(answer: str, reference: str) -> bool | None:
        case = Case(id="t", input="?", expected=reference)
        (scored,) = await score(rubric, case, [Trace(output=f"\\boxed{{{answer}}}")])
        return scored.passed

    async def all_of_them() -> list[bool | None]:
        return list(await asyncio.gather(*[one(a, r) for a, r, _ in PAIRS]))

    assert asyncio.run(all_of_them()) == EXPECTED


def test_from_inside_a_running_loop() -> None:
    async def inside() -> list[bool]:
        return verdicts()

    assert asyncio.run(inside()) == EXPECTED


def test_from_a_forked_process() -> None:
    verdicts()  # the parent's workers are warm, and not the child's
    child = os.fork()
    if not child:
        os._exit(0 if verdicts() == EXPECTED else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_judges_the_last_box() -> None:
    judge = MathAnswerAsJudge({"match": "equivalent"})
    task, _ = task_and_output("", "42")
    output = WorkflowOutput(metadata={"final_answer": r"\boxed{41} no wait \boxed{42.0}"})
    assert judge.compute_reward(task, output) == (1.0, True)


HANGS = "42!!!!!!"  # neither the fast path nor SymPy will ever know


def test_kills_a_worker_at_the_deadline_and_judges_the_next_answer() -> None:
    rubric = Rubric.from_judge(MathJudge(match="equivalent", deadline=1.0))
    case = Case(id="t", input="?", expected="42")

    async def main() -> None:
        await score(rubric, case, [Trace(output=rf"\boxed{{{PAIRS[-2][0]}}}")])  # warm
        started = time.monotonic()
        (late,) = await score(rubric, case, [Trace(output=f"\\boxed{{{HANGS}}}")])
        took = time.monotonic() - started
        assert (late.status, late.passed) == (Status.SCORED, False)  # the reference is plain
        assert "could not be compared within 1 s" in late.reason
        assert took >= 1.0
        (right,) = await score(rubric, case, [Trace(output=r"\boxed{\sqrt{1764}}")])
        assert right.passed

    asyncio.run(main())


@pytest.mark.parametrize(
    "answer",
    [
        "9^{9^{9^{9}}}",
        "10^{10^{10}}",
        "(10^9)!",
        r"\[" * 20_000,
        "{" * 100_000,
        "7" * 10_000_000,
        "__import__('os').system('true')",
        "٤٢",
        "4\x002",
        "\ud800",
        r"\sum_{k=1}^{10^{12}} k" * 50,
        r"\begin{vmatrix}" + r"1 & 2 \\" * 500 + r"\end{vmatrix}",
    ],
    ids=lambda text: text[:12].encode("ascii", "replace").decode(),
)
def test_a_hostile_answer_gets_a_verdict_or_a_status(answer: str) -> None:
    threads = threading.active_count()
    rubric = Rubric.from_judge(MathJudge(match="equivalent", deadline=5.0))
    case = Case(id="t", input="?", expected="42")
    (scored,) = asyncio.run(score(rubric, case, [Trace(output=f"\\boxed{{{answer}}}")]))
    assert scored.passed is not True or answer == "٤٢"
    assert scored.status in (Status.SCORED, Status.JUDGE_ERROR)
    assert scored.reason
    assert threading.active_count() <= threads + 1  # the keeper of the workers


def test_a_missing_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fourscore.core.extras.find_spec", lambda name: None)
    with pytest.raises(MissingExtraError, match=r"pip install 'fourscore\[math\]'"):
        MathJudge(match="equivalent")
