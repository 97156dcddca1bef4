"""Large files: several processes give what one gives, and memory does not grow with the file."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

FOURSCORE = str(Path(sys.executable).with_name("fourscore"))
JUDGE = "def length(case, trace):\n    return min(1.0, len(trace.answer) / 100_000)\n"

#: Runs a command and says how much memory the largest of its processes took, in KiB. A process
#: of its own, because a child starts out with the peak of the parent that it was forked from.
PEAK = """
import resource, subprocess, sys
code = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL).returncode
print(code, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
"""


@pytest.fixture(autouse=True)
def _write_judge_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("mine.py").write_text(JUDGE)


def write(n: int, padding: int = 200) -> str:
    """Rows of which some are right, some wrong, some have no reference, some are groups."""
    with Path("rows.jsonl").open("w") as stream:
        for i in range(n):
            metadata = {} if i % 7 == 0 else {"answer": str(i % 5)}
            text = f"{'x' * (padding + i % 3)} \\boxed{{{i % 4}}}"
            outputs = [{"metadata": {"final_answer": text}}] * (1 + i % 2)
            row = {"task": {"task_id": f"t{i}", "metadata": metadata}, "outputs": outputs}
            stream.write(json.dumps(row) + "\n")
    return "rows.jsonl"


def judge(*words: str, stdin: bytes | None = None) -> bytes:
    done = subprocess.run(
        [FOURSCORE, "judge", *words], capture_output=True, timeout=300, check=False, input=stdin
    )
    assert done.returncode == 3, done.stderr.decode()
    return done.stdout


def test_several_processes_write_the_same_bytes_as_one() -> None:
    data = write(12_000)
    assert Path(data).stat().st_size > 3_000_000
    words = ["--judge", "math", "--data"]
    alone = judge(*words, data, "--workers", "1")
    lines = alone.splitlines()
    assert len(lines) == 18_000
    assert json.loads(lines[-1])["task_id"] == "t11999"
    assert judge(*words, data, "--workers", "3") == alone
    assert judge(*words, "-", "--workers", "3", stdin=Path(data).read_bytes()) == alone


def test_names_the_line_of_a_broken_row_far_down() -> None:
    data = write(12_000)
    with Path(data).open("a") as stream:
        stream.write('\n{"task": {"task_id": []}, "output": {}}\n')
    for source in (data, "-"):
        words = [FOURSCORE, "judge", "--judge", "math", "--data", source, "--out", "out"]
        text = Path(data).read_bytes() if source == "-" else None
        done = subprocess.run(words, capture_output=True, timeout=300, check=False, input=text)
        assert done.returncode == 2
        assert b":12002: task.task_id: expected" in done.stderr
        assert b"Traceback" not in done.stderr
        assert sorted(path.name for path in Path().iterdir()) == ["mine.py", "rows.jsonl"]


@pytest.mark.parametrize("name", ["math", "mine.py->length"])
def test_memory_does_not_grow_with_the_file(name: str) -> None:
    peaks = []
    for megabytes in (15, 60):
        write(megabytes * 25, padding=26_000)
        assert abs(Path("rows.jsonl").stat().st_size / 1e6 - megabytes) < megabytes / 10
        command = [FOURSCORE, "judge", "--judge", name, "--data", "rows.jsonl"]
        done = subprocess.run(
            [sys.executable, "-c", PEAK, *command], capture_output=True, text=True, timeout=300
        )
        code, peak = map(int, done.stdout.split())
        assert code in (0, 3), done.stderr
        peaks.append(peak)
    assert peaks[1] < 1.3 * peaks[0]
