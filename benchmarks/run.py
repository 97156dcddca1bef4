"""A test run of trivial cases, stored durably: cases a second, cost for each case, memory.

Beside it the disk's own rate of small synced writes, and, as the peer, a plain loop that calls the
same agent and the same check and stores nothing.

    python benchmarks/run.py                  # 2,000, 20,000 and 200,000 cases
    python benchmarks/run.py --cases 20000 --plain    # an agent that is no coroutine
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


def synced_writes(folder: Path) -> float:
    """Appends of 4 KB, each synced, in a second."""
    with (folder / "sync").open("wb") as out:
        start, n = time.perf_counter(), 0
        while time.perf_counter() - start < 1:
            out.write(b"x" * 4096)
            out.flush()
            os.fdatasync(out.fileno())
            n += 1
    return n / (time.perf_counter() - start)


def write_cases(path: Path, n: int) -> None:
    with path.open("w") as out:
        for i in range(n):
            case = {"id": f"c{i}", "input": f"Say {i}", "expected": str(i), "tags": ["a"]}
            out.write(json.dumps(case) + "\n")


def plain_loop(path: Path) -> float:
    start = time.perf_counter()
    passed = 0
    with path.open() as lines:
        for line in lines:
            case = json.loads(line)
            answer = f"It is {case['input'].split()[-1]}"
            passed += answer.split()[-1] == case["expected"]
    return time.perf_counter() - start


def one_run(folder: Path, concurrency: int) -> tuple[float, float]:
    """Seconds, and peak memory in MB."""
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
    parser = argparse.ArgumentParser(description="a run of trivial cases, stored durably")
    parser.add_argument("--cases", type=int, nargs="*", default=[2_000, 20_000, 200_000])
    parser.add_argument("--concurrency", type=int, default=256)
    parser.add_argument("--plain", action="store_true", help="a plain agent, called in threads")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=Path.cwd()) as name:
        folder = Path(name)
        (folder / "agent.py").write_text(AGENT.removeprefix("async ") if args.plain else AGENT)
        (folder / "rubric.yaml").write_text(RUBRIC)
        print(f"{synced_writes(folder):,.0f} synced writes a second on this disk")
        write_cases(folder / "cases.jsonl", 1)
        start, _ = one_run(folder, args.concurrency)
        print(f"{start:.2f} s for a run of one case: starting")
        for n in args.cases:
            write_cases(folder / "cases.jsonl", n)
            plain = plain_loop(folder / "cases.jsonl")
            seconds, peak = one_run(folder, args.concurrency)
            print(
                f"{n:7,} cases: {n / seconds:7,.0f} cases/s, {seconds / n * 1e6:4.0f} µs a case, "
                f"{(seconds - start) / n * 1e6:4.0f} without starting, "
                f"peak {peak:.0f} MB; a plain loop, nothing stored: {n / plain:,.0f}/s"
            )


if __name__ == "__main__":
    main()
