"""`fourscore compare`: printed verdicts, JSON and exit codes."""

import json
import subprocess
from pathlib import Path

import pytest

from .command import run_fourscore

AGENT = """
def answer(asked, wrong):
    n = int(asked)
    return "\\\\boxed{%d}" % (n + 1 if n % 100 < wrong else n)

def good(asked): return answer(asked, 5)
def same(asked): return answer(asked, 5)
def bad(asked): return answer(asked, 50)
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("compare")
    (folder / "agent.py").write_text(AGENT)
    (folder / "rubric.yaml").write_text("dimensions:\n  right: {judge: math}\n")
    cases = [{"id": f"c{n}", "input": str(n), "expected": str(n)} for n in range(400)]
    (folder / "cases.jsonl").write_text("".join(json.dumps(case) + "\n" for case in cases))
    for name in ("good", "same", "bad"):
        done = run_in(
            folder, "run", "--cases", "cases.jsonl", "--rubric", "rubric.yaml",
            "--agent", f"agent.py:{name}", "--json",
        )  # fmt: skip
        (folder / name).write_text(json.loads(done.stdout)["run"])
    return folder


def run_in(folder: Path, *words: str, **env: str) -> "subprocess.CompletedProcess[str]":
    return run_fourscore(*words, cwd=folder, env=env)


def runs(folder: Path, *names: str) -> list[str]:
    return [(folder / name).read_text() for name in names]


def test_prints_that_a_run_is_worse_and_how_many_cases_it_lost(folder: Path) -> None:
    done = run_in(folder, "compare", *runs(folder, "good", "bad"))
    assert done.returncode == 0
    assert "verdict  worse" in done.stdout
    assert "now pass 0" in done.stdout
    assert "now fail 180" in done.stdout
    assert "n = 400" in done.stdout


def test_equal_runs_show_no_difference(folder: Path) -> None:
    done = run_in(folder, "compare", *runs(folder, "good", "same"), "--json")
    document = json.loads(done.stdout)
    assert document["whole"]["verdict"]["kind"] == "no_difference"
    assert document["gained"] == document["lost"] == []
    tighter = run_in(
        folder, "compare", *runs(folder, "good", "same"), "--json", "--margin", "0.001"
    )
    verdict = json.loads(tighter.stdout)["whole"]["verdict"]
    assert verdict["kind"] == "cannot_tell"
    assert verdict["more_cases"] > 0


def test_require_decides_the_exit_code(folder: Path) -> None:
    good, bad, same = runs(folder, "good", "bad", "same")
    assert run_in(folder, "compare", good, bad, "--require", "not-worse").returncode == 1
    assert run_in(folder, "compare", good, same, "--require", "not-worse").returncode == 0
    assert run_in(folder, "compare", good, same, "--require", "better").returncode == 1
    assert run_in(folder, "compare", bad, good, "--require", "better").returncode == 0


def test_refuses_runs_that_cannot_be_compared(folder: Path) -> None:
    good, bad = runs(folder, "good", "bad")
    done = run_in(folder, "compare", good, "nosuchrun")
    assert (done.returncode, "there is no run 'nosuchrun'" in done.stderr) == (2, True)
    done = run_in(folder, "compare", good, bad, "--margin", "7")
    assert (done.returncode, "--margin" in done.stderr) == (2, True)


def test_run_summary_names_the_previous_run_of_the_same_cases(folder: Path) -> None:
    good, bad = runs(folder, "good", "bad")
    done = run_in(folder, "show", bad)
    assert "change  pass rate -45.0 points" in done.stdout
    assert f"fourscore compare {runs(folder, 'same')[0]} {bad}" in done.stdout
    assert "change" not in run_in(folder, "show", good).stdout
