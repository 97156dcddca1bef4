"""A run within 64 open files, or with little memory, ends: nothing waits for a deadline.

The deadlines here are an hour, so what waits for one does not end within the test.
"""

import json
import os
import resource
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

CODE = """
import time
from fourscore import judge

def blocks(question):
    time.sleep(0.01)
    return "yes"

async def awaits(question):
    return "yes"

@judge
def slow(case, trace):
    time.sleep(0.01)
    return True

@judge(isolate="process")
def isolated(case, trace):
    return True
"""
CASES = 40
#: Seconds after which a run counts as hanging; it takes a few.
HANGS = 240


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "mine.py").write_text(CODE)
    for name in ("slow", "isolated"):
        rubric = {"name": name, "dimensions": {"d": {"judge": f"mine.py->{name}"}}}
        (tmp_path / f"{name}.yaml").write_text(json.dumps(rubric))
    cases = [{"id": f"c{n}", "input": f"q{n}"} for n in range(CASES)]
    (tmp_path / "cases.jsonl").write_text("".join(json.dumps(case) + "\n" for case in cases))
    return tmp_path


def run(folder: Path, limits: dict[int, int], *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the command in a process of its own that has these limits."""

    def limit() -> None:
        for which, most in limits.items():
            resource.setrlimit(which, (most, most))

    return subprocess.run(
        [sys.executable, "-m", "fourscore", *arguments],
        cwd=folder,
        env={**os.environ, "NO_COLOR": "1"},
        preexec_fn=limit,
        capture_output=True,
        text=True,
        timeout=HANGS,
        check=False,
    )


def run_cases(folder: Path, limits: dict[int, int], agent: str, *more: str) -> Any:
    deadlines = ("--deadline", "3600", "--judge-deadline", "3600", "--concurrency", "64")
    arguments = ("--cases", "cases.jsonl", "--agent", agent, "--store", "store.db", *deadlines)
    done = run(folder, limits, "run", *arguments, "--json", *more)
    assert done.returncode == 0, done.stderr
    assert "so --concurrency is" in done.stderr
    assert "Traceback" not in done.stderr
    document = json.loads(done.stdout)
    assert document["statuses"]["scored"] == CASES
    return document


@pytest.mark.parametrize("judge", ["slow", "isolated"])
@pytest.mark.parametrize("agent", ["mine.py:blocks", "mine.py:awaits", "shell: cat"])
def test_run_lowers_its_concurrency_where_few_files_may_be_open(
    folder: Path, agent: str, judge: str
) -> None:
    run_cases(folder, {resource.RLIMIT_NOFILE: 64}, agent, "--rubric", f"{judge}.yaml")


def test_isolated_run_lowers_its_concurrency(folder: Path) -> None:
    options = ("--rubric", "slow.yaml", "--isolate")
    run_cases(folder, {resource.RLIMIT_NOFILE: 64}, "mine.py:blocks", *options)


@pytest.mark.skipif(sys.platform != "linux", reason="macOS has no limit on address space")
def test_run_lowers_its_concurrency_where_memory_is_short(folder: Path) -> None:
    limits = {resource.RLIMIT_AS: 900 << 20}
    run_cases(folder, limits, "mine.py:blocks", "--rubric", "slow.yaml")


def test_run_that_cannot_open_an_event_loop_ends_with_a_clear_error(folder: Path) -> None:
    arguments = ("--cases", "cases.jsonl", "--agent", "shell: cat", "--rubric", "slow.yaml")
    done = run(folder, {resource.RLIMIT_NOFILE: 24}, "run", *arguments, "--store", "store.db")
    assert done.returncode == 2
    assert "Too many open files" in done.stderr
    assert "--resume" in done.stderr
    assert "Traceback" not in done.stderr


def test_bulk_judging_works_with_few_files(folder: Path) -> None:
    row = {"task": {"metadata": {}}, "outputs": [{"metadata": {"final_answer": "x"}}] * 4}
    (folder / "rows.jsonl").write_text((json.dumps(row) + "\n") * 25)
    options = ("--data", "rows.jsonl", "--out", "out.jsonl", "--json", "--deadline", "3600")
    done = run(folder, {resource.RLIMIT_NOFILE: 64}, "judge", "--judge", "mine.py->slow", *options)
    assert done.returncode == 0, done.stderr
    rewards = [json.loads(line) for line in (folder / "out.jsonl").read_text().splitlines()]
    assert [reward["raw_reward"] for reward in rewards] == [1.0] * 100
