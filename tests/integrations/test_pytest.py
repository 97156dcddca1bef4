"""Cases as pytest tests, and `assert_passes` in plain tests, each in a pytest process."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from fourscore import Case, ToolCall, Trace, assert_passes
from fourscore.core import ConfigError

RUBRIC = """
dimensions:
  right: {judge: math, weight: 1}
"""
CASES = [
    {"id": "small", "input": "1 plus 2", "expected": "3", "tags": ["easy"]},
    {"id": "carry", "input": "17 plus 8", "expected": "25", "tags": ["hard"]},
    {"id": "crash", "input": "what", "expected": "1", "tags": ["hard"]},
    {"id": "lost", "input": "1 plus 1", "tags": ["odd"]},
]
AGENT = """
def answer(asked):
    a, b = (int(word) for word in asked.split(" plus "))
    return "\\\\boxed{%d}" % (a + b if b < 5 else a)
"""


#: Others that pytest finds here take seconds to load, and have no part in this.
OTHERS = ("schemathesis", "hypothesispytest", "xdist", "xdist.looponfail", "pytest_cov", "anyio")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "rubric.yaml").write_text(RUBRIC)
    (tmp_path / "agent.py").write_text(AGENT)
    (tmp_path / "cases.jsonl").write_text("".join(json.dumps(case) + "\n" for case in CASES))
    (tmp_path / "pytest.ini").write_text(
        "[pytest]\nfourscore_cases = cases.jsonl\nfourscore_agent = agent.py:answer\n"
        "fourscore_rubric = rubric.yaml\n"
    )
    return tmp_path


def ran(folder: Path, *words: str) -> "subprocess.CompletedProcess[str]":
    without = [word for name in ("cacheprovider", *OTHERS) for word in ("-p", f"no:{name}")]
    command = [sys.executable, "-m", "pytest", *without, *words]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def test_each_case_is_collected_as_a_test(folder: Path) -> None:
    done = ran(folder, "-v")
    assert done.returncode == 1
    assert "cases.jsonl::small PASSED" in done.stdout
    assert "cases.jsonl::carry FAILED" in done.stdout
    assert "the box holds '17', the reference is '25'" in done.stdout
    assert "case crash failed: agent_error" in done.stdout
    assert "case lost could not be measured: judge_error" in done.stdout
    assert "3 failed, 1 passed" in done.stdout
    assert "Traceback" not in done.stdout


def test_case_tags_are_pytest_keywords(folder: Path) -> None:
    assert "1 passed, 3 deselected" in ran(folder, "-k", "easy").stdout


def test_broken_case_file_is_a_collection_error_with_its_line(folder: Path) -> None:
    with (folder / "cases.jsonl").open("a") as out:
        out.write('{"id": "small", "input": 1}\n')
    done = ran(folder)
    assert done.returncode != 0
    assert "cases.jsonl:5" in done.stdout


def test_nothing_is_imported_or_collected_without_settings(folder: Path) -> None:
    (folder / "pytest.ini").write_text("[pytest]\n")
    (folder / "test_own.py").write_text(
        "import sys\ndef test_light(): assert 'fourscore.judges.loading' not in sys.modules\n"
    )
    assert "1 passed" in ran(folder).stdout


def test_assert_passes_in_a_plain_test(folder: Path) -> None:
    (folder / "pytest.ini").unlink()
    (folder / "test_own.py").write_text(
        """
from fourscore import assert_passes

CASE = {"id": "sum", "input": "1 plus 2", "expected": "3"}

def test_right():
    assert assert_passes(CASE, "\\\\boxed{3}", "rubric.yaml").value == 1.0

def test_wrong():
    assert_passes(CASE, "\\\\boxed{4}", "rubric.yaml")
"""
    )
    done = ran(folder)
    assert "1 failed, 1 passed" in done.stdout
    assert "case sum scored 0.000, 0.7 passes" in done.stdout


def test_failure_of_the_default_rubric_shows_the_reason() -> None:
    case = Case(
        id="moon",
        input="How many moons does Mars have?",
        expected={"claims": [{"text": "Mars has two moons."}], "tools": {"expected": ["search"]}},
    )
    searched = (ToolCall(name="search", arguments={"q": "moons of Mars"}, result="two"),)
    good = assert_passes(case, Trace(output="Mars has two moons.", steps=searched))
    assert good.passed is True
    with pytest.raises(
        AssertionError, match=r"(?s)moon scored .*factual_accuracy 0\.000 \(failed\)"
    ):
        assert_passes(case, Trace(output="Mars has five moons.", steps=searched))


def test_missing_rubric_file_is_an_error() -> None:
    with pytest.raises(ConfigError):
        assert_passes({"input": "?"}, "!", "nowhere.yaml")
