"""Speed of judges and of `fourscore judge`, against plain scripts in the same run.

The plain scripts are what people write by hand: one regular expression, `json` from the standard
library, no checks and no reasons, so they are the lower limit of the time.

    python benchmarks/speed.py            # everything
    python benchmarks/speed.py --rows 50000
"""

import argparse
import asyncio
import json
import os
import random
import re
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from fourscore.core import Case, Rubric, Trace, score
from fourscore.judges.countdown import CountdownJudge
from fourscore.judges.math import MathJudge

COMMAND = str(Path(sys.executable).with_name("fourscore"))
PLAIN_SCRIPT = r"""
import json, re, sys
with open(sys.argv[1]) as rows, open(sys.argv[2], "w") as out:
    for line in rows:
        row = json.loads(line)
        found = re.findall(r"\\boxed\{([^{}]*)\}", row["output"]["metadata"]["final_answer"])
        right = bool(found) and found[-1].strip() == row["task"]["metadata"]["answer"]
        line = {"task_id": row["task"]["task_id"], "raw_reward": float(right)}
        out.write(json.dumps(line) + "\n")
"""


def make_math_pairs(n: int) -> list[tuple[Case, Trace]]:
    """Return n cases with answers: 60 % right, 30 % wrong, 10 % with a fraction in the box."""
    chance = random.Random(1)
    pairs = []
    for i in range(n):
        right = str(chance.randint(1, 999))
        kind = chance.random()
        given = right if kind < 0.6 else "\\frac{1}{2}" if kind > 0.9 else right + "0"
        case = Case(id=f"t{i}", input="How many are left?", metadata={"answer": right})
        text = f"We add the parts one after the other and find that it is \\boxed{{{given}}}."
        pairs.append((case, Trace(metadata={"final_answer": text})))
    return pairs


def make_countdown_pairs(n: int) -> list[tuple[Case, Trace]]:
    chance = random.Random(2)
    pairs = []
    for i in range(n):
        numbers = [chance.randint(1, 50) for _ in range(4)]
        a, b, c, d = numbers
        target = (a + b) * c - d + (chance.random() < 0.4)
        case = Case(
            id=f"c{i}", input="Reach the target.", metadata={"target": target, "nums": numbers}
        )
        text = f"Let me see. <answer>({a} + {b}) * {c} - {d}</answer>"
        pairs.append((case, Trace(metadata={"final_answer": text})))
    return pairs


def plain_math(case: Case, trace: Trace) -> bool:
    found = re.findall(r"\\boxed\{([^{}]*)\}", trace.metadata["final_answer"])
    return bool(found) and found[-1].strip() == case.metadata["answer"]


def plain_countdown(case: Case, trace: Trace) -> bool:
    """Check as many public scripts do: a pattern for allowed characters, and then `eval`."""
    found = re.findall(r"<answer>(.*?)</answer>", trace.metadata["final_answer"])
    if not found or not re.fullmatch(r"[\d+\-*/().\s]+", found[-1]):
        return False
    numbers = [int(n) for n in re.findall(r"\d+", found[-1])]
    if sorted(numbers) != sorted(case.metadata["nums"]):
        return False
    return bool(abs(eval(found[-1], {"__builtins__": None}) - case.metadata["target"]) < 1e-5)


def measure_rate(work: Callable[[Case, Trace], Any], pairs: list[tuple[Case, Trace]]) -> float:
    """Return answers a second: the best of five passes, because the machine is shared."""
    best = float("inf")
    for _ in range(5):
        start = time.perf_counter()
        for case, trace in pairs:
            work(case, trace)
        best = min(best, time.perf_counter() - start)
    return len(pairs) / best


def measure_async_rate(
    work: Callable[[Case, Trace], Any], pairs: list[tuple[Case, Trace]]
) -> float:
    """Return answers a second of a coroutine function that does not wait."""

    async def passes() -> float:
        best = float("inf")
        for _ in range(5):
            start = time.perf_counter()
            for case, trace in pairs:
                await work(case, trace)
            best = min(best, time.perf_counter() - start)
        return len(pairs) / best

    return asyncio.run(passes())


async def score_one(rubric: Rubric, case: Case, trace: Trace) -> object:
    return await score(rubric, case, (trace,))


def compare_judges() -> None:
    for name, judge, pairs, plain in (
        ("exact match", MathJudge(), make_math_pairs(20_000), plain_math),
        ("countdown", CountdownJudge(), make_countdown_pairs(20_000), plain_countdown),
    ):
        rubric = Rubric.from_judge(judge)
        alone = measure_async_rate(judge.judge, pairs)
        scored = measure_async_rate(partial(score_one, rubric), pairs)
        by_hand = measure_rate(plain, pairs)
        print(
            f"{name:12} judge {alone:9,.0f}/s   score() {scored:9,.0f}/s   "
            f"plain script {by_hand:9,.0f}/s   judge/plain {alone / by_hand:.2f}"
        )


def write_rows(path: Path, n: int) -> None:
    with path.open("w") as out:
        for case, trace in make_math_pairs(n):
            task = {"task_id": case.id, "main_query": case.input, "metadata": case.metadata}
            row = {"task": task, "output": {"reward": None, "metadata": trace.metadata}}
            out.write(json.dumps(row) + "\n")


def run_timed(*command: str) -> tuple[float, float]:
    """Run a command; return its seconds, and the peak memory of its largest process in MB."""
    script = (
        "import resource, subprocess, sys, time; t = time.perf_counter();"
        "subprocess.run(sys.argv[1:], check=True, stderr=subprocess.DEVNULL);"
        "print(time.perf_counter() - t, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, *command], check=True, capture_output=True, text=True
    )
    seconds, peak = done.stdout.split()[-2:]
    return float(seconds), float(peak) / 1024


def compare_command(n: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        rows, out = Path(folder, "rows.jsonl"), str(Path(folder, "out.jsonl"))
        for count in (n // 4, n):
            write_rows(rows, count)
            times = [
                run_timed(COMMAND, "judge", "--judge", "math", "--data", str(rows), "--out", out)
                for _ in range(3)
            ]
            seconds, peak = min(times)
            plain, _ = min(
                run_timed(sys.executable, "-c", PLAIN_SCRIPT, str(rows), out) for _ in range(3)
            )
            print(
                f"fourscore judge {count:7,} rows: {seconds:.2f} s, {count / seconds:,.0f} rows/s, "
                f"peak {peak:.0f} MB; plain script {count / plain:,.0f} rows/s; "
                f"ratio {plain / seconds:.2f}"
            )


def measure_start() -> None:
    def least(*command: str) -> float:
        return 1000 * min(run_timed(*command)[0] for _ in range(10))

    bare = least(sys.executable, "-c", "pass")
    print(f"python -c pass {bare:.0f} ms", end="; ")
    print(
        f"import fourscore {least(sys.executable, '-c', 'import fourscore') - bare:.0f} ms",
        end="; ",
    )
    print(f"import msgspec {least(sys.executable, '-c', 'import msgspec') - bare:.0f} ms", end="; ")
    print(f"fourscore --help {least(COMMAND, '--help'):.0f} ms in all")


def main() -> None:
    parser = argparse.ArgumentParser(description="speed against plain scripts")
    parser.add_argument("--rows", type=int, default=200_000)
    args = parser.parse_args()
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    print(f"{os.cpu_count()} cores, Python {sys.version.split()[0]}")
    measure_start()
    compare_judges()
    compare_command(args.rows)
    print(
        f"this script's own peak {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB"
    )


if __name__ == "__main__":
    main()
