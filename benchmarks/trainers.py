"""Rewards in trainers: 64 threads sharing one adapter, one thread, and a few lines by hand.

python benchmarks/trainers.py                  # 100,000 rewards for each adapter
python benchmarks/trainers.py --rewards 20000
"""

import argparse
import json
import multiprocessing
import re
import resource
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from fourscore.core import Case, Trace, judge
from fourscore.integrations import agentjet, openrlhf, trl, verl
from fourscore.judges.workflow import Task, WorkflowOutput, WorkflowTask

THREADS = 64
Job = tuple[str, str | None]
Ask = Callable[[Job], float | None]


def make_jobs(n: int) -> list[Job]:
    """Return n tasks, a seventh of them without a reference: their reward must be None."""
    return [
        (rf"The sum of it all is \boxed{{{i % 11}}}.", None if i % 7 == 6 else str(i % 5))
        for i in range(n)
    ]


def by_hand(job: Job) -> float | None:
    """Score without checks or reasons: the lower limit of the time."""
    answer, reference = job
    found = re.findall(r"\\boxed\{([^{}]*)\}", answer)
    return None if reference is None else float(bool(found) and found[-1] == reference)


@judge
def in_a_thread(case: Case, trace: Trace) -> float:
    """A user's plain function, which may block: it runs in a thread of its own."""
    return by_hand((trace.answer, case.metadata.get("answer") or "")) or 0.0


def make_adapters() -> dict[str, Ask]:
    reward, scorer = trl.Reward("math"), verl.Scorer("math", on_error="zero")
    func, task_judge = openrlhf.RewardFunc("math", on_error="zero"), agentjet.TaskJudge("math")
    custom = trl.Reward(in_a_thread)

    def ask_trl(job: Job) -> float | None:
        return reward(prompts=["?"], completions=[job[0]], answer=[job[1]])[0]

    def ask_verl(job: Job) -> float | None:
        result = scorer.compute_score("s", *job)
        return result["score"] if result["fourscore_judged"] else None

    def ask_openrlhf(job: Job) -> float | None:
        result = func([f"?{job[0]}"], ["?"], [job[1]])
        judged = result["extra_logs"]["fourscore_judged"][0]
        return result["rewards"][0] if judged else None

    def ask_agentjet(job: Job) -> float | None:
        if job[1] is None:
            return None  # it raises
        task = WorkflowTask(Task(task_id="t", metadata={"answer": job[1]}))
        output = WorkflowOutput(metadata={"final_answer": job[0]})
        return task_judge.compute_reward(task, output)[0]

    def ask_custom(job: Job) -> float | None:
        if job[1] is None:
            return None
        return custom(prompts=["?"], completions=[job[0]], answer=[job[1]])[0]

    return {
        "by hand": by_hand,
        "trl": ask_trl,
        "verl": ask_verl,
        "openrlhf": ask_openrlhf,
        "agentjet": ask_agentjet,
        "trl, a judge in threads": ask_custom,
    }


def measure(name: str, ask: Ask, work: list[Job]) -> dict[str, Any]:
    started = time.perf_counter()
    alone = [ask(job) for job in work]
    one = time.perf_counter() - started
    barrier = threading.Barrier(THREADS)
    share = -(-len(work) // THREADS)

    def part(index: int) -> list[float | None]:
        barrier.wait()
        return [ask(job) for job in work[index * share : (index + 1) * share]]

    with ThreadPoolExecutor(THREADS) as pool:
        started = time.perf_counter()
        together = [reward for rewards in pool.map(part, range(THREADS)) for reward in rewards]
        many = time.perf_counter() - started
    return {
        "adapter": name,
        "rewards": len(work),
        "same_verdicts": together == alone == [by_hand(job) for job in work],
        "one_thread_per_second": round(len(work) / one),
        "64_threads_per_second": round(len(work) / many),
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rewards", type=int, default=100_000)
    n = parser.parse_args().rewards
    lines = []
    for name, ask in make_adapters().items():
        measure(name, ask, make_jobs(THREADS))  # warm
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        line = measure(name, ask, make_jobs(n // 10 if "threads" in name else n))
        line["grew_mb"] = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - memory) // 1024
        lines.append(line)
        floor = lines[0]["one_thread_per_second"]
        line["times_by_hand"] = round(floor / line["one_thread_per_second"], 1)
        print(json.dumps(line))
    left = [thread.name for thread in threading.enumerate() if not thread.daemon]
    print(
        json.dumps({"threads_left": left, "children_left": len(multiprocessing.active_children())})
    )
    return 0 if all(line["same_verdicts"] for line in lines) else 1


if __name__ == "__main__":
    sys.exit(main())
