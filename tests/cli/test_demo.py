"""`fourscore demo`: a real run that needs no key, adds up, and is the same every time."""

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import fourscore
from fourscore.cli.demo_files import agent, library
from fourscore.cli.main import main
from fourscore.formats.cases import CaseFile
from fourscore.report import exports

PACKAGE = Path(fourscore.__file__).parent
DEMO = PACKAGE / "cli" / "demo_files"
FOURSCORE = str(Path(sys.executable).with_name("fourscore"))
CASES = list(CaseFile(str(DEMO / "cases.jsonl")).cases())
DIMENSIONS = {
    "factual_accuracy",
    "completeness",
    "citation_accuracy",
    "source_quality",
    "tool_efficiency",
}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def summary(capsys: Any, *words: str) -> dict[str, Any]:
    assert main(["demo", "--json", *words]) == 0
    document: dict[str, Any] = json.loads(capsys.readouterr().out)
    return document


def test_demo_cases_cover_tags_and_complexities() -> None:
    assert len(CASES) >= 36
    assert Counter(case.complexity for case in CASES).keys() == {
        "simple",
        "medium",
        "complex",
        "very_complex",
    }
    tags = Counter(tag for case in CASES for tag in case.tags)
    assert tags["chinese"] >= 12
    topics = {"finance", "science", "software", "medicine", "history", "geography", "law"}
    assert min(tags[topic] for topic in topics) >= 5
    for case in CASES:
        chinese = any("\u4e00" <= sign <= "\u9fff" for sign in case.input)
        assert chinese == ("chinese" in case.tags)
        assert {"claims", "sources", "tools"} <= set(case.expected)
        assert case.complexity == "simple" or "aspects" in case.expected


def test_demo_summary_adds_up(capsys: Any) -> None:
    document = summary(capsys)
    assert document["planned"] == sum(document["statuses"].values()) == len(CASES)
    assert document["statuses"]["agent_error"] == 1  # it divides by zero, once
    assert document["total_tests"] == document["planned"]  # and everything was measured
    assert 0.55 <= document["pass_rate"] <= 0.8
    averages = document["dimension_averages"]
    assert averages.keys() == DIMENSIONS
    assert max(averages.values()) < 0.99
    assert max(averages.values()) - min(averages.values()) > 0.1
    easy, hard = (document["by_complexity"][word]["pass_rate"] for word in ("simple", "complex"))
    assert easy > hard


def test_two_demo_runs_give_the_same_summary(capsys: Any) -> None:
    def lasting(document: dict[str, Any]) -> dict[str, Any]:
        return {
            key: value for key, value in document.items() if key not in ("run", "run_facts", "time")
        }

    first, second = summary(capsys), summary(capsys, "--dir", "other")
    assert first["run"] != second["run"]
    assert lasting(first) == lasting(second)


def test_demo_leaves_a_store_and_a_report_and_prints_the_next_command(
    capsys: Any, tmp_path: Path
) -> None:
    assert main(["demo"]) == 0
    shown = capsys.readouterr().out
    assert "fourscore show" in shown
    assert "fourscore init" in shown
    assert {path.name for path in tmp_path.iterdir()} == {"fourscore-demo"}
    left = {path.name for path in (tmp_path / "fourscore-demo").iterdir()}
    assert "runs.db" in left
    if ".html" in exports.FORMATS:
        assert "report.html" in left
        assert "fourscore-demo/report.html" in shown
        page = (tmp_path / "fourscore-demo" / "report.html").read_text(encoding="utf-8")
        assert all(case.id in page for case in CASES)


def test_demo_writes_nothing_into_the_package(tmp_path: Path) -> None:
    def state() -> dict[str, tuple[int, int]]:
        # Another worker may have it compiled meanwhile.
        paths = (path for path in PACKAGE.rglob("*") if "__pycache__" not in path.parts)
        files = [path for path in paths if path.is_file()]
        return {str(path): (path.stat().st_size, path.stat().st_mtime_ns) for path in files}

    before = state()
    env = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run([FOURSCORE, "demo"], capture_output=True, text=True, check=False, env=env)
    assert done.returncode == 0, done.stderr
    assert state().items() >= before.items()
    assert not list(DEMO.glob("*.db"))


def test_demo_folder_that_cannot_be_made_is_bad_input(capsys: Any, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    assert main(["demo", "--dir", "file/below"]) == 2
    assert "file/below: --dir: Not a directory" in capsys.readouterr().err


def test_demo_agent_does_not_contain_the_cases() -> None:
    code = "".join(path.read_text(encoding="utf-8") for path in DEMO.glob("*.py"))
    pages = (DEMO / "corpus.jsonl").read_text(encoding="utf-8")
    for case in CASES:
        assert case.id not in code
        assert case.input not in code + pages


def test_demo_answers_come_from_the_bundled_pages() -> None:
    page = library.Page(
        "https://survey.gov.xq/rivers", "Rivers", "The river Aldra is 9 km long. It is cold."
    )
    assistant = agent.Assistant(library.Library([page]))
    assert assistant.answer("How long is the river Aldra?") == (
        "The river Aldra is 9 km long [1].\n\nSources:\n[1] Rivers. https://survey.gov.xq/rivers"
    )
    assert assistant.answer("Who wrote it?") == "I found nothing reliable about this."


@pytest.mark.parametrize(
    ("question", "fault"),
    [
        ("How much larger was the net debt of Kestrel Rail than its revenue in 2021?", "810.8 m"),
        ("青禾基金的规模与每年的管理费相差多少？", "-898.5 亿元"),
        ("What interest does the Sable harbour bond pay?", "coinandanchor"),
        ("在镜心湖的最深处，水有多深？", "没有找到"),
    ],
)
def test_demo_agent_makes_mistakes_on_purpose(question: str, fault: str) -> None:
    assert fault in agent.answer(question)


def test_demo_agent_ignores_the_second_half_of_a_question() -> None:
    answer = agent.answer("How long is the river Aldra, and how high is Mount Corvin?")
    assert "412 km" in answer
    assert "2.4 km" not in answer


def test_demo_agent_divides_by_zero() -> None:
    question = (
        "How many times as many visitors did the Sable Lighthouse museum have in 2021 as in 2020?"
    )
    with pytest.raises(ZeroDivisionError):
        agent.answer(question)
