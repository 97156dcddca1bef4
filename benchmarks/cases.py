"""Measure how fast large case files are checked and filtered, and in how much memory.

The peers are what people write by hand, in the same run on the same file: a loop with `json.loads`
that streams and checks nothing, and the same loop that keeps what it reads. Each reading is a
process of its own, so that peak memory is measured for it alone.

    python benchmarks/cases.py                  # a million cases
    python benchmarks/cases.py --cases 100000
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

SCRIPT = """
import sys, time
start = time.perf_counter()
{work}
seconds = time.perf_counter() - start
# The peak that exec inherits from its parent is not ours: VmHWM is of this program alone.
status = dict(line.split(":", 1) for line in open("/proc/self/status"))
print(n, seconds, int(status["VmHWM"].split()[0]) / 1024)
"""
READERS = {
    "nothing (imports)": "from fourscore.formats.cases import CaseFile; n = 0",
    "check": """
from fourscore.formats.cases import CaseFile
n = CaseFile(sys.argv[1]).check().count""",
    "check, then filter": """
from fourscore.formats.cases import CaseFile
from fourscore.formats.case_filter import CaseFilter
chosen = CaseFilter(tags_any=("math",), expression='level >= 3 and complexity != "simple"')
file = CaseFile(sys.argv[1])
file.check()
n = sum(map(chosen.matches, file.cases()))""",
    "check, then sample 1,000": """
from fourscore.formats.cases import CaseFile
from fourscore.formats.case_filter import take_sample
n = sum(1 for _ in take_sample(CaseFile(sys.argv[1]).cases(), 1000, seed=1))""",
    "json loop, count": """
import json
with open(sys.argv[1]) as lines:
    n = sum(1 for line in lines if json.loads(line))""",
    "json loop, filter": """
import json
with open(sys.argv[1]) as lines:
    n = sum(
        1 for case in map(json.loads, lines)
        if "math" in case["tags"] and case["level"] >= 3 and case["complexity"] != "simple"
    )""",
    "json loop, kept": """
import json
with open(sys.argv[1]) as lines:
    n = len([json.loads(line) for line in lines])""",
}


def write_cases(path: Path, n: int, *, with_ids: bool) -> None:
    """Write typical cases; without ids, one input in a hundred occurs twice."""
    words = ("simple", "medium", "complex")
    with path.open("w") as out:
        for i in range(n):
            number = i if with_ids or i % 100 else i // 200
            case = {
                "input": f"Question {number}: how many apples are left after {number % 97} days?",
                "expected": str(i % 13),
                "tags": ["math" if i % 2 else "prose", f"part-{i % 7}"],
                "complexity": words[i % 3],
                "level": i % 5,
            }
            out.write(json.dumps({"id": f"case-{i}", **case} if with_ids else case) + "\n")


def measure_reader(name: str, path: Path) -> tuple[int, float, float]:
    """Return count, seconds and MB of a reader: the faster of two runs, as machines are shared."""
    runs = []
    for _ in range(2):
        done = subprocess.run(
            [sys.executable, "-c", SCRIPT.format(work=READERS[name]), str(path)],
            check=True,
            capture_output=True,
            text=True,
        )
        found, seconds, peak = done.stdout.split()
        runs.append((float(seconds), int(found), float(peak)))
    best, n, _ = min(runs)
    return n, best, max(peak for _, _, peak in runs)


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure how fast large case files are read.")
    parser.add_argument("--cases", type=int, default=1_000_000)
    args = parser.parse_args()
    print(f"{os.cpu_count()} cores, Python {sys.version.split()[0]}")
    for count in (args.cases // 10, args.cases):
        for with_ids in (True, False):
            with tempfile.TemporaryDirectory() as folder:
                path = Path(folder, "cases.jsonl")
                write_cases(path, count, with_ids=with_ids)
                size = path.stat().st_size / 1e6
                ids = "with ids" if with_ids else "without ids"
                print(f"\n{count:,} cases {ids}, {size:.0f} MB")
                for name in READERS:
                    n, seconds, peak = measure_reader(name, path)
                    rate = count / seconds if n else 0
                    print(f"  {name:25} n={n:9,} {seconds:6.2f} s {rate:9,.0f}/s {peak:6.0f} MB")


if __name__ == "__main__":
    main()
