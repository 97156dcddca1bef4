"""Measure `fourscore run` on trivial cases: cases per second, time per case, memory.

Beside it: the disk's rate of small synced writes, and as the peer a plain loop that computes the
same answer and the same check and stores nothing.

    python benchmarks/run.py                  # 2,000, 20,000 and 200,000 cases
    python benchmarks/run.py --cases 20000 --plain    # an agent that is not async
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

COMMAND = str(Path(sys.executable).with_name("fourscore"))
AGENT = 'async def answer(input):\n    return "It is \\\\boxed{%s}" % input.split()[-1]\n'
RUBRIC = "dimensions:\n  right: {judge: math}\n"


def measure_synced_writes(folder: Path) -> float:
    """Count 4 KB appends per second, each synced to disk."""
    with (folder / "sync").open("wb") as out:
        start, n = time.perf_counter(), 0
        while time.perf_counter() - start < 1:
            out.write(b"x" * 4096)
            out.flush()
            os.fdatasync(out.fileno())
            n += 1
    return n / (time.perf_counter() - start)


def write_cases(path: Path, n: int) -> None:
    """Write n trivial cases."""
    with path.open("w") as out:
        for i in range(n):
            case = {"id": f"c{i}", "input": f"Say {i}", "expected": str(i), "tags": ["a"]}
            out.write(json.dumps(case) + "\n")


def time_plain_loop(path: Path) -> float:
    """Seconds that a loop without a store takes for the same cases."""
    start = time.perf_counter()
    passed = 0
    with path.open() as lines:
        for line in lines:
            case = json.loads(line)
            answer = f"It is {case['input'].split()[-1]}"
            passed += answer.split()[-1] == case["expected"]
    return time.perf_counter() - start


def time_run(folder: Path, concurrency: int) -> tuple[float, float]:
    """Run once; return seconds and peak memory in MB."""
    script = (
        "import resource, subprocess, sys, time; t = time.perf_counter();"
        "subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL);"
        "print(time.perf_counter() - t, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"
    )
    words = [
        "run",
        "--cases",
        "cases.jsonl",
        "--rubric",
        "rubric.yaml",
        "--agent",
        "agent.py:answer",
    ]
    words += ["--concurrency", str(concurrency), "--store", f"{time.time_ns()}.db"]
    done = subprocess.run(
        [sys.executable, "-c", script, COMMAND, *words],
        cwd=folder,
        check=True,
        capture_output=True,
        text=True,
    )
    seconds, peak = done.stdout.split()[-2:]
    return float(seconds), float(peak) / 1024


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure fourscore run on trivial cases.")
    parser.add_argument("--cases", type=int, nargs="*", default=[2_000, 20_000, 200_000])
    parser.add_argument("--concurrency", type=int, default=256)
    parser.add_argument(
        "--plain", action="store_true", help="use a plain function as the agent, called in threads"
    )
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=Path.cwd()) as name:
        folder = Path(name)
        (folder / "agent.py").write_text(AGENT.removeprefix("async ") if args.plain else AGENT)
        (folder / "rubric.yaml").write_text(RUBRIC)
        print(f"{measure_synced_writes(folder):,.0f} synced writes a second on this disk")
        write_cases(folder / "cases.jsonl", 1)
        start, _ = time_run(folder, args.concurrency)
        print(f"{start:.2f} s for a run of one case: the time to start")
        for n in args.cases:
            write_cases(folder / "cases.jsonl", n)
            plain = time_plain_loop(folder / "cases.jsonl")
            seconds, peak = time_run(folder, args.concurrency)
            print(
                f"{n:7,} cases: {n / seconds:7,.0f} cases/s, {seconds / n * 1e6:4.0f} µs a case, "
                f"{(seconds - start) / n * 1e6:4.0f} without starting, "
                f"peak {peak:.0f} MB; a plain loop, nothing stored: {n / plain:,.0f}/s"
            )


if __name__ == "__main__":
    main()
