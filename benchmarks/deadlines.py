"""How late a judge stops after its deadline, for an answer that takes too long to compare.

The judge is `match: equivalent` with its default deadline, and its template is warm. Lateness
is the time beyond the deadline, as the caller sees it.

    python benchmarks/deadlines.py
"""

import asyncio
import os
import time
from concurrent.futures import ThreadPoolExecutor

from fourscore.task_judge import MathAnswerAsJudge
from fourscore.workflow import Task, WorkflowOutput, WorkflowTask

DEADLINE = 5.0  # the default
TASK = WorkflowTask(Task(task_id="t", metadata={"answer": "42"}))


def ask(answer: str) -> float:
    """Return the seconds until the judge answers or reaches its deadline."""
    judge = MathAnswerAsJudge({"match": "equivalent", "deadline": DEADLINE, "on_error": "zero"})
    output = WorkflowOutput(metadata={"final_answer": f"\\boxed{{{answer}}}"})
    start = time.perf_counter()
    judge.compute_reward(TASK, output)
    return time.perf_counter() - start


def hang(_: int = 0) -> float:
    return ask("42!!!!!!") - DEADLINE


def show(name: str, late: list[float]) -> None:
    worst = max(late)
    print(f"{name:18} n={len(late):2}  worst {worst * 1000:6.1f} ms late, {worst / DEADLINE:.1%}")


async def in_a_loop() -> list[float]:
    return [hang() for _ in range(3)]


def main() -> None:
    ask(r"\sum_{k=1}^{10} k")  # starts the workers
    show("main thread", [hang() for _ in range(3)])
    with ThreadPoolExecutor(16) as threads:
        show("16 threads", list(threads.map(hang, range(16))))
    show("running loop", asyncio.run(in_a_loop()))
    child = os.fork()
    if not child:
        ask(r"\sum_{k=1}^{10} k")
        show("forked process", [hang() for _ in range(3)])
        os._exit(0)
    os.waitpid(child, 0)


if __name__ == "__main__":
    main()
